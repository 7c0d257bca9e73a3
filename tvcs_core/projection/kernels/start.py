"""A first feasible flow from prices, and the first tree of the simplex."""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.prices import longest_line, put_in_place
from tvcs_core.projection.kernels.records import Counts, Lines
from tvcs_core.projection.kernels.simplex import (
    ARC,
    CHILD,
    DEPTH,
    NEXT,
    PARENT,
    PREV,
    terminals,
)


@kernel
def trim(lines, slack, kept, room):
    """Drop the least entries of every line that exceeds its room; False if room is negative."""
    start, order = lines.start, lines.order
    buffer = np.empty(longest_line(start))
    for g in range(start.size - 1):
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
        # room[g] entries stay: those above the least slack that fits, and the first `spare` at it.
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
def hang(links, i, parent, arc):
    """Add node i to the tree, below `parent`."""
    child = links[parent, CHILD]
    links[i, PARENT], links[i, ARC], links[i, DEPTH] = parent, arc, links[parent, DEPTH] + 1
    links[i, PREV], links[i, NEXT] = -1, child
    if child >= 0:
        links[child, PREV] = i
    links[parent, CHILD] = i


@kernel
def lay_fixed_arcs(caps, load, prices, steps, arcs, links):
    """Fill in the arcs that every core shares, with their flows (`load`), and the first tree.

    Nodes whose arc to source or sink is neither empty nor full hang on it. The others hang on the
    root by an arc of capacity 0 whose cost is the node's first price. So the start is feasible and
    its potentials are the first prices, in `steps` of the grid.
    """
    n, m = caps.rows.size, caps.cols.size
    tail, head, cost = arcs.tail, arcs.head, arcs.cost
    state, flow, cap = arcs.state, arcs.flow, arcs.cap
    source, sink = terminals(n, m)
    root, other = n + m + 1, n + m
    first = n + m + 1
    for i in range(root + 1):
        links[i, CHILD] = -1
    links[root, PARENT], links[root, ARC], links[root, DEPTH] = -1, -1, 0
    links[root, NEXT], links[root, PREV] = -1, -1
    for a in range(first):
        if a < n:
            tail[a], head[a], cap[a], flow[a] = source, a, caps.rows[a], load.rows[a]
        elif a < n + m:
            tail[a], head[a], cap[a], flow[a] = a, sink, caps.cols[a - n], load.cols[a - n]
        else:
            tail[a], head[a], cap[a], flow[a] = sink, source, min(caps.total, 2**31 - 1), load.total
        state[a] = 0 if cap[a] == 0 else 1 if flow[a] == 0 else -1 if flow[a] == cap[a] else 0
        cost[a, 0], cost[a, 1] = 0, 0
    for i in range(root):
        a = first + i
        tail[a], head[a], cap[a], flow[a], state[a] = i, root, 0, 0, 0
        start = prices.total if i == source else 0.0
        if i < n:
            start = prices.total + prices.rows[i]
        elif i < n + m:
            start = -prices.cols[i - n]
        start -= prices.total if root == source else 0.0
        cost[a, 0], cost[a, 1] = -np.int64(start * steps), 0
    if 0 < flow[n + m] < cap[n + m]:
        hang(links, other, root, n + m)
    else:
        hang(links, other, root, first + other)
    for i in range(n + m):
        if 0 < flow[i] < cap[i]:
            hang(links, i, source if i < n else sink, i)
        else:
            hang(links, i, root, first + i)


@kernel
def lay_core(listed, kept, first, first_arc, n_rows, arcs):
    """Append the core's entries from `first` on as arcs, kept ones at their upper bound."""
    tail, head, state, flow, cap = arcs.tail, arcs.head, arcs.state, arcs.flow, arcs.cap
    row, col = listed.row, listed.col
    for e in range(first, row.size):
        a = first_arc + e
        tail[a], head[a], cap[a] = row[e], n_rows + col[e], 1
        flow[a], state[a] = (1, -1) if kept[e] else (0, 1)


@kernel
def fill(rows, col, slack, kept, room):
    """Fill the remaining room with the best entries of each row that fit.

    Reduces the room of rows and columns.
    """
    start, row_room, col_room, left = rows.start, room.rows, room.cols, room.total
    for r in range(start.size - 1):
        while row_room[r] > 0 and left > 0:
            best = -1
            for e in range(start[r], start[r + 1]):
                fits = not kept[e] and col_room[col[e]] > 0
                if fits and (best < 0 or slack[e] > slack[best]):
                    best = e
            if best < 0:
                break
            kept[best] = True
            row_room[r] -= 1
            col_room[col[best]] -= 1
            left -= 1


@kernel
def settle(listed, rows, cols, prices, room, kept):
    """Keep the entries worth their prices, trim and fill up; return False if room is negative."""
    row, col, gains = listed.row, listed.col, listed.gains
    u, w, price = prices.rows, prices.cols, prices.total
    none = np.empty(0, np.int32)
    slack = np.empty(row.size)
    for e in range(row.size):
        slack[e] = gains[e] - u[row[e]] - w[col[e]] - price
        kept[e] = slack[e] > 0.0
    # Trimming only removes entries, so rows stay feasible when columns and total are trimmed.
    all_of_it, room_of_all = np.empty(2, np.int64), np.empty(1, np.int64)
    all_of_it[0], all_of_it[1], room_of_all[0] = 0, row.size, room.total
    if not (
        trim(rows, slack, kept, room.rows)
        and trim(cols, slack, kept, room.cols)
        and trim(Lines(all_of_it, none), slack, kept, room_of_all)
    ):
        return False
    row_left, col_left, left = room.rows.copy(), room.cols.copy(), room.total
    for e in range(row.size):
        row_left[row[e]] -= kept[e]
        col_left[col[e]] -= kept[e]
        left -= kept[e]
    fill(rows, col, slack, kept, Counts(row_left, col_left, left))
    return True
