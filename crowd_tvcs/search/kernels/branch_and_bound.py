"""Kernels of the priced task: the best set, by branch and bound and by exchanges.

The voters are those of a `Shortlist` and come best first: q are their folded qualities and p their
prices. A set has need..cap of them, and begins with the fixed voters of the task, of whom the first
is the prior.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.two_class_table import add_voter, fill_gains, tabulate, total
from crowd_tvcs.search.kernels.bounds import (
    best_last,
    bound_by_copies,
    bound_by_grades,
    bound_by_lines,
    cheapest_sums,
    fill_copies,
    fill_grades,
    lower_grade,
)
from crowd_tvcs.search.kernels.groups import bar_mates, bar_mates_of_others
from crowd_tvcs.search.kernels.scratch import Shortlist
from tvcs_core.jit import kernel

SWEEPS = 4
SLOPES = (1.0, 4.0, 0.25)  # of accuracy by quality, relative to a guess for the size
FALL = 0.7  # by which the guess falls with every voter
FRESH = 8  # voters after which a node's bounds are computed anew


@kernel
def keep_incumbent(added, d, last, chosen):
    """Put the d voters of a node and one more in `chosen`."""
    for s in range(d):
        chosen[s] = added[s]
    chosen[d] = last


@kernel
def branch_and_bound(short, need, cap, size, value, limit, scratch):
    """Find a set of more than `value`: its accuracy minus its prices; depth first by quality.

    The table of the fixed voters, of `size` outcomes, is in row 0 of `scratch.tables`. Return the
    value, the size of the set in `scratch.chosen` (-1: none is better) and the number of nodes,
    which is above `limit.steps` where the search was broken off, by it or because of `limit.stop`.
    """
    q, p, c, most = short.quality, short.price, short.quality.size, limit.steps
    t, f = scratch.tables.t, scratch.tables.f
    outcomes, spent, added = scratch.nodes.outcomes, scratch.nodes.spent, scratch.nodes.added
    following, fresh, reach = scratch.nodes.following, scratch.nodes.fresh, scratch.nodes.reach
    gain, copies, cheapest = scratch.bounds.gain, scratch.bounds.copies, scratch.bounds.cheapest
    held, slopes, table = scratch.bounds.held, scratch.grades.slopes, scratch.grades.accuracy
    stop, group, prices, asked = limit.stop, short.group, scratch.nodes.price, short.price
    prices[0, :c] = p
    cheapest_sums(p, cap, held.values, cheapest)
    for s in range(cap + 1):
        slopes[s, 0] = 0.0
    outcomes[0] = size
    spent[0] = 0.0
    following[0] = 0
    fresh[0] = 0
    found = -1
    visited = 0
    d = np.int64(0)
    enter = True
    while d >= 0:
        i = following[d]
        rest = cap - d
        if group.size > 0:
            p = prices[d, :c]  # infinite for the mates of whom the node has
        if enter:
            # All sets of one voter more at once: their gains need no tables (gain identity).
            enter = False
            if d + 1 >= need:
                fill_gains(t[d], f[d], outcomes[d], q, i, c, gain)
                leaves, last = best_last(total(t[d], outcomes[d]), spent[d], gain[i:c], p[i:c])
                if leaves > value:
                    value = leaves
                    found = d + 1
                    keep_incumbent(added, d, i + last, scratch.chosen)
        if rest < 2 or i >= c - 1 or visited > most:
            d -= 1
            continue
        # A node is left when a bound on all below it, of two voters more, is no better than the
        # incumbent: first the cheap bounds, then that of two grades, where no more are needed.
        enough = value + spent[d]
        if i == fresh[d]:
            fresh[d] = i + FRESH
            fill_copies(t[d], f[d], outcomes[d], q[i], rest, scratch.bounds.chance, copies)
            fewest = max(0, need - d)
            voters = Shortlist(q, p, short.worker, group)  # at the prices of the node
            if bound_by_copies(copies, max(2, fewest), rest, cheapest[i]) <= enough or (
                bound_by_lines(copies, fewest, rest, voters, i, enough, held, reach[d]) <= enough
            ):
                d -= 1
                continue
            lower = lower_grade(q, i)
            if c - i >= FRESH and 0.5 < lower < q[i] and fewest == 0:
                chances = scratch.grades.chance
                fill_grades(t[d], f[d], outcomes[d], q[i], lower, rest, chances, table)
                if slopes[d, 0] == 0.0:
                    slopes[d, 0] = copies[1] - copies[0]
                    slopes[d, 1] = slopes[d, 0] * (lower - 0.5) / (q[i] - 0.5)
                if (
                    bound_by_grades(table, rest, voters, i, enough, slopes[d], held, reach[d])
                    <= enough
                ):
                    d -= 1
                    continue
        following[d] = i + 1
        # `reach` was a bound when it was filled, and voters only went since.
        if reach[d, i] <= enough or p[i] == np.inf:
            continue
        # Of twins the first goes first: a set with the second alone is as good as one with it
        # (unless a mate of the first is in it).
        if (
            i > 0
            and q[i] == q[i - 1]
            and asked[i] == asked[i - 1]
            and (group.size == 0 or group[i - 1] < 0)
            and not (d > 0 and added[d - 1] == i - 1)
        ):
            continue
        visited += 1
        if stop[0] != 0:
            visited = most + 1
        # The node with voter i more; only later ones may join there.
        outcomes[d + 1] = add_voter(t[d], f[d], outcomes[d], q[i], t[d + 1], f[d + 1])
        spent[d + 1] = spent[d] + p[i]
        bar_mates(group, i, prices[d], prices[d + 1])
        added[d] = i
        d += 1
        following[d] = i + 1
        fresh[d] = i + 1
        enter = True
    return value, found, visited


@kernel
def pick_by_slope(q, p, group, slope, chosen):
    """Choose as many voters as `chosen` is long, of largest slope * quality - price."""
    for s in range(chosen.size):
        best = -np.inf
        for i in range(q.size):
            if slope * q[i] - p[i] > best:
                is_free = True
                for r in range(s):
                    is_free = is_free and chosen[r] != i
                    if group.size > 0:
                        is_free = is_free and (group[i] < 0 or group[chosen[r]] != group[i])
                if is_free:
                    best = slope * q[i] - p[i]
                    chosen[s] = i


@kernel
def exchange_one(fixed, q, p, group, chosen, t, f, gain):
    """Replace one voter after another by the best one beside the others, until none changes.

    Return the value of the set: its accuracy minus its prices.
    """
    value = -np.inf
    for _ in range(SWEEPS):
        changed = False
        for s in range(chosen.size):
            # One table of the others says what everybody would add beside them.
            size = tabulate(fixed, q, chosen, s, t, f)
            fill_gains(t[0], f[0], size, q, np.int64(0), q.size, gain)
            for r in range(chosen.size):
                if r != s:
                    gain[chosen[r]] = -np.inf
            if group.size > 0:
                bar_mates_of_others(group, chosen, s, gain)
            best = chosen[s]
            for i in range(p.size):
                if gain[i] - p[i] > gain[best] - p[best] + 1e-15:
                    best = i
            changed = changed or best != chosen[s]
            chosen[s] = best
            if s == chosen.size - 1:
                value = total(t[0], size) + gain[best]
                for r in range(chosen.size):
                    value -= p[chosen[r]]
        if not changed:
            break
    return value


@kernel
def ascend(fixed, short, need, cap, value, tables, tried, chosen, gain):
    """Search for a set worth more than `value` by exchanges from a few starts of every size.

    Return its value and its size; the set is in `chosen`, the size -1 if none was found.
    """
    q, p, group, t, f = short.quality, short.price, short.group, tables.t, tables.f
    found = -1
    guess = 1.0
    for k in range(1, cap + 1):
        if k >= need:
            team = tried[:k]
            for slope in SLOPES:
                pick_by_slope(q, p, group, slope * guess, team)
                here = exchange_one(fixed, q, p, group, team, t, f, gain)
                if here > value:
                    value = here
                    found = k
                    for s in range(k):
                        chosen[s] = team[s]
        guess *= FALL
    return value, found
