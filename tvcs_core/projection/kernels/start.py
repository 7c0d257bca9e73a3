"""From prices to a first feasible flow and a first tree for the simplex."""

# fmt: off

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.prices import longest_line, put_in_place
from tvcs_core.projection.kernels.simplex import ARC, CHILD, DEPTH, NEXT, PARENT, PREV, terminals


@kernel
def trim(start, order, slack, kept, room):
    """Drop the least kept entries of every line that keeps more than its room; False if short.

    Line g holds the entries order[start[g]:start[g+1]], or without `order` those numbers.
    """
    n_lines = start.size - 1
    buffer = np.empty(longest_line(start))
    for g in range(n_lines):
        n = np.int64(0)
        for i in range(start[g], start[g + 1]):
            e = np.int64(order[i]) if order.size > 0 else i
            if kept[e]:
                buffer[n] = slack[e]
                n += 1
        if n <= room[g]:
            continue
        if room[g] < 0:
            return False
        least = np.inf
        if room[g] > 0:
            put_in_place(buffer, n, room[g] - 1)
            least = buffer[room[g] - 1]
        spare = room[g]
        for i in range(room[g]):
            spare -= buffer[i] > least
        for i in range(start[g], start[g + 1]):
            e = np.int64(order[i]) if order.size > 0 else i
            if kept[e] and slack[e] <= least:
                if slack[e] == least and spare > 0:
                    spare -= 1
                else:
                    kept[e] = False
    return True


@kernel
def hang(tree, i, parent, arc):
    """Add node i to the tree, below `parent`."""
    child = tree[parent, CHILD]
    tree[i, PARENT], tree[i, ARC], tree[i, DEPTH] = parent, arc, tree[parent, DEPTH] + 1
    tree[i, PREV], tree[i, NEXT] = -1, child
    if child >= 0:
        tree[child, PREV] = i
    tree[parent, CHILD] = i


@kernel
def lay_fixed_arcs(row_caps, col_caps, total, row_load, col_load, load, u, w, price, grid, tail,
                   head, cost, state, flow, cap, tree):
    """Arcs that every core shares, with their flows, and the first tree.

    Nodes with an arc to source or sink that is neither empty nor full hang on it, the others on
    the root by an arc without capacity whose cost is the node's start price.
    """
    n, m = row_caps.size, col_caps.size
    source, sink = terminals(n, m)
    root, other = n + m + 1, n + m
    first = n + m + 1
    for i in range(root + 1):
        tree[i, CHILD] = -1
    tree[root, PARENT], tree[root, ARC], tree[root, DEPTH] = -1, -1, 0
    tree[root, NEXT], tree[root, PREV] = -1, -1
    for a in range(first):
        if a < n:
            tail[a], head[a], cap[a], flow[a] = source, a, row_caps[a], row_load[a]
        elif a < n + m:
            tail[a], head[a], cap[a], flow[a] = a, sink, col_caps[a - n], col_load[a - n]
        else:
            tail[a], head[a], cap[a], flow[a] = sink, source, min(total, 2**31 - 1), load
        state[a] = 0 if cap[a] == 0 else 1 if flow[a] == 0 else -1 if flow[a] == cap[a] else 0
        cost[a, 0], cost[a, 1] = 0, 0
    for i in range(root):
        a = first + i
        tail[a], head[a], cap[a], flow[a], state[a] = i, root, 0, 0, 0
        start = price if i == source else 0.0
        if i < n:
            start = price + u[i]
        elif i < n + m:
            start = -w[i - n]
        start -= price if root == source else 0.0
        cost[a, 0], cost[a, 1] = -np.int64(start * grid), 0
    if 0 < flow[n + m] < cap[n + m]:
        hang(tree, other, root, n + m)
    else:
        hang(tree, other, root, first + other)
    for i in range(n + m):
        if 0 < flow[i] < cap[i]:
            hang(tree, i, source if i < n else sink, i)
        else:
            hang(tree, i, root, first + i)


@kernel
def hang_by_entries(n, m, first_arc, row_start, col, col_start, by_col, row, state, tree):
    """Replace the first tree by one of the core's entries as far as they connect nodes.

    For a core of tight entries only: the potentials of its nodes then are right in both of their
    components. One node of every connected part stays on the root.
    """
    root, first = n + m + 1, n + m + 1
    queue, seen = np.empty(n + m, np.int64), np.zeros(n + m, np.bool_)
    while tree[root, CHILD] >= 0 and tree[root, CHILD] < n + m:
        tree[root, CHILD] = tree[tree[root, CHILD], NEXT]
    tree[tree[root, CHILD], PREV] = -1
    for top in range(n + m):
        if seen[top]:
            continue
        hang(tree, top, root, first + top)
        seen[top], queue[0], size, at = True, top, 1, 0
        while at < size:
            i = queue[at]
            at += 1
            lines = row_start if i < n else col_start
            g = i if i < n else i - n
            for q in range(lines[g], lines[g + 1]):
                e = np.int64(q if i < n else by_col[q])
                j = n + col[e] if i < n else np.int64(row[e])
                if not seen[j]:
                    hang(tree, j, i, first_arc + e)
                    state[first_arc + e] = 0
                    seen[j], queue[size] = True, j
                    size += 1


@kernel
def lay_core(row, col, kept, n, first, last, first_arc, tail, head, state, flow, cap):
    """Append the entries first:last of a core as arcs, those `kept` at their upper bound."""
    for e in range(first, last):
        a = first_arc + e
        tail[a], head[a], cap[a] = row[e], n + col[e], 1
        flow[a], state[a] = (1, -1) if kept[e] else (0, 1)


@kernel
def fill(row_start, col, slack, kept, row_room, col_room, room):
    """Use the room that is left: keep the best entries of each row that fit."""
    for r in range(row_start.size - 1):
        while row_room[r] > 0 and room > 0:
            best = -1
            for e in range(row_start[r], row_start[r + 1]):
                fits = not kept[e] and col_room[col[e]] > 0
                if fits and (best < 0 or slack[e] > slack[best]):
                    best = e
            if best < 0:
                break
            kept[best] = True
            row_room[r] -= 1
            col_room[col[best]] -= 1
            room -= 1


@kernel
def settle(row, col, gains, row_start, col_start, by_col, u, w, price, row_room, col_room, room,
           kept):
    """Keep what is worth its prices, less what does not fit, and fill up; False if too few fit."""
    none = np.empty(0, np.int32)
    slack = np.empty(row.size)
    for e in range(row.size):
        slack[e] = gains[e] - u[row[e]] - w[col[e]] - price
        kept[e] = slack[e] > 0.0
    all_of_it, room_of_all = np.empty(2, np.int64), np.empty(1, np.int64)
    all_of_it[0], all_of_it[1], room_of_all[0] = 0, row.size, room
    if not (
        trim(row_start, none, slack, kept, row_room)
        and trim(col_start, by_col, slack, kept, col_room)
        and trim(all_of_it, none, slack, kept, room_of_all)
    ):
        return False
    row_left, col_left = row_room.copy(), col_room.copy()
    for e in range(row.size):
        row_left[row[e]] -= kept[e]
        col_left[col[e]] -= kept[e]
        room -= kept[e]
    fill(row_start, col, slack, kept, row_left, col_left, room)
    return True
