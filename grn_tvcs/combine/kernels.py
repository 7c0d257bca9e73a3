"""Kernels: sums of trees, and the strongest way from one gene to another over a third."""

import numpy as np

from tvcs_core.jit import kernel

BLOCK = 32  # rows at a time, so that they and a tree stay in the fastest memory


@kernel
def add_trees(x, trees, out):
    """Add to `out` of every row of `x` the value of the leaf it falls into, in every tree.

    `x` is (rows, features), NaN where a feature is not known; `trees` is a `Trees`.
    """
    n_rows = x.shape[0]
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        for t in range(trees.starts.size - 1):
            root = np.int64(trees.starts[t])
            for row in range(start, stop):
                node = root
                while trees.feature[node] >= 0:
                    value = x[row, trees.feature[node]]
                    # A comparison with NaN is false. No branch: it would go either way at random.
                    is_left = value <= trees.threshold[node]
                    is_left |= np.isnan(value) & trees.nan_left[node]
                    left, right = np.int64(trees.left[node]), np.int64(trees.right[node])
                    node = right + (left - right) * np.int64(is_left)
                out[row] += trees.value[node]


@kernel
def strongest_path(p, inputs):
    """Largest over genes k of the smaller of p of (j, k) and of (k, i), for each pair (j, i).

    `p` is [input, gene]; `inputs` are the places of the inputs among the genes.
    """
    out = np.zeros(p.shape)
    for j in range(p.shape[0]):
        for k in range(inputs.size):
            half = p[j, inputs[k]]
            if half <= 0.0 or k == j:
                continue
            for i in range(p.shape[1]):
                if i != inputs[k]:
                    out[j, i] = max(out[j, i], min(half, p[k, i]))
    return out


@kernel
def strongest_common(p, inputs):
    """Largest over inputs k of the smaller of p of (k, i) and of (k, j), for each pair (j, i)."""
    out = np.zeros(p.shape)
    for k in range(p.shape[0]):
        for j in range(p.shape[0]):
            half = p[k, inputs[j]]
            if half <= 0.0 or k == j:
                continue
            for i in range(p.shape[1]):
                out[j, i] = max(out[j, i], min(half, p[k, i]))
    return out
