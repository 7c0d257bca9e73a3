"""Kernels of the priced task: candidates of a best set, and upper bounds on values of sets.

A set is worth its expected accuracy minus the prices of its voters. The voters are those of a
`Shortlist` and come best first: q are their folded qualities and p their prices.

All bounds lean on one fact: the expected accuracy is a sum of maxima of functions that are linear
in the quality of one voter, hence convex in it; and a voter of quality 1/2 adds nothing.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.two_class_table import total
from crowd_tvcs.search.kernels.groups import (
    least_of_mates,
    make_way,
    take_off,
)
from crowd_tvcs.search.kernels.scratch import Shortlist
from tvcs_core.jit import kernel

PLANES = 8  # tried for one bound


@kernel
def hold(least, count, cap, cost):
    """Keep the `cap` least costs in order, one more among them; return how many there are."""
    at = count if count < cap else cap - 1
    while at > 0 and least[at - 1] > cost:
        least[at] = least[at - 1]
        at -= 1
    least[at] = cost
    return min(count + 1, cap)


@kernel
def hold_largest(largest, whose, count, cap, value, voter):
    """Keep the `cap` largest values in order, and whose they are; return how many there are."""
    at = count if count < cap else cap - 1
    while at > 0 and largest[at - 1] < value:
        largest[at] = largest[at - 1]
        whose[at] = whose[at - 1]
        at -= 1
    largest[at] = value
    whose[at] = voter
    return min(count + 1, cap)


@kernel
def best_last(accuracy, spent, gain, price):
    """The most that a set is worth with one more voter, and the place of this voter."""
    best = -np.inf
    at = -1
    for k in range(gain.size):
        leaves = accuracy + gain[k] - spent - price[k]
        if leaves > best:
            best = leaves
            at = k
    return best, at


@kernel
def first_of(short, c):
    """The first c voters of a shortlist."""
    return Shortlist(short.quality[:c], short.price[:c], short.worker[:c], short.group[:c])


@kernel
def is_never_needed(quality, cost, must, cap, held, least):
    """Whether an optimal set need not have a voter, the better ones being looked at already.

    Three kinds of voters are never needed. Those without a price (infinite). Those that cost the
    most that they could add, q - 1/2 (by the gain identity, confidences being at least 1/2), unless
    there `must` be somebody. Those that `cap` others match in quality and price: one of these is
    not in the set and can take the place.
    `least` are the least prices of those others, `held` of them; with groups, one of each.
    """
    if cost == np.inf or (cost >= quality - 0.5 and not must):
        return True
    return held == cap and cost >= least[held - 1]


@kernel
def shortlist(quality, worker, price, group, cap, must, out, least):
    """Copy the workers that an optimal set of at most `cap` may need; return how many.

    A voter with a mate as good and as cheap can be replaced by that mate in any set.
    """
    # a plain 0 is a type of its own to the kernel that is called with it
    c, held = np.int64(0), np.int64(0)
    for i in range(quality.size):
        cost = price[worker[i]]
        if is_never_needed(quality[i], cost, must, cap, held, least):
            continue
        if group.size > 0:
            of_mates = least_of_mates(out.group, out.price, c, group[worker[i]])
            if of_mates <= cost:
                continue
            held = take_off(least, held, of_mates)
            out.group[c] = group[worker[i]]
        out.quality[c] = quality[i]
        out.price[c] = cost
        out.worker[c] = worker[i]
        c += 1
        held = hold(least, held, cap, cost)
    return c


@kernel
def cheapest_sums(p, cap, least, out):
    """Fill out[i, a] with the sum of the a cheapest prices from i on; infinite if too few."""
    held = np.int64(0)
    out[p.size, 0] = 0.0
    for a in range(1, cap + 1):
        out[p.size, a] = np.inf
    for i in range(p.size - 1, -1, -1):
        if held < cap or p[i] < least[held - 1]:
            held = hold(least, held, cap, p[i])
        out[i, 0] = 0.0
        for a in range(1, cap + 1):
            out[i, a] = out[i, a - 1] + least[a - 1] if a <= held else np.inf


@kernel
def fill_copies(t, f, size, q, most, chance, out):
    """Fill out[a] with the accuracy after a more voters of quality q; `chance` is binomial."""
    chance[0] = 1.0
    out[0] = total(t, size)
    for a in range(1, most + 1):
        chance[a] = 0.0
        for k in range(a, 0, -1):
            chance[k] = chance[k] * (1.0 - q) + chance[k - 1] * q
        chance[0] *= 1.0 - q
        value = 0.0
        for k in range(a + 1):
            up = chance[k]
            down = chance[a - k]
            for e in range(size):
                right = t[e] * up
                wrong = f[e] * down
                value += right if right > wrong else wrong
        out[a] = value


@kernel
def bound_by_copies(copies, need, most, cheapest):
    """The most that need..most more voters leave: as if all were the best and the cheapest.

    The accuracy rises with every quality, so voters of the best quality are worth no less.
    """
    best = -np.inf
    for a in range(need, most + 1):
        if copies[a] - cheapest[a] > best:
            best = copies[a] - cheapest[a]
    return best


@kernel
def best_sum(largest, count, need, most):
    """Sum of values that fall: the first `need` of them, the rest up to `most` if above 0."""
    if count < need:
        return -np.inf
    out = 0.0
    for s in range(min(count, most)):
        if s < need or largest[s] > 0.0:
            out += largest[s]
    return out


@kernel
def next_edge(copies, a, most):
    """The next corner, and the slope up to it, of the least concave curve above copies[a:]."""
    b = a + 1
    slope = copies[b] - copies[a]
    for k in range(a + 2, most + 1):
        if (copies[k] - copies[a]) / (k - a) >= slope:
            slope = (copies[k] - copies[a]) / (k - a)
            b = k
    return b, slope


@kernel
def bound_by_lines(copies, need, most, voters, first, enough, held, reach):
    """The most that need..most of the voters from `first` on leave; stops when at most `enough`.

    Accuracy is convex in the quality of every voter, so replacing each by a copy of the best,
    q[first], with chance (q - 1/2) / (q[first] - 1/2) and by nobody otherwise loses nothing. Then
    it is at most linear in the number of copies, by any line above `copies`. Where the bound is
    above `enough`, reach[i] is filled with a bound for the sets that voter i is in. Of a group one
    counts.
    """
    q, p, group = voters.quality, voters.price, voters.group
    largest, whose = held.values, held.whose
    bound = np.inf
    scale = 1.0 / (q[first] - 0.5) if q[first] > 0.5 else 0.0
    best_slope = 0.0
    best_height = np.inf
    others = 0.0
    a = np.int64(0)
    while a < most:
        # A line through two corners of the concave hull of `copies`: above all of them.
        b, slope = next_edge(copies, a, most)
        height = copies[a] - slope * a
        # Below the line voters are worth each their own; the best set is that of the largest.
        count = np.int64(0)
        for i in range(first, q.size):
            left = slope * scale * (q[i] - 0.5) - p[i]
            if (left <= 0.0 and need == 0) or (count == most and left <= largest[count - 1]):
                continue
            if group.size > 0:
                fewer = make_way(largest, whose, group, count, left, i)
                if fewer < 0:
                    continue
                count = fewer
            count = hold_largest(largest, whose, count, most, left, i)
        value = height + best_sum(largest, count, need, most)
        if value < bound:
            bound = value
            if bound <= enough:
                return bound
            best_slope = slope * scale
            best_height = height
            others = best_sum(largest, min(count, most - 1), max(0, need - 1), most - 1)
        a = b
    # A set with voter i has at most the best `most - 1` others.
    for i in range(first, q.size):
        with_i = best_height + others + best_slope * (q[i] - 0.5) - p[i]
        reach[i] = min(bound, with_i)
    return bound


@kernel
def fill_grades(t, f, size, q, lower, most, up, out):
    """Fill out[a, b] with the accuracy after a more voters of quality q and b of `lower`.

    For a + b <= most. `up` is scratch for their binomial chances.
    """
    for grade in range(2):
        chance = q if grade == 0 else lower
        up[grade, 0, 0] = 1.0
        for a in range(1, most + 1):
            up[grade, a, 0] = up[grade, a - 1, 0] * (1.0 - chance)
            up[grade, a, a] = up[grade, a - 1, a - 1] * chance
            for k in range(1, a):
                up[grade, a, k] = (
                    up[grade, a - 1, k] * (1.0 - chance) + up[grade, a - 1, k - 1] * chance
                )
    for a in range(most + 1):
        for b in range(most - a + 1):
            value = 0.0
            for k in range(a + 1):
                for r in range(b + 1):
                    says = up[0, a, k] * up[1, b, r]
                    denies = up[0, a, a - k] * up[1, b, b - r]
                    for e in range(size):
                        right = t[e] * says
                        wrong = f[e] * denies
                        value += right if right > wrong else wrong
            out[a, b] = value


@kernel
def highest_above(grades, most, slopes):
    """The height of a plane of these slopes that touches `grades` from above, and where it does."""
    height = -np.inf
    n_top = 0
    n_low = 0
    for a in range(most + 1):
        for b in range(most - a + 1):
            here = grades[a, b] - slopes[0] * a - slopes[1] * b
            if here > height:
                height = here
                n_top = a
                n_low = b
    return height, n_top, n_low


@kernel
def shares_of_grades(q, top, lower):
    """Chances of the grades `top` and `lower` in a mixture of these and 1/2 with the mean q."""
    if q >= lower:
        part = (q - lower) / (top - lower)
        return part, 1.0 - part
    return 0.0, (q - 0.5) / (lower - 0.5)


@kernel
def lower_grade(q, first):
    """The quality in the middle of those from `first` on: the lower of two grades."""
    return q[(first + q.size) // 2]


@kernel
def bound_by_grades(grades, most, voters, first, enough, slopes, held, reach):
    """The most that up to `most` of the voters from `first` on leave; tries to get `enough`.

    As in `bound_by_lines`, but a voter is replaced by copies of the next better and the next worse
    of q[first], `lower_grade` and 1/2, and the accuracy, `grades`, is bounded by a plane. Any
    slopes >= 0 give a bound; they are moved, from those in `slopes`, by subgradients with
    Polyak's step (1969).
    """
    q, p, group = voters.quality, voters.price, voters.group
    largest, whose = held.values, held.whose
    best = np.inf
    top = q[first]
    lower = lower_grade(q, first)
    for step in range(PLANES):
        height, n_top, n_low = highest_above(grades, most, slopes)
        # Below the plane voters are worth each their own: the best set is that of the largest.
        count = np.int64(0)
        for i in range(first, q.size):
            in_top, in_low = shares_of_grades(q[i], top, lower)
            left = in_top * slopes[0] + in_low * slopes[1] - p[i]
            reach[i] = left
            if left <= 0.0 or (count == most and left <= largest[count - 1]):
                continue
            if group.size > 0:
                fewer = make_way(largest, whose, group, count, left, i)
                if fewer < 0:
                    continue
                count = fewer
            count = hold_largest(largest, whose, count, most, left, i)
        # The bound is convex in the slopes; (up, down) is a subgradient: copies in the best set
        # less copies where the plane touches.
        bound = height
        up = -float(n_top)
        down = -float(n_low)
        for s in range(count):
            bound += largest[s]
            in_top, in_low = shares_of_grades(q[whose[s]], top, lower)
            up += in_top
            down += in_low
        best = min(best, bound)
        norm = up * up + down * down
        if best <= enough or norm < 1e-12 or step == PLANES - 1:
            break
        slopes[0] = max(0.0, slopes[0] - (bound - enough) * up / norm)
        slopes[1] = max(0.0, slopes[1] - (bound - enough) * down / norm)
    if best > enough:
        # A set with voter i has at most the best `most - 1` others; by the last plane.
        others = height
        for s in range(min(count, most - 1)):
            others += largest[s]
        for i in range(first, q.size):
            reach[i] = min(best, others + reach[i])
    return best
