"""The commands `crowd-tvcs campaign status` and `review`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from crowd_tvcs.cli.answers import money_option, share_option
from crowd_tvcs.cli.campaign.options import (
    MinGain,
    StoreName,
    as_dict,
    describe_interval,
    describe_target,
    open_campaign,
    print_gold_calibration,
    stored,
)
from crowd_tvcs.cli.options import AsJson
from tvcs_core.arguments import Help, check_number
from tvcs_core.command.options import number_option, with_options
from tvcs_core.command.results import print_json, print_table
from tvcs_core.command.shell import print_message, print_text
from tvcs_core.files.display import unquoted, visible

if TYPE_CHECKING:
    from crowd_tvcs.campaign import TaskStatus

STATUS_ROWS = {
    "workers": "workers",
    "tasks": "tasks",
    "answers": "answers",
    "pending": "pending answers",
    "budget": "budget of labels",
    "left": "labels left",
    "money": "money",
    "spent": "spent",
    "committed": "spent or pending",
    "expected_accuracy": "expected accuracy",
    "unlabelled": "tasks unlabelled",
    "measured": "accuracy on gold",
    "measured_on": "gold tasks labelled",
    "stopped": "tasks finished",
    "confidence_threshold": "confidence needed",
    "min_gain": "least gain a label",
    "model": "worker errors",
    "rounds": "rounds",
    "paused": "paused",
    "blocked": "workers blocked",
}
IF_ANY = ("measured_on", "paused", "blocked")


@stored
def status(
    store: StoreName,
    as_json: AsJson = False,
    rows: Annotated[int, number_option("Number of the least confident tasks to print.")] = 10,
) -> None:
    """Print the status of the campaign and its least confident tasks; with --json, all tasks."""
    from crowd_tvcs.answers import class_prevalence
    from crowd_tvcs.campaign import summary, task_statuses
    from crowd_tvcs.campaign.answer_kinds.votes import vote_by_kind
    from crowd_tvcs.campaign.desk.tables import describe_unlabelled
    from crowd_tvcs.campaign.gold_calibration import calibrate_on_gold
    from crowd_tvcs.campaign.stopping import least_confident

    check_number("--rows", rows, least=0)
    with open_campaign(store) as campaign:
        state = campaign.state()
    votes = vote_by_kind(state)
    standings = task_statuses(state, votes=votes)
    facts, gold = summary(state, standings), calibrate_on_gold(state) if votes is None else None
    sentences = [] if votes is None else votes.sentences
    if as_json:
        each = [_standing(one) for one in standings]
        print_json({**facts, "gold": as_dict(gold), "sentences": sentences, "task": each})
        return
    for name, title in STATUS_ROWS.items():
        value = facts[name]
        if value is not None and (value or name not in IF_ANY):
            shown = f"{value:.4f}" if isinstance(value, float) else str(value)
            interval = describe_interval(facts["forecast"]) if name == "expected_accuracy" else ""
            print_text(f"{title:<20}{shown:>12}{interval}")
    for name, number in facts["verdicts"].items():
        print_text(f"{'tasks ' + name:<20}{number:>12}")
    if votes is None:
        prior = facts["class_prior"]
        shown = class_prevalence.format_prevalence(list(prior), list(prior.values()))
        print_text(f"{'class prior':<20}{shown:>12}")
        print_gold_calibration(state, gold)
    for sentence in sentences:
        print_text(sentence)
    _print_standings(least_confident(standings, rows))
    print_message(*describe_unlabelled(facts["unlabelled"], facts["tasks"]))


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """The options of ``crowd-tvcs campaign review``."""

    store: StoreName
    min_gain: MinGain = None
    target: Annotated[
        float | None,
        share_option("Required share of right labels among confident ones. Default: as at init."),
    ] = None
    value: Annotated[
        float | None,
        money_option(
            "Value of a right label, in money: a label must add at least its cost.", is_plain=True
        ),
    ] = None
    close: Annotated[bool, Help("Close the tasks for which another label is not worth it.")] = False
    as_json: AsJson = False


@stored
@with_options
def review(given: ReviewOptions) -> None:
    """List the tasks that need no further label.

    gain is the largest increase of the probability of a right label, per label. Up to five labels
    are looked ahead, since one alone often adds nothing. A task is confident if gold tasks of its
    confidence are right as often as --target asks; if gold cannot show this, no task is.
    """
    with open_campaign(given.store) as campaign:
        found = campaign.review_tasks(
            min_gain=given.min_gain, value=given.value, target=given.target, close=given.close
        )
        if line := describe_target(campaign.state(), given.target):
            print_message(line)
    if given.as_json:
        print_json([_standing(one) for one in found])
        return
    _print_standings(found)
    ended = sum(one.stops for one in found)
    print_message(f"{ended} of {len(found)} tasks need no further label, or can have none")


def _standing(one: TaskStatus) -> dict[str, Any]:
    return {**vars(one), "stops": one.stops}


def _print_standings(found: list[TaskStatus]) -> None:
    columns = {
        "label": "<12", "confidence": ">11.4f", "answers": ">9", "pending": ">9", "gain": ">9.5f",
        " ": "<2", "verdict": "<14", "task": "<",
    }  # fmt: skip
    rows = []
    for one in found:
        confidence = "-" if one.confidence is None else one.confidence
        counts = [one.answers, one.pending, one.gain, "", one.verdict]
        rows.append([visible(one.label or "-")[:11], confidence, *counts, unquoted(one.task)])
    print()
    print_table(columns, rows)
