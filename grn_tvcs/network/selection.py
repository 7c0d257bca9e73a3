"""Selection of the edges with the largest sum of scores under the caps.

A projection takes memory and time for every pair, though few can be selected. So it is solved on
the best pairs of every regulator, of every target and of the table, about twice as many as the caps
allow. By weak duality, no best selection has a pair whose value is below the prices of its two caps
and of the total. Other pairs, and ties, join the problem until none is left. The result is that of
the projection of all pairs, ties included.

An undirected pair is one edge that counts for the caps of both genes on both sides. Such caps are
not those of a matrix, so edges are then taken greedily by confidence. That is the best selection
under a number of edges alone. Under caps on degrees it keeps .99 of the best sum on average on
tables like those of the tests, at least .92, and provably at least a fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.network.pairs import Floats, Pairs, Places, counted_scores
from grn_tvcs.network.ranking import surest
from grn_tvcs.network.rules import Rules
from tvcs_core import TVCS, Projection, project

FEW = 50_000  # pairs that are projected as they are
MORE = 2  # times the caps: how many of the best pairs are taken first
ROUNDS = 4  # after so many every pair is taken
GROWTH = 4  # times as many of the surest pairs, where they do not fill the caps
CLOSE = 2.0**-30  # of the largest score: far more than what breaks ties (2^-37)

Flags = NDArray[np.bool_]


def select(pairs: Pairs, rules: Rules, genes: Sequence[str]) -> Flags:
    """Which pairs are selected: (regulators, targets)."""
    if pairs.undirected is not None:
        return _from_the_surest(pairs, rules, genes)
    constraint = rules.caps_over(genes)
    selected = np.zeros(pairs.shape, dtype=bool)
    if not constraint.total:
        return selected
    is_open = _open(pairs, rules, genes, constraint)
    few = is_open
    if np.count_nonzero(is_open) > FEW:
        few = _best_of_lines(pairs, constraint, is_open)
    for round_ in range(ROUNDS):
        projection = _projected(pairs, constraint, few)
        missed = _worth_more(pairs, projection, is_open & ~few) if few is not is_open else None
        if missed is None or not missed.any():
            break
        few = is_open if round_ + 2 >= ROUNDS else few | missed
    kept = projection.support.tocoo()
    rows, cols = (np.searchsorted(of, at) for of, at in zip(
        (pairs.regulators, pairs.targets), kept.coords, strict=True))  # fmt: skip
    selected[rows, cols] = True
    return selected


def _from_the_surest(pairs: Pairs, rules: Rules, genes: Sequence[str]) -> Flags:
    """Take edges from the surest down, each that the caps leave room for, however it is read."""
    assert pairs.undirected is not None
    constraint = rules.caps_over(genes)
    is_open = _open(pairs, rules, genes, constraint)
    scores = np.where(is_open, counted_scores(pairs, genes), 0.0)
    counted = replace(pairs, scores=scores)
    most = min(constraint.total, int(np.count_nonzero(scores)))
    width, n = pairs.targets.size, most
    while True:  # of many pairs the surest few are mostly enough
        outs, ins = constraint.row_caps.tolist(), constraint.col_caps.tolist()
        taken: list[int] = []
        asked = surest(counted, genes, n)
        for place in asked.tolist():
            if len(taken) == most:
                break
            row, col = divmod(place, width)
            i, j = int(pairs.regulators[row]), int(pairs.targets[col])
            ends = [(i, j), (j, i)] if pairs.undirected[row, col] else [(i, j)]
            if all(outs[a] and ins[b] for a, b in ends):
                for a, b in ends:
                    outs[a] -= 1
                    ins[b] -= 1
                taken.append(place)
        if len(taken) == most or n > asked.size or n >= scores.size:
            break
        n *= GROWTH
    selected = np.zeros(pairs.shape, dtype=bool)
    selected.flat[taken] = True
    return selected


def _open(pairs: Pairs, rules: Rules, genes: Sequence[str], constraint: TVCS) -> Flags:
    """Pairs with a score that rules and caps leave room for."""
    may_regulate, may_be_target = rules.roles(genes)
    rows = may_regulate & (constraint.row_caps > 0)
    cols = may_be_target & (constraint.col_caps > 0)
    return (pairs.scores > 0) & rows[pairs.regulators, None] & cols[pairs.targets]


def _best_of_lines(pairs: Pairs, constraint: TVCS, is_open: Flags) -> Flags:
    """Pairs that are among the best of their row, of their column and of all."""
    scores = np.where(is_open, pairs.scores, 0.0)
    row_caps = constraint.row_caps[pairs.regulators]
    col_caps = constraint.col_caps[pairs.targets]
    lines_keep = min(int(row_caps.sum()), int(col_caps.sum()))
    n_best = MORE * constraint.total if constraint.total < lines_keep else 0  # 0 lets in all
    least = np.full(pairs.shape[1], _least(scores.ravel(), n_best))
    for cap in np.unique(col_caps):
        of_cap = np.flatnonzero(col_caps == cap)
        if MORE * cap < pairs.shape[0]:
            among = scores if of_cap.size == least.size else scores[:, of_cap]
            least[of_cap] = np.maximum(least[of_cap], _least(among.T, MORE * int(cap)))
    few = is_open & (scores >= least)
    for cap in np.unique(row_caps):
        of_cap = np.flatnonzero(row_caps == cap)
        if MORE * cap < pairs.shape[1]:
            few[of_cap] &= scores[of_cap] >= _least(scores[of_cap], MORE * int(cap))[:, None]
    return few


def _least(scores: Floats, n: int) -> Floats:
    """Return the n-th largest along the last axis; 0 if there are fewer."""
    size = scores.shape[-1]
    if not 0 < n < size:
        return np.zeros(scores.shape[:-1])
    return np.asarray(np.partition(scores, size - n, axis=-1)[..., size - n])


def _projected(pairs: Pairs, constraint: TVCS, few: Flags) -> Projection:
    """Project the square roots of the scores of few pairs, so that the sum of scores is maximised.

    Rows and columns are those of all genes, for ties are broken by their numbers.
    """
    rows, cols = np.nonzero(few)
    at = pairs.regulators[rows], pairs.targets[cols]
    values = np.sqrt(pairs.scores[rows, cols])
    return project(sparse.csr_array((values, at), shape=constraint.shape), constraint)


def _worth_more(pairs: Pairs, projection: Projection, others: Flags) -> Flags:
    """Which of the other pairs are worth the prices of their caps, or nearly."""
    close = CLOSE * float(pairs.scores.max(initial=0.0))
    prices: Places | Floats = projection.col_duals[pairs.targets] + projection.total_dual - close
    out = np.zeros(pairs.shape, dtype=bool)
    for i, gene in enumerate(pairs.regulators):
        out[i] = others[i] & (pairs.scores[i] >= prices + projection.row_duals[gene])
    return out
