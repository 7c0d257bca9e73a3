"""Kernels of the priced plan of K classes: tasks take the sets worth most at the prices."""

import numpy as np

from crowd_tvcs.accuracy.kernels.many_class_table import Root, copy, tabulate, total
from crowd_tvcs.search.kernels.bounds import bound_by_lines, first_of
from crowd_tvcs.search.kernels.branch_and_bound_many_classes import (
    ascend,
    branch_and_bound,
    fill_copies,
    shortlist,
)
from crowd_tvcs.search.kernels.groups import count_groups
from crowd_tvcs.search.kernels.pricing import (
    LEAST_ROOM,
    MOST_TIMES,
    asks_more,
    keep_set,
    left_for,
    move,
    refuse,
    slots_worth_pricing,
    value_there,
)
from tvcs_core.jit import kernel


@kernel
def are_closed(size, slots, worth, short, value, model, scratch):
    """Whether no set of slots + 1..worth voters is above `value`; tables[0] has the fixed ones."""
    copies = scratch.bounds.copies
    if worth <= slots or worth >= model.counts.begin.size - 1:
        return worth <= slots
    t, chance, best, first = scratch.tables, scratch.bounds.chance, short.quality[0], np.int64(0)
    fill_copies(t[0], size, best, worth, model.counts, chance, copies)
    held, reach = scratch.bounds.held, scratch.bounds.gain
    return bound_by_lines(copies, slots + 1, worth, short, first, value, held, reach) <= value


@kernel
def best_set(j, candidates, cap, model, price, sets, limit, scratch):
    """Put the set of task j with the largest accuracy minus prices in row j of `sets`.

    As in `crowd_tvcs.search.kernels.pricing.best_set`; if `limit.steps` is 0 by exchanges alone,
    from one start per size.
    """
    need, count = candidates.need[j], candidates.size[j]
    reach, worker = candidates.quality[j, :count], candidates.worker[j, :count]
    root = Root(model.prior[j], candidates.fixed[j, : candidates.n_fixed[j]])
    matrices, pair, most = model.matrices, scratch.pair, limit.steps
    value = value_there(j, need, candidates.base[j], price, sets)
    room = model.exact - root.fixed.size
    if cap == 0:
        return value, room >= 0
    # Sets of up to `worth` voters may be worth more; those of up to `slots` are looked for.
    least = scratch.branch.bounds.held.values
    worth = max(need, slots_worth_pricing(reach, worker, price, cap, value, least))
    slots = max(need, min(worth, max(room, LEAST_ROOM)))
    c = 0
    if slots > 0:
        kinds = model.kind[j, :count]
        group = candidates.group
        c = shortlist(reach, worker, kinds, price, group, worth, need > 0, model.is_even, scratch)
    short, kinds, able = first_of(scratch.short, c), scratch.kinds[:c], c
    if short.group.size > 0:
        able = count_groups(short.group)
    if able == 0 or able < need:
        return value, able == 0 and need == 0
    worth = min(worth, able)
    slots = min(slots, able)
    proved = slots <= room
    start = value
    k = -1
    nodes = most + 1
    if slots <= room and most > 0:
        nobody = scratch.branch.chosen[:0]
        size = tabulate(root, kinds, nobody, nobody.size, matrices, model.limit, pair)
        copy(pair[0], size, scratch.branch.tables[0])
        proved = are_closed(size, slots, worth, short, value, model, scratch.branch)
        value, k, nodes = branch_and_bound(
            short, kinds, need, slots, size, value, model, limit, scratch.branch
        )
    if nodes > most:
        thorough = min(most, 1)
        again, better = ascend(root, short, kinds, need, slots, value, model, thorough, scratch)
        if better >= 0:
            value = again
            k = better
    if k >= 0 and value > start:
        chosen = scratch.branch.chosen[:k]
        size = tabulate(root, kinds, chosen, k, matrices, model.limit, pair)
        keep_set(j, short, chosen, total(pair[0], size), sets)
    return value, proved and nodes <= most


@kernel
def visit(order, candidates, model, prices, room, sets, found, limit, scratch):
    """Ask the tasks in `order` for their best sets; each may move prices and use up room.

    As in `crowd_tvcs.search.kernels.pricing.visit`.
    """
    cost = candidates.cost
    for j in order:
        asked, base, times = scratch.asked, candidates.base[j], np.int64(0)
        least = candidates.owed[j] if cost.size > 0 else 0.0
        need, cap = candidates.need[j], candidates.cap[j]
        most = left_for(cap, need, least, cost, prices, room, asked)
        refuse(j, most, base, sets)
        value, proved = best_set(j, candidates, most, model, asked, sets, limit, scratch)
        while asks_more(j, base, cost, prices, room, sets, asked, times) and times < MOST_TIMES:
            times += 1
            value, proved = best_set(j, candidates, most, model, asked, sets, limit, scratch)
        found.value[j] = value
        found.proved[j] = proved
        move(sets.workers[j, : sets.sizes[j]], cost, prices, room)
        if limit.stop[0] != 0:
            return
