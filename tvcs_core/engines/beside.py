"""A job in the queue of others, so that nobody waits for its last units, nor for theirs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tvcs_core.engines.job import Book, Engine, Job, Task


class Beside:
    """An engine that does a job of its own with the first units that it is asked for.

    The units of that job come first in the queue: give it the job whose units are long. Call
    `finish` at the end, for who is given the engine may never ask.

    Parameters
    ----------
    engine
        Who does the units of both; whoever entered it leaves it.
    job
        Not to be among those that are asked for.
    take
        Called with the number and the result of every unit of `job`.
    keep, progress
        As in `results`.
    """

    def __init__(
        self,
        engine: Engine,
        job: Job,
        take: Callable[[int, Any], None],
        *,
        keep: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._engine, self._job, self._take = engine, job, take
        self._book: Book | None = Book([job], keep, progress)

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Do all tasks; with the first ones, the job that is beside them."""
        book, self._book = self._book, None
        own: list[Task] = []
        if book is not None:
            for _, number, result in book.kept():
                self._take(number, result)
            own = book.todo
        with closing(self._engine.run([*own, *tasks])) as found:
            for task, result in found:
                if book is None or task.job is not self._job:
                    yield task, result
                    continue
                book.add(task, result)
                self._take(task.number, result)

    def finish(self) -> None:
        """Do the job now if nobody asked for any unit."""
        if self._book is not None:
            for _ in self.run(()):
                pass
