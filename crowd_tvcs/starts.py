"""Cheap assignments that the methods start from: greedy ones, and the LP with odd sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.multiclass.market import MulticlassMarket
from crowd_tvcs.plan import Plan
from crowd_tvcs.pricing import Choice, Market
from tvcs_core import TVCS, project


def market_of(plan: Plan) -> Market:
    """Prepare a plan for the kernels of two classes, or of more."""
    return Market.of(plan) if plan.model is None else MulticlassMarket.of(plan)


def climb(market: Market, *, exact: bool, start: Choice | None = None) -> NDArray[np.bool_]:
    """Add pair after pair, always the one of the largest gain that the caps still allow.

    With `exact` by gain in expected accuracy, and where all gains are 0 by gain in probability of
    truth; without, by the latter alone. Tasks below their minimum go first. Uses up the budget
    where the caps allow it, but for workers who tell nothing. Begins with `start` if there is one.
    """
    support = market.climb(Choice.nobody(market) if start is None else start.copy(), exact=exact)
    if start is None and market.plan.unmet(support):
        return climb(market, exact=exact, start=Choice.of(market, met(market.plan, support)))
    return support


def met(plan: Plan, support: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Meet the minimums and forced pairs, keeping as many pairs of `support` as may be."""
    told = plan.told
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
    caps = TVCS.matrix(
        plan.quality.shape,
        row_caps=plan.max_tasks_per_worker,
        col_caps=sizes,
        total=plan.budget,
        allowed=plan.quality.allowed,
    )
    support: NDArray[np.bool_] = project(np.sqrt(plan.told), caps).support
    return support
