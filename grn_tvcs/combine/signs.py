"""Signs of edges that the data support: by perturbed genes, or by agreement of several sources.

Genes that respond to one stimulus rise together, even if one represses another, so a correlation of
levels gives no sign. Two kinds of evidence do. First, a regulator was knocked out or down and the
target then moved beyond noise. Second, with several series, sources from levels and from changes
agree on true signs far more often than on false ones. The method's sign must then equal those of
three correlations: regulator level with the target's next change, rank correlation and partial
correlation. Series that share one direction are one response, however many they are, and give no
sign. In bins of cells noise alone often agrees, so there the lagged correlations must also be far
from 0. `python -m benchmarks.signs` measures the accuracy of such signs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.direction import shared_direction
from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.knockouts import KNOCKDOWN_EFFECT, STRONG, downrank_indirect
from grn_tvcs.evidence.lagged_correlation import lagged_correlation
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.samples import all_levels, all_log_levels
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior

MIN_SERIES = 2  # within one series sources are not independent; on IRMA's, 1 of 3 signs was right
# Largest `shared_direction` of series that give signs: SOS responses of E. coli, whose correlations
# have the wrong sign for every edge, have .97, B. subtilis .25, 60 simulated networks up to .41.
MAX_SHARED = 0.7
# Fewest standard errors of lagged correlations of cells: with the next change, and half of those
# with the next level, as levels of neighbouring bins repeat each other (decision 271).
MIN_CELLS_Z, LEVEL_WEIGHT = 4.5, 0.5
CHUNK_PAIRS = 4_000_000  # pairs per chunk, which bounds the memory; signs do not depend on it

Signs = NDArray[np.int8]
Indices = NDArray[np.int64]


def supported_signs(
    pairs: Pairs,
    expression: Expression,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
) -> Signs:
    """Return the supported signs of pairs; 0 for the others.

    Parameters
    ----------
    pairs
        With the signs of the method, one of the sources that must agree.
    expression, steady
        With the same genes, in the same order.
    prior
        Signs of prior edges are used if the data give none; contradicting signs become 0.
    """
    signs = np.zeros(pairs.shape, np.int8)
    if pairs.signs.any() and have_signs(expression):
        for at, rows in _blocks(pairs):
            supported = _of_series(expression, steady, rows, pairs.targets)
            signs[at] = np.where(pairs.signs[at] == supported, supported, 0)
    if steady is not None:
        moved = _of_changed(expression, steady, pairs.regulators, pairs.targets)
        signs = np.where(moved != 0, moved, signs)
    if prior is not None:
        listed = prior.restrict_to(pairs.regulators, pairs.targets).signs
        signs = np.where(signs == 0, listed, np.where(signs * listed < 0, 0, signs))
    return signs.astype(np.int8)


def have_signs(expression: Expression) -> bool:
    """Return whether series give signs: there are several, and not of one response."""
    if expression.n_series < MIN_SERIES:
        return False
    return not shared_direction(expression) > MAX_SHARED  # NaN where nothing can be compared


def _blocks(pairs: Pairs) -> Iterator[tuple[slice, Indices]]:
    """Yield chunks of rows of the pairs, and the regulators of these rows."""
    step = max(1, CHUNK_PAIRS // max(pairs.targets.size, 1))
    for start in range(0, pairs.regulators.size, step):
        at = slice(start, start + step)
        yield at, pairs.regulators[at]


def _of_series(
    expression: Expression, steady: SteadyStates | None, rows: Indices, targets: Indices
) -> Signs:
    """Return the signs on which all sources of series agree, else 0; [row, target].

    The sources are the correlation with the next change, of ranks, and partial correlation.
    """
    change = lagged_correlation(expression, "change", rows=rows)[:, targets]
    if expression.cells is not None:  # both lagged correlations must be far from 0
        level = lagged_correlation(expression, "level", rows=rows)[:, targets]
        most = 1.0 - 1e-12  # of a correlation, so that none is infinite
        z, of_level = (np.arctanh(np.clip(r, -most, most)) for r in (change, level))
        z = (z + LEVEL_WEIGHT * of_level) * np.sqrt(max(expression.n_steps - 3, 0))
        change = np.where(np.sign(change) * z >= MIN_CELLS_Z, change, 0.0)
    levels, logs = all_levels(expression, steady), all_log_levels(expression, steady)
    ranks = RankCorrelations(levels).of(rows, targets)
    partial = partial_correlation(logs, rows)[:, targets]
    signs = np.sign(change)
    agree = (signs == np.sign(ranks)) & (signs == np.sign(partial))
    return np.where(agree, signs, 0.0).astype(np.int8)


def _of_changed(
    expression: Expression, steady: SteadyStates, regulators: Indices, targets: Indices
) -> Signs:
    """Return 1 if a target fell beyond noise when its regulator was perturbed, -1 if it rose."""
    kinds = [(steady.is_changed(is_out=True), True, 1.0)]
    kinds.append((steady.is_changed(is_out=False), False, KNOCKDOWN_EFFECT))
    rows = np.flatnonzero(np.any([is_changed for is_changed, _, _ in kinds], axis=0))
    effects = np.zeros((rows.size, len(expression.genes)))
    for is_changed, is_out, weight in kinds:
        if is_changed.any():
            effects += weight * steady.shifts(expression, is_out=is_out, rows=rows)
    sizes = downrank_indirect(np.abs(effects), rows)
    found = np.zeros((regulators.size, targets.size), np.int8)
    _, here, there = np.intersect1d(regulators, rows, assume_unique=True, return_indices=True)
    strong = np.where(sizes >= STRONG, np.sign(effects), 0.0).astype(np.int8)
    found[here] = strong[np.ix_(there, targets)]
    return found
