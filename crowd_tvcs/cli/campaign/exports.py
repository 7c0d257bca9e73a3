"""The commands `crowd-tvcs campaign export-...` and `report`: the results of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowd_tvcs.cli.campaign.options import OutFile, StoreName, open_campaign, stored
from tvcs_core.command.results import write_rows
from tvcs_core.command.shell import print_message


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


@stored
def export_remarks(store: StoreName, out: OutFile = None) -> None:
    """Print workers' remarks on tasks: task, worker, kind (skip, comment or flag), text, at."""
    from crowd_tvcs.campaign.desk.remarks import REMARK_COLUMNS, remark_rows

    with open_campaign(store, out) as campaign:
        write_rows(out, REMARK_COLUMNS, remark_rows(campaign.store))


@stored
def export_labels(store: StoreName, out: OutFile = None) -> None:
    """Print the result: task, label, confidence, answers.

    A task without answers has no label and no confidence, unless --tasks gave it a prior. Of scales
    and several labels it has the columns of vote --scale and multilabel, and of comparisons the
    items in order, as rank.
    """
    from crowd_tvcs.campaign.desk.tables import labels

    with open_campaign(store, out) as campaign:
        found = labels(campaign.store)
    write_rows(out, found.columns, found.rows)
    print_message(*found.sentences)


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
