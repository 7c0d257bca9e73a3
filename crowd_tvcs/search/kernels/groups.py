"""Kernels of groups: of the voters of a set at most one is of each.

`group` holds the number of the group of every voter, -1 without a group; it is empty if nobody
has one, and then no kernel here is called.
"""

import numpy as np

from tvcs_core.jit import kernel

INTERVALS = 32  # of slopes that are looked at


@kernel
def count_groups(group):
    """Return the largest size of a set: one voter of each group, and all without a group."""
    n = np.int64(0)
    for i in range(group.size):
        is_first = True
        for k in range(i):
            is_first = is_first and (group[i] < 0 or group[k] != group[i])
        if is_first:
            n += 1
    return n


@kernel
def make_way(values, whose, group, count, value, voter):
    """Take the mate of a voter off the held values if they are worth less; return how many stay.

    -1 if the mate is worth as much, and stays.
    """
    for s in range(count):
        if group[voter] >= 0 and group[whose[s]] == group[voter]:
            if values[s] >= value:
                return np.int64(-1)
            for r in range(s, count - 1):
                values[r] = values[r + 1]
                whose[r] = whose[r + 1]
            return np.int64(count - 1)
    return np.int64(count)


@kernel
def least_of_mates(group, price, count, one):
    """The least price of the first `count` voters who are of the group `one`; else infinity."""
    least = np.inf
    if one >= 0:
        for k in range(count):
            if group[k] == one:
                least = min(least, price[k])
    return least


@kernel
def take_off(least, held, price):
    """Take one price off the least ones if it is among them; return how many stay."""
    for s in range(held):
        if least[s] == price:
            for r in range(s, held - 1):
                least[r] = least[r + 1]
            return np.int64(held - 1)
    return np.int64(held)


@kernel
def bar_mates(group, i, before, after):
    """Fill in the prices after voter i joined: as before, but infinite for their mates."""
    for k in range(i + 1, group.size):
        is_mate = group[i] >= 0 and group[k] == group[i]
        after[k] = np.inf if is_mate else before[k]


@kernel
def bar_mates_of_others(group, chosen, s, gain):
    """Put -inf for the gain of all mates of the chosen ones but that in place s."""
    for r in range(chosen.size):
        one = group[chosen[r]]
        if r != s and one >= 0:
            for k in range(group.size):
                if group[k] == one:
                    gain[k] = -np.inf


@kernel
def note_beaten(q, p, i, x):
    """From and until which interval of slopes voter x beats voter i; from 0 to 0 if nowhere."""
    if q[x] == q[i]:
        if p[x] < p[i] or (p[x] == p[i] and x < i):
            return 0, INTERVALS
        return 0, 0
    at = INTERVALS * (p[x] - p[i]) / (q[x] - q[i])  # where both are equal
    if q[x] > q[i]:
        if at < INTERVALS:
            return int(at) + 1 if at >= 0.0 else 0, INTERVALS
        return 0, 0
    if at > 1.0:
        return 0, INTERVALS if at > INTERVALS else int(np.ceil(at)) - 1
    return 0, 0


@kernel
def sort_by_group(group, order):
    """Fill `order` with all voters, mates next to each other."""
    at = 0
    for i in range(group.size):
        is_first = True
        for k in range(i):
            is_first = is_first and (group[i] < 0 or group[k] != group[i])
        if is_first:
            for k in range(i, group.size):
                if k == i or (group[i] >= 0 and group[k] == group[i]):
                    order[at] = k
                    at += 1


@kernel
def count_beaten(weight, low, high, beaten):
    """Count, in the changes `beaten`, one more better voter from interval `low` until `high`."""
    beaten[0] += weight
    if low > high:
        beaten[high] -= weight
        beaten[low] += weight
    beaten[INTERVALS] -= weight


@kernel
def is_ever_among(beaten, cap):
    """Whether fewer than `cap` beat a voter at some slope; `beaten` holds changes (1 or 0)."""
    above = 0
    for g in range(INTERVALS):
        above += beaten[g]
        if above < cap:
            return np.int64(1)
    return np.int64(0)


@kernel
def keep_staying(short, stays):
    """Close the ranks of a shortlist, in place, over those who do not stay; return how many do."""
    kept = 0
    for i in range(short.quality.size):
        if stays[i] == 1:
            short.quality[kept] = short.quality[i]
            short.price[kept] = short.price[i]
            short.worker[kept] = short.worker[i]
            if short.group.size > 0:
                short.group[kept] = short.group[i]
            kept += 1
    return kept


@kernel
def drop_beaten_of_groups(short, cap, beaten, stays, order):
    """Drop, in place, the voters beaten at every slope by a mate or by `cap` other groups.

    As `crowd_tvcs.search.kernels.bounds.drop_beaten`: the other members of a set keep at most
    `cap` - 1 groups out of it, so one of `cap` that beat a member could take their place; a mate
    always could. `order` is scratch for one integer per voter.
    """
    q, p, group, c = short.quality, short.price, short.group, short.quality.size
    sort_by_group(group, order)
    for i in range(c):
        for g in range(INTERVALS + 1):
            beaten[g] = 0
        # The intervals in which somebody of a group beats i: from low on, and until high.
        low = INTERVALS
        high = 0
        for s in range(c):
            x = order[s]
            first, last = note_beaten(q, p, i, x)
            if last == INTERVALS:
                low = min(low, first)
            else:
                high = max(high, last)
            if s == c - 1 or group[x] < 0 or group[order[s + 1]] != group[x]:
                weight = cap if group[x] >= 0 and group[x] == group[i] else 1
                count_beaten(weight, low, high, beaten)
                low = INTERVALS
                high = 0
        stays[i] = is_ever_among(beaten, cap)
    return keep_staying(short, stays)
