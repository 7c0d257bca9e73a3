"""Kernels of the priced plan of K classes: tasks take the sets that are worth most at the prices.

Offers are those of `pricing` with two changes: the qualities are reaches minus
1/K plus 1/2, and `fixed` holds the kinds of those who label the task in any case. `model` is
(kinds, prior, matrices, is_even, counts, exact, limit): kinds of the workers in the order of `who`,
the prior of every class, and the number of voters and of outcomes of a table that is not joined.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.many_class_table import copy, tabulate, total
from crowd_tvcs.search.kernels.bounds import bound_by_lines
from crowd_tvcs.search.kernels.branch_and_bound_many_classes import (
    ascend,
    branch_and_bound,
    fill_copies,
    shortlist,
)
from crowd_tvcs.search.kernels.pricing import left_for, move, slots_worth_pricing
from tvcs_core.jit import kernel

LEAST_ROOM = 4  # voters that may be chosen beside very many fixed ones


@kernel
def best_set(j, offers, model, price, sets, sizes, accuracy, node_limit, scratch, stop):
    """Put the set of task j with the largest accuracy minus prices in row j of `sets`.

    Starts from the set that is there, with its `accuracy`; if `node_limit` is 0 by exchanges
    alone, from one start per size. Returns the value, -inf where nobody can be had and somebody
    must, and whether it is proved: no set of the task has more, but for rounding.
    """
    quality, who, count, need, cap, fixed, n_fixed, base = offers
    kind_of, prior, matrices, is_even, counts, exact, limit = model
    short, tried, chosen, wide, work, deep, branch = scratch
    q, p, w, kinds = short
    gain, powers, copies, least = branch[0], branch[1], branch[2], branch[3]
    inner = branch[11]
    value = accuracy[j]
    for s in range(sizes[j]):
        value -= price[sets[j, s]]
    if sizes[j] < need[j] or not value > (base[j] if need[j] == 0 else -np.inf):
        value = base[j] if need[j] == 0 else -np.inf
        accuracy[j] = base[j]
        sizes[j] = 0
    if cap[j] == 0:
        return value, n_fixed[j] <= exact
    worth = slots_worth_pricing(quality[j], who[j], count[j], price, cap[j], value, wide)
    worth = max(worth, need[j])
    room = exact - n_fixed[j]
    slots = max(need[j], min(worth, max(room, LEAST_ROOM)))
    c = 0
    if slots > 0:
        must = need[j] > 0
        c = shortlist(
            quality[j], who[j], kind_of[j], count[j], price, worth, must, is_even, short, wide
        )
    if c == 0 or c < need[j]:
        return value, c == 0 and need[j] == 0
    worth = min(worth, c)
    slots = min(slots, c)
    proved = slots <= room
    start = value
    k = -1
    nodes = node_limit + 1
    if slots <= room and node_limit > 0:
        none = np.int64(0)
        size = tabulate(
            prior[j], matrices, fixed[j], n_fixed[j], kinds, chosen, none, none, limit, work
        )
        copy(work[0], size, matrices.shape[1], deep[0])
        if worth > slots and worth < counts[0].size - 1:
            # Larger sets may still be bounded away.
            fill_copies(deep[0], size, matrices.shape[1], q[0], worth, counts, powers, copies)
            bound = bound_by_lines(
                copies, slots + 1, worth, q, p, np.int64(0), c, value, least, gain
            )
            proved = bound <= value
        value, k, nodes = branch_and_bound(
            q, p, kinds, c, need[j], slots, size, value, node_limit, (matrices, is_even), counts,
            deep, chosen, branch, stop,
        )  # fmt: skip
    if nodes > node_limit:
        again, better = ascend(
            prior[j], fixed[j], n_fixed[j], q, p, kinds, c, need[j], slots, value,
            (matrices, is_even), limit, work, chosen, tried, gain, inner, min(node_limit, 1),
        )  # fmt: skip
        if better >= 0:
            value = again
            k = better
    if k >= 0 and value > start:
        size = tabulate(prior[j], matrices, fixed[j], n_fixed[j], kinds, chosen, k, k, limit, work)
        sizes[j] = k
        accuracy[j] = total(work[0], size, matrices.shape[1])
        for s in range(k):
            sets[j, s] = w[chosen[s]]
    return value, proved and nodes <= node_limit


@kernel
def visit(order, offers, model, market, sets, sizes, accuracy, found, node_limit, scratch, stop):
    """Ask the tasks in `order` for their best sets; each may move prices and use up room.

    The rest is as in `crowd_tvcs.search.kernels.pricing.visit`.
    """
    quality, who, count, need, cap, fixed, n_fixed, base = offers
    asked, left, inner = scratch
    within = (quality, who, count, need, left, fixed, n_fixed, base)
    for j in order:
        left[j] = left_for(cap[j], need[j], market, asked)
        if sizes[j] > left[j]:
            sizes[j] = 0
            accuracy[j] = base[j]
        value, proved = best_set(
            j, within, model, asked, sets, sizes, accuracy, node_limit, inner, stop
        )
        found[0, j] = value
        found[1, j] = 1.0 if proved else 0.0
        move(sets[j, : sizes[j]], market)
        if stop[0] != 0:
            return
