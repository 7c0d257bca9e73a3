"""Primal network simplex for the projection, with costs of two words.

The projection is a circulation source -> row -> column -> sink -> source. The arcs are laid out as

    0 .. n-1          source -> row r         capacity row_caps[r]
    n .. n+m-1        column c -> sink        capacity col_caps[c]
    n+m               sink -> source          capacity total
    n+m+1 .. F-1      node -> root            capacity 0 (they only hold the first tree together)
    F ..              row -> column           capacity 1, cost minus the gain: the core

with nodes 0 .. n-1 rows, n .. n+m-1 columns, then source and sink, of which the last is the root of
the tree. Core arcs come last, so more of them can be appended without touching the tree. A cost is
a pair (minus the gain on the grid, minus the tie hash), compared lexicographically; potentials are
pairs as well. Where the tree has several blocking arcs the choice matters: see `leave`.
"""

# fmt: off

import numpy as np

from tvcs_core.jit import kernel

# Columns of `tree`: one row of six numbers per node.
PARENT, ARC, DEPTH, CHILD, NEXT, PREV = 0, 1, 2, 3, 4, 5
# Places in `clock`, what the simplex remembers between two calls.
AT, STALLED, PIVOTS = 0, 1, 2


@kernel
def terminals(n, m):
    """Nodes of the source and the sink: the last node is the root of the tree.

    That is the one with more neighbours, so that they need not move when the other one does.
    """
    return (n + m + 1, n + m) if n >= m else (n + m, n + m + 1)


@kernel
def enter(n_arcs, tail, head, cost, state, pi, clock, block, first):
    """The most violating arc of the first block that holds one, -1 if none does.

    `first` takes the first violating arc instead (Bland's rule, which cannot cycle).
    """
    best, best_high, best_low = -1, 0, 0
    e = 0 if first else clock[AT]
    left = block
    for _ in range(n_arcs):
        if e >= n_arcs:
            e = 0
        s = state[e]
        if s != 0:
            i, j = tail[e], head[e]
            high = s * (cost[e, 0] + pi[i, 0] - pi[j, 0])
            if high <= best_high:
                low = s * (cost[e, 1] + pi[i, 1] - pi[j, 1])
                if high < best_high or low < best_low:
                    best, best_high, best_low = e, high, low
                    if first:
                        break
        e += 1
        left -= 1
        if left == 0:
            if best >= 0:
                break
            left = block
    clock[AT] = e
    return best


@kernel
def common_ancestor(tree, i, j):
    """The lowest node above both i and j."""
    while i != j:
        if tree[i, DEPTH] >= tree[j, DEPTH]:
            i = np.int64(tree[i, PARENT])
        else:
            j = np.int64(tree[j, PARENT])
    return i


@kernel
def leave(tree, tail, flow, cap, first, second, join, most, smallest):
    """How much the cycle can take, and the node below the arc that blocks it (-1: none does).

    The flow is pushed from `join` down to `first`, over the entering arc, and from `second` up.
    Of several blocking arcs the last one of the cycle leaves (which keeps a strongly feasible
    tree strongly feasible), or with `smallest` the one of the lowest number (Bland's rule).
    """
    delta, out, on_second = np.int64(most), np.int64(-1), False
    i = first
    while i != join:
        e = tree[i, ARC]
        room = flow[e] if tail[e] == i else cap[e] - flow[e]
        if room < delta or (smallest and room == delta and out >= 0 and e < tree[out, ARC]):
            delta, out = np.int64(room), i
        i = np.int64(tree[i, PARENT])
    i = second
    while i != join:
        e = tree[i, ARC]
        room = cap[e] - flow[e] if tail[e] == i else flow[e]
        tied = room == delta and (not smallest or out < 0 or e < tree[out, ARC])
        if room < delta or tied:
            delta, out, on_second = np.int64(room), i, True
        i = np.int64(tree[i, PARENT])
    return delta, out, on_second


@kernel
def push(tree, tail, flow, first, second, join, delta):
    """Send delta units around the cycle (the entering arc is the caller's)."""
    i = first
    while i != join:
        e = tree[i, ARC]
        flow[e] += -delta if tail[e] == i else delta
        i = np.int64(tree[i, PARENT])
    i = second
    while i != join:
        e = tree[i, ARC]
        flow[e] += delta if tail[e] == i else -delta
        i = np.int64(tree[i, PARENT])


