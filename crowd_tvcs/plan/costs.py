"""Money and groups of a plan: costs of labels, and workers of whom one at most may have a task."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.names import in_order
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.checks import checked_numbers
from crowd_tvcs.plan.terms import Terms
from tvcs_core.arguments import check_number, items_of
from tvcs_core.files.display import quoted
from tvcs_core.files.frames import is_missing

ROUNDING = 1e-9  # of the money; sums of costs such as 0.1 are not exact


def money_settings(
    cost: ArrayLike | None,
    money: float | None,
    group: Sequence[str | None] | None,
    workers: Sequence[str],
) -> tuple[tuple[str, object], ...]:
    """Check the cost of a label of every worker, the money for all labels, and the groups."""
    costs = None if cost is None else checked_numbers("cost", cost, "worker", workers)
    if money is not None:
        if costs is None:
            raise ValueError("money needs the cost of a label of every worker, found no cost")
        check_number("money", money)
        money = float(money)
        if not 0.0 <= money < math.inf:
            raise ValueError(f"money must be a finite number >= 0, found {money}")
    return ("cost", costs), ("money", money), ("group", _checked_group(group, workers))


def _checked_group(
    group: Sequence[str | None] | None, workers: Sequence[str]
) -> tuple[str | None, ...] | None:
    """Return one name or None per worker; None if no two workers share a name."""
    if group is None:
        return None
    if len(items_of("group", group)) != len(workers):
        raise ValueError(f"group must hold {len(workers)} names or None, found {quoted(group)}")
    out = tuple(None if is_missing(name) else name for name in in_order("group", group, workers))
    for worker, name in zip(workers, out, strict=True):
        if not (name is None or (isinstance(name, str) and name)):
            raise TypeError(f"group of worker {worker!r} must be a name or None, found {name!r}")
    named = [name for name in out if name is not None]
    return out if len(set(named)) < len(named) else None


def group_codes(plan: Terms) -> Integers:
    """Number the groups of workers from 0; a worker without a group has a number of their own."""
    workers = plan.quality.workers
    names = [None] * len(workers) if plan.group is None else plan.group
    code: dict[tuple[str, object], int] = {}
    keys = [("worker", i) if g is None else ("group", g) for i, g in enumerate(names)]
    return np.array([code.setdefault(key, len(code)) for key in keys], dtype=np.int64)


def is_rationed(plan: Terms) -> bool:
    """Whether money or groups limit a plan."""
    return plan.money is not None or plan.group is not None


def spent(cost: Floats, support: Bools) -> float:
    """Return the sum of the costs of the pairs, of shape (workers, tasks)."""
    return math.fsum((cost * support.sum(axis=1)).tolist())


def is_paid(plan: Terms, support: Bools) -> bool:
    """Whether the money is enough for the pairs, but for rounding."""
    if plan.money is None or plan.cost is None:
        return True
    return spent(plan.cost, support) <= plan.money * (1.0 + ROUNDING)


def per_group(plan: Terms, support: Bools) -> Integers:
    """Count the workers of each group on each task: an array of shape (groups, tasks)."""
    codes = group_codes(plan)
    out = np.zeros((int(codes.max(initial=-1)) + 1, support.shape[1]), dtype=np.int64)
    np.add.at(out, codes, support)
    return out


def refuse_impossible(plan: Terms) -> None:
    """Refuse forced pairs and minimums that break the groups, or that money cannot pay.

    A minimum is priced at the cheapest workers of its task, as if they had no other; the rest
    shows when the plan is made.
    """
    forced = np.zeros(plan.quality.shape, dtype=bool) if plan.forced is None else plan.forced
    if plan.group is not None:
        _refuse_mates(plan, forced)
    if plan.money is None or plan.cost is None:
        return
    if not is_paid(plan, forced):
        raise ValueError(
            f"forced pairs break money: they cost {spent(plan.cost, forced):g}, the money is "
            f"{plan.money:g}"
        )
    if not plan.min_workers_per_task.any():
        return
    least = spent(plan.cost, forced) + sum(cheapest_minimums(plan, forced, plan.cost).tolist())
    if least > plan.money * (1.0 + ROUNDING):
        raise ValueError(
            f"money of {plan.money:g} cannot pay min_workers_per_task: with the cheapest workers "
            f"{'and the forced pairs ' if forced.any() else ''}that costs {least:g}"
        )


def _refuse_mates(plan: Terms, forced: Bools) -> None:
    assert plan.group is not None
    tasks, codes = plan.quality.tasks, group_codes(plan)
    forced_in_group = per_group(plan, forced)
    if (forced_in_group > 1).any():
        g, j = np.argwhere(forced_in_group > 1)[0]
        mates = [w for w, c, f in zip(plan.quality.workers, codes, forced[:, j], strict=True)
                 if c == g and f]  # fmt: skip
        raise ValueError(
            f"forced pairs break group: {mates[0]!r} and {mates[1]!r} of one group both have task "
            f"{tasks[j]!r}"
        )
    may = np.ones(plan.quality.shape, bool) if plan.table.allowed is None else (
        plan.table.allowed
    )  # fmt: skip
    able = (per_group(plan, may) > 0).sum(axis=0)
    short = plan.min_workers_per_task - able
    if (short > 0).any():
        j = int(np.argmax(short))
        raise ValueError(
            f"min_workers_per_task of task {tasks[j]!r} is {plan.min_workers_per_task[j]}, but "
            f"with one worker of a group at most {able[j]} may label it: {short[j]} too few"
        )


def open_pairs(plan: Terms, fixed: Bools) -> Bools:
    """Return pairs that may join the fixed ones: allowed, and of a group without the task."""
    codes = group_codes(plan)
    out = ~(per_group(plan, fixed) > 0)[codes]
    if plan.table.allowed is not None:
        out &= plan.table.allowed
    return out


def cheapest_minimums(plan: Terms, forced: Bools, cost: Floats) -> Floats:
    """Return the least cost of the labels that the minimum of every task still lacks: (tasks,)."""
    missing = np.maximum(0, plan.min_workers_per_task - forced.sum(axis=0))
    out = np.zeros(missing.size)
    if not missing.any():
        return out
    may, codes = open_pairs(plan, forced), group_codes(plan)
    order = np.argsort(cost, kind="stable")
    for j in np.flatnonzero(missing):
        able = order[may[order, j]]
        first = np.sort(np.unique(codes[able], return_index=True)[1])[: missing[j]]
        out[j] = cost[able[first]].sum()
    return out


def money_there_is(plan: Terms) -> float:
    """Return the money, or the cost of forced pairs if rounding makes it more; or infinity."""
    if plan.money is None or plan.cost is None:
        return math.inf
    return plan.money if plan.forced is None else max(plan.money, spent(plan.cost, plan.forced))


def kept_within(plan: Terms, support: Bools, gain: Floats) -> Bools:
    """Meet the minimums and forced pairs, then keep pairs of `support` while all limits allow it.

    Pairs of `support` go in the order of `gain`, of shape (workers, tasks), the largest first.

    Raises
    ------
    ValueError
        If the minimums cannot be met within caps, groups and money.
    """
    try:
        out = cheapest_that_meets(plan, support).copy()
    except ValueError:
        out = cheapest_that_meets(plan).copy()
    cost, codes = np.zeros(len(out)) if plan.cost is None else plan.cost, group_codes(plan)
    work = plan.max_tasks_per_worker - out.sum(axis=1)
    room = plan.max_workers_per_task - out.sum(axis=0)
    left, money = plan.budget - int(out.sum()), money_there_is(plan) - spent(cost, out)
    team = per_group(plan, out)
    pairs = np.argwhere(support & ~out)
    for i, j in pairs[np.argsort(-gain[tuple(pairs.T)], kind="stable")].tolist():
        fits = work[i] > 0 and room[j] > 0 and left > 0 and cost[i] <= money
        if fits and not team[codes[i], j]:
            out[i, j] = team[codes[i], j] = True
            work[i] -= 1
            room[j] -= 1
            left -= 1
            money -= cost[i]
    return out


def cheapest_that_meets(plan: Terms, favoured: Bools | None = None) -> Bools:
    """Find the cheapest pairs with which all minimums and forced pairs are met.

    A flow from the tasks through their groups to the workers, so the corners of its linear program
    are whole. Pairs that are `favoured` count as if they cost nothing. Returns pairs of shape
    (workers, tasks).

    Raises
    ------
    ValueError
        If there are none within caps, groups and money.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n, m = plan.quality.shape
    forced = np.zeros((n, m), dtype=bool) if plan.forced is None else plan.forced
    missing = np.maximum(0, plan.min_workers_per_task - forced.sum(axis=0))
    if not missing.any():
        return forced
    cost = np.zeros(n) if plan.cost is None else plan.cost
    i, j = np.nonzero(open_pairs(plan, forced) & (missing > 0))
    team = group_codes(plan)[i] * m + j
    _, team = np.unique(team, return_inverse=True)
    price = cost[i] / (cost.max(initial=0.0) or 1.0)
    if favoured is not None:
        price = np.where(favoured[i, j], 0.0, price + 1e-3)
    at, one = np.arange(i.size), np.ones(i.size)
    rows = np.concatenate([i, n + team])
    limits = np.concatenate(
        [plan.max_tasks_per_worker - forced.sum(axis=1), np.ones(team.max(initial=-1) + 1)]
    )
    solved = linprog(
        price,
        A_ub=csr_array((np.ones(2 * i.size), (rows, np.tile(at, 2))), shape=(limits.size, i.size)),
        b_ub=limits,
        A_eq=csr_array((one, (j, at)), shape=(m, i.size)),
        b_eq=missing,
        bounds=(0, 1),
        method="highs-ds",
    )
    if solved.status != 0:
        raise ValueError(
            "min_workers_per_task cannot be met with max_tasks_per_worker and one worker of a "
            "group at most on a task"
        )
    out = forced.copy()
    out[i[solved.x > 0.5], j[solved.x > 0.5]] = True
    if not is_paid(plan, out):
        raise ValueError(
            f"money of {plan.money:g} cannot pay min_workers_per_task: within max_tasks_per_worker "
            f"that costs {spent(cost, out):g}"
        )
    return out
