"""The command `crowd-tvcs what-if`: the expected accuracy of other budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from crowd_tvcs.cli.options import AsJson, Caps, Crowd, Demands, Search
from tvcs_core.arguments import Help
from tvcs_core.command.options import Sets, integers, with_options
from tvcs_core.command.results import print_json, print_table
from tvcs_core.command.shell import guarded, print_message

LEAST_TIME = 0.001  # seconds for the plans if reading took all


@dataclass(frozen=True, kw_only=True)
class WhatIfOptions:
    """The options of ``crowd-tvcs what-if``."""

    crowd: Crowd
    budgets: Annotated[
        str, Help("Maximum numbers of answers, such as 100,200,400.", "N,N,..."), Sets("budget")
    ]
    caps: Caps
    demands: Demands
    search: Search
    as_json: AsJson = False


@guarded
@with_options
def what_if(given: WhatIfOptions) -> None:
    """Print the expected accuracy of each budget, each by an assignment of its own.

    per answer: mean gain of one more answer since the row above. at most: proved upper bound within
    the budget, if the method proves one (best). certified: whether the accuracy is proved to be
    within 0.001 of the bound. forecast, low, high: with --dependence, the forecast share of right
    labels with its 95 % interval. The time limit is for all budgets together.
    """
    from crowd_tvcs.methods import check_time_limit
    from crowd_tvcs.search.deadline import Deadline
    from crowd_tvcs.what_if import steps
    from crowd_tvcs.what_if import what_if as what_if_budget

    method, seed = given.search.method, given.search.seed
    check_time_limit(given.search.time_limit)
    deadline = Deadline.after(given.search.time_limit)
    wanted = integers("--budgets", given.budgets)
    plan, _ = given.crowd.read(given.demands, given.caps, None)
    given.demands.print_dependence(plan)
    how: dict[str, Any] = {"rng": seed, "time_limit": max(LEAST_TIME, deadline.left)}
    rows = steps(
        what_if_budget(plan, wanted, method, forecast_model=given.demands.forecast_model, **how)
    )
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
    if rows[0]["forecast"] is not None:
        columns |= {"forecast": ">10.4f", "low": ">8.4f", "high": ">8.4f"}
    cells = [
        [
            *(row["budget"], row["answers"], row["expected_accuracy"], row["per_answer"]),
            *(row["bound"], "yes" if row["certified"] else "no"),
            *(row["forecast"][name] for name in ("accuracy", "low", "high") if row["forecast"]),
        ]
        for row in rows
    ]
    print_table(columns, cells)
