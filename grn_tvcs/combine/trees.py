"""Boosted trees as plain arrays, evaluated by a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.kernels import add_trees


class Trees(NamedTuple):
    """A sum of regression trees, with nodes in pre-order: the left child follows its parent.

    Attributes
    ----------
    base
        Constant term of the sum; (1,).
    starts
        First node of each tree, and the number of nodes; (trees + 1,).
    feature
        Feature of each node, -1 for leaves; (nodes,), as all that follow.
    threshold
        Rows with values up to it go left. As features are float32, so is it: the largest one that
        is no more than that of scikit-learn parts the same rows.
    right
        Distance to the right child, 0 for leaves.
    nan_left
        Whether rows with a missing value go left.
    value
        Values of leaves, in the file as float16: a wheel carries them.
    """

    base: NDArray[np.float64]
    starts: NDArray[np.int32]
    feature: NDArray[np.int8]
    threshold: NDArray[np.float32]
    right: NDArray[np.int16]
    nan_left: NDArray[np.bool_]
    value: NDArray[np.float32]


def evaluate(trees: Trees, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the log-odds of every row of `features`."""
    out = np.full(len(features), trees.base[0])
    add_trees(np.ascontiguousarray(features.T), trees, out)
    return out
