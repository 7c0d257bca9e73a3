"""Primal network simplex for the projection, with costs of two words.

The projection is a circulation source -> row -> column -> sink -> source. The arcs are numbered

    0 .. n-1          source -> row r         capacity row_caps[r]
    n .. n+m-1        column c -> sink        capacity col_caps[c]
    n+m               sink -> source          capacity total
    n+m+1 .. F-1      node -> root            capacity 0 (they only connect the first tree)
    F ..              row -> column           capacity 1, cost minus the gain: the core

Nodes 0 .. n-1 are rows, n .. n+m-1 columns, then come source and sink, the last of which is the
root of the tree. Core arcs come last, so more can be appended without changing the tree. A cost is
a pair (minus the gain on the grid, minus the tie hash), compared lexicographically; potentials are
pairs too. If several arcs block, the choice of the leaving arc matters: see `leave`.

Invariant between two pivots: the flow is feasible, tree arcs have reduced cost 0, and every other
arc is at one of its bounds. If no reduced cost has the wrong sign, that proves the optimum.
"""

import numpy as np

from tvcs_core.jit import kernel

# Columns of `Tree.links`: six numbers per node.
PARENT, ARC, DEPTH, CHILD, NEXT, PREV = 0, 1, 2, 3, 4, 5
# Positions in `clock`, the state of the simplex between two calls.
AT, STALLED, PIVOTS = 0, 1, 2


@kernel
def terminals(n, m):
    """Return the nodes of source and sink; the last node is the root of the tree.

    The root is the one with more neighbours, so that these keep their potentials when the other
    node's change.
    """
    return (n + m + 1, n + m) if n >= m else (n + m, n + m + 1)


@kernel
def enter(arcs, n_arcs, pi, clock, block, first):
    """Return the most violating arc of the first block that contains one, -1 if there is none.

    `first` returns the first violating arc instead (Bland's rule, which cannot cycle).
    """
    tail, head, cost, state = arcs.tail, arcs.head, arcs.cost, arcs.state
    best, best_high, best_low = -1, 0, 0
    e = 0 if first else clock[AT]
    left = block
    for _ in range(n_arcs):
        if e >= n_arcs:
            e = 0
        # The reduced cost must be >= 0 at the lower bound and <= 0 at the upper bound; the hash
        # decides only if the gains are equal.
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
def common_ancestor(links, i, j):
    """Return the lowest common ancestor of i and j."""
    while i != j:
        if links[i, DEPTH] >= links[j, DEPTH]:
            i = np.int64(links[i, PARENT])
        else:
            j = np.int64(links[j, PARENT])
    return i


@kernel
def leave(links, tail, flow, cap, first, second, join, most, smallest):
    """Return the capacity of the cycle, and the node below the blocking arc (-1 if none blocks).

    The flow is pushed from `join` down to `first`, over the entering arc, and from `second` up. Of
    several blocking arcs the last one of the cycle leaves, which keeps the tree strongly feasible
    (Cunningham 1976); with `smallest` the one with the lowest number leaves (Bland's rule).
    """
    delta, out, on_second = np.int64(most), np.int64(-1), False
    i = first
    while i != join:
        e = links[i, ARC]
        room = flow[e] if tail[e] == i else cap[e] - flow[e]
        if room < delta or (smallest and room == delta and out >= 0 and e < links[out, ARC]):
            delta, out = np.int64(room), i
        i = np.int64(links[i, PARENT])
    i = second
    while i != join:
        e = links[i, ARC]
        room = cap[e] - flow[e] if tail[e] == i else flow[e]
        tied = room == delta and (not smallest or out < 0 or e < links[out, ARC])
        if room < delta or tied:
            delta, out, on_second = np.int64(room), i, True
        i = np.int64(links[i, PARENT])
    return delta, out, on_second


@kernel
def push(links, tail, flow, first, second, join, delta):
    """Send delta units around the cycle, except over the entering arc."""
    i = first
    while i != join:
        e = links[i, ARC]
        flow[e] += -delta if tail[e] == i else delta
        i = np.int64(links[i, PARENT])
    i = second
    while i != join:
        e = links[i, ARC]
        flow[e] += delta if tail[e] == i else -delta
        i = np.int64(links[i, PARENT])


