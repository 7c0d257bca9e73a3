"""The commands `crowd-tvcs campaign settle` and `payout`."""

from __future__ import annotations

from typing import Annotated

import typer

from crowd_tvcs.cli.campaign.options import OutFile, StoreName, open_campaign, stored
from tvcs_core.command.options import name_option
from tvcs_core.command.results import write_rows
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import plural


@stored
def settle(
    store: StoreName,
    task: Annotated[str, name_option("Name of the task.")],
    label: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label that it has from now on.")
    ] = None,
    take_back: Annotated[
        bool, typer.Option("--take-back", help="Let the answers decide again, and open the task.")
    ] = False,
) -> None:
    """Settle the label of a task: it is closed, and the label is the result and gold."""
    if (label is None) != take_back:
        raise ValueError("give --label, or --take-back")
    with open_campaign(store) as campaign:
        campaign.settle(task, label)
    done = "its answers decide again" if label is None else f"its label is {label!r}"
    print_message(f"task {task!r}: {done}")


@stored
def payout(
    store: StoreName,
    out: OutFile = None,
    mark_paid: Annotated[
        bool,
        typer.Option(
            "--mark-paid", help="Record the amounts due as paid, which the next table shows."
        ),
    ] = False,
) -> None:
    """Print what every worker has earned, was paid and is due, and their completion code.

    Earned are the answers at the cost of a label, those to gold among the tasks too.
    """
    from crowd_tvcs.campaign.change.payouts import PAYOUT_COLUMNS

    if mark_paid and out is None:
        raise ValueError("--mark-paid needs --out FILE, by which people are paid")
    with open_campaign(store, out) as campaign:
        found = campaign.payouts()
        write_rows(out, PAYOUT_COLUMNS, [one.row for one in found])
        due = sum(one.due for one in found if one.due > 0.0)
        people = plural(sum(one.due > 0.0 for one in found), "person", "people")
        print_message(f"{due:.12g} is due to {people}")
        if mark_paid:
            number = campaign.mark_paid(found)
            print_message(f"recorded as paid to {plural(number, 'person', 'people')}")
