"""The command `crowd-tvcs simulate`: a crowd with known qualities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from crowd_tvcs.cli.answers import share_option
from tvcs_core.arguments import Help, check_choice
from tvcs_core.command.options import (
    WHERE_GIVEN,
    Force,
    OutFolder,
    Seed,
    Sets,
    integers,
    number_option,
    with_options,
)
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

OF_MODELS = ("models", "shared_within", "shared_across", "difficulty_spread")


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """The options of ``crowd-tvcs simulate``."""

    out: OutFolder
    workers: Annotated[int, number_option("Number of workers.")] = 40
    tasks: Annotated[int, number_option("Number of tasks.")] = 120
    family: Annotated[
        str,
        Help(
            "iid (each pair independent, as in the paper), worker (one quality per worker), "
            "skilldiff (skill times ease of the task), topic (five topics), or models "
            "(people, and models whose families share errors)."
        ),
    ] = "iid"
    low: Annotated[float | None, share_option("Lowest quality of iid and worker. Default: .5.")] = (
        None
    )
    high: Annotated[
        float | None, share_option("Highest quality of iid and worker. Default: .9.")
    ] = None
    gold: Annotated[
        int, number_option("Number of additional tasks with known labels, answered by all.")
    ] = 0
    full_answers: Annotated[
        bool,
        Help(
            "Also write labels.csv and recorded.csv, with the answers of every worker to "
            "every task."
        ),
    ] = False
    models: Annotated[
        str | None,
        Help(
            "For models: members of each family, in addition to --workers people. Default: 3,2.",
            "N,N,...",
        ),
        WHERE_GIVEN,
        Sets("families"),
    ] = None
    shared_within: Annotated[
        float | None,
        share_option("For models: share of the errors that are common to a family. Default: .6."),
        WHERE_GIVEN,
    ] = None
    shared_across: Annotated[
        float | None,
        share_option("For models: share of these that are common to all families. Default: .3."),
        WHERE_GIVEN,
    ] = None
    difficulty_spread: Annotated[
        float | None,
        Help(
            "For models: spread of the difficulty of tasks, for models and people. Default: 0.", "X"
        ),
        WHERE_GIVEN,
    ] = None
    seed: Seed = 0
    force: Force = False


@guarded
@with_options
def simulate(given: SimulateOptions) -> None:
    """Simulate a crowd; write quality.csv, gold.csv, answers.csv (of gold tasks) and run.json.

    With --family models, answers.csv also has the answers of models to all tasks, and workers.csv
    the family of each worker and the cost of an answer.
    """
    from crowd_tvcs.simulation import FAMILIES

    check_choice("family", given.family, [*FAMILIES, "models"])
    asked = {name: getattr(given, name) for name in OF_MODELS}
    asked = {name: value for name, value in asked.items() if value is not None}
    size: dict[str, Any] = {"n_gold": given.gold, "rng": given.seed}
    if given.family == "models":
        from crowd_tvcs.models.simulation import simulate_models, write_models

        if not (given.low is None and given.high is None):
            raise ValueError("--low and --high are for iid and worker, not for models")
        if models := asked.pop("models", None):
            asked["families"] = integers("--models", models)
        crowd = simulate_models(given.workers, given.tasks, **size, **asked)
        who = (
            f"{plural(len(crowd.family_of), 'model')}, {plural(given.workers, 'person', 'people')}"
        )
        write = partial(write_models, crowd)
    else:
        from crowd_tvcs.simulation import simulate as simulate_crowd
        from crowd_tvcs.simulation import write_crowd

        for name in asked:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is for --family models, not for {given.family}")
        kind: dict[str, Any] = {"family": given.family, "low": given.low, "high": given.high}
        write = partial(write_crowd, simulate_crowd(given.workers, given.tasks, **size, **kind))
        who = plural(given.workers, "worker")
    with results("crowd-tvcs simulate", given, seed=given.seed) as out:
        write(out.folder, full_answers=given.full_answers)
    print_message(
        f"{who}, {plural(given.tasks, 'task')} and {plural(given.gold, 'gold task')} written to "
        f"{given.out}"
    )
