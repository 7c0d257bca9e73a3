"""Work that is cut into units, and the one way to have all its results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tvcs_core.engines.journal import Journal


@dataclass(frozen=True, eq=False)
class Job:
    """Units of work that share a state and can be done in any order, anywhere.

    Attributes
    ----------
    name
        What messages and the journal call it, as ``"halves"``.
    unit
        ``unit(state, index)``, a pure function that a module holds: an equal state and index give
        equal bytes. Where results are kept in a journal it returns a tuple of arrays.
    state
        What all units share; it is pickled once for each worker.
    size
        Number of units; `index` runs from 0.
    facts
        All that the results depend on, each a word that names it and its value or a hash of it.
    memory
        Bytes that a unit is expected to need; 0 where that is not known.
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
        """Do it in this thread."""
        return self.job.unit(self.job.state, self.number)


class Engine(Protocol):
    """Something that does tasks, several at a time."""

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Do all tasks; hand over each with its result, in any order.

        What a unit raises ends the run and is raised. Closing the iterator ends the run too.
        """
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: object) -> None: ...


def results(
    jobs: Sequence[Job],
    engine: Engine,
    *,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[tuple[Job, int, Any], None, None]:
    """Yield each job, index and result of all units of all jobs, in any order.

    Close it (`contextlib.closing`) where you may stop before its end.

    Parameters
    ----------
    jobs
        They share one queue, the first ones first; their names differ.
    engine
        Who does the units that are not there yet.
    keep
        A folder for the journal: every result is kept in it before it is handed over, and what is
        there already is not done again, whoever did it.
    progress
        Told how many units are done, and of how many; at first where some were there already.

    Raises
    ------
    DataError
        If the journal is of other jobs.
    """
    book = Book(jobs, keep, progress)
    yield from book.kept()
    with closing(engine.run(book.todo)) as found:
        for task, result in found:
            book.add(task, result)
            yield task.job, task.number, result


class Book:
    """What is done of some jobs: kept in their journals and told to `progress`; as `results` says.

    Attributes
    ----------
    todo
        What is left, once `kept` has been asked.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        keep: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._jobs, self._progress = jobs, progress
        self._journals = (
            {} if keep is None else {job: Journal(keep / job.name, job.identity) for job in jobs}
        )
        self._done, self._total = 0, sum(job.size for job in jobs)
        self.todo: list[Task] = []

    def kept(self) -> Iterator[tuple[Job, int, Any]]:
        """Yield what the journals hold; ask once, to the end."""
        for job in self._jobs:
            for index in range(job.size):
                kept = self._journals[job].read(index) if self._journals else None
                if kept is None:
                    self.todo.append(Task(job, index))
                    continue
                self._done += 1
                yield job, index, kept
        if self._done:
            self._tell()

    def add(self, task: Task, result: Any) -> None:
        """Keep a result and tell that there is one more."""
        if self._journals:
            self._journals[task.job].write(task.number, result)
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)
