"""The command `crowd-tvcs what-if`: what other budgets would buy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from crowd_tvcs.cli.options import (
    AsJson,
    Caps,
    Demands,
    KindsFile,
    OptionalQualityFile,
    Search,
    one_crowd,
    read_crowd,
)
from tvcs_core.command.options import integers, with_options
from tvcs_core.command.results import print_json, print_table
from tvcs_core.command.shell import guarded, print_message


@dataclass(frozen=True, kw_only=True)
class WhatIfOptions:
    """The options of ``crowd-tvcs what-if``."""

    quality: OptionalQualityFile = None
    kinds: KindsFile = None
    budgets: Annotated[
        str, typer.Option(metavar="N,N,...", help="Most answers in all, such as 100,200,400.")
    ]
    caps: Caps
    demands: Demands
    search: Search
    as_json: AsJson = False


@guarded
@with_options
def what_if(given: WhatIfOptions) -> None:
    """Print what expected accuracy each budget buys, by an assignment of its own.

    per answer: what one more answer adds, on average since the row above. at most: no assignment
    within the budget does better, where the method proves that (best). certified: the accuracy is
    proved to be within 0.001 of that. foreseen, from, to: with --dependence, what share of the
    labels gold foresees to be right, and where that lies with chance .95. The time limit is for all
    budgets together.
    """
    from crowd_tvcs.what_if import steps
    from crowd_tvcs.what_if import what_if as what_if_budget

    method, seed = given.search.method, given.search.seed
    wanted = integers("--budgets", given.budgets)
    crowd = one_crowd(given.quality, given.kinds, given.demands.tasks)
    read = given.demands.read if given.kinds is None else partial(read_crowd, demands=given.demands)
    plan, _ = read(crowd, caps=given.caps, budget=None)
    given.demands.say_dependence(plan)
    how: dict[str, Any] = {"rng": seed, "time_limit": given.search.time_limit}
    rows = steps(what_if_budget(plan, wanted, method, foresight=given.demands.foresight, **how))
    if given.as_json:
        print_json({"method": method, "seed": seed, "budgets": rows})
        return
    _print_rows(rows)
    kept = [str(row["budget"]) for row in rows if row["found_at"] < row["budget"]]
    if kept:
        print_message(
            f"{method} found nothing better than a smaller budget's at: {', '.join(kept)}"
        )


def _print_rows(rows: list[dict[str, Any]]) -> None:
    columns = {
        "budget": ">10", "answers": ">10", "accuracy": ">10.4f", "per answer": ">+14.6f",
        "at most": ">10.4f", "certified": ">11",
    }  # fmt: skip
    if rows[0]["foreseen"] is not None:
        columns |= {"foreseen": ">10.4f", "from": ">8.4f", "to": ">8.4f"}
    cells = [
        [
            *(row["budget"], row["answers"], row["expected_accuracy"], row["per_answer"]),
            *(row["bound"], "yes" if row["certified"] else "no"),
            *(row["foreseen"][name] for name in ("accuracy", "low", "high") if row["foreseen"]),
        ]
        for row in rows
    ]
    print_table(columns, cells)
