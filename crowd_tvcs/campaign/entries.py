"""What an operator brings to a campaign (workers, tasks, answers), and the rounds they get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tvcs_core.arguments import found, items_of, require_kind, require_number

if TYPE_CHECKING:
    from crowd_tvcs.skills.foresight import Foreseen
    from tvcs_core.files.tables import Table

MILLION = 1_000_000


@dataclass(frozen=True)
class Worker:
    """Someone who labels: most tasks (None for the campaign's cap), price of a label, team.

    Without a price a label costs nothing, and there can be no limit of money.
    """

    name: str
    max_tasks: int | None = None
    cost: float | None = None
    team: str | None = None

    def __post_init__(self) -> None:
        require_kind("name of a worker", self.name, str)
        require_kind("team of a worker", self.team, str, or_none=True)
        _require_number(self, "max_tasks", whole=True)
        _require_number(self, "cost")


@dataclass(frozen=True)
class Task:
    """What is to be labelled: chance of the second class, least and most workers, or None.

    With a `kind` where the qualities are of workers on kinds of tasks.
    """

    name: str
    prior: float | None = None
    min_workers: int = 0
    max_workers: int | None = None
    kind: str | None = None

    def __post_init__(self) -> None:
        require_kind("name of a task", self.name, str)
        require_kind("kind of a task", self.kind, str, or_none=True)
        _require_number(self, "min_workers", whole=True, or_none=False)
        _require_number(self, "max_workers", whole=True)
        _require_number(self, "prior")


@dataclass(frozen=True)
class Line:
    """One answer, and where it stood in which file, if in one.

    `when` it was given, in seconds since 1970, and how many `seconds` it took, if that is known.
    """

    task: str
    worker: str
    label: str
    table: Table | None = None
    row: int = 0
    when: float | None = None
    seconds: float | None = None

    def error(self, what: str) -> ValueError:
        """Make an error that names the place."""
        return ValueError(what) if self.table is None else self.table.error(what, self.row)


@dataclass(frozen=True)
class Round:
    """A round that was issued.

    Attributes
    ----------
    number
        From 1.
    pairs
        New (worker, task), sorted.
    method, reason
        How the plan was made, and why it ended.
    expected_accuracy
        Mean over all tasks, once what is out is answered.
    bound
        No plan for this round has a larger one; None if none is proved.
    left_out
        Pairs that were planned and not worth their price.
    standard_error
        Of `expected_accuracy`: 0 unless large teams of more than two classes were sampled.
    foreseen
        What gold foresees then, with an interval; None where it says nothing.
    """

    number: int
    pairs: list[tuple[str, str]]
    method: str
    reason: str
    expected_accuracy: float
    bound: float | None
    left_out: int
    standard_error: float = 0.0
    foreseen: Foreseen | None = None


def _require_number(
    one: Worker | Task, field: str, *, whole: bool = False, or_none: bool = True
) -> None:
    """Refuse what is no number, or below 0."""
    value = getattr(one, field)
    if not (or_none and value is None):
        name = f"{field} of {type(one).__name__.lower()} {one.name!r}"
        require_number(name, value, whole=whole, least=0)


def workers_of(given: Iterable[str | Worker]) -> list[Worker]:
    """Return workers, of whom some may be given by name alone."""
    named = items_of("workers", given)
    return [one if isinstance(one, Worker) else Worker(one) for one in named]


def tasks_of(given: Iterable[str | Task]) -> list[Task]:
    """Return tasks, of which some may be given by name alone."""
    return [one if isinstance(one, Task) else Task(one) for one in items_of("tasks", given)]


def lines_of(name: str, given: Iterable[Line | tuple[str, str, str]]) -> list[Line]:
    """Return answers, each a `Line` or (task, worker, label)."""
    out = []
    for one in items_of(name, given):
        if not (isinstance(one, Line) or (isinstance(one, tuple | list) and len(one) == 3)):
            raise TypeError(f"{name} must be lines or (task, worker, label), found {found(one)}")
        out.append(one if isinstance(one, Line) else Line(*one))
    return out


def gold_of(given: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return gold labels, none if there are none."""
    require_kind("gold", given, Mapping, or_none=True)
    return given or {}


def require_different(kind: str, names: Iterable[str]) -> list[str]:
    """Refuse names that are empty or there twice; give them sorted."""
    out = sorted(names)
    for a, b in pairwise(out):
        if a == b:
            raise ValueError(f"every {kind} must be there once, found {a!r} twice")
    if "" in out:
        raise ValueError(f"every {kind} must have a name, found an empty one")
    return out
