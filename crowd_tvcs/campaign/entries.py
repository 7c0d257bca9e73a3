"""The inputs of an operator (workers, tasks, answers); rounds, and the status of a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from crowd_tvcs.answers.rows import COST_RANGE
from crowd_tvcs.campaign.settings import check_name, check_range, check_text, count_of
from tvcs_core.arguments import by_label, check_number, check_type, describe_value, items_of

if TYPE_CHECKING:
    from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast
    from tvcs_core.files.tables import Table

WORTH, WAITING = "worth a label", "waiting"


@dataclass(frozen=True)
class Worker:
    """A worker: maximum number of tasks (None for the campaign's cap), price of a label, team.

    Without a price a label costs nothing, and there can be no limit of money.
    """

    name: str
    max_tasks: int | None = None
    cost: float | None = None
    team: str | None = None

    def __post_init__(self) -> None:
        check_name("name of a worker", self.name)
        check_text("team of a worker", self.team, or_none=True)
        count_of(f"max_tasks of worker {self.name!r}", self.max_tasks)
        if self.cost is not None:
            check_number(f"cost of worker {self.name!r}", self.cost, least=0)
            if self.cost >= COST_RANGE[1]:
                raise ValueError(
                    f"cost of worker {self.name!r} must be from 0 to below {COST_RANGE[1]:.0f}, "
                    f"found {self.cost}"
                )


@dataclass(frozen=True)
class Task:
    """A task to label: probability of the second class, minimum and maximum workers, or None.

    It has a `kind` if qualities are those of workers on kinds of tasks.
    """

    name: str
    prior: float | None = None
    min_workers: int = 0
    max_workers: int | None = None
    kind: str | None = None

    def __post_init__(self) -> None:
        check_name("name of a task", self.name)
        check_text("kind of a task", self.kind, or_none=True)
        check_number(f"min_workers of task {self.name!r}", self.min_workers, whole=True, least=0)
        count_of(f"max_workers of task {self.name!r}", self.max_workers)
        if self.prior is not None:
            check_range(f"prior of task {self.name!r}", self.prior, 0.0, 1.0)


@dataclass(frozen=True)
class AnswerRecord:
    """An answer, and its position in a file, if it came from one.

    `when` it was given, in seconds since 1970, and how many `seconds` it took, if that is known; of
    two items, which was on the `left`.
    """

    task: str
    worker: str
    label: str
    table: Table | None = None
    row: int = 0
    when: float | None = None
    seconds: float | None = None
    left: str | None = None

    def __post_init__(self) -> None:
        for field in ("task", "worker", "label"):
            check_text(f"{field} of an answer", getattr(self, field))
        for field in ("when", "seconds"):
            value = getattr(self, field)
            if value is not None:
                check_number(f"{field} of an answer", value)
                if not 0.0 < value <= 1e12:  # nor where it is nan
                    raise ValueError(
                        f"{field} of an answer must be above 0 and at most 1e12, found {value}"
                    )

    def error(self, what: str) -> ValueError:
        """Make an error that names the place."""
        return ValueError(what) if self.table is None else self.table.error(what, self.row)


@dataclass(frozen=True)
class Round:
    """A round that was planned, and issued unless it is empty.

    Attributes
    ----------
    number
        From 1; 0 if no label is worth asking, so that nothing was issued.
    pairs
        New (worker, task), sorted.
    method, reason
        How the plan was made, and why it ended.
    expected_accuracy
        Mean over all tasks, after the answers to all pending pairs.
    bound
        No plan for this round has a larger one; None if none is proved.
    left_out
        Number of planned pairs that were not worth their price.
    standard_error
        Of `expected_accuracy`: 0 unless large teams of more than two classes were sampled.
    forecast
        Predicted accuracy by gold, with an interval; None without.
    """

    number: int
    pairs: list[tuple[str, str]]
    method: str
    reason: str
    expected_accuracy: float
    bound: float | None
    left_out: int
    standard_error: float = 0.0
    forecast: AccuracyForecast | None = None


@dataclass(frozen=True)
class TaskStatus:
    """The status of a task.

    Attributes
    ----------
    task, label
        Names of the task and of its most probable label; None without a label, see
        `crowd_tvcs.campaign.tasks.has_label`.
    confidence
        Posterior probability of that label; None without.
    answers, pending
        Numbers of answers and of pending answers.
    gain
        Largest gain in expected accuracy per label by the next labels, without the pending ones. At
        most five labels are looked ahead, and no more than the task has room and workers for.
    verdict
        ``"worth a label"``, ``"waiting"`` (for pending answers), or the reason for no more labels:
        ``"confident"``, ``"settled"`` (by the operator), ``"closed"``, ``"full"``,
        ``"nobody left"``, ``"not worth it"``.
    """

    task: str
    label: str | None
    confidence: float | None
    answers: int
    pending: int
    gain: float
    verdict: str

    @property
    def stops(self) -> bool:
        """Whether the task needs no further label, or can have none."""
        return self.verdict not in (WORTH, WAITING)


def workers_of(given: Iterable[str | Worker]) -> list[Worker]:
    """Return workers, of whom some may be given by name alone."""
    return [one if isinstance(one, Worker) else Worker(one) for one in items_of("workers", given)]


def tasks_of(given: Iterable[str | Task]) -> list[Task]:
    """Return tasks, of which some may be given by name alone."""
    return [one if isinstance(one, Task) else Task(one) for one in items_of("tasks", given)]


def parse_answers(
    name: str, given: Iterable[AnswerRecord | tuple[str, str, str]]
) -> list[AnswerRecord]:
    """Return answers, each a `AnswerRecord` or (task, worker, label), of every pair one."""
    out, pairs = [], set()
    for one in items_of(name, given, "answers"):
        if not (isinstance(one, AnswerRecord) or (isinstance(one, tuple | list) and len(one) == 3)):
            raise TypeError(
                f"{name} must be lines or (task, worker, label), found {describe_value(one)}"
            )
        line = one if isinstance(one, AnswerRecord) else AnswerRecord(*one)
        if (line.worker, line.task) in pairs:
            raise line.error(f"worker {line.worker!r} answers task {line.task!r} twice")
        pairs.add((line.worker, line.task))
        out.append(line)
    return out


def gold_of(given: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return gold labels, none if there are none."""
    labels = by_label("gold", given)
    if labels is None:
        check_type("gold", given, Mapping, or_none=True)
    for name in labels or {}:
        check_name("task of gold", name)
    return labels or {}


def check_different(kind: str, names: Iterable[str]) -> list[str]:
    """Refuse names that are there twice; give them sorted."""
    out = sorted(names)
    for a, b in pairwise(out):
        if a == b:
            raise ValueError(f"every {kind} must be there once, found {a!r} twice")
    return out
