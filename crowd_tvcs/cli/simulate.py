"""The command `crowd-tvcs simulate`: a crowd whose qualities are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from tvcs_core.command.options import Force, OutFolder, Seed, recorded, with_options
from tvcs_core.command.shell import guarded, refuse_negative_seed, say

RECORDED = ("workers", "tasks", "family", "low", "high", "gold", "recorded")


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """The options of ``crowd-tvcs simulate``."""

    out: OutFolder
    workers: Annotated[int, typer.Option(metavar="N", help="Number of workers.")] = 40
    tasks: Annotated[int, typer.Option(metavar="N", help="Number of tasks.")] = 120
    family: Annotated[
        str,
        typer.Option(
            help="iid (every pair on its own, as in the paper), worker (one quality per worker), "
            "skilldiff (skill times ease of the task) or topic (five topics)."
        ),
    ] = "iid"
    low: Annotated[
        float | None, typer.Option(metavar="P", help="Lowest quality of iid, worker; default .5.")
    ] = None
    high: Annotated[
        float | None, typer.Option(metavar="P", help="Highest quality of iid, worker; default .9.")
    ] = None
    gold: Annotated[
        int, typer.Option(metavar="N", help="Further tasks with known labels, answered by all.")
    ] = 0
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded", help="Also labels.csv and recorded.csv: what all would answer to all."
        ),
    ] = False
    seed: Seed = 0
    force: Force = False


@guarded
@with_options
def simulate(given: SimulateOptions) -> None:
    """Simulate a crowd; write quality.csv, gold.csv, answers.csv (of gold tasks) and run.json."""
    from crowd_tvcs.simulation import simulate as simulate_crowd
    from crowd_tvcs.simulation import write_crowd
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record

    refuse_negative_seed(given.seed)
    crowd = simulate_crowd(
        given.workers,
        given.tasks,
        family=given.family,
        low=given.low,
        high=given.high,
        n_gold=given.gold,
        rng=given.seed,
    )
    with output_folder(given.out, force=given.force) as folder:
        write_crowd(crowd, folder, recorded=given.recorded)
        options = recorded(given, RECORDED)
        write_json(folder / "run.json", run_record("crowd-tvcs simulate", options, seed=given.seed))
    say(
        f"{given.workers} workers, {given.tasks} tasks and {given.gold} gold tasks written to "
        f"{given.out}"
    )
