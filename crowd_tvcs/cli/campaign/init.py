"""The command `crowd-tvcs campaign init`: the store of a new campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from crowd_tvcs.answers.rows import check_limit_currency
from crowd_tvcs.campaign.ingest.files import CampaignFiles
from crowd_tvcs.cli.answers import Cleaning, ErrorModel, class_names, money_option, share_option
from crowd_tvcs.cli.campaign.options import StoreName, print_model, stored
from crowd_tvcs.cli.options import Caps
from tvcs_core.arguments import Help
from tvcs_core.command.options import Sets, number_option, with_options
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.campaign.state import State


_FEWEST = "tasks with fewest answers are handed out first, up to the caps of tasks and people"
HOW_PLANNED = {
    "scale": "plans and next take the steps as classes without an order; status and export-labels "
    "vote by the scale",
    "multilabel": _FEWEST,
    "pairs": f"{_FEWEST}; campaign plan chooses the pairs of most information, which come first",
}


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """The options of ``crowd-tvcs campaign init``."""

    store: StoreName
    files: CampaignFiles
    cleaning: Cleaning
    budget: Annotated[int | None, number_option("Maximum number of labels in all.")] = None
    money: Annotated[
        float | None, money_option("Maximum total cost, in the unit of the costs.")
    ] = None
    caps: Caps
    classes: Annotated[
        str | None, Help("The labels. Default: those of the gold, or 0,1.", "A,B,...")
    ] = None
    scale: Annotated[
        str | None, Help("Ask for a step of an ordered scale: its steps, in order.", "A,B,...")
    ] = None
    labels: Annotated[
        str | None, Help("Ask for any of several labels: these, at most 30.", "A,B,...")
    ] = None
    pairs: Annotated[
        bool,
        Help(
            "Ask which of two items is better, or a tie: --tasks has columns left and right, "
            "or items, for all pairs of them."
        ),
    ] = False
    prior: Annotated[
        str | None,
        Help(
            "Probability of the second of two classes, or of every class as for vote. "
            "Default: the class shares of --gold, which must then be a random sample of the "
            "tasks.",
            "P",
        ),
    ] = None
    min_quality: Annotated[float, share_option("Minimum quality of a worker who gets tasks.")] = 0.0
    target: Annotated[
        float,
        share_option("Stop collecting answers for a task once its label reaches this confidence."),
    ] = 1.0
    min_gain: Annotated[
        float | None,
        share_option(
            "Do not hand out a task if further answers raise the probability of a right "
            "label by less than this, per answer. Default: .01 with a --target and "
            "dependent errors, else 0."
        ),
    ] = None
    error_model: ErrorModel = "dependent"
    lease: Annotated[
        float,
        Help("Time for which next reserves a task.", "SECONDS"),
        Sets("lease_seconds"),
    ] = 900.0
    seed: Annotated[int, Help("Seed of the plans: same store, same plan.")] = 0


@stored
@with_options
def init(given: InitOptions) -> None:
    """Create the store of a new campaign.

    Qualities come from --quality or --kinds, or are estimated from --gold and --answers. Without
    --answers the people of --workers are unknown: each counts as usual workers do, until they have
    answered gold (serve --gold-first N). Workers and tasks are those of --workers and --tasks;
    without these, those of the quality table, and the workers of --kinds or of the gold answers.
    With --labels or --pairs, tasks with fewest answers are handed out first, up to their caps, and
    gold alone shows how good people are.
    """
    from crowd_tvcs.campaign import Campaign
    from crowd_tvcs.campaign.ingest.first_tables import read_first

    kind, classes = _kind(given)
    if given.files.workers is not None:
        check_limit_currency(given.files.workers, given.money)
    first = read_first(given.files, classes, given.prior, kind, **vars(given.cleaning))
    made = Campaign.create(
        given.store,
        **first,
        **vars(given.caps),
        budget=given.budget,
        money=given.money,
        min_quality=given.min_quality,
        target=given.target,
        min_gain=given.min_gain,
        model=given.error_model,
        lease_seconds=given.lease,
        seed=given.seed,
    )
    state = made.state()
    print_message(
        f"{plural(len(state.workers), 'worker')}, {plural(len(state.tasks), 'task')}, classes "
        f"{list(state.classes)}"
    )
    if first["gold"] and state.settings.source == "gold":
        _print_unknown(state)
    print_model(made)
    if kind in HOW_PLANNED:
        print_message(HOW_PLANNED[kind])
    print_message(f"written to {made.store.name}")
    made.close()


def _kind(given: InitOptions) -> tuple[str, list[str] | None]:
    """Return the kind of answers, and the names of the classes, steps or labels."""
    asked = {"class": given.classes, "scale": given.scale, "multilabel": given.labels}
    asked["pairs"] = "" if given.pairs else None
    kinds = [kind for kind, names in asked.items() if names is not None]
    if len(kinds) > 1:
        raise ValueError("give one of --classes, --scale, --labels and --pairs")
    kind = kinds[0] if kinds else "class"
    return kind, class_names(asked[kind] or None)


def _print_unknown(state: State) -> None:
    """Report the workers without gold answers, and the quality assumed of them."""
    known = {name for _, name, _ in state.gold_answers}
    unknown = [one for one in state.workers if one.name not in known]
    if unknown:
        print_message(
            f"{len(unknown)} of {len(state.workers)} workers have answered no gold yet: each "
            f"counts as right with probability {unknown[0].quality:.2f} until they do (serve "
            "--gold-first N hands out gold first)"
        )
        least = state.settings.min_quality
        if 0.0 < least <= (unknown[0].quality or 0.0):
            print_message(
                f"warning: --min-quality {least:g} is not above that, so unknown people get tasks "
                "until they are estimated, some seconds after their gold; a gate for them is higher"
            )
