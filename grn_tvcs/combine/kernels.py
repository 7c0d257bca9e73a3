"""Kernels: sums of trees, inputs of nets, ranks, and strongest indirect paths between genes."""

import numpy as np

from tvcs_core.jit import kernel

CHUNK_SIZE = 1024  # rows per chunk, so that their features fit into the L2 cache


@kernel
def add_trees(x, trees, out):
    """Add to each row of `out` the value of its leaf in every tree.

    `x` is (features, rows), NaN for missing values; `trees` is a `Trees`. All rows of a chunk pass
    a node together. Nodes whose feature is constant in a chunk send all rows one way, so they and
    the subtrees beyond them are left out: many features describe a table or a regulator.
    """
    n_features, n_rows = x.shape
    most = np.int64(1)
    for t in range(trees.starts.size - 1):
        most = max(most, np.int64(trees.starts[t + 1] - trees.starts[t]))
    constant = np.empty(n_features, dtype=np.bool_)
    # Of the nodes that are left: their number in `trees`, and the first leaf on either side.
    nodes, sides = np.empty(most, dtype=np.int64), np.empty((most, 2), dtype=np.int32)
    leaves = np.empty(most)
    waiting = np.empty((most, 2), dtype=np.int64)  # stack of: node, place of its parent in `nodes`
    at = np.empty(CHUNK_SIZE, dtype=np.int32)  # first leaf that a row may reach
    for start in range(0, n_rows, CHUNK_SIZE):
        size = min(CHUNK_SIZE, n_rows - start)
        for f in range(n_features):
            constant[f] = are_equal(x[f, start : start + size])
        for t in range(trees.starts.size - 1):
            n = prune(x[:, start], trees, trees.starts[t], constant, waiting, nodes, sides, leaves)
            at[:size] = 0
            for k in range(n):
                column = x[trees.feature[nodes[k]], start : start + size]
                part(column, trees, nodes[k], sides[k, 0], sides[k, 1], at)
            for k in range(size):
                out[start + k] += leaves[at[k]]


@kernel
def are_equal(values):
    """Return whether all values are equal, or all are NaN."""
    n_others = 0
    for value in values:
        n_others += not (value == values[0] or (np.isnan(value) and np.isnan(values[0])))
    return n_others == 0


@kernel
def prune(row, trees, root, constant, waiting, nodes, sides, leaves):
    """Return the number of nodes of a tree that part rows, all with the constants of `row`.

    Fills in these nodes in pre-order, the first leaf on either side, and the values of the leaves.
    """
    n, n_leaves, n_waiting = np.int64(0), np.int64(0), np.int64(1)
    waiting[0, 0], waiting[0, 1] = root, -1
    while n_waiting > 0:
        n_waiting -= 1
        node, parent = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if parent >= 0:  # all leaves on the left have a number
            sides[parent, 1] = n_leaves
        while trees.feature[node] >= 0 and constant[trees.feature[node]]:
            is_right = goes_right(row[trees.feature[node]], trees, node)
            node += np.int64(trees.right[node]) if is_right else np.int64(1)
        if trees.feature[node] < 0:
            leaves[n_leaves] = trees.value[node]
            n_leaves += 1
            continue
        nodes[n], sides[n, 0] = node, n_leaves
        waiting[n_waiting, 0], waiting[n_waiting, 1] = node + trees.right[node], n
        waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = node + 1, -1
        n_waiting += 2
        n += 1
    return n


@kernel
def goes_right(value, trees, node):
    """Return whether a row with this value goes right at a node."""
    return (
        value > trees.threshold[node]
        if trees.nan_left[node]
        else not (value <= trees.threshold[node])
    )


@kernel
def part(column, trees, node, left, right, at):
    """Move the rows that reach a node, which are at the leaf `left`, and go right, to `right`.

    Nodes come in pre-order, so no row that missed the node is at `left`.
    """
    threshold = trees.threshold[node]
    if trees.nan_left[node]:  # a comparison with NaN is false
        for k in range(column.size):
            at[k] = right if (at[k] == left) & (column[k] > threshold) else at[k]
    else:
        for k in range(column.size):
            at[k] = right if (at[k] == left) & (not column[k] <= threshold) else at[k]


@kernel
def standardise(x, means, sizes, gaps, most, out):
    """Fill `out`, [input, row], with standardised features and indicators of missing ones.

    Features, [feature, row], are clipped to ``[-most, most]``; 0 stands for missing values.
    """
    n_features, n_rows = x.shape
    for f in range(n_features):
        for k in range(n_rows):
            z = min(max((x[f, k] - means[f]) / sizes[f], -most), most)
            out[f, k] = 0.0 if np.isnan(x[f, k]) else z
    for g in range(gaps.size):
        for k in range(n_rows):
            out[n_features + g, k] = np.isnan(x[gaps[g], k])


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
def strongest(halves, falling, p):
    """Return max over inputs k other than j of min(halves[j, k], p[k, i]) for each pair (j, i).

    `halves` is [input, input], each row of `falling` its order from the largest, and `p` [input,
    gene]; none is below 0. A gene is settled once it has as much as the next half or as any input
    gives it.
    """
    n_genes = p.shape[1]
    out, most = np.zeros(p.shape), np.zeros(n_genes)
    for k in range(p.shape[0]):
        raise_to(np.inf, p[k], most)
    for j in range(p.shape[0]):
        settled = 0  # genes before it are, and stay so, as halves fall
        for k in falling[j]:
            half = halves[j, k]
            while settled < n_genes and out[j, settled] >= min(half, most[settled]):
                settled += 1
            if settled == n_genes:
                break
            if k != j:
                raise_to(half, p[k], out[j])
    return out


@kernel
def raise_to(half, others, out):
    """Raise `out` to min(half, others), by comparisons that compilers turn into vectors."""
    for i in range(out.size):
        weaker = half if half < others[i] else others[i]
        out[i] = weaker if weaker > out[i] else out[i]
