"""Kernels of the priced plan: tasks take the sets that are worth most at the prices."""

import numpy as np

from crowd_tvcs.accuracy.kernels.two_class_table import EXACT, lay_fixed, tabulate, total
from crowd_tvcs.search.kernels.bounds import (
    bound_by_lines,
    fill_copies,
    first_of,
    hold,
    shortlist,
)
from crowd_tvcs.search.kernels.branch_and_bound import ascend, branch_and_bound
from crowd_tvcs.search.kernels.groups import count_groups
from tvcs_core.jit import kernel

LEAST_ROOM = 4  # voters that may be chosen beside very many fixed ones
MOST_TIMES = 40  # that money is asked a higher price of a task that has too little of it
LEAST_RISE = 0.01  # of that price, which then doubles


@kernel
def slots_worth_pricing(quality, worker, price, cap, value, least):
    """How many voters a set of more than `value` may have.

    Its accuracy is at most 1, so the prices are below 1 - `value`, and those of the cheapest are
    the least. A voter who costs the most that they can add is in no such set.
    """
    held = np.int64(0)
    for i in range(quality.size):
        cost = price[worker[i]]
        if cost < quality[i] - 0.5 and (held < cap or cost < least[held - 1]):
            held = hold(least, held, cap, cost)
    spent = 0.0
    for k in range(held):
        spent += least[k]
        if 1.0 - spent <= value:
            return k
    return held


@kernel
def value_there(j, need, base, price, sets):
    """The value of the set that task j has; it is taken away if nobody is worth as much.

    And where it has fewer than `need` voters: -inf if nobody is too few as well.
    """
    value = sets.accuracy[j]
    for s in range(sets.sizes[j]):
        value -= price[sets.workers[j, s]]
    nobody = base if need == 0 else -np.inf
    if sets.sizes[j] < need or not value > nobody:
        value = nobody
        sets.accuracy[j] = base
        sets.sizes[j] = 0
    return value


@kernel
def keep_set(j, short, chosen, accuracy, sets):
    """Assign task j the voters of the shortlist in these places."""
    sets.sizes[j] = chosen.size
    sets.accuracy[j] = accuracy
    for s in range(chosen.size):
        sets.workers[j, s] = short.worker[chosen[s]]


@kernel
def best_set(j, candidates, cap, price, sets, limit, scratch, branch):
    """Put the set of task j with the largest accuracy minus prices in row j of `sets`.

    It has at most `cap` voters. Starts from the set that is there; if `limit.steps` is 0 by
    exchanges alone. Return the value, -inf if nobody can be had and somebody must, and whether
    it is proved: no set of the task has more, but for rounding.
    """
    need, count = candidates.need[j], candidates.size[j]
    quality, worker = candidates.quality[j, :count], candidates.worker[j, :count]
    fixed = candidates.fixed[j, : candidates.n_fixed[j]]
    t, f = branch.tables.t, branch.tables.f
    held, copies, gain = branch.bounds.held, branch.bounds.copies, branch.bounds.gain
    value = value_there(j, need, candidates.base[j], price, sets)
    room = EXACT + 1 - fixed.size  # for voters beside the fixed ones and the prior
    if cap == 0:
        return value, room >= 0
    # Sets of up to `worth` voters may be worth more; those of up to `slots` are looked for.
    worth = max(need, slots_worth_pricing(quality, worker, price, cap, value, held.values))
    slots = max(need, min(worth, max(room, LEAST_ROOM)))
    c = 0
    if slots > 0:
        group = candidates.group
        c = shortlist(quality, worker, price, group, worth, need > 0, scratch.short, held.values)
    short, able = first_of(scratch.short, c), c
    if short.group.size > 0:
        able = count_groups(short.group)
    if able == 0 or able < need:
        return value, able == 0 and need == 0
    worth = min(worth, able)
    slots = min(slots, able)
    size = lay_fixed(fixed, t, f)
    proved = slots <= room
    if proved and worth > slots:
        # Larger sets may still be bounded away.
        first = np.int64(0)
        fill_copies(t[0], f[0], size, short.quality[0], worth, branch.bounds.chance, copies)
        bound = bound_by_lines(copies, slots + 1, worth, short, first, value, held, gain)
        proved = bound <= value
    start = value
    k = -1
    nodes = limit.steps + 1
    if slots <= room and limit.steps > 0:
        value, k, nodes = branch_and_bound(short, need, slots, size, value, limit, branch)
    if nodes > limit.steps:
        again, better = ascend(
            fixed, short, need, slots, value, branch.tables, scratch.tried, branch.chosen, gain
        )
        if better >= 0:
            value = again
            k = better
    if k >= 0 and value > start:
        chosen = branch.chosen[:k]
        size = tabulate(fixed, short.quality, chosen, k, t, f)
        keep_set(j, short, chosen, total(t[0], size), sets)
    return value, proved and nodes <= limit.steps


