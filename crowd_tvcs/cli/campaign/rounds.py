"""The commands `crowd-tvcs campaign plan`, `replan`, `pending` and `release`: rounds of pairs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from crowd_tvcs.cli.campaign.options import (
    MinGain,
    OutFile,
    StoreName,
    open_campaign,
    pair_rows,
    stored,
)
from crowd_tvcs.methods import METHODS
from crowd_tvcs.plan.proof import statement
from tvcs_core.arguments import Help
from tvcs_core.command.options import number_option, with_options
from tvcs_core.command.results import write_rows
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import plural
from tvcs_core.files.errors import DataError

if TYPE_CHECKING:
    from crowd_tvcs.campaign import Campaign


@dataclass(frozen=True, kw_only=True)
class RoundOptions:
    """The options of ``crowd-tvcs campaign plan`` and ``replan``."""

    store: StoreName
    labels: Annotated[
        int | None,
        number_option("Maximum number of labels in this round. Default: all that are left."),
    ] = None
    method: Annotated[str | None, Help(f"As for assign: {', '.join(METHODS)}. Default: best.")] = (
        None
    )
    time_limit: Annotated[float, Help("Return the best plan found within SECONDS.", "SECONDS")] = (
        60.0
    )
    min_gain: MinGain = None
    max_per_side: Annotated[
        int | None,
        number_option(
            "Of comparisons: maximum number of the pairs with an item on the left, and on the "
            "right. Default: 2.",
            least=1,
        ),
    ] = None
    out: OutFile = None


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


@stored
@with_options
def replan(given: RoundOptions) -> None:
    """Plan the rest of the budget from the answers so far; issued pairs stay."""
    with open_campaign(given.store, given.out) as campaign:
        _issue(campaign, given)


@dataclass(frozen=True, kw_only=True)
class PendingOptions:
    """The options of ``crowd-tvcs campaign pending``."""

    store: StoreName
    round: Annotated[int | None, number_option("Only of this round.")] = None
    out: OutFile = None


@stored
@with_options
def pending(given: PendingOptions) -> None:
    """Print the pairs that are issued and not answered, as worker, task."""
    with open_campaign(given.store, given.out) as campaign:
        pairs = [(w, t) for w, t, _ in campaign.pending_pairs(given.round)]
        write_rows(given.out, *pair_rows(campaign, pairs))


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """The options of ``crowd-tvcs campaign release``."""

    store: StoreName
    round: Annotated[int, number_option("Number of the round.")]


@stored
@with_options
def release(given: ReleaseOptions) -> None:
    """Release the unanswered pairs of a round, so that a replan can use their slots."""
    with open_campaign(given.store) as campaign:
        freed = campaign.release(given.round)
        print_message(f"{plural(freed, 'pair')} of round {given.round} released")


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
    if not found.pairs:
        write_rows(out, *pair_rows(campaign, []))
        print_message(f"no label is worth asking now ({found.reason}); no round was issued")
        return
    try:
        write_rows(out, *pair_rows(campaign, found.pairs))
    except (OSError, DataError):
        print_message(
            f"round {found.number} is issued; crowd-tvcs campaign pending prints its pairs"
        )
        raise
    issued = (
        f"round {found.number}: {plural(len(found.pairs), 'label')} by {found.method} "
        f"({found.reason})"
    )
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
        labels = plural(found.left_out, "planned label was", "planned labels were")
        print_message(f"{labels} left out as adding too little")
