"""The results of jobs: run by an engine, stored in a journal, reported as they come."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tvcs_core.engines.adapters import as_engine
from tvcs_core.engines.job import Job, Task
from tvcs_core.engines.journal import Journal


def results(
    jobs: Sequence[Job],
    engine: Any,
    *,
    checkpoint_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[tuple[Job, int, Any], None, None]:
    """Yield job, index and result of every unit of all jobs, in any order.

    Close the generator (`contextlib.closing`) if you may stop early.

    Parameters
    ----------
    jobs
        Jobs with different names. They share one queue, in this order.
    engine
        Runs the units whose results are not in the journal: an engine, or a pool that
        `tvcs_core.engines.as_engine` takes.
    checkpoint_dir
        Folder of the journal. Every result is stored in it before it is yielded, and a stored
        result is not computed again.
    progress
        Called with the numbers of finished and of all units; first with the stored ones, if any.

    Raises
    ------
    DataError
        If the journal belongs to other jobs.
    """
    job_progress = JobProgress(jobs, checkpoint_dir, progress)
    yield from job_progress.stored()
    with closing(as_engine(engine).run(job_progress.todo)) as found:
        for task, result in found:
            job_progress.add(task, result)
            yield task.job, task.number, result


class JobProgress:
    """The finished units of some jobs: stored in their journals and reported to `progress`.

    Attributes
    ----------
    todo
        Units to run; complete once `stored` is exhausted.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        checkpoint_dir: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._jobs, self._progress = jobs, progress
        self._journals = (
            {}
            if checkpoint_dir is None
            else {job: Journal(checkpoint_dir / job.name, job.identity) for job in jobs}
        )
        self._done, self._total = 0, sum(job.size for job in jobs)
        self.todo: list[Task] = []

    def stored(self) -> Iterator[tuple[Job, int, Any]]:
        """Yield the results in the journals; call once and exhaust it."""
        for job in self._jobs:
            for index in range(job.size):
                result = self._journals[job].read(index) if self._journals else None
                if result is None:
                    self.todo.append(Task(job, index))
                    continue
                self._done += 1
                yield job, index, result
        if self._done:
            self._report()

    def add(self, task: Task, result: Any) -> None:
        """Store a result and report the progress."""
        if self._journals:
            self._journals[task.job].write(task.number, result)
        self._done += 1
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)