@kernel
def refuse(j, most, base, sets):
    """Take the set of task j away if it has more than `most` workers."""
    if sets.sizes[j] > most:
        sets.sizes[j] = 0
        sets.accuracy[j] = base


@kernel
def left_for(cap, need, least, cost, prices, room, asked):
    """Fill in the price of every worker for the next task; return how many it may have.

    It must have `need` of them, which cost the `least`. Where room is kept, workers without any, or
    who cost more than there is, ask an infinite price, and as much of the budget and the money is
    left as the tasks to come must have.
    """
    price, labels, owed = prices.price, room.labels, room.owed
    n = asked.size
    for i in range(n):
        asked[i] = price[i] + price[n]
    for i in range(cost.size):
        asked[i] += prices.money[0] * cost[i]
    if owed[0] < 0:
        return cap
    owed[0] -= need
    for i in range(n):
        if labels[i] <= 0:
            asked[i] = np.inf
    if cost.size > 0:
        room.money[1] -= least
        for i in range(n):
            if cost[i] > room.money[0] - room.money[1]:
                asked[i] = np.inf
    return max(0, min(cap, labels[n] - owed[0]))


@kernel
def asks_more(j, base, cost, prices, room, sets, asked, times):
    """Whether task j has a set that costs more money than it may spend.

    Then the set is taken away, and costs weigh more in what is asked, the more so the more `times`.
    """
    if cost.size == 0 or room.owed[0] < 0:
        return False
    spent = 0.0
    for s in range(sets.sizes[j]):
        spent += cost[sets.workers[j, s]]
    if spent <= max(0.0, room.money[0] - room.money[1]):
        return False
    refuse(j, np.int64(0), base, sets)
    rise = max(LEAST_RISE, 0.25 * prices.money[0]) * 2.0**times
    for i in range(cost.size):
        if cost[i] > 0.0:
            asked[i] += rise * cost[i]
    return True


@kernel
def move(chosen, cost, prices, room):
    """Take the workers whom a task has chosen off the room, and move the prices.

    A subgradient step on the dual function, of one task: its own labels less its share of the caps
    (incremental subgradients: Nedic and Bertsekas 2001). Prices stay >= 0.
    """
    price, step, share, labels = prices.price, prices.step, prices.share, room.labels
    n = share.size - 1
    if room.owed[0] >= 0:
        for i in chosen:
            labels[i] -= 1
        labels[n] -= chosen.size
    spent = 0.0
    for i in chosen:
        if cost.size > 0:
            spent += cost[i]
    if cost.size > 0 and room.owed[0] >= 0:
        room.money[0] -= spent
    if cost.size > 0 and step > 0.0:
        # A single label may cost many times the mean; no step is longer than one of the labels.
        most = chosen.size + 1.0
        over = min(most, max(-most, spent - prices.money_share))
        prices.money[0] = max(0.0, prices.money[0] + step * over)
    if step > 0.0:
        for i in chosen:
            price[i] += step
        for i in range(n):
            price[i] = max(0.0, price[i] - step * share[i])
        price[n] = max(0.0, price[n] + step * (chosen.size - share[n]))


@kernel
def visit(order, candidates, prices, room, sets, found, limit, scratch, branch):
    """Ask the tasks in `order` for their best sets; each may move prices and use up room.

    Fills `found` (`TaskValues`) for these tasks.
    """
    cost = candidates.cost
    for j in order:
        asked, base, times = scratch.asked, candidates.base[j], np.int64(0)
        least = candidates.owed[j] if cost.size > 0 else 0.0
        need, cap = candidates.need[j], candidates.cap[j]
        most = left_for(cap, need, least, cost, prices, room, asked)
        refuse(j, most, base, sets)
        value, proved = best_set(j, candidates, most, asked, sets, limit, scratch, branch)
        while asks_more(j, base, cost, prices, room, sets, asked, times) and times < MOST_TIMES:
            times += 1
            value, proved = best_set(j, candidates, most, asked, sets, limit, scratch, branch)
        found.value[j] = value
        found.proved[j] = proved
        move(sets.workers[j, : sets.sizes[j]], cost, prices, room)
        if limit.stop[0] != 0:
            return
