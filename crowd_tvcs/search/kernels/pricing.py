"""Kernels of the priced plan: tasks take the sets that are worth most at the prices.

Offers of a plan are a tuple (quality, who, count, need, cap, fixed, n_fixed, base): row j of
`quality` holds the folded qualities of the workers `who[j]`, best first, of whom `count[j]` may be
asked and need[j]..cap[j] must be; `fixed[j]` are the folded prior and the qualities of those who
label the task in any case, `n_fixed[j]` of them, and `base[j]` is their accuracy.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.outcome_lists import EXACT, lay_fixed, tabulate, total
from crowd_tvcs.search.kernels.bounds import bound_by_lines, drop_beaten, fill_copies, shortlist
from crowd_tvcs.search.kernels.branch_and_bound import ascend, branch_and_bound
from tvcs_core.jit import kernel

MANY = 24  # voters of whom it is worth while to look who is beaten
LEAST_ROOM = 4  # voters that may be chosen beside very many fixed ones


@kernel
def slots_worth_pricing(quality, who, count, price, cap, value, least):
    """How many voters a set of more than `value` may have: its accuracy is at most 1."""
    held = 0
    for i in range(count):
        cost = price[who[i]]
        if cost < quality[i] - 0.5 and (held < cap or cost < least[held - 1]):
            at = held if held < cap else cap - 1
            while at > 0 and least[at - 1] > cost:
                least[at] = least[at - 1]
                at -= 1
            least[at] = cost
            if held < cap:
                held += 1
    spent = 0.0
    for k in range(held):
        spent += least[k]
        if 1.0 - spent <= value:
            return k
    return held


@kernel
def best_set(j, offers, price, sets, sizes, accuracy, node_limit, scratch, stop):
    """Put the set of task j with the largest accuracy minus prices in row j of `sets`.

    Starts from the set that is there, with its `accuracy`; if `node_limit` is 0 by exchanges
    alone. Returns the value, -inf where nobody can be had and somebody must, and whether it is
    proved: no set of the task has more, but for rounding.
    """
    quality, who, count, need, cap, fixed, n_fixed, base = offers
    q, p, w, tried, chosen, stays, beaten, wide, t, f, branch = scratch
    gain, chance, copies, least = branch[0], branch[1], branch[2], branch[3]
    value = accuracy[j]
    for s in range(sizes[j]):
        value -= price[sets[j, s]]
    if sizes[j] < need[j] or not value > (base[j] if need[j] == 0 else -np.inf):
        value = base[j] if need[j] == 0 else -np.inf
        accuracy[j] = base[j]
        sizes[j] = 0
    if cap[j] == 0:
        return value, n_fixed[j] <= EXACT + 1
    worth = slots_worth_pricing(quality[j], who[j], count[j], price, cap[j], value, wide)
    worth = max(worth, need[j])
    room = EXACT + 1 - n_fixed[j]
    slots = max(need[j], min(worth, max(room, LEAST_ROOM)))
    c = 0
    if slots > 0:
        c = shortlist(quality[j], who[j], count[j], price, worth, need[j] > 0, q, p, w, wide)
    if c == 0 or c < need[j]:
        return value, c == 0 and need[j] == 0
    worth = min(worth, c)
    slots = min(slots, c)
    size = lay_fixed(fixed[j], n_fixed[j], t, f)
    proved = slots <= room
    if proved and worth > slots:
        # Larger sets may still be bounded away.
        fill_copies(t[0], f[0], size, q[0], worth, chance, copies)
        bound = bound_by_lines(copies, slots + 1, worth, q, p, np.int64(0), c, value, least, gain)
        proved = bound <= value
    if c > MANY and slots > 1 and node_limit > 0:
        c = drop_beaten(q, p, w, c, slots, beaten, stays)
    start = value
    k = -1
    nodes = node_limit + 1
    if slots <= room and node_limit > 0:
        value, k, nodes = branch_and_bound(
            q, p, c, need[j], slots, size, value, node_limit, t, f, chosen, branch, stop
        )
    if nodes > node_limit:
        again, better = ascend(
            fixed[j], n_fixed[j], q, p, c, need[j], slots, value, t, f, chosen, tried, gain
        )
        if better >= 0:
            value = again
            k = better
    if k >= 0 and value > start:
        size = tabulate(fixed[j], n_fixed[j], q, chosen, k, k, t, f)
        sizes[j] = k
        accuracy[j] = total(t[0], size)
        for s in range(k):
            sets[j, s] = w[chosen[s]]
    return value, proved and nodes <= node_limit


@kernel
def left_for(cap, need, market, asked):
    """Fill in what every worker asks of the next task; returns how many it may have.

    `market` is as for `visit`.
    """
    prices, _, _, room, waiting = market
    n = asked.size
    for i in range(n):
        asked[i] = prices[i] + prices[n]
    if waiting[0] < 0:
        return cap
    waiting[0] -= need
    for i in range(n):
        if room[i] <= 0:
            asked[i] = np.inf
    return max(0, min(cap, room[n] - waiting[0]))


@kernel
def move(chosen, market):
    """Take the workers whom a task has chosen off the room, and move the prices."""
    prices, steps, shares, room, waiting = market
    n = shares.size - 1
    if waiting[0] >= 0:
        for i in chosen:
            room[i] -= 1
        room[n] -= chosen.size
    if steps[0] > 0.0:
        for i in chosen:
            prices[i] += steps[0]
        for i in range(n):
            prices[i] = max(0.0, prices[i] - steps[0] * shares[i])
        prices[n] = max(0.0, prices[n] + steps[1] * (chosen.size - shares[n]))


@kernel
def visit(order, offers, market, sets, sizes, accuracy, found, node_limit, scratch, stop):
    """Ask the tasks in `order` for their best sets; each may move prices and use up room.

    `market` is (prices, steps, shares, room, waiting), the first, third and fourth one per worker
    and then the budget's. After every task the price of a chosen worker rises by steps[0] and
    every price falls by steps[0] * share, the part of the cap that falls to one task; steps[1] is
    the budget's. Where waiting[0] >= 0 only workers with room are asked, what is taken is taken
    off, and as much of the budget is left as the tasks to come must have: waiting[0] of them all.
    Fills `found` with the value of every task, and with 1 where it is proved.
    """
    quality, who, count, need, cap, fixed, n_fixed, base = offers
    asked, left, inner = scratch
    within = (quality, who, count, need, left, fixed, n_fixed, base)
    for j in order:
        left[j] = left_for(cap[j], need[j], market, asked)
        if sizes[j] > left[j]:
            sizes[j] = 0
            accuracy[j] = base[j]
        value, proved = best_set(j, within, asked, sets, sizes, accuracy, node_limit, inner, stop)
        found[0, j] = value
        found[1, j] = 1.0 if proved else 0.0
        move(sets[j, : sizes[j]], market)
        if stop[0] != 0:
            return
