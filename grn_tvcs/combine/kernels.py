"""Kernels: sums of trees, small nets, and strongest indirect paths between genes."""

import numpy as np

from tvcs_core.jit import kernel

CHUNK_SIZE = 256  # rows per chunk, so that they and one tree fit into the L1 cache


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
def add_net(x, net, out):
    """Add to each row of `out` its log-odds by a net.

    `x` is (rows, features), NaN for missing values; `net` is a `Net`. Sums have a fixed order, so
    the result of a row does not depend on the other rows.
    """
    n_rows, n_features = x.shape
    first, second = np.empty(net.first_base.size), np.empty(net.second_base.size)
    for row in range(n_rows):
        first[:] = net.first_base
        for k in range(n_features):
            value = (x[row, k] - net.means[k]) / net.sizes[k]
            if np.isnan(value) or value == 0.0:
                continue
            value = min(max(value, -4.0), 4.0)
            for i in range(first.size):
                first[i] += value * net.first[k, i]
        for k in range(net.gaps.size):
            if np.isnan(x[row, net.gaps[k]]):
                for i in range(first.size):
                    first[i] += net.first[n_features + k, i]
        second[:] = net.second_base
        for i in range(first.size):
            if first[i] > 0.0:
                for j in range(second.size):
                    second[j] += first[i] * net.second[i, j]
        logit = np.float64(net.base[0])
        for j in range(second.size):
            logit += max(second[j], 0.0) * net.last[j]
        out[row] += logit


@kernel
def strongest_path(p, inputs):
    """Return max over genes k of min(p[j, k], p[k, i]) for each pair (j, i).

    `p` is [input, gene]; `inputs` are the indices of the inputs among the genes.
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
    """Return max over inputs k of min(p[k, i], p[k, j]) for each pair (j, i)."""
    out = np.zeros(p.shape)
    for k in range(p.shape[0]):
        for j in range(p.shape[0]):
            half = p[k, inputs[j]]
            if half <= 0.0 or k == j:
                continue
            for i in range(p.shape[1]):
                out[j, i] = max(out[j, i], min(half, p[k, i]))
    return out
