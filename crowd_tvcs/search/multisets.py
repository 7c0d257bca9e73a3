"""All multisets of a few voters, and the accuracy of each: what bounds by knots are made of."""

from __future__ import annotations

from itertools import chain, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.many_class_table import accuracy_of_tasks
from crowd_tvcs.arrays import Floats
from crowd_tvcs.search.deadline import Deadline

AT_ONCE = 50_000  # multisets of which the accuracy is computed at once, to bound memory and time

Sets = NDArray[np.uint8]


def multisets(n_voters: int, most: int) -> Sets:
    """List the multisets of at most `most` voters; the number of voters stands for nobody.

    Of shape (multisets, most).
    """
    rows = combinations_with_replacement(range(n_voters + 1), most)
    return np.fromiter(chain.from_iterable(rows), np.uint8).reshape(-1, most)


def accuracies_of(sets: Sets, voters: Floats, prior: Floats, deadline: Deadline) -> Floats | None:
    """Return the expected accuracy of every multiset; None if the deadline struck.

    `voters` are their matrices, of shape (voters, classes, classes).
    """
    (n, most), k = sets.shape, prior.size
    matrices = np.concatenate([voters, np.full((1, k, k), 1.0 / k)])
    tables = np.empty((2, k, k ** (most - 1))), np.empty(k ** (most - 1))
    out = np.empty(n)
    for begin in range(0, n, AT_ONCE):
        if deadline.has_passed:
            return None
        some = sets[begin : begin + AT_ONCE].astype(np.int64).reshape(-1)
        each, start = np.arange(some.size // most), np.arange(0, some.size + 1, most)
        priors = np.repeat(prior[None, :], each.size, axis=0)
        here = out[begin : begin + AT_ONCE]
        accuracy_of_tasks(each, start, some, priors, matrices, *tables, here)
    return out
