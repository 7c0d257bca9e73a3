"""Cheap assignments that the methods start from: greedy ones, and the LP with odd sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs import greedy_kernels as kernels
from crowd_tvcs.outcome_kernels import TABLE
from crowd_tvcs.plan import Plan
from crowd_tvcs.pricing import Choice, Market
from tvcs_core import TVCS, project


def climb(market: Market, *, exact: bool, start: Choice | None = None) -> NDArray[np.bool_]:
    """Add pair after pair, always the one of the largest gain that the caps still allow.

    With `exact` by gain in expected accuracy, and where all gains are 0 by gain in probability of
    truth; without, by the latter alone. Tasks below their minimum go first. Uses up the budget
    where the caps allow it, but for workers who tell nothing. Begins with `start` if there is one.
    """
    choice = Choice.nobody(market) if start is None else start.copy()
    n, m = market.n_workers, market.n_tasks
    rank = np.argsort(market.offers[1], axis=1)
    kernels.climb(
        market.offers,
        exact,
        market.caps - choice.loads(n),
        np.full(2 * max(2, 1 << (m - 1).bit_length()), -np.inf),
        choice.sets,
        choice.sizes,
        np.take_along_axis(rank, choice.sets, axis=1),
        np.zeros(m, dtype=np.int64),
        np.full((m, n), -np.inf),
        np.empty(n),
        np.empty((2, 2 * TABLE)),
        np.empty((2, 2 * TABLE)),
    )
    support = choice.support(market)
    if start is None and market.plan.unmet(support):
        return climb(market, exact=exact, start=Choice.of(market, met(market.plan, support)))
    return support


def met(plan: Plan, support: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Meet the minimums and forced pairs, keeping as many pairs of `support` as may be."""
    told = np.abs(plan.quality.values - 0.5)
    fixed = plan.settle(np.where(support, 2.0, 1.0) + told)
    kept = project(np.where(support & ~fixed, 1.0 + told, 0.0), plan.rest(fixed)).support
    out: NDArray[np.bool_] = fixed | kept
    return out


def odd_sizes(market: Market) -> NDArray[np.bool_]:
    """Keep the largest sum of qualities with odd numbers of voters, as equal as can be.

    Every task gets the same odd number, and two more as many of them as the budget has room for:
    those whose best workers are the weakest.
    """
    caps = market.offers[4]
    budget = min(int(market.caps[-1]), int(market.caps[:-1].sum()))
    odd = np.where(caps % 2 == 1, caps, np.maximum(caps - 1, 0))
    equal = max(1, 2 * int((budget / market.n_tasks - 1) // 2) + 1)
    sizes = np.minimum(odd, equal)
    able = np.flatnonzero(odd >= sizes + 2)
    strength = market.offers[0][able, : equal + 2].mean(axis=1) if able.size else np.empty(0)
    spare = max(0, budget - int(sizes.sum())) // 2
    sizes[able[np.argsort(strength, kind="stable")[:spare]]] += 2
    return largest_sum(market.plan, sizes)


def largest_sum(plan: Plan, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Keep the largest sum of qualities within the caps and these numbers of voters per task."""
    told = np.abs(plan.quality.values - 0.5)
    caps = TVCS.matrix(
        plan.quality.shape,
        row_caps=plan.max_tasks_per_worker,
        col_caps=sizes,
        total=plan.budget,
        allowed=plan.quality.allowed,
    )
    support: NDArray[np.bool_] = project(np.sqrt(told), caps).support
    return support
