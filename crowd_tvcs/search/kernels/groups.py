"""Kernels of groups: of the voters of a set at most one is of each.

`group` holds the number of the group of every voter, -1 without a group; it is empty if nobody
has one, and then no kernel here is called.
"""

import numpy as np

from tvcs_core.jit import kernel


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
