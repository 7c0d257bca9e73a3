"""Fit the distribution of co-expression to simulated tables (`grn_tvcs.combine.coexpression`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.learning.traits import RIDGE, least_squares
from grn_tvcs.combine.coexpression import MEASURES, Array, Coexpression, covariates_of
from grn_tvcs.simulation.designs import GENES, Design

LIMIT_QUANTILE = 0.99  # fraction of simulated tables below the limit
RIDGE_OF_SPREAD = 1e-2  # ridge penalty per table
# Simulated tables of nearest size that set a limit, at most half of all. Large networks in series
# need more: with 300 tables, 4 % of other simulated tables, not 1 %, exceeded it (decision 140).
MAX_NEIGHBOURS, LARGE_NETWORK_GENES, MAX_NEIGHBOURS_LARGE = 300, 40, 2000


def learn_coexpression(
    found: Array, designs: Sequence[Design], n_usual: int | None = None
) -> Coexpression:
    """Fit the distribution to the measures of simulated tables and their designs.

    `found` is (tables, MEASURES). At least two tables with series and two without are needed. The
    regression uses the first `n_usual` tables, by default all, which should be of all sizes alike.
    Limits use all tables.
    """
    X = np.array([covariates_of(design) for design in designs[:n_usual]])
    means = np.zeros((X.shape[1], len(MEASURES)))
    spreads = np.zeros_like(means)
    for k, y in enumerate(found[:n_usual].T):
        known = ~np.isnan(y)
        x = X[known]
        means[:, k] = least_squares(x, y[known], RIDGE * len(x))
        left = y[known] - x @ means[:, k]
        # The logarithm of a tiny residual has unbounded leverage, so part of the variance is added.
        of_each = np.log(left**2 + 1e-3 * left.var())
        spreads[:, k] = least_squares(x, of_each, RIDGE_OF_SPREAD * len(x))
        spreads[0, k] += np.log(np.mean(left**2 * np.exp(-x @ spreads[:, k])))
    learned = Coexpression(means, spreads, np.empty((2, len(GENES))))
    pairs = zip(found, designs, strict=True)
    excess = np.array([learned.excess(row, design) for row, design in pairs])
    genes = np.array([design.n_genes for design in designs])
    is_timed = np.array([design.n_series > 0 for design in designs])
    for timed in (False, True):
        known = (is_timed == timed) & ~np.isnan(excess)
        of, size = excess[known], genes[known]
        for place, n in enumerate(GENES):
            nearest = np.argsort(np.abs(np.log(size / n)), kind="stable")
            most = MAX_NEIGHBOURS_LARGE if timed and n > LARGE_NETWORK_GENES else MAX_NEIGHBOURS
            some = nearest[: max(1, min(most, of.size // 2))]
            learned.limits[int(timed), place] = np.quantile(of[some], LIMIT_QUANTILE)
    return learned
