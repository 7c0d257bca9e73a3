"""Kernels of the priced task of K classes: the best set, by branch and bound and by exchanges.

The voters are those of a `Shortlist` and come by falling reach (see `crowd_tvcs.accuracy.model`):
q is their reach minus 1/K plus 1/2, so that bounds written for two classes hold: an even voter of
accuracy r is one of accuracy R with chance (r - 1/K) / (R - 1/K), else nobody; and whose answers
are those of another, garbled, is worth no more (Blackwell 1953). `kinds` are theirs in the `Model`.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.many_class_table import add_voter, fill_gains, tabulate, total
from crowd_tvcs.search.kernels.bounds import (
    best_last,
    bound_by_copies,
    bound_by_lines,
    cheapest_sums,
    hold,
    is_never_needed,
)
from crowd_tvcs.search.kernels.branch_and_bound import (
    FALL,
    FRESH,
    SLOPES,
    SWEEPS,
    keep_incumbent,
    pick_by_slope,
)
from crowd_tvcs.search.kernels.groups import bar_mates, bar_mates_of_others, take_off
from crowd_tvcs.search.kernels.scratch import Shortlist
from tvcs_core.jit import kernel

WORK = 64  # outcomes that cost as much as a node


@kernel
def least_of_even_mates(short, kinds, is_even, count, one):
    """The least price of the first `count` voters who are even and of the group `one`."""
    least = np.inf
    for k in range(count):
        if one >= 0 and short.group[k] == one and is_even[kinds[k]]:
            least = min(least, short.price[k])
    return least


@kernel
def shortlist(reach, worker, kinds, price, group, cap, must, is_even, scratch):
    """Copy the voters that an optimal set of at most `cap` may need to `scratch`; return how many.

    As for two classes, but only even voters match others in reach and price: an uneven one may
    be worth less than their reach.
    """
    out, least = scratch.short, scratch.branch.bounds.held.values
    c, held = np.int64(0), np.int64(0)  # as in the twin for two classes
    for i in range(reach.size):
        cost = price[worker[i]]
        if is_never_needed(reach[i], cost, must, cap, held, least):
            continue
        if group.size > 0:
            of_mates = least_of_even_mates(out, scratch.kinds, is_even, c, group[worker[i]])
            if of_mates <= cost:
                continue
            if is_even[kinds[i]]:
                held = take_off(least, held, of_mates)
            out.group[c] = group[worker[i]]
        out.quality[c] = reach[i]
        out.price[c] = cost
        out.worker[c] = worker[i]
        scratch.kinds[c] = kinds[i]
        c += 1
        if is_even[kinds[i]]:
            held = hold(least, held, cap, cost)
    return c


@kernel
def fill_copies(t, size, reach, most, counts, powers, out):
    """Fill out[a] with the accuracy after a more even voters of this reach.

    Outcomes are counted by how often each answer is given: `counts` are the `AnswerCounts`.
    """
    begin, number = counts.begin, counts.number
    n_classes = t.shape[0]
    q = min(1.0, reach - 0.5 + 1.0 / n_classes)
    s = (1.0 - q) / (n_classes - 1)
    out[0] = total(t, size)
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
            value += counts.ways[r] * here
        out[a] = value


@kernel
def branch_and_bound(short, kinds, need, cap, size, value, model, limit, scratch):
    """Find a set of more than `value`: its accuracy minus its prices; depth first by reach.

    The table of the prior and the fixed voters, of `size` outcomes, is scratch.tables[0]. Return
    the value, the size of the set in `scratch.chosen` (-1: none is better) and the work done, in
    nodes, which is above `limit.steps` where the search was broken off, by it or because of
    `limit.stop`.
    """
    q, p, c, most = short.quality, short.price, short.quality.size, limit.steps
    t, matrices, is_even, gains = scratch.tables, model.matrices, model.is_even, scratch.gains
    outcomes, spent, added = scratch.nodes.outcomes, scratch.nodes.spent, scratch.nodes.added
    following, fresh, reach = scratch.nodes.following, scratch.nodes.fresh, scratch.nodes.reach
    gain, copies, cheapest = scratch.bounds.gain, scratch.bounds.copies, scratch.bounds.cheapest
    held, stop = scratch.bounds.held, limit.stop
    group, prices, asked = short.group, scratch.nodes.price, short.price
    prices[0, :c] = p
    cheapest_sums(p, cap, held.values, cheapest)
    outcomes[0] = size
    spent[0] = 0.0
    following[0] = 0
    fresh[0] = 0
    found = -1
    work = 0
    d = np.int64(0)
    enter = True
    while d >= 0:
        i = following[d]
        rest = cap - d
        if group.size > 0:
            p = prices[d, :c]  # infinite for the mates of whom the node has
        if enter:
            # All sets of one voter more at once, without their tables.
            enter = False
            if d + 1 >= need:
                fill_gains(t[d], outcomes[d], matrices, is_even, kinds[i:c], gains, gain)
                accuracy = total(t[d], outcomes[d])
                leaves, last = best_last(accuracy, spent[d], gain[: c - i], p[i:c])
                if leaves > value:
                    value = leaves
                    found = d + 1
                    keep_incumbent(added, d, i + last, scratch.chosen)
        if rest < 2 or i >= c - 1 or work > most:
            d -= 1
            continue
        # A node is left when a bound on all below it, of two voters more, is no better than the
        # incumbent. The bounds are those for two classes (see above).
        enough = value + spent[d]
        if i == fresh[d]:
            fresh[d] = i + FRESH
            fill_copies(t[d], outcomes[d], q[i], rest, model.counts, scratch.bounds.chance, copies)
            work += rest * rest * outcomes[d] // WORK
            fewest = max(0, need - d)
            voters = Shortlist(q, p, short.worker, group)  # at the prices of the node
            if bound_by_copies(copies, max(2, fewest), rest, cheapest[i]) <= enough or (
                bound_by_lines(copies, fewest, rest, voters, i, enough, held, reach[d]) <= enough
            ):
                d -= 1
                continue
        following[d] = i + 1
        # `reach` was a bound when it was filled, and voters only went since.
        if reach[d, i] <= enough or p[i] == np.inf:
            continue
        # Of twins the first goes first: a set with the second alone is as good as one with it
        # (unless a mate of the first is in it).
        twin = i > 0 and kinds[i] == kinds[i - 1] and asked[i] == asked[i - 1]
        twin = twin and (group.size == 0 or group[i - 1] < 0)
        if twin and not (d > 0 and added[d - 1] == i - 1):
            continue
        # The node with voter i more; only later ones may join there.
        outcomes[d + 1] = add_voter(t[d], outcomes[d], matrices[kinds[i]], t[d + 1])
        work += 1 + outcomes[d + 1] // WORK
        if stop[0] != 0:
            work = most + 1
        spent[d + 1] = spent[d] + p[i]
        bar_mates(group, i, prices[d], prices[d + 1])
        added[d] = i
        d += 1
        following[d] = i + 1
        fresh[d] = i + 1
        enter = True
    return value, found, work


@kernel
def exchange_one(root, p, kinds, group, chosen, model, pair, gain, gains):
    """Replace one voter after another by the best one beside the others, until none changes.

    Return the value of the set: its accuracy minus its prices.
    """
    matrices, is_even = model.matrices, model.is_even
    value = -np.inf
    for _ in range(SWEEPS):
        changed = False
        for s in range(chosen.size):
            size = tabulate(root, kinds, chosen, s, matrices, model.limit, pair)
            fill_gains(pair[0], size, matrices, is_even, kinds, gains, gain)
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
                value = total(pair[0], size) + gain[best]
                for r in range(chosen.size):
                    value -= p[chosen[r]]
        if not changed:
            break
    return value


@kernel
def ascend(root, short, kinds, need, cap, value, model, thorough, scratch):
    """Search for a set worth more than `value` by exchanges from one start of every size, or a few.

    Return its value and its size; the set is in `scratch.branch.chosen`, the size -1 if none was
    found.
    """
    q, p, pair, gain = short.quality, short.price, scratch.pair, scratch.branch.bounds.gain
    group, chosen, gains = short.group, scratch.branch.chosen, scratch.branch.gains
    found = -1
    guess = 1.0
    for k in range(1, cap + 1):
        if k >= need:
            team = scratch.tried[:k]
            for start in range(1 + 2 * thorough):
                pick_by_slope(q, p, group, SLOPES[start] * guess, team)
                here = exchange_one(root, p, kinds, group, team, model, pair, gain, gains)
                if here > value:
                    value = here
                    found = k
                    for s in range(k):
                        chosen[s] = team[s]
        guess *= FALL
    return value, found
