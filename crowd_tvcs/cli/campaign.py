"""The command `crowd-tvcs campaign`: rounds, answers and status."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowd_tvcs.cli.answers import Duplicates, LeaveOut, money, share
from crowd_tvcs.cli.campaign_init import init
from crowd_tvcs.cli.campaign_options import (
    AnswersFile,
    GoldFile,
    KindsFile,
    MinGain,
    OutFile,
    QualityFile,
    StoreName,
    TasksFile,
    WorkersFile,
    as_dict,
    describe_interval,
    describe_target,
    open_campaign,
    pair_rows,
    print_gold_calibration,
    print_model,
    stored,
)
from crowd_tvcs.cli.desk import actions, results
from crowd_tvcs.cli.desk.change import change
from crowd_tvcs.cli.options import AsJson
from crowd_tvcs.methods import METHODS
from crowd_tvcs.plan.proof import statement
from tvcs_core.arguments import check_number
from tvcs_core.command.help import Program
from tvcs_core.command.options import with_options
from tvcs_core.command.results import print_json, print_table, write_rows
from tvcs_core.command.shell import print_message, print_text
from tvcs_core.files.display import joined, quoted, unquoted, visible
from tvcs_core.files.errors import DataError

if TYPE_CHECKING:
    from crowd_tvcs.campaign import Campaign, TaskStatus

app = Program(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run a campaign: collect labels until they are good enough.",
)

app.command()(init)
NOT_SHOWN = (
    "answer_kind",
    "classes",
    "class_prior",
    "verdicts",
    "revision",
    "dependence",
    "forecast",
)
IF_ANY = ("paused", "blocked")


@dataclass(frozen=True, kw_only=True)
class RoundOptions:
    """The options of ``crowd-tvcs campaign plan`` and ``replan``."""

    store: StoreName
    labels: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Maximum number of labels in this round. Default: all that are left."
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(help=f"As for assign: {', '.join(METHODS)}. Default: best."),
    ] = None
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Return the best plan found within SECONDS.")
    ] = 60.0
    min_gain: MinGain = None
    max_per_side: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Of comparisons: maximum number of the pairs with an item on the left, and on "
            "the right. Default: 2.",
        ),
    ] = None
    out: OutFile = None


@app.command()
@stored
@with_options
def plan(given: RoundOptions) -> None:
    """Plan the first round, issue its pairs and print them as worker, task.

    Comparisons are chosen by expected information, and each is asked of one person, who gets it
    next; --method, --time-limit and --min-gain are for classes.
    """
    with open_campaign(given.store, given.out) as campaign:
        if campaign.state().rounds:
            raise ValueError(f"{given.store}: a round is issued already; replan plans what is left")
        _issue(campaign, given)


@app.command()
@stored
@with_options
def replan(given: RoundOptions) -> None:
    """Plan the rest of the budget from the answers so far; issued pairs stay."""
    with open_campaign(given.store, given.out) as campaign:
        _issue(campaign, given)


@app.command()
@stored
def pending(
    store: StoreName,
    number: Annotated[
        int | None, typer.Option("--round", metavar="N", help="Only of this round.")
    ] = None,
    out: OutFile = None,
) -> None:
    """Print the pairs that are issued and not answered, as worker, task."""
    with open_campaign(store, out) as campaign:
        pairs = [(w, t) for w, t, _ in campaign.pending_pairs(number)]
        write_rows(out, *pair_rows(campaign, pairs))


@app.command("import")
@stored
def import_answers(
    store: StoreName,
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="Columns task, worker, label.")
    ],
    duplicates: Duplicates = None,
    leave_out_missing: LeaveOut = False,
) -> None:
    """Import answers, all of them or none.

    Answers to gold tasks improve qualities that are estimated from gold. Importing a table again
    changes nothing.
    """
    from crowd_tvcs.campaign.answer_kinds.tables import read_answers_of_kind

    with open_campaign(store) as campaign:
        state = campaign.state()
        names = state.names
        lines = read_answers_of_kind(answers, state.kind, names, duplicates, leave_out_missing)
        counts = campaign.add_answers(lines)
        print_message(
            f"{answers}: {counts['accepted'] + counts['late']} answers imported"
            + (f", {counts['late']} of them late" if counts["late"] else "")
            + (f", {counts['gold']} to gold tasks" if counts["gold"] else "")
            + (f", {counts['known']} already known" if counts["known"] else "")
        )
        if counts["gold"]:
            print_model(campaign)


@app.command()
@stored
def add(
    store: StoreName,
    workers: WorkersFile = None,
    tasks: TasksFile = None,
    quality: QualityFile = None,
    kinds: KindsFile = None,
    gold: GoldFile = None,
    answers: AnswersFile = None,
    duplicates: Duplicates = None,
    leave_out_missing: LeaveOut = False,
) -> None:
    """Add workers, tasks, qualities or gold; issued pairs stay."""
    from crowd_tvcs.campaign import tables
    from crowd_tvcs.campaign.answer_kinds import tables as of_kind
    from crowd_tvcs.factors.tables import read_kinds

    if not any((workers, tasks, quality, kinds, gold, answers)):
        raise ValueError(
            "nothing to add: give --workers, --tasks, --quality, --kinds, --gold or --answers"
        )
    with open_campaign(store) as campaign:
        state = campaign.state()
        names = state.names
        how = {"of_kinds": state.has_kinds}
        new: dict[str, Any] = {
            "workers": tables.read_workers(workers) if workers else (),
            "tasks": of_kind.read_tasks_of_kind(tasks, state.kind, **how) if tasks else (),
            "qualities": tables.read_qualities(quality) if quality else None,
            "kinds": read_kinds(kinds).quality if kinds else None,
            "gold_answers": of_kind.read_answers_of_kind(
                answers, state.kind, names, duplicates, leave_out_missing
            )
            if answers
            else (),
        }
        known = None
        if gold:
            known = of_kind.read_known(gold, state.kind, names, leave_out_missing=leave_out_missing)
        campaign.add(**new, gold=known)
        _print_added(new | {"gold": known}, {one.name for one in state.workers})
        if gold or answers:
            print_model(campaign)


@app.command()
@stored
def status(
    store: StoreName,
    as_json: AsJson = False,
    rows: Annotated[
        int, typer.Option(metavar="N", help="Number of the least confident tasks to print.")
    ] = 10,
) -> None:
    """Print the status of the campaign and its least confident tasks; with --json, all tasks."""
    from crowd_tvcs.answers import class_prevalence
    from crowd_tvcs.campaign import summary, task_statuses
    from crowd_tvcs.campaign.answer_kinds.votes import vote_by_kind
    from crowd_tvcs.campaign.gold_calibration import calibrate_on_gold
    from crowd_tvcs.campaign.stopping import least_confident

    check_number("--rows", rows, least=0)
    with open_campaign(store) as campaign:
        state = campaign.state()
    standings, votes = task_statuses(state), vote_by_kind(state)
    facts, gold = summary(state, standings), calibrate_on_gold(state) if votes is None else None
    sentences = [] if votes is None else votes.sentences
    if as_json:
        each = [_standing(one) for one in standings]
        print_json({**facts, "gold": as_dict(gold), "sentences": sentences, "task": each})
        return
    for name, value in facts.items():
        if value is not None and name not in NOT_SHOWN and (value or name not in IF_ANY):
            shown = f"{value:.4f}" if isinstance(value, float) else str(value)
            interval = describe_interval(facts["forecast"]) if name == "expected_accuracy" else ""
            print_text(f"{name.replace('_', ' '):<20}{shown:>12}{interval}")
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
    _print_unlabelled(facts["unlabelled"], facts["tasks"])


@app.command()
@stored
def review(
    store: StoreName,
    min_gain: MinGain = None,
    target: Annotated[
        float | None,
        typer.Option(
            parser=share,
            metavar="P",
            help="Required share of right labels among confident ones. Default: as at init.",
        ),
    ] = None,
    value: Annotated[
        float | None,
        typer.Option(
            parser=money,
            metavar="X",
            help="Value of a right label, in money: a label must add at least its cost.",
        ),
    ] = None,
    close: Annotated[
        bool,
        typer.Option("--close", help="Close the tasks for which another label is not worth it."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the tasks that need no further label.

    gain is the largest increase of the probability of a right label, per label. Up to five labels
    are looked ahead, since one alone often adds nothing. A task is confident if gold tasks of its
    confidence are right as often as --target asks; if gold cannot show this, no task is.
    """
    with open_campaign(store) as campaign:
        found = campaign.review_tasks(min_gain=min_gain, value=value, target=target, close=close)
        if line := describe_target(campaign.state(), target):
            print_message(line)
    if as_json:
        print_json([_standing(one) for one in found])
        return
    _print_standings(found)
    ended = sum(one.stops for one in found)
    print_message(f"{ended} of {len(found)} tasks need no further label, or can have none")


