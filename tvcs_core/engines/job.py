"""Jobs, which consist of independent units of work, and the generator of their results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tvcs_core.engines.journal import Journal


@dataclass(frozen=True, eq=False)
class Job:
    """Units of work that share a state and can run in any order, anywhere.

    Attributes
    ----------
    name
        Name in messages and in the journal, such as ``"halves"``.
    unit
        ``unit(state, index)``, a pure function of a module: equal state and index give equal
        bytes. If results are journalled it returns a tuple of arrays.
    state
        Data shared by all units; pickled once for each worker.
    size
        Number of units; `index` runs from 0.
    facts
        Everything that the results depend on: names with values or hashes.
    memory
        Expected memory of a unit in bytes; 0 if unknown.
    """

    name: str
    unit: Callable[[Any, int], Any]
    state: Any
    size: int
    facts: Mapping[str, str] = field(default_factory=dict)
    memory: float = 0.0

    @property
    def identity(self) -> dict[str, str]:
        """All that tells its results from those of other jobs."""
        own = {"job": self.name, "number of units": str(self.size)}
        return own | {name: str(value) for name, value in self.facts.items()}


class Task(NamedTuple):
    """One unit of a job."""

    job: Job
    number: int

    def __str__(self) -> str:
        return f"unit {self.number + 1} of {self.job.size} of {self.job.name}"

    def done_here(self) -> Any:
        """Run the unit in this thread."""
        return self.job.unit(self.job.state, self.number)


class Engine(Protocol):
    """Runs tasks, several at a time."""

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Run all tasks; yield each with its result, in any order.

        The error of a unit ends the run and is raised. Closing the generator also ends the run.
        """
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: object) -> None: ...


def results(
    jobs: Sequence[Job],
    engine: Engine,
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
        Runs the units whose results are not in the journal.
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
    with closing(engine.run(job_progress.todo)) as found:
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
