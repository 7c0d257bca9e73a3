"""A bound for very many workers on tasks of one kind: prices linear between knots of quality.

For fixed other voters the accuracy of a vote is convex in the quality of a voter. So a worker
between two knots is worth, less their price, at most as much as the better of two voters at these
knots, if the price is linear in between. A best set is bounded by the best of all multisets of
voters at the knots, which are few enough to be tried. A cap of a worker counts for the two knots
around them, by the shares of the chord, so that the dual has one variable per knot.
"""

from __future__ import annotations

from itertools import chain, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.search.relaxation import DualBound, Relaxation

MIN_WORKERS = 150  # with fewer, branch and bound proves tighter bounds in seconds
# Multisets in all: 250,000 take 1 s, and with 28 knots and 5 workers a task lose some 2 % of the
# error (beta qualities of 1,000 workers).
MAX_MULTISETS = 250_000
MIN_KNOTS = 8  # fewer prove little
ROUNDS = 150  # cutting planes, to bound the time; 30 to 60 do
CLOSE = 1e-6  # accuracy of a task: gap of the best prices and the cutting planes at which to stop

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def bound_by_knots(groups: Groups, relaxation: Relaxation) -> DualBound | None:
    """Return the best bound that prices linear between knots prove, in units of the sum of tasks.

    None with few workers, several kinds or more than two classes, or if sets are too large.
    """
    plan, members = groups.plan, groups.members
    kinds, most = np.unique(plan.factors.kind), int(members.max_workers_per_task.max())
    count = _most_knots(MAX_MULTISETS // groups.size, most)
    if plan.n_classes > 2 or kinds.size > 1 or relaxation.n_workers < MIN_WORKERS or count is None:
        return None
    quality, allowed = plan.factors.table.values[:, kinds[0]], plan.factors.table.allowed
    useful = np.ones(quality.size, bool) if allowed is None else allowed[:, kinds[0]]
    at = _knots(quality[useful], count)
    share = np.column_stack([np.interp(quality, at, own) for own in np.eye(at.size)])
    limits = np.append(share[useful].T @ relaxation.caps[:-1][useful], relaxation.caps[-1])
    # One voter more than there are knots is a guess: no worker.
    rows = combinations_with_replacement(range(at.size + 1), most)
    sets = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, most)
    labels = np.stack([(sets == knot).sum(axis=1) for knot in range(at.size)], axis=1)
    labels = np.column_stack([labels, labels.sum(axis=1)]).astype(np.float64)
    gain = _gains(np.append(at, 0.5), sets, members.prior)
    least, size = members.min_workers_per_task[:, None], labels[:, -1]
    gain[(size < least) | (size > members.max_workers_per_task[:, None])] = -np.inf
    prices, value = _least_bound(gain, labels, limits, groups.weight)
    bound = float(prices @ limits + groups.weight @ value)
    of_workers = np.where(useful, share @ prices[:-1], 0.0)
    return DualBound(np.append(of_workers, prices[-1]), bound, True, relaxation.nobody(), value)


def _most_knots(sets: int, most: int) -> int | None:
    """Return the largest number of knots with at most so many multisets; None below `MIN_KNOTS`."""
    count = MIN_KNOTS - 1
    while comb(count + 1 + most, most) <= sets and most > 0:
        count += 1
    return count if count >= MIN_KNOTS else None


def _knots(quality: Floats, count: int) -> Floats:
    """Return qualities of workers halfway between even steps and quantiles; all if they are few."""
    if np.unique(quality).size <= count:
        return np.unique(quality)
    part = np.linspace(0.0, 1.0, count)
    even = quality.min() + part * (quality.max() - quality.min())
    wanted, ordered = 0.5 * (even + np.quantile(quality, part)), np.sort(quality)
    place = np.searchsorted(ordered, wanted).clip(1, quality.size - 1)
    is_below = wanted - ordered[place - 1] < ordered[place] - wanted
    return np.unique(np.append(ordered[place - is_below], ordered[[0, -1]]))


def _gains(quality: Floats, sets: Integers, priors: Floats) -> Floats:
    """Return the accuracy of every multiset of voters, of shape (priors, multisets)."""
    out = np.empty((priors.size, sets.shape[0]))
    for row, prior in zip(out, priors.tolist(), strict=True):
        right, wrong = np.full((1, sets.shape[0]), prior), np.full((1, sets.shape[0]), 1.0 - prior)
        for voter in quality[sets.T]:
            right = np.concatenate([right * voter, right * (1.0 - voter)])
            wrong = np.concatenate([wrong * (1.0 - voter), wrong * voter])
        row[:] = np.maximum(right, wrong).sum(axis=0)
    return out


def _least_bound(
    gain: Floats, labels: Floats, limits: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Minimize prices @ limits + weight @ (best gain less prices) by cutting planes (Kelley 1960).

    Prices alternate between those of the program over the cuts and their mean with the best ones.
    Return prices and the value of every group.
    """
    from scipy.optimize import linprog

    groups, (n_groups, n_limits) = np.arange(weight.size), (weight.size, limits.size)
    prices, best, found = np.zeros(n_limits), np.inf, (np.zeros(n_limits), np.zeros(n_groups))
    cuts, right = [], []
    for turn in range(ROUNDS):
        net = gain - labels @ prices
        chosen = net.argmax(axis=1)
        value = net[groups, chosen]
        bound = float(prices @ limits + weight @ value)
        if bound < best:
            best, found = bound, (prices, value)
        cuts.append(-np.hstack([labels[chosen], np.eye(n_groups)]))
        right.append(-gain[groups, chosen])
        solved = linprog(
            np.append(limits, weight),
            A_ub=np.vstack(cuts),
            b_ub=np.concatenate(right),
            bounds=[(0.0, 1.0)] * n_limits + [(None, None)] * n_groups,
            method="highs",
        )
        if solved.status != 0 or best - solved.fun <= CLOSE * weight.sum():
            break
        prices = np.clip(solved.x[:n_limits], 0.0, 1.0)
        if turn % 2:
            prices = 0.5 * (prices + found[0])
    return found
