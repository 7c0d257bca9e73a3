"""Undirected pairs: two genes whose data do not show which of them regulates the other.

Such a pair has two rows in a ranking and is one edge: the way with the larger score stands for both
(of equal scores the first by name), and the other is never selected. It is drawn without an arrow.
Caps hold whichever way it is read, so it uses one regulator and one target of both genes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.network.pairs import Pairs

# A way with more than this part of the other's score is not told from it. On simulated networks the
# stronger way was true in .93 of the pairs below and in .61 of those above (decision "undirected").
CLOSE = 0.5

Flags = NDArray[np.bool_]
Places = NDArray[np.int64]


def undirected_pairs(pairs: Pairs, allowed: Flags, close: float = CLOSE) -> Flags | None:
    """Return which pairs are undirected: both ways may be edges and score alike; None if none is.

    Parameters
    ----------
    pairs
        With their scores.
    allowed
        Which of them may be edges.
    close
        Part of the stronger way's score that the weaker must exceed.
    """
    regulators, targets = _both_ways(pairs)
    at = np.ix_(regulators, targets)
    scores = np.where(allowed[at], pairs.scores[at], 0.0)
    found = np.zeros(pairs.shape, np.bool_)
    found[at] = np.minimum(scores, scores.T) > close * np.maximum(scores, scores.T)
    return found if found.any() else None


def weaker_ways(pairs: Pairs, genes: Sequence[str]) -> Flags | None:
    """Return the ways of undirected pairs that are no edges of their own; None without pairs."""
    if pairs.undirected is None:
        return None
    regulators, targets = _both_ways(pairs)
    at = np.ix_(regulators, targets)
    scores = pairs.scores[at]
    names = np.array([genes[place] for place in pairs.regulators[regulators]], dtype=object)
    rank = np.empty(names.size, np.int64)
    rank[np.argsort(names, kind="stable")] = np.arange(names.size)
    is_later = rank[:, None] > rank
    weaker = np.zeros(pairs.shape, np.bool_)
    is_weaker = (scores < scores.T) | ((scores == scores.T) & is_later)
    weaker[at] = is_weaker & (pairs.undirected[at] | pairs.undirected[at].T)
    return weaker


def counted_scores(pairs: Pairs, genes: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores of edges, those of an undirected pair once; 0 for its weaker way."""
    weaker = weaker_ways(pairs, genes)
    return pairs.scores if weaker is None else np.where(weaker, 0.0, pairs.scores)


def reversed_ways(pairs: Pairs, flags: Flags) -> Flags:
    """Return the flags of the opposite way of each pair; False where that is no pair."""
    regulators, targets = _both_ways(pairs)
    at = np.ix_(regulators, targets)
    found = np.zeros(pairs.shape, np.bool_)
    found[at] = flags[at].T
    return found


def _both_ways(pairs: Pairs) -> tuple[Places, Places]:
    """Return rows and columns of the genes that are both regulators and targets, in one order."""
    _, rows, cols = np.intersect1d(
        pairs.regulators, pairs.targets, assume_unique=True, return_indices=True
    )
    return rows, cols
