"""Kernels of the priced task: its best set by exchanges of two voters at once.

Where very many voters are nearly the same, no single exchange leads from a good set of three to a
better one of five, and branch and bound takes thousands of nodes. Sets are therefore begun at many
slopes, and up to two voters are replaced by up to two others, until no such exchange gains. It
proves nothing, but branch and bound that begins with its sets has little left to do.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.two_class_table import (
    add_voter,
    fill_gains,
    lay_fixed,
    tabulate,
    total,
)
from crowd_tvcs.search.kernels.bounds import drop_beaten, first_of, shortlist
from crowd_tvcs.search.kernels.branch_and_bound import pick_by_slope
from crowd_tvcs.search.kernels.pricing import (
    keep_set,
    left_for,
    move,
    refuse,
    slots_worth_pricing,
    value_there,
)
from tvcs_core.jit import kernel

SLOPES = 12  # of accuracy by quality at which sets are begun
STEEPEST, FLATTER = 0.8, 0.67  # the first of them, and the ratio of one to the one before
LEAST_GAIN = 1e-13


@kernel
def lay_others(fixed, short, chosen, first, second, tables):
    """Build the table of the fixed voters and `chosen` without two places, in row 0 of `tables`.

    A place that is the size of `chosen` leaves nobody out. Return the size of the table and the
    cost of these voters.
    """
    t, f, at, spent = tables.t, tables.f, 0, 0.0
    size = lay_fixed(fixed, t, f)
    for s in range(chosen.size):
        if s != first and s != second:
            size = add_voter(t[at], f[at], size, short.quality[chosen[s]], t[1 - at], f[1 - at])
            at = 1 - at
            spent += short.price[chosen[s]]
    if at == 1:
        for e in range(size):
            t[0, e] = t[1, e]
            f[0, e] = f[1, e]
    return size, spent


@kernel
def best_pair(size, spent, short, fewest, most, value, tables, gain, out):
    """Put in `out` `fewest` to `most` voters, one or two, whose set has more than `value`.

    They join the voters in row 0 of `tables`; a voter with an infinite price does not. Places are
    -1 if nobody is found. Return the value.
    """
    q, p, t, f, c = short.quality, short.price, tables.t, tables.f, short.quality.size
    out[0] = -1
    out[1] = -1
    worth = total(t[0], size) - spent
    fill_gains(t[0], f[0], size, q, np.int64(0), c, gain)
    for i in range(c):
        if fewest < 2 and worth + gain[i] - p[i] > value + LEAST_GAIN:
            value = worth + gain[i] - p[i]
            out[0] = i
    if most < 2:
        return value
    for j in range(c - 1):
        if p[j] == np.inf:
            continue
        n = add_voter(t[0], f[0], size, q[j], t[1], f[1])
        worth = total(t[1], n) - spent - p[j]
        fill_gains(t[1], f[1], n, q, np.int64(j + 1), c, gain)
        for i in range(j + 1, c):
            if worth + gain[i] - p[i] > value + LEAST_GAIN:
                value = worth + gain[i] - p[i]
                out[0] = j
                out[1] = i
    return value


@kernel
def exchange_once(fixed, short, need, cap, k, value, branch, tried):
    """Replace up to two of the k voters in `tried` by up to two others, if that gains.

    There are `need` to `cap` of them then. Return the value and the number of voters after it.
    """
    tables, gain, price = branch.tables, branch.bounds.gain, short.price
    out, kept = branch.nodes.following, branch.nodes.spent
    for first in range(k + 1):
        for second in range(first, k + 1):
            stay = k - (first < k) - (second < k)
            fewest, most = need - stay, min(2, cap - stay)
            if (first == second and first < k) or most < max(1, fewest):
                continue
            size, spent = lay_others(fixed, short, tried[:k], first, second, tables)
            for s in range(k):
                kept[s] = price[tried[s]]
                if s != first and s != second:
                    price[tried[s]] = np.inf  # is in the set already
            again = best_pair(size, spent, short, fewest, most, value, tables, gain, out)
            for s in range(k):
                price[tried[s]] = kept[s]
            if again > value:
                n = 0
                for s in range(k):
                    if s != first and s != second:
                        tried[n] = tried[s]
                        n += 1
                for r in range(2):
                    if out[r] >= 0:
                        tried[n] = out[r]
                        n += 1
                return again, n
    return value, k


@kernel
def exchange_pairs(fixed, short, need, cap, k, value, branch, tried):
    """Exchange up to two voters at a time until none gains; return value and number of voters."""
    while True:
        again, n = exchange_once(fixed, short, need, cap, k, value, branch, tried)
        if not again > value:
            return value, k
        value, k = again, n


@kernel
def begin_by_slopes(fixed, short, k, branch, tried):
    """Put the best set of k voters with the largest slope * quality - price in `tried`."""
    team, tables, best, slope = branch.nodes.added[:k], branch.tables, -np.inf, STEEPEST
    for _ in range(SLOPES):
        pick_by_slope(short.quality, short.price, short.group, slope, team)
        size, spent = lay_others(fixed, short, team, k, k, tables)
        value = total(tables.t[0], size) - spent
        if value > best:
            best = value
            for s in range(k):
                tried[s] = team[s]
        slope *= FLATTER
    return best


@kernel
def places_of_set(sets, j, short, tried):
    """Put the places of the voters of task j's set in `tried`; -1 if one has none."""
    for s in range(sets.sizes[j]):
        tried[s] = -1
        for i in range(short.worker.size):
            if short.worker[i] == sets.workers[j, s]:
                tried[s] = i
        if tried[s] < 0:
            return np.int64(-1)
    return sets.sizes[j]


