"""The scan from first prices to a proven support, or to what the simplex takes over."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.core import Core, list_near
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import Near, width
from tvcs_core.projection.exact.scan.phases import Phases
from tvcs_core.projection.kernels.records import Band, Counts, Prices, Support

FINER = 6  # from one eps to the next
COARSER = 16  # to a first eps, where prices were worse than their band says
FIRST = 16  # turns of each node for the first eps, more than which say so
FEW_AT_FIRST = 1 / 8  # units by node, fewer than which are sent along shortest paths at once
FEW = 1  # and after the first eps
SENT = 10  # turns of each node for that, more than which a finer eps saves
ALL = 2**60  # more than there can be
PATIENCE = 400  # turns of each node in all
LEAST_EPS = 1 / 512  # of a typical gain, where lines have no ranks about their threshold
TIGHT = 2.0**-36  # slack of what the simplex looks at where another support is as good


@dataclass(frozen=True)
class Found:
    """Prices of a proven support, and the prices and band that a warm start begins with."""

    prices: Prices
    near: Near
    stats: dict[str, Any]


def scan(i: Instance, near: Near, keep: NDArray[np.bool_]) -> Found | None:
    """Find and prove the best support of a dense table, fill it in; None where it gives up."""
    phases = Phases(i, near.prices)
    off = phases.imbalance / width(max(i.shape))
    if not solve(phases, first_eps(i, near.band), max(1.0, off)):
        return None
    is_best, is_only = phases.prove()
    if not is_best:
        return None
    support = keep.reshape(i.shape)
    phases.fill(support)
    phases.stats["turns"] = phases.turns
    prices = phases.prices()
    if is_only:
        return Found(prices, near, phases.stats)
    del phases.flow
    network = tied(i, prices, support)
    network.prove()
    return Found(network.duals(), near, network.stats | phases.stats)


def solve(phases: Phases, first: int, times_worse: float) -> bool:
    """Refine until little is wrong, and right that along shortest paths; False where it gives up.

    It begins with more than the first eps where prices are worse than that, but never with more
    than the largest gain, which no price is wrong by for long.
    """
    nodes, largest = phases.nodes, int(phases.i.grid.steps)
    eps = int(min(first * times_worse, largest))
    few, budget, most, last = int(FEW_AT_FIRST * nodes), FIRST * nodes, PATIENCE * nodes, 0
    while phases.turns < most and not phases.has_failed:
        if phases.is_nearly_right(last, few) and phases.send(SENT * nodes if eps else most):
            return True
        if eps == 0:
            return False
        if phases.refine(eps, budget):
            budget, last, eps = most, eps, eps // FINER
            few = FEW * nodes if eps else ALL
        elif budget < most:
            budget, eps = most, min(COARSER * eps, largest)
        else:
            return False
    return False


def first_eps(i: Instance, band: Band) -> int:
    """How wrong prices are likely to be, in steps of the grid: what some ranks are apart."""
    rows = (band.below_rows + band.above_rows)[~i.closed_row]
    cols = (band.below_cols + band.above_cols)[~i.closed_col]
    eps = float(np.median(np.concatenate([rows, cols])))
    eps = eps if eps < 1.0 else 0.0
    return max(1, int(max(eps, i.level * LEAST_EPS) * i.grid.steps))


def tied(i: Instance, prices: Prices, support: NDArray[np.bool_]) -> CoreNetwork:
    """The network of what is worth its prices: the simplex settles ties by their hash."""
    n, m = i.shape
    rows, cols = np.full(n, TIGHT), np.full(m, TIGHT)
    narrow = Band(rows, rows, cols, cols, 0.0, 0.0)
    near, apart = Near(prices, narrow), np.empty(support.size, bool)
    listed = list_near(i, near, Support(apart, np.zeros(n, np.int64), np.zeros(m, np.int64)))
    keep = support.reshape(-1)
    row_load, col_load = np.count_nonzero(support, axis=1), np.count_nonzero(support, axis=0)
    load = Counts(row_load, col_load, int(row_load.sum()))
    return CoreNetwork(i, Core(listed, keep[listed.place], load, near), keep)