@kernel
def rehang(tree, i, last, parent, arc):
    """Turn the path from i up to `last` upside down and hang it under `parent` by `arc`."""
    while True:
        above, above_arc = np.int64(tree[i, PARENT]), np.int64(tree[i, ARC])
        before, after = tree[i, PREV], tree[i, NEXT]
        if before >= 0:
            tree[before, NEXT] = after
        else:
            tree[above, CHILD] = after
        if after >= 0:
            tree[after, PREV] = before
        child = tree[parent, CHILD]
        tree[i, PARENT], tree[i, ARC], tree[i, PREV], tree[i, NEXT] = parent, arc, -1, child
        if child >= 0:
            tree[child, PREV] = i
        tree[parent, CHILD] = i
        if i == last:
            break
        parent, arc, i = i, above_arc, above


@kernel
def following(tree, i, top):
    """The node after i in preorder below `top`, -1 at the end."""
    if tree[i, CHILD] >= 0:
        return np.int64(tree[i, CHILD])
    while i != top:
        if tree[i, NEXT] >= 0:
            return np.int64(tree[i, NEXT])
        i = np.int64(tree[i, PARENT])
    return np.int64(-1)


@kernel
def shift(tree, pi, top, high, low):
    """Add (high, low) to the potentials below `top` and set the depths there anew."""
    i = top
    while i >= 0:
        tree[i, DEPTH] = tree[tree[i, PARENT], DEPTH] + 1
        pi[i, 0] += high
        pi[i, 1] += low
        i = following(tree, i, top)


@kernel
def pivot(e, tail, head, cost, state, flow, cap, tree, pi, smallest):
    """Bring arc e into the tree, or move it to its other bound; True if flow moved."""
    if state[e] > 0:
        first, second = np.int64(tail[e]), np.int64(head[e])
    else:
        first, second = np.int64(head[e]), np.int64(tail[e])
    join = common_ancestor(tree, first, second)
    delta, out, on_second = leave(tree, tail, flow, cap, first, second, join, cap[e], smallest)
    if delta > 0:
        push(tree, tail, flow, first, second, join, delta)
        flow[e] += delta * state[e]
    if out < 0:
        state[e] = -state[e]
        return True
    gone = tree[out, ARC]
    if cap[gone] == 0:
        state[gone] = 0
    else:
        state[gone] = 1 if flow[gone] == 0 else -1
    state[e] = 0
    i, parent = (second, first) if on_second else (first, second)
    high = cost[e, 0] + pi[tail[e], 0] - pi[head[e], 0]
    low = cost[e, 1] + pi[tail[e], 1] - pi[head[e], 1]
    if tail[e] == i:
        high, low = -high, -low
    rehang(tree, i, out, parent, e)
    shift(tree, pi, i, high, low)
    return delta > 0


@kernel
def run_simplex(n_arcs, tail, head, cost, state, flow, cap, tree, pi, clock, block, patience, most):
    """At most `most` pivots; True when no arc of the core violates its reduced cost.

    After `patience` pivots in a row that moved no flow Bland's rule takes over until one does.
    """
    for _ in range(most):
        bland = clock[STALLED] > patience
        e = enter(n_arcs, tail, head, cost, state, pi, clock, block, bland)
        if e < 0:
            return True
        moved = pivot(e, tail, head, cost, state, flow, cap, tree, pi, bland)
        clock[PIVOTS] += 1
        clock[STALLED] = 0 if moved else clock[STALLED] + 1
    return False


@kernel
def price_tree(n_nodes, tail, cost, tree, pi):
    """Potentials of the tree from the costs, the root at zero."""
    root = n_nodes - 1
    pi[root, 0] = 0
    pi[root, 1] = 0
    i = np.int64(tree[root, CHILD])
    while i >= 0:
        e, above = tree[i, ARC], tree[i, PARENT]
        sign = -1 if tail[e] == i else 1
        pi[i, 0] = pi[above, 0] + sign * cost[e, 0]
        pi[i, 1] = pi[above, 1] + sign * cost[e, 1]
        i = following(tree, i, root)
