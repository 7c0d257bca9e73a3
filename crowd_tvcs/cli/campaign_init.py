"""The command `crowd-tvcs campaign init`: the store of a new campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from crowd_tvcs.cli.answers import Keep, LeaveOut, Model
from crowd_tvcs.cli.campaign_options import (
    AnswersFile,
    GoldFile,
    KindsFile,
    QualityFile,
    StoreName,
    TasksFile,
    WorkersFile,
    say_model,
    stored,
)
from tvcs_core.command.options import with_options
from tvcs_core.command.shell import print_message


@dataclass(frozen=True, kw_only=True)
class FirstTables:
    """What a campaign begins with."""

    quality: QualityFile = None
    kinds: KindsFile = None
    gold: GoldFile = None
    answers: AnswersFile = None
    workers: WorkersFile = None
    tasks: TasksFile = None
    keep: Keep = None
    leave_out_missing: LeaveOut = False


@dataclass(frozen=True, kw_only=True)
class CampaignCaps:
    """The caps of a campaign, and those of tasks and workers without one of their own."""

    budget: Annotated[int | None, typer.Option(metavar="N", help="Most labels in all.")] = None
    money: Annotated[
        float | None, typer.Option(metavar="X", help="Most money, in the unit of the costs.")
    ] = None
    max_workers_per_task: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most labels of a task that has no cap."),
    ] = None
    max_tasks_per_worker: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most tasks of a worker who has no cap."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """The options of ``crowd-tvcs campaign init``."""

    store: StoreName
    tables: FirstTables
    caps: CampaignCaps
    classes: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="The labels. Default: those of the gold, or 0,1."),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Chance of the second of two classes, or of every class as for vote. Default: the "
            "class shares of --gold, which must be a random sample of the tasks then.",
        ),
    ] = None
    gate: Annotated[
        float, typer.Option(metavar="P", help="Least quality of a worker who gets a task.")
    ] = 0.0
    target: Annotated[
        float, typer.Option(metavar="P", help="A task this sure of its label is done.")
    ] = 1.0
    least_gain: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="A task is not handed out where next labels add less than this to the chance of "
            "a right label, each. Default: .01 beside a --target in a dependent model, else 0.",
        ),
    ] = None
    model: Model = "dependent"
    lease: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a task from next stays reserved.")
    ] = 900.0
    seed: Annotated[int, typer.Option(help="Of the plans: same store, same plan.")] = 0


@stored
@with_options
def init(given: InitOptions) -> None:
    """Make the store of a new campaign.

    Qualities come from --quality or --kinds, or are estimated from --gold and --answers. Workers
    and tasks are those of --workers and --tasks; without these, those of the quality table, and
    the workers of --kinds or of the gold answers.
    """
    from crowd_tvcs.campaign import Campaign
    from crowd_tvcs.campaign.first_tables import read_first

    first = read_first(**vars(given.tables), classes=given.classes, prior=given.prior)
    made = Campaign.create(
        given.store,
        **first,
        **vars(given.caps),
        gate=given.gate,
        target=given.target,
        least_gain=given.least_gain,
        model=given.model,
        lease_seconds=given.lease,
        seed=given.seed,
    )
    state = made.state()
    print_message(
        f"{len(state.workers)} workers, {len(state.tasks)} tasks, classes {list(state.classes)}"
    )
    say_model(made)
    print_message(f"written to {made.store.name}")
    made.close()