@app.command("export-answers")
@stored
def export_answers(store: StoreName, out: OutFile = None) -> None:
    """Print all answers as task, worker, label, in the order of arrival.

    Comparisons are worker, left, right, answer, as crowd-tvcs rank reads them. Where times are
    known, answered_at and seconds are added, as crowd-tvcs workers reads them.
    """
    from crowd_tvcs.campaign.answer_kinds.votes import answer_rows

    with open_campaign(store, out) as campaign:
        header, rows = answer_rows(campaign.state())
    write_rows(out, header, rows)


@app.command("export-remarks")
@stored
def export_remarks(store: StoreName, out: OutFile = None) -> None:
    """Print workers' remarks on tasks: task, worker, kind (skip, comment or flag), text, at."""
    from crowd_tvcs.answers.times import to_iso
    from crowd_tvcs.campaign.desk.remarks import all_remarks

    with open_campaign(store, out) as campaign:
        found = all_remarks(campaign.store)
    rows = [[one.task, one.worker, one.kind, one.text, to_iso(one.when)] for one in found]
    write_rows(out, ["task", "worker", "kind", "text", "at"], rows)


@app.command("export-labels")
@stored
def export_labels(store: StoreName, out: OutFile = None) -> None:
    """Print the result: task, label, confidence, answers.

    A task without answers has no label and no confidence, unless --tasks gave it a prior. Of scales
    and several labels it has the columns of vote --scale and multilabel, and of comparisons the
    items in order, as rank.
    """
    from crowd_tvcs.campaign import task_statuses
    from crowd_tvcs.campaign.answer_kinds.votes import vote_by_kind

    with open_campaign(store, out) as campaign:
        state = campaign.state()
    if (votes := vote_by_kind(state)) is not None:
        rows = [["" if cell is None else cell for cell in row] for row in votes.rows]
        write_rows(out, list(votes.columns), rows)
        for sentence in votes.sentences:
            print_message(sentence)
        return
    found = task_statuses(state)
    rows = [[one.task, one.label, one.confidence, one.answers] for one in found]
    write_rows(out, ["task", "label", "confidence", "answers"], rows)
    _print_unlabelled(sum(one.label is None for one in found), len(found))


