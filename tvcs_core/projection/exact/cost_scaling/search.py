"""Cost scaling from first prices to a proven support, or to a start for the simplex."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.core import Core, list_core_entries
from tvcs_core.projection.exact.cost_scaling.phases import Phases
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import CoreBand
from tvcs_core.projection.kernels.cost_scaling.scaling import (
    EPS_DIVISOR,
    EPS_RESTART_FACTOR,
    EXACT_TURNS,
    EXACT_TURNS_DIVISOR,
    FIRST_TURNS,
    MAX_OPEN_FIRST,
    MAX_OPEN_LATER,
    MAX_TURNS,
    PATH_TURNS,
    UNLIMITED,
)
from tvcs_core.projection.kernels.cost_scaling.ties import MAX_HASH
from tvcs_core.projection.kernels.records import Band, Counts, Prices, Support

# The first eps is this share of the mean prices, if they misplace all units. Measured by
# `benchmarks.speed.families` (docs/method.md, "Scaling").
EPS_SHARE = 1 / 8
MIN_SHARE = 2.0**-10  # least share of units that prices are assumed to misplace
MIN_PRICE = 1 / 512  # least mean price, as a share of a typical gain
# Slack of the entries given to the simplex among ties: of the largest gain, and in grid steps.
TIGHT_SLACK, TIGHT_STEPS = 2.0**-50, 4


class SearchResult(NamedTuple):
    """Prices of a proven support, and statistics."""

    prices: Prices
    stats: dict[str, Any]


def solve_by_cost_scaling(
    instance: Instance, first: Prices, mask: NDArray[np.bool_]
) -> SearchResult | None:
    """Find, prove and fill in the best support of a dense table; None if it gives up."""
    phases = Phases(instance, first)
    eps = first_eps(instance, first, EPS_SHARE * phases.imbalance)
    if not solve(phases, *eps):
        return None
    is_best, is_only = phases.prove()
    if not is_best:
        return None
    support = mask.reshape(instance.shape)
    phases.fill(support)
    prices = phases.prices()
    if is_only or break_ties(phases, support):
        return SearchResult(prices, phases.stats | {"turns": phases.turns})
    del phases.flow
    network = tied(instance, prices, support)
    network.prove()
    return SearchResult(network.duals(), network.stats | phases.stats)


def break_ties(phases: Phases, support: NDArray[np.bool_]) -> bool:
    """Replace an optimal support by the one with the best hashes; False if it is not found."""
    phases.keep_tight()
    if not solve(phases, MAX_HASH // EPS_DIVISOR, MAX_HASH):
        return False
    _, is_only = phases.prove()
    if is_only:
        phases.refill(support)
    return is_only


def solve(phases: Phases, eps: int, wide: int) -> bool:
    """Refine until few units are wrong, then send these along shortest paths; False on giving up.

    If prices are worse than the first eps, eps restarts at `wide`. With ties, prices may be exact
    long before eps is small, so exact prices are sought after each phase.
    """
    nodes, few, last = phases.nodes, int(MAX_OPEN_FIRST * phases.nodes), 0
    budget, patience, most = (
        FIRST_TURNS * nodes,
        MAX_TURNS * nodes,
        phases.turns + MAX_TURNS * nodes,
    )
    while phases.turns < most and not phases.has_failed:
        if phases.is_nearly_right(last, few) and phases.send(
            PATH_TURNS * nodes if eps else patience
        ):
            return True
        if eps == 0:
            return False
        before = phases.turns
        if phases.refine(eps, budget):
            took = phases.turns - before
            if phases.has_ties and phases.make_exact(
                max(EXACT_TURNS * nodes, took // EXACT_TURNS_DIVISOR)
            ):
                return True
            budget, last, eps = patience, eps, eps // EPS_DIVISOR or int(eps > 1)
            few = MAX_OPEN_LATER * nodes if eps else UNLIMITED
        elif budget < patience:
            budget, eps = patience, wide
        else:
            return False
    return False


def first_eps(instance: Instance, prices: Prices, imbalance: float) -> tuple[int, int]:
    """Return the likely error of the prices in grid steps, and the larger eps for a restart.

    The first is the share of units that the prices misplace (times `EPS_SHARE`), times the mean
    prices: if every row wants the same columns, prices may have to change by as much as they are.
    It is at most the spread of the gains, unless whole prices are missing, and at most the largest
    gain, since no price stays wrong by more.
    """
    share = max(MIN_SHARE, imbalance * max(instance.shape) / max(instance.capacity, 1))
    price = max(float(prices.rows.mean() + prices.cols.mean()), MIN_PRICE * instance.level)
    eps, steps = min(price * share, 1.0), instance.grid.steps
    return max(1, int(min(eps, instance.spread or 1.0) * steps)), int(
        min(EPS_RESTART_FACTOR * eps, 1.0) * steps
    )


def tied(instance: Instance, prices: Prices, support: NDArray[np.bool_]) -> CoreNetwork:
    """Return the network of the entries worth their prices, for ties that the simplex breaks."""
    (n, m), slack = instance.shape, max(TIGHT_SLACK, TIGHT_STEPS / instance.grid.steps)
    rows, cols = np.full(n, slack), np.full(m, slack)
    narrow = Band(rows, rows, cols, cols, 0.0, 0.0)
    core_band, apart = CoreBand(prices, narrow), np.empty(support.size, bool)
    listed = list_core_entries(
        instance, core_band, Support(apart, np.zeros(n, np.int64), np.zeros(m, np.int64))
    )
    mask = support.reshape(-1)
    row_load, col_load = np.count_nonzero(support, axis=1), np.count_nonzero(support, axis=0)
    load = Counts(row_load, col_load, int(row_load.sum()))
    return CoreNetwork(instance, Core(listed, mask[listed.position], load, core_band), mask)
