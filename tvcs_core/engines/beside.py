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
        self._book = Book([job], keep, progress)
        self._left: list[Task] | None = None  # units that nobody was asked for; None at first

    def __enter__(self) -> Beside:  # as engines have it: what is beside needs no end but `finish`
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Do all tasks; with the first ones, the job that is beside them."""
        own, self._left = self._todo(), []
        try:
            with closing(self._engine.run([*own, *tasks])) as found:
                for task, result in found:
                    if task.job is not self._job:
                        yield task, result
                        continue
                    self._book.add(task, result)
                    self._take(task.number, result)
                    own = [other for other in own if other.number != task.number]
        finally:
            self._left += own  # of a run that was ended early

    def finish(self) -> None:
        """Do what is left of the job, all of it if nobody asked for any unit."""
        self._left = self._todo()
        if self._left:
            for _ in self.run(()):
                pass

    def _todo(self) -> list[Task]:
        if self._left is not None:
            return self._left
        for _, number, result in self._book.kept():
            self._take(number, result)
        return list(self._book.todo)
