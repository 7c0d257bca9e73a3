"""Kernels of the priced task: the best set, by branch and bound and by exchanges.

Voters come best first: `q` holds their folded qualities and `p` their prices, `c` of them. A set
has need..cap of them, and begins with the fixed voters of the task, of whom the first is the
prior.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.outcome_lists import add_voter, fill_gains, tabulate, total
from crowd_tvcs.search.kernels.bounds import (
    best_last,
    bound_by_copies,
    bound_by_grades,
    bound_by_lines,
    cheapest_sums,
    fill_copies,
    fill_grades,
)
from tvcs_core.jit import kernel

SWEEPS = 4
SLOPES = (1.0, 4.0, 0.25)  # of accuracy by quality, relative to a guess for the size
FALL = 0.7  # by which the guess falls with every voter
FRESH = 8  # voters after which a node's bounds are computed anew


@kernel
def branch_and_bound(q, p, c, need, cap, size, value, node_limit, t, f, chosen, scratch, stop):
    """Find a set of more than `value`: its accuracy minus its prices; depth first by quality.

    The table of the fixed voters, of `size` outcomes, is in row 0 of `t` and `f`. Returns the
    value, the size of the set in `chosen` (-1: none is better) and the number of nodes, which is
    above `node_limit` where the search was broken off, by it or because of stop[0].
    """
    (
        gain,
        chance,
        copies,
        least,
        cheapest,
        reach,
        spent,
        path,
        next_one,
        fresh,
        sizes,
        held_at,
        up,
        grades,
        slopes,
    ) = scratch
    cheapest_sums(p, c, cap, least, cheapest)
    for s in range(cap + 1):
        slopes[s, 0] = 0.0
    found = -1
    nodes = 0
    sizes[0] = size
    spent[0] = 0.0
    next_one[0] = 0
    fresh[0] = 0
    d = 0
    enter = True
    while d >= 0:
        i = next_one[d]
        rest = cap - d
        if enter:
            enter = False
            accuracy = total(t[d], sizes[d])
            if d + 1 >= need:
                fill_gains(t[d], f[d], sizes[d], q, i, c, gain)
                leaves, last = best_last(accuracy, spent[d], gain[i:c], p[i:c])
                if leaves > value:
                    value = leaves
                    found = d + 1
                    for s in range(d):
                        chosen[s] = path[s]
                    chosen[d] = i + last
        if rest < 2 or i >= c - 1 or nodes > node_limit:
            d -= 1
            continue
        enough = value + spent[d]
        if i == fresh[d]:
            fresh[d] = i + FRESH
            fewest = max(2, need - d)
            fill_copies(t[d], f[d], sizes[d], q[i], rest, chance, copies)
            if bound_by_copies(copies, fewest, rest, cheapest[i]) <= enough or (
                bound_by_lines(copies, max(0, need - d), rest, q, p, i, c, enough, least, reach[d])
                <= enough
            ):
                d -= 1
                continue
            lower = q[(i + c) // 2]
            if c - i >= FRESH and 0.5 < lower < q[i] and need <= d:
                fill_grades(t[d], f[d], sizes[d], q[i], lower, rest, up, grades)
                if slopes[d, 0] == 0.0:
                    slopes[d, 0] = copies[1] - copies[0]
                    slopes[d, 1] = slopes[d, 0] * (lower - 0.5) / (q[i] - 0.5)
                bound = bound_by_grades(
                    grades, rest, q, p, i, c, lower, enough, slopes[d], least, held_at, reach[d]
                )
                if bound <= enough:
                    d -= 1
                    continue
        next_one[d] = i + 1
        if reach[d, i] <= enough:
            continue
        if i > 0 and q[i] == q[i - 1] and p[i] == p[i - 1] and not (d > 0 and path[d - 1] == i - 1):
            continue
        nodes += 1
        if stop[0] != 0:
            nodes = node_limit + 1
        sizes[d + 1] = add_voter(t[d], f[d], sizes[d], q[i], t[d + 1], f[d + 1])
        spent[d + 1] = spent[d] + p[i]
        path[d] = i
        d += 1
        next_one[d] = i + 1
        fresh[d] = i + 1
        enter = True
    return value, found, nodes


@kernel
def pick_by_slope(q, p, c, k, slope, chosen):
    """Choose the k voters of largest slope * quality - price."""
    for s in range(k):
        best = -np.inf
        for i in range(c):
            if slope * q[i] - p[i] > best:
                is_free = True
                for r in range(s):
                    is_free = is_free and chosen[r] != i
                if is_free:
                    best = slope * q[i] - p[i]
                    chosen[s] = i


@kernel
def exchange_one(fixed, n_fixed, q, p, c, k, chosen, t, f, gain):
    """Replace one voter after another by the best one beside the others, until none changes.

    Returns the value of the set: its accuracy minus its prices.
    """
    value = -np.inf
    for _ in range(SWEEPS):
        changed = False
        for s in range(k):
            size = tabulate(fixed, n_fixed, q, chosen, k, s, t, f)
            fill_gains(t[0], f[0], size, q, np.int64(0), c, gain)
            for r in range(k):
                if r != s:
                    gain[chosen[r]] = -np.inf
            best = chosen[s]
            for i in range(c):
                if gain[i] - p[i] > gain[best] - p[best] + 1e-15:
                    best = i
            changed = changed or best != chosen[s]
            chosen[s] = best
            if s == k - 1:
                value = total(t[0], size) + gain[best]
                for r in range(k):
                    value -= p[chosen[r]]
        if not changed:
            break
    return value


@kernel
def ascend(fixed, n_fixed, q, p, c, need, cap, value, t, f, chosen, tried, gain):
    """Look for a set of more than `value` by exchanges from a few starts of every size.

    Returns its value and its size; the size is -1 if none was found.
    """
    found = -1
    guess = 1.0
    for k in range(1, cap + 1):
        if k >= need:
            for slope in SLOPES:
                pick_by_slope(q, p, c, k, slope * guess, tried)
                here = exchange_one(fixed, n_fixed, q, p, c, k, tried, t, f, gain)
                if here > value:
                    value = here
                    found = k
                    for s in range(k):
                        chosen[s] = tried[s]
        guess *= FALL
    return value, found
