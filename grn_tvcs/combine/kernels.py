"""Kernels: sums of trees, ranks, and strongest indirect paths between genes."""

import numpy as np

from tvcs_core.jit import kernel

CHUNK_SIZE = 256  # rows per chunk, so that they and one tree fit into the L1 cache
BLOCK_SIZE = 8  # rows of strongest paths at a time, which stay in the L2 cache


@kernel
def add_trees(x, trees, out):
    """Add to each row of `out` the value of its leaf in every tree.

    `x` is (features, rows), NaN for missing values; `trees` is a `Trees`. All rows of a chunk
    descend a tree together, and every node partitions its rows.
    """
    n_rows = x.shape[1]
    rows, to_right = np.empty(CHUNK_SIZE, dtype=np.int64), np.empty(CHUNK_SIZE, dtype=np.int64)
    most = np.int64(1)
    for t in range(trees.starts.size - 1):
        most = max(most, np.int64(trees.starts[t + 1] - trees.starts[t]))
    waiting = np.empty((most, 3), dtype=np.int64)  # stack of: node, first and last + 1 of its rows
    for start in range(0, n_rows, CHUNK_SIZE):
        size = min(CHUNK_SIZE, n_rows - start)
        for t in range(trees.starts.size - 1):
            for k in range(size):
                rows[k] = start + k
            waiting[0, 0], waiting[0, 1], waiting[0, 2] = trees.starts[t], 0, size
            n = 1
            while n > 0:
                n -= 1
                node, first, last = waiting[n, 0], waiting[n, 1], waiting[n, 2]
                if trees.feature[node] < 0:
                    for k in range(first, last):
                        out[rows[k]] += trees.value[node]
                    continue
                middle = part(x[trees.feature[node]], trees, node, rows[first:last], to_right)
                for side, begin, end in (
                    (trees.right[node], first + middle, last),
                    (trees.left[node], first, first + middle),
                ):
                    if begin < end:
                        waiting[n, 0], waiting[n, 1], waiting[n, 2] = side, begin, end
                        n += 1


@kernel
def part(column, trees, node, rows, to_right):
    """Move the rows that go left at a node before the others; return their number."""
    threshold, nan_left = trees.threshold[node], trees.nan_left[node]
    n_left, n_right = np.int64(0), np.int64(0)
    for k in range(rows.size):
        row = rows[k]
        value = column[row]
        # A comparison with NaN is false. Without a branch, which could not be predicted.
        is_left = value <= threshold
        is_left |= np.isnan(value) & nan_left
        rows[n_left], to_right[n_right] = row, row
        n_left += np.int64(is_left)
        n_right += np.int64(1) - np.int64(is_left)
    for k in range(n_right):
        rows[n_left + k] = to_right[k]
    return n_left


@kernel
def mean_ranks(values, order, out):
    """Write the ranks of each row from 1, the mean where values are equal; `order` sorts rows."""
    n = values.shape[1]
    for row in range(values.shape[0]):
        start = 0
        while start < n:
            stop = start + 1
            while stop < n and values[row, order[row, stop]] == values[row, order[row, start]]:
                stop += 1
            for k in range(start, stop):
                out[row, order[row, k]] = 0.5 * (start + stop + 1)
            start = stop


@kernel
def strongest_path(p, inputs):
    """Return max over genes k of min(p[j, k], p[k, i]) for each pair (j, i).

    `p` is [input, gene], none below 0; `inputs` are the indices of the inputs among the genes.
    """
    out = np.zeros(p.shape)
    for start in range(0, p.shape[0], BLOCK_SIZE):
        for k in range(inputs.size):
            for j in range(start, min(start + BLOCK_SIZE, p.shape[0])):
                half = p[j, inputs[k]]
                if half > 0.0 and k != j:
                    kept = out[j, inputs[k]]
                    raise_to(half, p[k], out[j])
                    out[j, inputs[k]] = kept
    return out


@kernel
def strongest_common(p, inputs):
    """Return max over inputs k of min(p[k, i], p[k, j]) for each pair (j, i)."""
    out = np.zeros(p.shape)
    for start in range(0, p.shape[0], BLOCK_SIZE):
        for k in range(p.shape[0]):
            for j in range(start, min(start + BLOCK_SIZE, p.shape[0])):
                half = p[k, inputs[j]]
                if half > 0.0 and k != j:
                    raise_to(half, p[k], out[j])
    return out


@kernel
def raise_to(half, others, out):
    """Raise `out` to min(half, others), by comparisons that compilers turn into vectors."""
    for i in range(out.size):
        weaker = half if half < others[i] else others[i]
        out[i] = weaker if weaker > out[i] else out[i]
