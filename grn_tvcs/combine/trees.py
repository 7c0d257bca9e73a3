"""Boosted trees as plain arrays, evaluated by a kernel."""

from __future__ import annotations

from collections.abc import Sequence
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
        Rows with values up to it go left. As features are float32, so is it: the largest one that
        is no more than that of scikit-learn parts the same rows.
    left, right
        Child nodes.
    nan_left
        Whether rows with a missing value go left.
    value
        Values of leaves, in the file as float16: a wheel carries them.
    """

    base: NDArray[np.float64]
    starts: NDArray[np.int32]
    feature: NDArray[np.int8]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    nan_left: NDArray[np.bool_]
    value: NDArray[np.float32]


def evaluate(trees: Trees, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the log-odds of every row of `features`."""
    out = np.full(len(features), trees.base[0])
    add_trees(np.ascontiguousarray(features.T), trees, out)
    return out


def join(models: Sequence[Trees], prefix: str) -> dict[str, NDArray[Any]]:
    """Return several models as few arrays, `PREFIX_FIELD`, without what the order of nodes implies.

    Nodes are in pre-order, as scikit-learn writes them: the left child follows its parent, and the
    right child the subtree of the left one. Leaves have neither threshold nor side for missing
    values, and inner nodes have no value.
    """
    is_leaf = np.concatenate([one.feature for one in models]) < 0
    fields: dict[str, list[Any]] = {
        "base": [one.base for one in models],
        "counts": [[len(one.starts) - 1] for one in models],
        "sizes": [np.diff(one.starts) for one in models],
        "feature": [one.feature for one in models],
    }
    found = {f"{prefix}_{name}": np.concatenate(parts) for name, parts in fields.items()}
    for name, nodes in (("threshold", ~is_leaf), ("nan_left", ~is_leaf), ("value", is_leaf)):
        found[f"{prefix}_{name}"] = np.concatenate([getattr(one, name) for one in models])[nodes]
    found[f"{prefix}_value"] = found[f"{prefix}_value"].astype(np.float16)
    return found


def split(arrays: dict[str, NDArray[Any]], prefix: str) -> list[Trees]:
    """Take the models that `join` stored out of `arrays`; none if there are none."""
    if f"{prefix}_base" not in arrays:
        return []
    base, counts, sizes, feature, thresholds, sides, values = (
        arrays.pop(f"{prefix}_{name}")
        for name in ("base", "counts", "sizes", "feature", "threshold", "nan_left", "value")
    )
    is_leaf = feature < 0
    threshold, value = np.zeros((2, len(feature)), dtype=np.float32)
    nan_left = np.zeros(len(feature), dtype=bool)
    threshold[~is_leaf], nan_left[~is_leaf], value[is_leaf] = thresholds, sides, values
    left, right = _children(is_leaf, sizes)
    found, first = [], 0
    for k, of_trees in enumerate(np.split(sizes, np.cumsum(counts)[:-1])):
        starts = np.concatenate([[0], np.cumsum(of_trees)]).astype(np.int32)
        nodes = slice(first, first + starts[-1])
        to_left, to_right = (
            np.where(is_leaf[nodes], 0, child[nodes] - first).astype(np.int32)
            for child in (left, right)
        )
        found.append(
            Trees(
                base[k : k + 1], starts, feature[nodes], threshold[nodes],
                to_left, to_right, nan_left[nodes], value[nodes],
            )
        )  # fmt: skip
        first = nodes.stop
    return found


def _children(
    is_leaf: NDArray[np.bool_], sizes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the children of every inner node of trees in pre-order; anything for leaves."""
    node, tree = np.arange(len(is_leaf)), np.repeat(np.arange(len(sizes)), sizes)
    # An inner node opens a bracket, which the last leaf of its left subtree closes; both have one
    # level, where they alternate. The last leaf of a tree closes none and is alone at level 0.
    level = np.cumsum(np.where(is_leaf, -1, 1)) + tree + is_leaf
    pairs = np.argsort(level.astype(np.int16), kind="stable")[len(sizes) :]
    right = np.zeros_like(node)
    right[pairs[::2]] = pairs[1::2] + 1
    return node + 1, right


def floor(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the largest float32 that is no more than each number."""
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)
