"""What `crowd-tvcs assign` and `what-if` are told about the plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvcs_core.command.shell import say

if TYPE_CHECKING:
    from crowd_tvcs.plan.plan import Plan

Classes = Annotated[
    int | None,
    typer.Option(metavar="K", help="Classes a task may have. Default: 2, or those of --confusion."),
]
ClassPrior = Annotated[
    str | None,
    typer.Option(
        metavar="P,P,...",
        help="Chance of every class, or a classes.csv of crowd-tvcs quality. Default: equal.",
    ),
]
Confusion = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Confusion matrices: columns worker, label (the true one), answer, chance. Used in "
        "place of the qualities.",
    ),
]

Money = Annotated[
    float | None,
    typer.Option(
        metavar="X", help="Most money for all answers, in the unit of the column cost of --workers."
    ),
]


@dataclass(frozen=True)
class PlanOptions:
    """Caps, tables, classes and money of the command line; not the budget and the plain prior."""

    max_workers_per_task: int | None
    max_tasks_per_worker: int | None
    workers: Path | None
    tasks: Path | None
    forced: Path | None
    forbidden: Path | None
    classes: int | None
    class_prior: list[float] | None
    confusion: Path | None
    money: float | None

    def read(self, quality: Path, budget: int | None, prior: float) -> tuple[Plan, str]:
        """Read all tables; the plan, and how the quality table was understood."""
        from crowd_tvcs.answers.quality import read_quality
        from crowd_tvcs.plan.tables import read_plan

        read = read_quality(quality)
        say(f"{quality}: {read.layout}")
        return read_plan(read.quality, budget=budget, prior=prior, **vars(self)), read.layout

    def files(self) -> list[Path]:
        """The tables that were given."""
        return [value for value in vars(self).values() if isinstance(value, Path)]

    def options(self) -> dict[str, Any]:
        """The options for the record, files by their names."""
        return {k: v.name if isinstance(v, Path) else v for k, v in vars(self).items()}

    def class_names(self, plan: Plan) -> list[str]:
        """The names of the table of confusion matrices; without one the numbers from 0."""
        from crowd_tvcs.answers.confusion import read_confusion

        if self.confusion is None:
            return [str(k) for k in range(plan.n_classes)]
        return list(read_confusion(self.confusion, plan.quality.workers)[0])


def chances(given: str | None, confusion: Path | None = None) -> list[float] | None:
    """Read numbers with commas between, or the shares of a file, in the order of the classes."""
    if given is not None and Path(given).is_file():
        from crowd_tvcs.answers.class_shares import read_shares

        shares = read_shares(given)
        return [shares[name] for name in (shares if confusion is None else sorted(shares))]
    try:
        return None if given is None else [float(word) for word in given.split(",")]
    except ValueError:
        raise ValueError(
            f"--class-prior must be numbers with commas between, or a file, found {given!r}"
        ) from None
