"""The commands of `crowd-tvcs campaign` that hand out single tasks and take them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crowd_tvcs.cli.campaign_options import StoreName, open_campaign, stored
from crowd_tvcs.cli.options import AsJson
from tvcs_core.command.results import print_json
from tvcs_core.command.shell import print_data, print_message

if TYPE_CHECKING:
    from crowd_tvcs.campaign import Offer

WorkerName = Annotated[str, typer.Option("--worker", metavar="NAME", help="Who asks.")]
OnlyWorker = Annotated[
    str | None, typer.Option("--worker", metavar="NAME", help="Only this worker.")
]


@stored
def next_task(store: StoreName, worker: WorkerName, as_json: AsJson = False) -> None:
    """Lease a task to a worker and print its name: the largest uncertainty x skill with room.

    Who asks again before they answer gets the same task. A lease that is over frees its slot. With
    no task for this worker nothing is printed, and why not is said.
    """
    with open_campaign(store) as campaign:
        _print(campaign.next(worker), as_json)


@stored
def submit(
    store: StoreName,
    worker: WorkerName,
    task: Annotated[str, typer.Option(metavar="NAME", help="What they labelled.")],
    label: Annotated[str, typer.Option(metavar="LABEL", help="Their answer.")],
    as_json: AsJson = False,
) -> None:
    """Hand in one answer to a task that was leased or issued to this worker.

    An answer that comes after its lease was over is taken as long as its slot is free, and refused
    if another has it. The same answer again changes nothing.
    """
    with open_campaign(store) as campaign:
        receipt = campaign.submit(worker, task, label)
    if as_json:
        print_json(vars(receipt), indent=None)
    print_message(f"{receipt.reason}; the task is sure to {receipt.confidence:.4f}")


@stored
def release(
    store: StoreName,
    number: Annotated[int, typer.Option("--round", metavar="N", help="Which round.")],
) -> None:
    """Give up what a round issued and nobody answered, so that a replan can use its slots."""
    with open_campaign(store) as campaign:
        print_message(f"{campaign.release(number)} pairs of round {number} given up")


@stored
def reopen(store: StoreName) -> None:
    """Open the tasks again that stop --close has closed."""
    with open_campaign(store) as campaign:
        print_message(f"{campaign.reopen()} tasks are open again")


@stored
def skip(
    store: StoreName,
    worker: WorkerName,
    task: Annotated[str, typer.Option(metavar="NAME", help="What they do not label.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the audit.")] = "",
) -> None:
    """Give up a task that a worker was given; they are never offered it again."""
    with open_campaign(store) as campaign:
        campaign.skip(worker, task, reason)
        print_message(f"worker {worker!r} is not asked about task {task!r} again")


@stored
def undo(store: StoreName, worker: WorkerName, as_json: AsJson = False) -> None:
    """Take a worker's last answer back and print its task, which they hold again.

    Refused once another has answered the task, a round was planned on the answer, or the task was
    closed.
    """
    with open_campaign(store) as campaign:
        _print(campaign.undo(worker), as_json)


@stored
def pause(store: StoreName, worker: OnlyWorker = None) -> None:
    """Hand out no tasks, or none to one worker; answers to what is out are still taken."""
    _hold_up(store, worker, True)


@stored
def resume(store: StoreName, worker: OnlyWorker = None) -> None:
    """Hand out tasks again."""
    _hold_up(store, worker, False)


def _print(offer: Offer, as_json: bool) -> None:
    if as_json:
        print_json(vars(offer), indent=None)
    elif offer.task is not None:
        print_data(offer.task)
    print_message(offer.reason)


def _hold_up(store: str, worker: str | None, is_held_up: bool) -> None:
    whom = "nobody" if worker is None else f"worker {worker!r}"
    with open_campaign(store) as campaign:
        if worker is None:
            campaign.pause(is_held_up)
        else:
            campaign.block(worker, is_held_up)
    if is_held_up:
        print_message(f"{whom} gets {'a task' if worker is None else 'no more tasks'} until resume")
    else:
        print_message("tasks are handed out again" + ("" if worker is None else f" to {whom}"))


@stored
def upgrade(store: StoreName) -> None:
    """Bring the store of an older version up to this one; what it was is kept as a copy."""
    from crowd_tvcs.campaign import upgrade as bring_up

    version, copy = bring_up(store)
    if copy:
        print_message(f"brought up from version {version}; what it was is kept in {copy}")
    else:
        print_message(f"is of version {version} already; its tables stay as they are")
