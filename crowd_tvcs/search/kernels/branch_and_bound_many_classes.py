"""Kernels of the priced task of K classes: the best set, by branch and bound and by exchanges.

Voters come by falling reach (see `crowd_tvcs.accuracy.model`): `kinds` are theirs, `p` their
prices and `q` their reach minus 1/K plus 1/2, so that bounds written for two classes hold: an even
voter of accuracy r is one of accuracy R with chance (r - 1/K) / (R - 1/K), else nobody. `voters`
is (matrices, is_even), `counts` says how often each answer can be given: (begin, counts, ways),
where entries begin[a] to begin[a + 1] are of a answers.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.many_class_table import add_voter, fill_gains, tabulate, total
from crowd_tvcs.search.kernels.bounds import (
    best_last,
    bound_by_copies,
    bound_by_lines,
    cheapest_sums,
    hold,
)
from crowd_tvcs.search.kernels.branch_and_bound import pick_by_slope
from tvcs_core.jit import kernel

SWEEPS = 4
SLOPES = (1.0, 4.0, 0.25)  # of accuracy by reach, relative to a guess for the size
FALL = 0.7  # by which the guess falls with every voter
FRESH = 8  # voters after which a node's bounds are computed anew
WORK = 64  # outcomes that cost as much as a node


@kernel
def shortlist(reach, who, kinds, count, price, cap, must, is_even, out, least):
    """Copy the voters that an optimal set may need; returns how many.

    Left out are those without a price (infinite), those whom `cap` even ones match in reach and
    price (one of these is not in the set and can take the place), and, unless there `must` be
    somebody, those who cost what they could ever add, reach - 1/K. `out` is (reach, prices,
    workers, kinds).
    """
    q, p, w, k = out
    c = 0
    held = np.int64(0)  # as in the twin for two classes
    for i in range(count):
        cost = price[who[i]]
        if cost == np.inf or (cost >= reach[i] - 0.5 and not must):
            continue
        if held == cap and cost >= least[held - 1]:
            continue
        q[c] = reach[i]
        p[c] = cost
        w[c] = who[i]
        k[c] = kinds[i]
        c += 1
        if not is_even[kinds[i]]:
            continue
        held = hold(least, held, cap, cost)
    return c


@kernel
def fill_copies(t, size, n_classes, reach, most, counts, powers, out):
    """Fill out[a] with the accuracy after a more even voters of this reach."""
    begin, number, ways = counts
    q = min(1.0, reach - 0.5 + 1.0 / n_classes)
    s = (1.0 - q) / (n_classes - 1)
    out[0] = total(t, size, n_classes)
    for a in range(1, most + 1):
        for c in range(a + 1):
            powers[c] = q**c * s ** (a - c)
        value = 0.0
        for r in range(begin[a], begin[a + 1]):
            here = 0.0
            for e in range(size):
                best = 0.0
                for y in range(n_classes):
                    best = max(best, t[y, e] * powers[number[r, y]])
                here += best
            value += ways[r] * here
        out[a] = value


@kernel
def branch_and_bound(
    q, p, kinds, c, need, cap, size, value, node_limit, voters, counts, t, chosen, scratch, stop
):
    """Find a set of more than `value`: its accuracy minus its prices; depth first by reach.

    The table of the prior and the fixed voters, of `size` outcomes, is t[0]. Returns the value, the
    size of the set in `chosen` (-1: none is better) and the work done, in nodes, which is above
    `node_limit` where the search was broken off, by it or because of stop[0].
    """
    gain, powers, copies, least, cheapest, reach, spent, path, next_one, fresh, sizes, inner = (
        scratch
    )
    matrices, is_even = voters
    n_classes = matrices.shape[1]
    cheapest_sums(p, c, cap, least, cheapest)
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
            if d + 1 >= need:
                accuracy = total(t[d], sizes[d], n_classes)
                fill_gains(t[d], sizes[d], matrices, is_even, kinds[i:c], c - i, inner, gain)
                leaves, last = best_last(accuracy, spent[d], gain[: c - i], p[i:c])
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
            fill_copies(t[d], sizes[d], n_classes, q[i], rest, counts, powers, copies)
            nodes += rest * rest * sizes[d] // WORK
            if bound_by_copies(copies, fewest, rest, cheapest[i]) <= enough or (
                bound_by_lines(copies, max(0, need - d), rest, q, p, i, c, enough, least, reach[d])
                <= enough
            ):
                d -= 1
                continue
        next_one[d] = i + 1
        if reach[d, i] <= enough:
            continue
        twin = i > 0 and kinds[i] == kinds[i - 1] and p[i] == p[i - 1]
        if twin and not (d > 0 and path[d - 1] == i - 1):
            continue
        sizes[d + 1] = add_voter(t[d], sizes[d], matrices[kinds[i]], t[d + 1])
        nodes += 1 + sizes[d + 1] // WORK
        if stop[0] != 0:
            nodes = node_limit + 1
        spent[d + 1] = spent[d] + p[i]
        path[d] = i
        d += 1
        next_one[d] = i + 1
        fresh[d] = i + 1
        enter = True
    return value, found, nodes


@kernel
def exchange_one(prior, fixed, n_fixed, q, p, kinds, c, k, chosen, voters, limit, t, gain, inner):
    """Replace one voter after another by the best one beside the others, until none changes.

    Returns the value of the set: its accuracy minus its prices.
    """
    matrices, is_even = voters
    value = -np.inf
    for _ in range(SWEEPS):
        changed = False
        for s in range(k):
            size = tabulate(prior, matrices, fixed, n_fixed, kinds, chosen, k, s, limit, t)
            fill_gains(t[0], size, matrices, is_even, kinds[:c], c, inner, gain)
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
                value = total(t[0], size, matrices.shape[1]) + gain[best]
                for r in range(k):
                    value -= p[chosen[r]]
        if not changed:
            break
    return value


@kernel
def ascend(
    prior, fixed, n_fixed, q, p, kinds, c, need, cap, value, voters, limit, t, chosen, tried, gain,
    inner, thorough,
):  # fmt: skip
    """Look for a set of more than `value` by exchanges from one start of every size, or a few.

    Returns its value and its size; the size is -1 if none was found.
    """
    found = -1
    guess = 1.0
    for k in range(1, cap + 1):
        if k >= need:
            for start in range(1 + 2 * thorough):
                slope = SLOPES[start]
                pick_by_slope(q, p, c, k, slope * guess, tried)
                here = exchange_one(
                    prior, fixed, n_fixed, q, p, kinds, c, k, tried, voters, limit, t, gain, inner
                )
                if here > value:
                    value = here
                    found = k
                    for s in range(k):
                        chosen[s] = tried[s]
        guess *= FALL
    return value, found
