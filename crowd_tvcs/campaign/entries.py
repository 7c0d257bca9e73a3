"""What an operator brings to a campaign (workers, tasks, answers), and the rounds they get."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

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


def require_different(kind: str, names: Iterable[str]) -> list[str]:
    """Refuse names that are empty or there twice; give them sorted."""
    out = sorted(names)
    for a, b in pairwise(out):
        if a == b:
            raise ValueError(f"every {kind} must be there once, found {a!r} twice")
    if "" in out:
        raise ValueError(f"every {kind} must have a name, found an empty one")
    return out
