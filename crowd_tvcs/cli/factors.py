"""Crowds in factors on the command line: which tables are read, and what then can be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowd_tvcs.cli.options import Caps, Demands
from tvcs_core.command.shell import say

if TYPE_CHECKING:
    from crowd_tvcs.factors.assignment import FactoredAssignment
    from crowd_tvcs.factors.plan import FactoredPlan
    from crowd_tvcs.plan.plan import Plan

# What a plan in factors knows, beside the tables of kinds and tasks.
KNOWN = (
    "workers", "tasks", "prior", "classes", "class_prior", "max_workers_per_task",
    "max_tasks_per_worker", "budget",
)  # fmt: skip


def one_crowd(quality: Path | None, kinds: Path | None, tasks: Path | None) -> Path:
    """Return the table that says how good workers are: QUALITY, or that of ``--kinds``."""
    if quality is not None and kinds is not None:
        raise ValueError("give QUALITY or --kinds, not both")
    if quality is not None:
        return quality
    if kinds is None:
        raise ValueError("must have QUALITY, or --kinds with --tasks")
    if tasks is None:
        raise ValueError("--kinds needs --tasks, a table with the columns task and kind")
    return kinds


def read_crowd(
    kinds: Path, demands: Demands, caps: Caps, budget: int | None, error: float | None = None
) -> tuple[Plan | FactoredPlan, str]:
    """Read a plan in factors: as a table of workers x tasks where that is small enough.

    Returns
    -------
    tuple
        The plan, and how the tables were understood.

    Raises
    ------
    ValueError
        If the crowd is large and something is asked that only smaller plans can have.
    """
    from crowd_tvcs.factors.tables import MOST_PAIRS, read_factored_plan, read_factors
    from crowd_tvcs.plan.tables import read_plan

    given = demands.given(caps, budget, error)
    assert demands.tasks is not None
    read = read_factors(kinds, demands.tasks)
    say(f"{kinds}: {read.layout}")
    if read.fits:
        return read_plan(read.factors.quality(), **given, has_kinds=True), read.layout
    for name, value in given.items():
        if name not in KNOWN and value not in (None, 0.0):
            option = name.replace("_", "-")
            raise ValueError(
                f"--{option} is for crowds whose workers x tasks are at most {MOST_PAIRS}, found "
                f"{' x '.join(map(str, read.factors.shape))}: leave it out, or plan parts of the "
                "tasks one by one"
            )
    known = {name: given[name] for name in KNOWN if name != "tasks"}
    return read_factored_plan(read, **known), read.layout


def write_factors(
    found: FactoredAssignment, folder: Path, names: list[str], shown: dict[str, Any]
) -> None:
    """Write all files of a plan in factors but run.json; `shown` is what the report says of it."""
    from crowd_tvcs.report.factors import render
    from tvcs_core.files.folders import write_json
    from tvcs_core.files.tables import write_table

    write_table(folder / "assignment.csv", ["worker", "task"], found.rows(), ",")
    heads = ["task", "answers", "expected_accuracy"]
    write_table(folder / "accuracy.csv", heads, found.task_rows(), ",")
    write_json(folder / "summary.json", found.summary() | {"classes": names})
    if found.certificate is not None:
        write_table(folder / "prices.csv", ["worker", "price"], found.price_rows(), ",")
    (folder / "report.html").write_text(render(found, **shown), encoding="utf-8")
