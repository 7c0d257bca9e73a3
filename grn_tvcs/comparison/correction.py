"""One correction over several comparisons: of global tests, of edges and of genes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tvcs_core.files.display import summary

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Correction:
    """The other comparisons of a table of several conditions, as the correction needs them.

    Attributes
    ----------
    global_p_value
        p value of the global test, by Holm's method over all comparisons.
    n_tests
        Number of comparisons.
    edges
        Probabilities of the edges of the other comparisons whose global test is significant.
    genes
        For each gene of the other comparisons the expected number of genes of its comparison that
        have its statistic or more by chance.
    """

    global_p_value: float
    n_tests: int = 1
    edges: Array = field(default_factory=lambda: np.empty(0))
    genes: Array = field(default_factory=lambda: np.empty(0))

    __repr__ = summary


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values of several tests by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    found = np.empty(len(p_values))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(p) for p in found]


def false_edges(probabilities: Array, others: Array) -> Array:
    """Return the expected share of false edges up to each, among all comparisons.

    Parameters
    ----------
    probabilities
        Of edges to differ, falling.
    others
        Of the edges of other comparisons.
    """
    falling = np.sort(others)[::-1]
    false_there = np.concatenate([[0.0], np.cumsum(1.0 - falling)])
    n_there = np.searchsorted(-falling, -probabilities, side="right")
    n_here = np.arange(1, probabilities.size + 1)
    return np.asarray((np.cumsum(1.0 - probabilities) + false_there[n_there]) / (n_here + n_there))


def false_genes(expected: Array, others: Array, n_tests: int) -> Array:
    """Return the expected share of false genes up to each, among all comparisons.

    Parameters
    ----------
    expected
        The expected number of genes by chance up to each gene, rising.
    others
        The same of the genes of other comparisons.
    n_tests
        Number of comparisons.
    """
    n_there = np.searchsorted(np.sort(others), expected, side="right")
    share = n_tests * expected / (np.arange(1, expected.size + 1) + n_there)
    return np.asarray(np.minimum.accumulate(np.minimum(share, 1.0)[::-1])[::-1])
