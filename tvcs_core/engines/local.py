"""Engines of this process: one unit after the other, or in threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from tvcs_core.arguments import check_number
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.engines.job import StatelessEngine, Task
from tvcs_core.jit.uninterrupted import uninterrupted

T = TypeVar("T")
R = TypeVar("R")

END = object()  # put into the queue by a thread that finds no more tasks
POLL_SECONDS = 1.0  # a wait without a limit cannot be interrupted on every system


class Serial(StatelessEngine):
    """Runs one unit after the other."""

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks in their order."""
        with one_blas_thread():
            for task in tasks:
                yield task, task.done_here()


class Threads(StatelessEngine):
    """Runs `number` units at a time; useful if the units release the interpreter lock."""

    def __init__(self, number: int) -> None:
        check_number("threads", number, whole=True, least=1)
        self._number = number

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks; after an error or an interrupt, wait for the units in work."""
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
    """Yield tasks with results; each worker, in its own thread, takes the next task until the end.

    Ctrl-C may strike between any two lines of Python code here and below. If it strikes inside a
    `queue.Queue`, a condition or an event, their lock stays taken and the next thread that asks
    for it waits for ever. So threads communicate only through queues written in C, and are
    started without interruption.

    Parameters
    ----------
    tasks
        The tasks.
    workers
        Functions that run a task and return its result.
    stop
        Called before waiting for the threads after an early end, to end their work.
    """
    # A worker waits for room before it hands over a result: none gets more than one unit ahead.
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
        for _ in threads:  # each may be waiting for room
            room.put(None)
        for thread in threads:
            while thread.is_alive():
                thread.join(POLL_SECONDS)


def _tried(do: Callable[[T], R], task: T) -> tuple[R | None, BaseException | None]:
    try:
        return do(task), None
    except BaseException as error:
        return None, error


def _next_of(found: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            return found.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue


def in_threads(do: Callable[[T], R], items: Sequence[T], number: int) -> list[R]:
    """Return the results of `do` for all items, in their order; `number` of them run at a time.

    Replaces a pool of `concurrent.futures`, for the reason given in `side_by_side`.
    """
    results: dict[int, R] = {}
    work = [lambda numbered: do(numbered[1])] * min(number, len(items))
    with closing(side_by_side(list(enumerate(items)), work)) as done:
        for (index, _), result in done:
            results[index] = result
    return [results[index] for index in range(len(items))]
