"""The commands of `crowd-tvcs campaign` on single tasks, on handing them out, and on pay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crowd_tvcs.cli.campaign.options import OutFile, StoreName, open_campaign, stored
from crowd_tvcs.cli.options import AsJson
from tvcs_core.command.options import name_option
from tvcs_core.command.results import print_json, write_rows
from tvcs_core.command.shell import print_data, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.campaign import NextTask

WorkerName = Annotated[str, typer.Option("--worker", metavar="NAME", help="Name of the worker.")]
OnlyWorker = Annotated[
    str | None, typer.Option("--worker", metavar="NAME", help="Only this worker.")
]


@stored
def next_task(store: StoreName, worker: WorkerName, as_json: AsJson = False) -> None:
    """Lease a task to a worker and print its name: largest uncertainty x skill with room.

    A worker with an open lease gets the same task again. An expired lease frees its slot. Without a
    task for this worker only the reason is printed.
    """
    with open_campaign(store) as campaign:
        _print(campaign.next(worker), as_json)


@stored
def submit(
    store: StoreName,
    worker: WorkerName,
    task: Annotated[str, name_option("Name of the task.")],
    label: Annotated[str, typer.Option(metavar="LABEL", help="The worker's label.")],
    as_json: AsJson = False,
) -> None:
    """Submit one answer to a task that was leased or issued to this worker.

    An answer after the end of its lease is accepted while its slot is free, and refused if another
    worker has it. Submitting the same answer again changes nothing.
    """
    with open_campaign(store) as campaign:
        receipt = campaign.submit(worker, task, label)
    if as_json:
        print_json(vars(receipt), indent=None)
    sure = receipt.confidence
    print_message(
        receipt.reason + ("" if sure is None else f"; label confidence is now {sure:.4f}")
    )


@stored
def reopen(store: StoreName) -> None:
    """Reopen the tasks that review --close has closed."""
    with open_campaign(store) as campaign:
        print_message(plural(campaign.reopen(), "task is open again", "tasks are open again"))


@stored
def skip(
    store: StoreName,
    worker: WorkerName,
    task: Annotated[str, name_option("Name of the task.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason, for the audit.")] = "",
) -> None:
    """Give up a task of a worker, who is never offered it again."""
    with open_campaign(store) as campaign:
        campaign.skip(worker, task, reason)
        print_message(f"worker {worker!r} is not offered task {task!r} again")


@stored
def undo(store: StoreName, worker: WorkerName, as_json: AsJson = False) -> None:
    """Take back a worker's last answer and print its task, which is leased to them again.

    RejectedError if another worker has answered the task since, a round was planned on the answer,
    or the task was closed.
    """
    with open_campaign(store) as campaign:
        _print(campaign.undo(worker), as_json)


@stored
def pause(store: StoreName, worker: OnlyWorker = None) -> None:
    """Stop handing out tasks, to all or to one worker; answers to pending ones are accepted."""
    _set_paused(store, worker, True)


@stored
def resume(store: StoreName, worker: OnlyWorker = None) -> None:
    """Hand out tasks again."""
    _set_paused(store, worker, False)


def _print(offer: NextTask, as_json: bool) -> None:
    if as_json:
        print_json(vars(offer), indent=None)
    elif offer.task is not None:
        print_data(offer.task)
    print_message(offer.reason)


def _set_paused(store: str, worker: str | None, is_paused: bool) -> None:
    whom = "nobody" if worker is None else f"worker {worker!r}"
    with open_campaign(store) as campaign:
        if worker is None:
            campaign.pause(is_paused)
        else:
            campaign.block(worker, is_paused)
    if is_paused:
        print_message(f"{whom} gets {'a task' if worker is None else 'no more tasks'} until resume")
    else:
        print_message("tasks are handed out again" + ("" if worker is None else f" to {whom}"))


@stored
def copy_store(
    store: StoreName,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A new file, or the URL of an empty database.")
    ],
) -> None:
    """Copy a store while people label: a backup, its restoration, or a move to a database.

    Links of workers work on the copy too. It holds the secret of the campaign, as the store does.
    """
    from crowd_tvcs.campaign import copy

    n_answers = copy(store, target)
    print_message(
        f"copied with {plural(n_answers, 'answer')}; links of workers work on the copy too"
    )


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
