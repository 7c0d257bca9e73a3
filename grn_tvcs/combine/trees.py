"""Boosted trees as plain arrays: converted from scikit-learn, evaluated by a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.kernels import add_trees


class Trees(NamedTuple):
    """A sum of regression trees.

    Attributes
    ----------
    base
        Constant term of the sum; (1,).
    starts
        First node of each tree, and the number of nodes; (trees + 1,).
    feature
        Feature of each node, -1 for leaves; (nodes,), as all that follow.
    threshold
        Rows with values up to it go left.
    left, right
        Child nodes.
    nan_left
        Whether rows with a missing value go left.
    value
        Values of leaves.
    """

    base: NDArray[np.float64]
    starts: NDArray[np.int32]
    feature: NDArray[np.int16]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    nan_left: NDArray[np.bool_]
    value: NDArray[np.float64]


def evaluate(trees: Trees, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the log-odds of every row of `features`."""
    out = np.full(len(features), trees.base[0])
    add_trees(np.ascontiguousarray(features.T), trees, out)
    return out


def trees_from_classifier(classifier: Any) -> Trees:
    """Convert a fitted `HistGradientBoostingClassifier` of two classes."""
    nodes = [one.nodes for (one,) in classifier._predictors]
    sizes = [len(part) for part in nodes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    all_nodes = np.concatenate(nodes)
    offset = np.repeat(starts[:-1], sizes)
    is_leaf = all_nodes["is_leaf"].astype(bool)
    return Trees(
        base=np.asarray(classifier._baseline_prediction, dtype=np.float64).reshape(1),
        starts=starts.astype(np.int32),
        feature=np.where(is_leaf, -1, all_nodes["feature_idx"]).astype(np.int16),
        threshold=np.where(is_leaf, 0.0, all_nodes["num_threshold"]),
        left=np.where(is_leaf, 0, all_nodes["left"] + offset).astype(np.int32),
        right=np.where(is_leaf, 0, all_nodes["right"] + offset).astype(np.int32),
        nan_left=all_nodes["missing_go_to_left"].astype(bool),
        value=np.where(is_leaf, all_nodes["value"], 0.0),
    )
