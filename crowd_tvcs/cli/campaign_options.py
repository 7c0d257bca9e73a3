"""What the commands of `crowd-tvcs campaign` share: the store, its errors, and what gold says."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from crowd_tvcs.cli.answers import say_dependence
from tvcs_core.command.results import print_table
from tvcs_core.command.shell import FAILED, exit_with_error, guarded, print_message, print_text
from tvcs_core.files.errors import DataError
from tvcs_core.files.extras import to_install

if TYPE_CHECKING:
    from crowd_tvcs.campaign import Campaign, State
    from crowd_tvcs.campaign.honesty import OnGold

P = ParamSpec("P")
R = TypeVar("R")

StoreName = Annotated[
    str,
    typer.Argument(metavar="STORE", help="SQLite file, or postgresql://USER@HOST/DATABASE."),
]
QualityFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Quality of the workers (worker, quality), or of the pairs, as for assign.",
    ),
]
KindsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Quality of the workers on kinds of tasks, as for assign; --tasks says the kind of "
        "every task.",
    ),
]
GoldFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Known labels: columns task, label.")
]
AnswersFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Answers to gold tasks: columns task, worker, label."),
]
WorkersFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Columns worker and any of max_tasks, cost (of a label), group."
    ),
]
TasksFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Columns task and any of prior, min_workers, max_workers; and kind, with --kinds.",
    ),
]
LeastGain = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        help="Least that a label must add to the chance that its task is labelled rightly. "
        "Default: as at init.",
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write there, not to standard output."),
]


def stored(command: Callable[P, R]) -> Callable[P, R]:
    """Guard a command that uses a store: what the store could not do is exit code 1."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if find_spec("sqlalchemy") is None:
            exit_with_error(f"error: campaigns need SQLAlchemy: {to_install('campaign')}", FAILED)
        from crowd_tvcs.campaign.store.errors import StoreError

        try:
            return command(*args, **kwargs)
        except StoreError as error:
            exit_with_error(f"error: {error}", FAILED)

    return guarded(wrapper)


def open_campaign(store: str, out: Path | None = None) -> Campaign:
    """Open the store of a campaign, which a command is not to write its results `out` over."""
    from crowd_tvcs.campaign import Campaign

    there = os.path.exists  # of a name too long too
    if out is not None and there(out) and there(store) and out.samefile(store):
        raise DataError("is the store of the campaign, which is not written over", path=out)
    return Campaign(store)


def say_model(campaign: Campaign) -> None:
    """Say what answers are worth together, where claims part, and from where a task is sure."""
    state = campaign.state()
    if state.model is not None:
        say_dependence(state.model)
        if line := said_of_target(state):
            print_message(line)


def said_of_target(state: State) -> str:
    """Say from which confidence on gold shows that the target is reached; '' without a target."""
    from crowd_tvcs.skills.reliability import MIN_CONFIDENT_GOLD

    target, at = state.settings.target, state.settings.sure_at
    if state.model is None or target >= 1.0:
        return ""
    if at is None:
        return (
            f"target {target:g}: no gold shows that it is reached; the confidence is taken for it"
        )
    if at >= 1.0:
        return (
            f"target {target:g}: the gold tasks cannot confirm this target (at least "
            f"{MIN_CONFIDENT_GOLD} high-confidence gold tasks are needed), so no task is "
            "considered finished"
        )
    if at > target:
        return f"target {target:g}: by the gold a task is sure from a confidence of {at:.3f}"
    return f"target {target:g}: a task is sure from this confidence"


def said_of_interval(foreseen: dict[str, Any] | None) -> str:
    """Say where the expected accuracy of the labels lies; '' where no gold was measured."""
    if foreseen is None:
        return ""
    return (
        f"  with chance .95 from {foreseen['low']:.3f} to {foreseen['high']:.3f}, "
        f"by {foreseen['gold_tasks']} gold tasks"
    )


def as_dict(gold: OnGold | None) -> dict[str, Any] | None:
    """Return what is claimed and reached on gold for JSON."""
    if gold is None:
        return None
    return {
        "by_labels": [asdict(one) for one in gold.by_labels],
        "by_confidence": [asdict(one) for one in gold.by_confidence],
        "warnings": gold.warnings,
    }


def print_on_gold(state: State, gold: OnGold | None) -> None:
    """Print claims beside what is reached on gold, by labels and by confidence, and warnings."""
    from crowd_tvcs.skills.dependence import describe_dependence

    if state.model is not None:
        print_text(describe_dependence(state.model))
        if line := said_of_target(state):
            print_text(line)
    if gold is None:
        return
    columns = {
        "on gold": "<20", "claimed": ">9.3f", "reached": ">9.3f", "from": ">8.3f", "to": ">8.3f",
        "tasks": ">7",
    }  # fmt: skip
    parts = [(f"{'all' if c.labels is None else c.labels} labels", c) for c in gold.by_labels]
    parts += [("by confidence", c) for c in gold.by_confidence]
    print_text()
    print_table(columns, [(s, c.claimed, c.reached, c.low, c.high, c.tasks) for s, c in parts])
    for line in gold.warnings:
        print_text(line)
