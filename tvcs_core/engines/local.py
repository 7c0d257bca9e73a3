"""Units in this process: one after the other, or in threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any

from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.engines.job import Task

END = object()  # what a thread puts in the queue when nothing is left for it
BEAT = 1.0  # seconds; a wait without a limit could not be interrupted everywhere


class _Here:
    """An engine that holds nothing between two runs."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Serial(_Here):
    """One unit after the other."""

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Do all tasks, in their order."""
        with one_blas_thread():
            for task in tasks:
                yield task, task.done_here()


class Threads(_Here):
    """`number` units at a time; what they call must let go of the interpreter to gain by it."""

    def __init__(self, number: int) -> None:
        if number < 1:
            raise ValueError(f"threads must be >= 1, found {number}")
        self._number = number

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Do all tasks; after an error or an interrupt the units in work are waited for."""
        if self._number == 1:
            yield from Serial().run(tasks)
            return
        with one_blas_thread():
            yield from side_by_side(tasks, [Task.done_here] * min(self._number, len(tasks)))


def side_by_side(
    tasks: Sequence[Task],
    workers: Sequence[Callable[[Task], Any]],
    stop: Callable[[], None] = lambda: None,
) -> Generator[tuple[Task, Any], None, None]:
    """Each worker, in a thread of its own, takes the next task until none is left.

    Parameters
    ----------
    tasks
        What is to be done.
    workers
        Each does a task and returns its result.
    stop
        Called before the threads are waited for where not all is done, to end what they wait for.
    """
    # A result waits for who asks: no worker gets further ahead than one unit.
    found: queue.Queue[Any] = queue.Queue(maxsize=max(1, len(workers)))
    todo, lock, is_over = iter(tasks), threading.Lock(), threading.Event()

    def work(do: Callable[[Task], Any]) -> None:
        while not is_over.is_set():
            with lock:
                task = next(todo, None)
            if task is None:
                break
            try:
                found.put((task, do(task), None))
            except BaseException as error:
                found.put((task, None, error))
                break
        found.put(END)

    threads = [threading.Thread(target=work, args=(do,), daemon=True) for do in workers]
    n_at_work, is_done = len(threads), False
    try:
        for thread in threads:
            thread.start()
        while n_at_work:
            item = _next_of(found)
            if item is END:
                n_at_work -= 1
                continue
            task, result, error = item
            if error is not None:
                raise error
            yield task, result
        is_done = True
    finally:
        is_over.set()
        if not is_done:
            stop()
        _join(threads, found)


def _next_of(found: queue.Queue[Any]) -> Any:
    while True:
        try:
            return found.get(timeout=BEAT)
        except queue.Empty:
            continue


def _join(threads: Sequence[threading.Thread], found: queue.Queue[Any]) -> None:
    """Wait for all threads; what they still hand over is dropped."""
    while any(thread.is_alive() for thread in threads):
        try:
            found.get(timeout=0.05)
        except queue.Empty:
            continue