@app.command()
@stored
def report(
    store: StoreName,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")],
) -> None:
    """Write an HTML report about the campaign; it opens without a network."""
    from crowd_tvcs.report.campaign import render
    from tvcs_core.files.folders import write_whole

    with open_campaign(store, out) as campaign:
        state = campaign.state()
    if state.kind.name != "class":
        raise ValueError(
            f"a report is of classes, and the answers of this campaign are of the kind "
            f"{state.kind.name}; campaign status and export-labels have their vote"
        )
    page = render(state, name=Path(store).name if "://" not in store else "campaign")
    write_whole(out, lambda path: path.write_text(page, encoding="utf-8"))
    print_message(f"written to {out}")


app.command("next")(actions.next_task)
for one in (change, results.settle, results.payout):
    app.command()(one)
for name in ("submit", "skip", "undo", "release", "reopen", "pause", "resume", "upgrade"):
    app.command()(getattr(actions, name))
app.command("copy")(actions.copy_store)


def _print_added(new: dict[str, Any], known: set[str]) -> None:
    """Print what was added, and the workers whose qualities were left out."""
    added = f"{len(new['workers'])} workers and {len(new['tasks'])} tasks added"
    added += f"; {len(new['gold'])} gold labels" if new["gold"] else ""
    added += f"; {len(new['gold_answers'])} answers to gold tasks" if new["gold_answers"] else ""
    print_message(added)
    given = new["qualities"]
    if given is not None:
        names = given if isinstance(given, dict) else given.workers
        others = sorted(set(names) - known - {one.name for one in new["workers"]})
        if others:
            why = "these workers are not in the campaign"
            print_message(f"qualities left out, because {why}: {joined(others, quoted)}")


def _issue(campaign: Campaign, given: RoundOptions) -> None:
    out = given.out
    if out is not None and not out.absolute().parent.is_dir():
        raise ValueError(f"{out}: cannot be written, its folder does not exist; nothing was issued")
    if out is not None and os.path.isdir(out):
        raise ValueError(f"{out}: must be a file, found a folder; nothing was issued")
    found = campaign.plan(
        labels=given.labels,
        method=given.method,
        time_limit=given.time_limit,
        min_gain=given.min_gain,
        max_per_side=given.max_per_side,
    )
    try:
        write_rows(out, *pair_rows(campaign, found.pairs))
    except (OSError, DataError):
        print_message(
            f"round {found.number} is issued; crowd-tvcs campaign pending prints its pairs"
        )
        raise
    issued = f"round {found.number}: {len(found.pairs)} labels by {found.method} ({found.reason})"
    if found.method == "information":
        print_message(issued)
        return
    print_message(f"{issued}; expected accuracy after them {found.expected_accuracy:.4f}")
    if found.forecast is not None:
        print_message(str(found.forecast))
    if found.bound is not None:
        proved = statement(found.expected_accuracy, found.bound, found.standard_error)
        print_message(f"this round is {proved}")
    if found.left_out:
        print_message(f"{found.left_out} planned labels were left out, because they add too little")


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


def _print_unlabelled(number: int, tasks: int) -> None:
    if number:
        print_message(f"{number} of {tasks} tasks have no answers and so no label")
