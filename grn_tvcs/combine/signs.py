"""Which signs the data support: those of changed genes, and those that kinds of evidence agree on.

Genes that answer one stimulus rise together, whoever represses whom, so a correlation of levels is
no sign. Two things are. A regulator that was knocked out or down shows it by a target that then
moved beyond noise. And where there are several series, evidence of levels and of changes agrees on
true signs far more often than on false ones: the method's own sign must be that of the correlation
of the regulator's level with the target's next change, of rank correlation and of partial
correlation. `python -m benchmarks.signs` measures how often such signs are right.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.knockouts import STRONG, ranked_down
from grn_tvcs.evidence.lagged_correlation import lagged_correlation
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.samples import levels_of_all, logs_of_all
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior

FEWEST_SERIES = 2  # of one series no two parts are independent; IRMA's: 1 of 3 signs right
KNOCKDOWN = 0.5  # of the effect of a knock-out, where both were done: as in `parts`
PAIRS_AT_ONCE = 4_000_000  # bounds the memory; any number gives the same signs

Signs = NDArray[np.int8]
Places = NDArray[np.int64]


def supported(
    pairs: Pairs,
    expression: Expression,
    steady: SteadyStates | None = None,
    prior: Prior | None = None,
) -> Signs:
    """Signs of the pairs that something supports; 0 elsewhere.

    Parameters
    ----------
    pairs
        With the signs of the method, which are one of the kinds of evidence that must agree.
    expression, steady
        With the same genes, in the same order.
    prior
        A sign that a list has counts where the data give none, and takes away one that they
        contradict.
    """
    signs = np.zeros(pairs.shape, np.int8)
    if len(expression.pieces()) >= FEWEST_SERIES and pairs.signs.any():
        for at, rows in _blocks(pairs):
            mine = pairs.signs[at]
            agrees = mine != 0
            for other in _of_series(expression, steady, rows, pairs.targets):
                agrees &= other == mine
            signs[at] = mine * agrees
    if steady is not None:
        moved = _of_changed(expression, steady, pairs.regulators, pairs.targets)
        signs = np.where(moved != 0, moved, signs)
    if prior is not None:
        listed = prior.among(pairs.regulators, pairs.targets).signs
        signs = np.where(signs == 0, listed, np.where(signs * listed < 0, 0, signs))
    return signs.astype(np.int8)


def _blocks(pairs: Pairs) -> Iterator[tuple[slice, Places]]:
    """Rows of the pairs, some at a time, and the regulators that they stand for."""
    step = max(1, PAIRS_AT_ONCE // max(pairs.targets.size, 1))
    for start in range(0, pairs.regulators.size, step):
        at = slice(start, start + step)
        yield at, pairs.regulators[at]


def _of_series(
    expression: Expression, steady: SteadyStates | None, rows: Places, targets: Places
) -> Iterator[Signs]:
    """Signs by the next change, by ranks and beyond other genes; [row, target] each."""
    yield _sign(lagged_correlation(expression, "change", rows=rows)[:, targets])
    yield _sign(RankCorrelations(levels_of_all(expression, steady)).of(rows, targets))
    yield _sign(partial_correlation(logs_of_all(expression, steady), rows)[:, targets])


def _of_changed(
    expression: Expression, steady: SteadyStates, regulators: Places, targets: Places
) -> Signs:
    """1 where a target fell beyond noise as its regulator was changed, -1 where it rose."""
    kinds = [(steady.is_changed(is_out=True), True, 1.0)]
    kinds.append((steady.is_changed(is_out=False), False, KNOCKDOWN))
    rows = np.flatnonzero(np.any([is_changed for is_changed, _, _ in kinds], axis=0))
    effects = np.zeros((rows.size, len(expression.genes)))
    for is_changed, is_out, weight in kinds:
        if is_changed.any():
            effects += weight * steady.shifts(expression, is_out=is_out, rows=rows)
    sizes = ranked_down(np.abs(effects), rows)
    found = np.zeros((regulators.size, targets.size), np.int8)
    _, here, there = np.intersect1d(regulators, rows, assume_unique=True, return_indices=True)
    strong = np.where(sizes >= STRONG, np.sign(effects), 0.0).astype(np.int8)
    found[here] = strong[np.ix_(there, targets)]
    return found


def _sign(values: NDArray[np.float64]) -> Signs:
    return np.sign(values).astype(np.int8)