@kernel
def best_by_pairs(j, candidates, cap, price, sets, limit, scratch, branch):
    """Put a set of task j of large accuracy minus prices in row j of `sets`; return the value.

    It starts from the set that is there and from one begun by slopes; if `limit.steps` is above 0
    from one of every other size, and of every size where the task must have somebody.
    """
    count = candidates.size[j]
    quality, worker = candidates.quality[j, :count], candidates.worker[j, :count]
    fixed, tried = candidates.fixed[j, : candidates.n_fixed[j]], scratch.tried
    held, need = branch.bounds.held.values, candidates.need[j]
    value = value_there(j, need, candidates.base[j], price, sets)
    slots = max(need, slots_worth_pricing(quality, worker, price, cap, value, held))
    if cap == 0 or slots == 0:
        return value
    group = candidates.group
    c = shortlist(quality, worker, price, group, slots, need > 0, scratch.short, held)
    c = drop_beaten(first_of(scratch.short, c), slots, scratch.beaten, scratch.order)
    short = first_of(scratch.short, c)
    slots = min(slots, c)
    if slots < max(1, need):
        return value
    found = np.int64(-1)
    k = places_of_set(sets, j, short, tried)
    if k >= max(1, need) and k <= slots:
        again, k = exchange_pairs(fixed, short, need, slots, k, value, branch, tried)
        if again > value:
            value, found = again, k
            branch.chosen[:k] = tried[:k]
    size, top = slots, -np.inf
    while size >= max(1, need):
        again = begin_by_slopes(fixed, short, size, branch, tried)
        if limit.steps > 0 or again > top:
            top = again
            again, k = exchange_pairs(fixed, short, need, slots, size, again, branch, tried)
            if again > value:
                value, found = again, k
                branch.chosen[:k] = tried[:k]
        # One voter more seldom pays, two do; but nobody can go where somebody must be there.
        size -= 1 if need > 0 else 2
    if found >= 0:
        t, f = branch.tables.t, branch.tables.f
        size = tabulate(fixed, short.quality, branch.chosen[:found], found, t, f)
        keep_set(j, short, branch.chosen[:found], total(t[0], size), sets)
    return value


@kernel
def visit(order, candidates, prices, room, sets, found, limit, scratch, branch):
    """Ask the tasks in `order` for their sets; as `pricing.visit`, without money and groups."""
    for j in order:
        need, cap = candidates.need[j], candidates.cap[j]
        most = left_for(cap, need, 0.0, candidates.cost, prices, room, scratch.asked)
        refuse(j, most, candidates.base[j], sets)
        found.value[j] = best_by_pairs(
            j, candidates, most, scratch.asked, sets, limit, scratch, branch
        )
        found.proved[j] = False
        move(sets.workers[j, : sets.sizes[j]], candidates.cost, prices, room)
        if limit.stop[0] != 0:
            return
