"""Units in this process: one after the other, or in threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.engines.job import Task
from tvcs_core.jit.uninterrupted import uninterrupted

T = TypeVar("T")
R = TypeVar("R")

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
    tasks: Sequence[T],
    workers: Sequence[Callable[[T], Any]],
    stop: Callable[[], None] = lambda: None,
) -> Generator[tuple[T, Any], None, None]:
    """Each worker, in a thread of its own, takes the next task until none is left.

    Ctrl-C may strike between any two lines of this, and of what it calls that is written in Python.
    It leaves the lock of a `queue.Queue`, a condition or an event taken if it strikes just there,
    and whoever asks for that next waits for ever. So threads meet in queues that are written in C
    alone, and are started in one piece.

    Parameters
    ----------
    tasks
        What is to be done.
    workers
        Each does a task and returns its result.
    stop
        Called before the threads are waited for where not all is done, to end what they wait for.
    """
    # A result waits for room: no worker gets further ahead than one unit.
    found, room = queue.SimpleQueue[Any](), queue.SimpleQueue[None]()
    todo, lock, is_over = iter(tasks), threading.Lock(), False

    def work(do: Callable[[T], Any]) -> None:
        while not is_over:
            with lock:
                task: Any = next(todo, END)
            if task is END:
                break
            result, error = _tried(do, task)
            room.get()
            found.put((task, result, error))
            if error is not None:
                break
        found.put(END)

    threads = [threading.Thread(target=work, args=(do,), daemon=True) for do in workers]
    n_at_work, is_done = len(threads), False
    try:
        with uninterrupted():
            for thread in threads:
                room.put(None)
                thread.start()
        while n_at_work:
            item = _next_of(found)
            if item is END:
                n_at_work -= 1
                continue
            room.put(None)
            task, result, error = item
            if error is not None:
                raise error
            yield task, result
        is_done = True
    finally:
        is_over = True
        if not is_done:
            stop()
        for _ in threads:  # one of them may wait for it
            room.put(None)
        for thread in threads:
            while thread.is_alive():
                thread.join(BEAT)


def _tried(do: Callable[[T], R], task: T) -> tuple[R | None, BaseException | None]:
    try:
        return do(task), None
    except BaseException as error:
        return None, error


def _next_of(found: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            return found.get(timeout=BEAT)
        except queue.Empty:
            continue


def in_threads(do: Callable[[T], R], items: Sequence[T], number: int) -> list[R]:
    """What a function finds for each item, in their order; `number` of them at a time.

    In place of a pool of `concurrent.futures`, for the reason that `side_by_side` gives.
    """
    found: dict[int, R] = {}
    work = [lambda numbered: do(numbered[1])] * min(number, len(items))
    with closing(side_by_side(list(enumerate(items)), work)) as done:
        for (place, _), result in done:
            found[place] = result
    return [found[place] for place in range(len(items))]