@kernel
def rehang(links, i, last, parent, arc):
    """Reverse the path from i up to `last` and attach it to `parent` by `arc`."""
    while True:
        # Remove i from its parent's list of children, and put it first in the new parent's.
        above, above_arc = np.int64(links[i, PARENT]), np.int64(links[i, ARC])
        before, after = links[i, PREV], links[i, NEXT]
        if before >= 0:
            links[before, NEXT] = after
        else:
            links[above, CHILD] = after
        if after >= 0:
            links[after, PREV] = before
        child = links[parent, CHILD]
        links[i, PARENT], links[i, ARC], links[i, PREV], links[i, NEXT] = parent, arc, -1, child
        if child >= 0:
            links[child, PREV] = i
        links[parent, CHILD] = i
        if i == last:
            break
        parent, arc, i = i, above_arc, above


@kernel
def following(links, i, top):
    """Return the node after i in preorder below `top`, -1 at the end."""
    if links[i, CHILD] >= 0:
        return np.int64(links[i, CHILD])
    while i != top:
        if links[i, NEXT] >= 0:
            return np.int64(links[i, NEXT])
        i = np.int64(links[i, PARENT])
    return np.int64(-1)


@kernel
def shift(links, pi, top, high, low):
    """Add (high, low) to the potentials below `top` and update the depths there."""
    i = top
    while i >= 0:
        links[i, DEPTH] = links[links[i, PARENT], DEPTH] + 1
        pi[i, 0] += high
        pi[i, 1] += low
        i = following(links, i, top)


@kernel
def pivot(e, arcs, tree, smallest):
    """Bring arc e into the tree, or move it to its other bound; return whether flow moved."""
    tail, head, cost, state = arcs.tail, arcs.head, arcs.cost, arcs.state
    flow, cap, links, pi = arcs.flow, arcs.cap, tree.links, tree.pi
    if state[e] > 0:
        first, second = np.int64(tail[e]), np.int64(head[e])
    else:
        first, second = np.int64(head[e]), np.int64(tail[e])
    # Push as much flow as the cycle takes, so that every arc stays within its bounds.
    join = common_ancestor(links, first, second)
    delta, out, on_second = leave(links, tail, flow, cap, first, second, join, cap[e], smallest)
    if delta > 0:
        push(links, tail, flow, first, second, join, delta)
        flow[e] += delta * state[e]
    if out < 0:
        state[e] = -state[e]
        return True
    # The blocking arc is at a bound and leaves; one of capacity 0 never returns.
    gone = links[out, ARC]
    if cap[gone] == 0:
        state[gone] = 0
    else:
        state[gone] = 1 if flow[gone] == 0 else -1
    state[e] = 0
    # The part below the blocking arc now hangs on e and moves by the reduced cost of e, which
    # becomes 0; reduced costs within either part stay.
    i, parent = (second, first) if on_second else (first, second)
    high = cost[e, 0] + pi[tail[e], 0] - pi[head[e], 0]
    low = cost[e, 1] + pi[tail[e], 1] - pi[head[e], 1]
    if tail[e] == i:
        high, low = -high, -low
    rehang(links, i, out, parent, e)
    shift(links, pi, i, high, low)
    return delta > 0


@kernel
def run_simplex(arcs, n_arcs, tree, clock, block, patience, most):
    """Make at most `most` pivots on the first n_arcs; return whether no arc violates any more.

    After `patience` pivots in a row without flow Bland's rule takes over until flow moves.
    """
    for _ in range(most):
        bland = clock[STALLED] > patience
        e = enter(arcs, n_arcs, tree.pi, clock, block, bland)
        if e < 0:
            return True
        moved = pivot(e, arcs, tree, bland)
        clock[PIVOTS] += 1
        clock[STALLED] = 0 if moved else clock[STALLED] + 1
    return False


@kernel
def price_tree(arcs, tree):
    """Compute the tree's potentials from the costs, the root's being 0: tree arcs get cost 0."""
    tail, cost, links, pi = arcs.tail, arcs.cost, tree.links, tree.pi
    root = pi.shape[0] - 1
    pi[root, 0] = 0
    pi[root, 1] = 0
    i = np.int64(links[root, CHILD])
    while i >= 0:
        e, above = links[i, ARC], links[i, PARENT]
        sign = -1 if tail[e] == i else 1
        pi[i, 0] = pi[above, 0] + sign * cost[e, 0]
        pi[i, 1] = pi[above, 1] + sign * cost[e, 1]
        i = following(links, i, root)
