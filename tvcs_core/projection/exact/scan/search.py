"""The scan from first prices to a proven support, or to what the simplex takes over."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.core import Core, list_near
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import Near
from tvcs_core.projection.exact.scan.phases import Phases
from tvcs_core.projection.kernels.records import Band, Counts, Prices, Support
from tvcs_core.projection.kernels.scan.scaling import (
    ALL,
    COARSER,
    EXACT,
    FEW,
    FEW_AT_FIRST,
    FINER,
    FIRST,
    PART,
    PATIENCE,
    SENT,
)
from tvcs_core.projection.kernels.scan.ties import LARGEST

# Of the mean prices is the first eps, where they misplace all: of blocks that began with nothing,
# and of all others.
ANEW, BEGUN = 1 / 2, 1 / 8
LEAST_SHARE = 2.0**-10  # that prices are taken to misplace
LEAST_PRICE = 1 / 512  # of a typical gain, where lines have no price
TIGHT = 2.0**-50  # slack of what the simplex looks at where another support is as good, or
STEPS = 4  # of the grid


@dataclass(frozen=True)
class Found:
    """Prices of a proven support, and the prices and band that a warm start begins with."""

    prices: Prices
    near: Near
    stats: dict[str, Any]


def scan(i: Instance, near: Near, keep: NDArray[np.bool_], anew: bool = False) -> Found | None:
    """Find and prove the best support of a dense table, fill it in; None where it gives up.

    `anew` says that the prices are those of a block of each side that began with nothing.
    """
    phases = Phases(i, near.prices)
    part = ANEW if anew else BEGUN
    if not solve(phases, *first_eps(i, near.prices, part * phases.imbalance)):
        return None
    is_best, is_only = phases.prove()
    if not is_best:
        return None
    support = keep.reshape(i.shape)
    phases.fill(support)
    prices = phases.prices()
    if is_only or break_ties(phases, support):
        return Found(prices, near, phases.stats | {"turns": phases.turns})
    del phases.flow
    network = tied(i, prices, support)
    network.prove()
    return Found(network.duals(), near, network.stats | phases.stats)


def break_ties(phases: Phases, support: NDArray[np.bool_]) -> bool:
    """Turn a best support into the one whose hashes are best; False where that is not found."""
    phases.keep_tight()
    if not solve(phases, LARGEST // FINER, LARGEST):
        return False
    _, is_only = phases.prove()
    if is_only:
        phases.refill(support)
    return is_only


def solve(phases: Phases, eps: int, wide: int) -> bool:
    """Refine until little is wrong, and right that along shortest paths; False where it gives up.

    It goes on with `wide` where prices are worse than the first eps. Among ties prices may be exact
    long before eps is: they are looked for after each phase.
    """
    nodes, few, last = phases.nodes, int(FEW_AT_FIRST * phases.nodes), 0
    budget, patience, most = FIRST * nodes, PATIENCE * nodes, phases.turns + PATIENCE * nodes
    while phases.turns < most and not phases.has_failed:
        if phases.is_nearly_right(last, few) and phases.send(SENT * nodes if eps else patience):
            return True
        if eps == 0:
            return False
        before = phases.turns
        if phases.refine(eps, budget):
            took = phases.turns - before
            if phases.has_ties and phases.make_exact(max(EXACT * nodes, took // PART)):
                return True
            budget, last, eps = patience, eps, eps // FINER or int(eps > 1)
            few = FEW * nodes if eps else ALL
        elif budget < patience:
            budget, eps = patience, wide
        else:
            return False
    return False


def first_eps(i: Instance, prices: Prices, imbalance: float) -> tuple[int, int]:
    """How wrong prices are likely to be, in steps of the grid, and if that is too little.

    That is the share of all units that they misplace (part of it, see `ANEW`) of the mean prices:
    where every row wants the same columns, these may have to change by as much as they are. It is
    no more than gains differ by, unless whole prices are missing, and never more than the largest
    gain, which no price is wrong by for long.
    """
    share = max(LEAST_SHARE, imbalance * max(i.shape) / max(i.fits, 1))
    price = max(float(prices.rows.mean() + prices.cols.mean()), LEAST_PRICE * i.level)
    eps, steps = min(price * share, 1.0), i.grid.steps
    return max(1, int(min(eps, i.spread or 1.0) * steps)), int(min(COARSER * eps, 1.0) * steps)


def tied(i: Instance, prices: Prices, support: NDArray[np.bool_]) -> CoreNetwork:
    """The network of what is worth its prices: the simplex settles ties by their hash."""
    (n, m), slack = i.shape, max(TIGHT, STEPS / i.grid.steps)
    rows, cols = np.full(n, slack), np.full(m, slack)
    narrow = Band(rows, rows, cols, cols, 0.0, 0.0)
    near, apart = Near(prices, narrow), np.empty(support.size, bool)
    listed = list_near(i, near, Support(apart, np.zeros(n, np.int64), np.zeros(m, np.int64)))
    keep = support.reshape(-1)
    row_load, col_load = np.count_nonzero(support, axis=1), np.count_nonzero(support, axis=0)
    load = Counts(row_load, col_load, int(row_load.sum()))
    return CoreNetwork(i, Core(listed, keep[listed.place], load, near), keep)
