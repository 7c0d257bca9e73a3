"""Methods of assignment, each a plain function with one contract.

A method is called as ``method(plan, rng=generator, deadline=deadline)``. The plan comes sorted by
name. It returns an `Assignment` that keeps every cap, ends soon after the deadline with the
best it has, and draws random numbers from `rng` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.methods.best import best
from crowd_tvcs.methods.fast import fast
from crowd_tvcs.methods.greedy import greedy
from crowd_tvcs.methods.qlp import qlp
from crowd_tvcs.methods.random import random
from crowd_tvcs.methods.tvcs import tvcs
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from tvcs_core.streams import stream

METHODS: dict[str, Callable[..., Assignment]] = {
    "best": best,
    "fast": fast,
    "greedy": greedy,
    "tvcs": tvcs,
    "qlp": qlp,
    "random": random,
}

# What a method honours of `Plan.demands`; the others keep the caps and honour no demand.
HONOURS: dict[str, frozenset[str]] = {
    "best": frozenset({"min_workers_per_task", "forced"}),
    "fast": frozenset({"min_workers_per_task", "forced"}),
    "greedy": frozenset({"min_workers_per_task", "forced", "money", "group"}),
    "tvcs": frozenset({"min_workers_per_task", "forced"}),
    "qlp": frozenset({"min_workers_per_task", "forced"}),
    "random": frozenset({"min_workers_per_task", "forced"}),
}


def assign(
    plan: Plan,
    method: str = "tvcs",
    *,
    rng: int | np.random.Generator | None = None,
    time_limit: float | None = None,
) -> Assignment:
    """Choose which worker labels which task.

    Workers and tasks are sorted by name before any arithmetic, so their order in `plan` changes
    nothing.

    Parameters
    ----------
    plan
        Quality, caps and priors.
    method
        One of `METHODS`: ``"best"`` (prices, column generation, local search; with a bound on what
        any assignment can reach), ``"fast"`` (a fraction of a second), ``"greedy"`` (by exact
        gains), ``"tvcs"`` (stochastic iterative hard thresholding on the expected accuracy),
        ``"qlp"`` (largest sum of qualities) or ``"random"``.
    rng
        Seed or generator; the same seed gives the same assignment.
    time_limit
        Seconds after which the best assignment so far is returned; None for no limit. With a
        limit that strikes, the result depends on the speed of the machine.

    Returns
    -------
    Assignment
        In the order of `plan`; it keeps every cap.

    Raises
    ------
    ValueError
        If the method is unknown or does not honour what the plan demands beyond the caps, or the
        time limit is not a number of seconds above 0.

    Examples
    --------
    >>> from crowd_tvcs import Plan, Quality, assign
    >>> quality = Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    >>> assign(Plan(quality, max_workers_per_task=1, budget=2), "qlp").pairs()
    [('ann', 't1'), ('bob', 't2')]
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    if time_limit is not None and not (0 < time_limit < math.inf):
        raise ValueError(f"time_limit must be a number of seconds above 0, found {time_limit}")
    _refuse_demands(plan, method)
    rng = stream(rng, "assign", method)
    rows, columns = _by_name(plan.quality.workers), _by_name(plan.quality.tasks)
    with Deadline.after(time_limit) as deadline:
        found = METHODS[method](plan.reorder(rows, columns), rng=rng, deadline=deadline)
    found = found.reorder(plan, np.argsort(rows), np.argsort(columns))
    if broken := plan.unmet(found.support):
        raise RuntimeError(f"the method {method} did not meet {', '.join(broken)}")
    return found


def _refuse_demands(plan: Plan, method: str) -> None:
    for demand in plan.demands:
        if demand not in HONOURS.get(method, frozenset()):
            able = ", ".join(name for name, honoured in HONOURS.items() if demand in honoured)
            raise ValueError(
                f"the method {method} does not honour {demand}; these do: {able} "
                f"(on the command line: --method {able.split(',')[0]})"
            )


def _by_name(names: Sequence[str]) -> NDArray[np.intp]:
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)


__all__ = ["HONOURS", "METHODS", "assign"]
