"""An engine that runs a second job in the queue of the first, so that no worker idles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tvcs_core.engines.adapters import as_engine
from tvcs_core.engines.job import Job, Task
from tvcs_core.engines.results import JobProgress


class PiggybackEngine:
    """An engine that adds the units of its own job to the first run that is requested.

    The units of that job come first in the queue, so it should be the job with the longer units.
    Call `finish` at the end, in case no run was requested.

    Parameters
    ----------
    engine
        Runs the units of both jobs, as in `results`. The caller enters and leaves it.
    job
        The additional job; it must not be among the requested ones.
    take
        Called with the number and the result of every unit of `job`.
    checkpoint_dir, progress
        As in `results`.
    """

    def __init__(
        self,
        engine: Any,
        job: Job,
        take: Callable[[int, Any], None],
        *,
        checkpoint_dir: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._engine, self._job, self._take = as_engine(engine), job, take
        self._progress = JobProgress([job], checkpoint_dir, progress)
        self._left: list[Task] | None = None  # open units of the job; None before the first run

    def __enter__(self) -> PiggybackEngine:  # the protocol of engines; only `finish` ends the job
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks; the first call also runs the additional job."""
        own, self._left = self._todo(), []
        try:
            with closing(self._engine.run([*own, *tasks])) as found:
                for task, result in found:
                    if task.job is not self._job:
                        yield task, result
                        continue
                    self._progress.add(task, result)
                    self._take(task.number, result)
                    own = [other for other in own if other.number != task.number]
        finally:
            self._left += own  # if the run was ended early

    def finish(self) -> None:
        """Run the remaining units of the job: all of them if no run was requested."""
        self._left = self._todo()
        if self._left:
            for _ in self.run(()):
                pass

    def _todo(self) -> list[Task]:
        if self._left is not None:
            return self._left
        for _, number, result in self._progress.stored():
            self._take(number, result)
        return list(self._progress.todo)
