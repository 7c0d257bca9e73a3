"""The commands `crowd-tvcs campaign import` and `add`: answers, and new tables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowd_tvcs.campaign.ingest.files import CampaignFiles
from crowd_tvcs.cli.answers import Cleaning, Duplicates, LeaveOut
from crowd_tvcs.cli.campaign.options import StoreName, open_campaign, print_model, stored
from tvcs_core.command.options import with_options
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import joined, plural, quoted

if TYPE_CHECKING:
    from crowd_tvcs.campaign.state import State


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
            f"{answers}: {plural(counts['accepted'] + counts['late'], 'answer')} imported"
            + (f", {counts['late']} of them late" if counts["late"] else "")
            + (f", {counts['gold']} to gold tasks" if counts["gold"] else "")
            + (f", {counts['known']} already known" if counts["known"] else "")
        )
        if counts["gold"]:
            print_model(campaign)


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """The options of ``crowd-tvcs campaign add``."""

    store: StoreName
    files: CampaignFiles
    cleaning: Cleaning


@stored
@with_options
def add(given: AddOptions) -> None:
    """Add workers, tasks, qualities or gold; issued pairs stay.

    Tables may have grown: rows of workers and tasks that are there already add nothing, and must
    say the same as before.
    """
    from crowd_tvcs.answers.rows import refuse_currencies
    from crowd_tvcs.campaign.answer_kinds import tables as of_kind
    from crowd_tvcs.campaign.ingest import tables
    from crowd_tvcs.campaign.ingest.first_tables import without_gold
    from crowd_tvcs.campaign.ingest.known_rows import new_tasks, new_workers

    files, missing = given.files, given.cleaning.leave_out_missing
    if not any(vars(files).values()):
        raise ValueError(
            "nothing to add: give --workers, --tasks, --quality, --kinds, --gold or --answers"
        )
    if files.workers:
        refuse_currencies(files.workers)
    with open_campaign(given.store) as campaign:
        state = campaign.state()
        kind, names = state.kind, state.names
        known, tasks, workers = None, [], []
        new: dict[str, Any] = {}
        if files.gold:
            known = of_kind.read_known(files.gold, kind, names, leave_out_missing=missing)
        if files.tasks:
            tasks = of_kind.read_tasks_of_kind(files.tasks, kind, of_kinds=state.has_kinds)
            if state.settings.source == "gold":
                tasks = without_gold(tasks, {*state.gold, *(known or ())}, files.tasks)
            new["tasks"] = new_tasks(files.tasks, tasks, state)
        if files.workers:
            workers = tables.read_workers(files.workers)
            new["workers"] = new_workers(files.workers, workers, state)
        new |= _new_qualities(files, state)
        if files.answers:
            new["gold_answers"] = of_kind.read_answers_of_kind(
                files.answers, kind, names, given.cleaning.duplicates, missing
            )
        added = campaign.add(**new, gold=known) if known or any(new.values()) else ""
        old = {"worker": len(workers) - len(new.get("workers", ()))}
        old["task"] = len(tasks) - len(new.get("tasks", ()))
        there = "".join(f", {plural(n, word)} there already" for word, n in old.items() if n)
        print_message(f"{added or 'nothing'} added{there}")
        _print_left_out(new, {one.name for one in state.workers})
        if control := _describe_control(known or (), state):
            print_message(control)
        if files.gold or files.answers:
            print_model(campaign)


def _new_qualities(files: CampaignFiles, state: State) -> dict[str, Any]:
    """Read the qualities of workers, of pairs or of kinds; leave out those that are there."""
    from crowd_tvcs.answers.quality import Qualities, Quality, read_qualities
    from crowd_tvcs.campaign.ingest.known_rows import new_qualities
    from crowd_tvcs.factors.tables import read_kinds

    new: dict[str, Qualities | None] = {}
    if files.quality:
        found = read_qualities(files.quality)
        is_table = state.settings.per_pair and not state.has_kinds
        new["qualities"] = (
            new_qualities(files.quality, found, state.quality)
            if isinstance(found, Quality) and is_table
            else found
        )
    if files.kinds:
        table, known = read_kinds(files.kinds).quality, state.factors.table
        new["kinds"] = new_qualities(files.kinds, table, known) if state.has_kinds else table
    return new


def _describe_control(known: Collection[str], state: State) -> str:
    """Describe the gold for tasks that are to be labelled; empty without any."""
    both = {one.name for one in state.tasks if one.settled is None} & set(known)
    if not both:
        return ""
    return (
        f"gold was given for {plural(len(both), 'task')} to be labelled: it measures the result in "
        f"the report, and they stay open: {joined(sorted(both), quoted)}; campaign settle closes "
        "a task with its label"
    )


def _print_left_out(new: dict[str, Any], known: set[str]) -> None:
    """Print the workers whose qualities were left out."""
    given = new.get("qualities")
    if given is not None:
        names = given if isinstance(given, dict) else given.workers
        others = sorted(set(names) - known - {one.name for one in new.get("workers", ())})
        if others:
            why = "these workers are not in the campaign"
            print_message(f"qualities left out, because {why}: {joined(others, quoted)}")
