"""Jobs, which consist of independent units of work, and the engines that run them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


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
        """All facts that distinguish its results from those of other jobs."""
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


class StatelessEngine:
    """The context of an engine that keeps no state between two runs."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass
