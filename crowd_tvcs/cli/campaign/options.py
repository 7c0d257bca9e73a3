"""Options and helpers that the commands of `crowd-tvcs campaign` share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from crowd_tvcs.cli.answers import print_dependence, share_option
from tvcs_core.command.results import print_table
from tvcs_core.command.shell import FAILED, exit_with_error, guarded, print_message, print_text
from tvcs_core.files.display import plural
from tvcs_core.files.errors import DataError
from tvcs_core.files.extras import to_install

if TYPE_CHECKING:
    from crowd_tvcs.campaign import Campaign, State
    from crowd_tvcs.campaign.gold_calibration import GoldCalibration

P = ParamSpec("P")
R = TypeVar("R")

StoreName = Annotated[
    str, typer.Argument(metavar="STORE", help="SQLite file, or postgresql://USER@HOST/DATABASE.")
]
MinGain = Annotated[
    float | None,
    share_option(
        "Minimum gain of a label in the probability that its task is labelled "
        "correctly. Default: as at init."
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="File to write instead of standard output."),
]


def stored(command: Callable[P, R]) -> Callable[P, R]:
    """Guard a command that uses a store; a failure of the store gives exit code 1."""

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
    """Open the store of a campaign, unless the output file is the store itself."""
    from crowd_tvcs.campaign import Campaign

    there = os.path.exists  # of a name too long too
    if out is not None and there(out) and there(store) and out.samefile(store):
        raise DataError("is the store of the campaign, which is not written over", path=out)
    return Campaign(store)


def pair_rows(
    campaign: Campaign, pairs: Iterable[tuple[str, str]]
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of (worker, task); of comparisons with the sides that are shown."""
    from crowd_tvcs.campaign.answer_kinds.kind import Preference, kind_of

    with campaign.store.read() as (_, settings):
        kind = kind_of(settings)
    if isinstance(kind, Preference):
        rows = [[w, t, *kind.sides(t, w)] for w, t in pairs]
        return ["worker", "task", "left", "right"], rows
    return ["worker", "task"], [[w, t] for w, t in pairs]


def print_model(campaign: Campaign) -> None:
    """Print the dependence of errors, calibration warnings and the confidence threshold."""
    state = campaign.state()
    if state.model is not None:
        print_dependence(state.model)
        if line := describe_target(state):
            print_message(line)


def describe_target(state: State, asked: float | None = None) -> str:
    """Describe the confidence threshold for the target, or for another; '' without a target."""
    from crowd_tvcs.campaign.gold_calibration import calibrate_on_gold, gold_sample_doubt
    from crowd_tvcs.skills.reliability import describe_evidence

    target, at = state.settings.target, state.settings.confidence_threshold
    if asked is not None:
        target, at = asked, None
    if state.model is None or target >= 1.0:
        return ""
    if doubt := gold_sample_doubt(state):
        return f"target {target:g}: not shown, as {doubt}"
    gold = None if asked is None and at is not None and at < 1.0 else calibrate_on_gold(state)
    if asked is not None and gold is not None:
        at = gold.confidence_threshold(target)
    if at is None:
        return (
            f"target {target:g}: not checked, since nobody has answered gold; the confidence counts"
        )
    if at >= 1.0:
        found = None if gold is None else gold.target_evidence(target)
        return describe_evidence(found, target)
    if at > target:
        return f"target {target:g}: by the gold tasks a confidence of {at:.3f} is needed"
    return f"target {target:g}: by the gold tasks this confidence is enough"


def describe_interval(forecast: dict[str, Any] | None) -> str:
    """Describe the interval of the expected accuracy; '' without gold."""
    if forecast is None:
        return ""
    return (
        f"  (95 % interval {forecast['low']:.3f} to {forecast['high']:.3f}, from "
        f"{plural(forecast['gold_tasks'], 'gold task')})"
    )


def as_dict(gold: GoldCalibration | None) -> dict[str, Any] | None:
    """Return the calibration on gold for JSON."""
    if gold is None:
        return None
    return {
        "by_labels": [asdict(one) for one in gold.by_labels],
        "by_confidence": [asdict(one) for one in gold.by_confidence],
        "warnings": gold.warnings,
    }


def print_gold_calibration(state: State, gold: GoldCalibration | None) -> None:
    """Print the calibration on gold, by labels and by confidence, with warnings."""
    from crowd_tvcs.skills.dependence import describe_dependence

    if state.model is not None:
        print_text(describe_dependence(state.model))
        if line := describe_target(state):
            print_text(line)
    if gold is None:
        return
    columns = {
        "gold tasks": "<20", "confidence": ">11.3f", "accuracy": ">9.3f", "low": ">8.3f",
        "high": ">8.3f", "tasks": ">7",
    }  # fmt: skip
    parts = [(c.labels_text, c) for c in gold.by_labels]
    parts += [("by confidence", c) for c in gold.by_confidence]
    print_text()
    print_table(
        columns, [(s, c.mean_confidence, c.accuracy, c.low, c.high, c.tasks) for s, c in parts]
    )
    for line in gold.warnings:
        print_text(line)
