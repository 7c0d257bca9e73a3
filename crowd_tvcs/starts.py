"""Cheap assignments that the methods start from: greedy ones, and the LP with odd sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs import greedy_kernels as kernels
from crowd_tvcs.plan import Plan
from crowd_tvcs.pricing import Choice, Market
from tvcs_core import TVCS, project


def climb(market: Market, *, exact: bool) -> NDArray[np.bool_]:
    """Add pair after pair, always the one of the largest gain that the caps still allow.

    With `exact` by gain in expected accuracy, and where all gains are 0 by gain in probability of
    truth; without, by the latter alone. Uses up the budget where the caps allow it, but for
    workers who tell nothing.
    """
    choice = Choice.nobody(market)
    tree = np.full(2 * max(2, 1 << (market.n_tasks - 1).bit_length()), -np.inf)
    kernels.climb(market.offers, exact, market.caps.copy(), tree, choice.sets, choice.sizes)
    return choice.support(market.n_workers)


def odd_sizes(market: Market) -> NDArray[np.bool_]:
    """Keep the largest sum of qualities with odd numbers of voters, as equal as can be.

    Every task gets the same odd number, and two more as many of them as the budget has room for:
    those whose best workers are the weakest.
    """
    caps = market.offers[3]
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
