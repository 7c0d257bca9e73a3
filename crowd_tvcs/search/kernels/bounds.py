"""Kernels of the priced task: who may be in a best set, and bounds on what sets can be worth.

A set is worth its expected accuracy minus the prices of its voters. Voters come best first: `q`
holds their folded qualities and `p` their prices, `c` of them.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.outcome_lists import total
from tvcs_core.jit import kernel

SLOPES = 32  # intervals of slopes that are looked at
PLANES = 8  # tried for one bound


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
def hold(least, held, cap, cost):
    """Keep the `cap` least costs in order, one more among them; returns how many there are."""
    at = held if held < cap else cap - 1
    while at > 0 and least[at - 1] > cost:
        least[at] = least[at - 1]
        at -= 1
    least[at] = cost
    return min(held + 1, cap)


@kernel
def shortlist(quality, who, count, price, cap, must, q, p, w, least):
    """Copy the workers that an optimal set may need; returns how many.

    Left out are those without a price (infinite), those whom `cap` others match in quality
    and price (one of these is not in the set and can take the place), and, unless there `must`
    be somebody, those who cost what they could ever add, q - 1/2.
    """
    c = 0
    held = np.int64(0)  # a plain 0 is a type of its own to the kernel that is called with it
    for i in range(count):
        cost = price[who[i]]
        if cost == np.inf or (cost >= quality[i] - 0.5 and not must):
            continue
        if held == cap and cost >= least[held - 1]:
            continue
        q[c] = quality[i]
        p[c] = cost
        w[c] = who[i]
        c += 1
        held = hold(least, held, cap, cost)
    return c


@kernel
def drop_beaten(q, p, w, c, cap, beaten, stays):
    """Leave out, in place, who is beaten by `cap` others at every slope; returns how many stay.

    Beside the others of a set, the accuracy is convex in the quality of a voter and rises with
    a slope m in [0, 1]. In an optimal set nobody outside has a larger m * q - p than a member at
    that member's slope, so there fewer than `cap` others beat him. `beaten` is scratch for
    SLOPES + 1 integers: changes, from interval to interval, of the number who beat i in all of it.
    """
    for i in range(c):
        for g in range(SLOPES + 1):
            beaten[g] = 0
        for x in range(c):
            if q[x] == q[i]:
                if p[x] < p[i] or (p[x] == p[i] and x < i):
                    beaten[0] += 1
                continue
            at = SLOPES * (p[x] - p[i]) / (q[x] - q[i])  # where both are equal
            if q[x] > q[i]:
                if at < SLOPES:
                    beaten[int(at) + 1 if at >= 0.0 else 0] += 1
            elif at > 1.0:
                beaten[0] += 1
                beaten[SLOPES if at > SLOPES else int(np.ceil(at)) - 1] -= 1
        above = 0
        stays[i] = 0
        for g in range(SLOPES):
            above += beaten[g]
            if above < cap:
                stays[i] = 1
    kept = 0
    for i in range(c):
        if stays[i] == 1:
            q[kept] = q[i]
            p[kept] = p[i]
            w[kept] = w[i]
            kept += 1
    return kept


@kernel
def cheapest_sums(p, c, cap, least, out):
    """Fill out[i, a] with the sum of the a cheapest prices from i on; infinite if too few."""
    held = 0
    out[c, 0] = 0.0
    for a in range(1, cap + 1):
        out[c, a] = np.inf
    for i in range(c - 1, -1, -1):
        if held < cap or p[i] < least[held - 1]:
            at = held if held < cap else cap - 1
            while at > 0 and least[at - 1] > p[i]:
                least[at] = least[at - 1]
                at -= 1
            least[at] = p[i]
            if held < cap:
                held += 1
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
    """The most that need..most more voters leave: as if all were the best and the cheapest."""
    best = -np.inf
    for a in range(need, most + 1):
        if copies[a] - cheapest[a] > best:
            best = copies[a] - cheapest[a]
    return best


@kernel
def best_sum(least, held, need, most):
    """Sum of the largest of `least`, sorted: the first `need` of them, the rest if above 0."""
    if held < need:
        return -np.inf
    out = 0.0
    for s in range(min(held, most)):
        if s < need or least[s] > 0.0:
            out += least[s]
    return out


@kernel
def bound_by_lines(copies, need, most, q, p, first, c, enough, least, reach):
    """The most that need..most of the voters first..c - 1 leave; stops when at most `enough`.

    Accuracy is convex in the quality of every voter, so replacing each by a copy of the best,
    q[first], with chance (q - 1/2) / (q[first] - 1/2) and by nobody otherwise loses nothing. Then
    it is at most linear in the number of copies, by any line above `copies`. Where the bound is
    above `enough`, reach[i] is filled with a bound for the sets that voter i is in.
    """
    bound = np.inf
    scale = 1.0 / (q[first] - 0.5) if q[first] > 0.5 else 0.0
    best_slope = 0.0
    best_height = np.inf
    others = 0.0
    a = 0
    while a < most:
        b = a + 1
        slope = copies[b] - copies[a]
        for k in range(a + 2, most + 1):
            if (copies[k] - copies[a]) / (k - a) >= slope:
                slope = (copies[k] - copies[a]) / (k - a)
                b = k
        height = copies[a] - slope * a
        held = np.int64(0)
        for i in range(first, c):
            left = slope * scale * (q[i] - 0.5) - p[i]
            if (left <= 0.0 and need == 0) or (held == most and left <= least[held - 1]):
                continue
            at = held if held < most else most - 1
            while at > 0 and least[at - 1] < left:
                least[at] = least[at - 1]
                at -= 1
            least[at] = left
            if held < most:
                held += 1
        value = height + best_sum(least, held, need, most)
        if value < bound:
            bound = value
            if bound <= enough:
                return bound
            best_slope = slope * scale
            best_height = height
            others = best_sum(least, min(held, most - 1), max(0, need - 1), most - 1)
        a = b
    for i in range(first, c):
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
def bound_by_grades(grades, most, q, p, first, c, lower, enough, slopes, least, held_at, reach):
    """The most that up to `most` of the voters first..c - 1 leave, as below; tries to get `enough`.

    As in `bound_by_lines`, but a voter is replaced by copies of the next better and the next worse
    of q[first], `lower` and 1/2, and the accuracy, `grades`, is bounded by a plane. Its slopes
    are moved, from those in `slopes`, by subgradients with Polyak's step.
    """
    best = np.inf
    top = q[first]
    for step in range(PLANES):
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
        held = 0
        for i in range(first, c):
            if q[i] >= lower:
                part = (q[i] - lower) / (top - lower)
                left = part * slopes[0] + (1.0 - part) * slopes[1] - p[i]
            else:
                left = (q[i] - 0.5) / (lower - 0.5) * slopes[1] - p[i]
            reach[i] = left
            if left <= 0.0 or (held == most and left <= least[held - 1]):
                continue
            at = held if held < most else most - 1
            while at > 0 and least[at - 1] < left:
                least[at] = least[at - 1]
                held_at[at] = held_at[at - 1]
                at -= 1
            least[at] = left
            held_at[at] = i
            if held < most:
                held += 1
        bound = height
        up = -float(n_top)
        down = -float(n_low)
        for s in range(held):
            bound += least[s]
            i = held_at[s]
            if q[i] >= lower:
                part = (q[i] - lower) / (top - lower)
                up += part
                down += 1.0 - part
            else:
                down += (q[i] - 0.5) / (lower - 0.5)
        best = min(best, bound)
        norm = up * up + down * down
        if best <= enough or norm < 1e-12 or step == PLANES - 1:
            break
        slopes[0] = max(0.0, slopes[0] - (bound - enough) * up / norm)
        slopes[1] = max(0.0, slopes[1] - (bound - enough) * down / norm)
    if best > enough:
        others = height
        for s in range(min(held, most - 1)):
            others += least[s]
        for i in range(first, c):
            reach[i] = min(best, others + reach[i])
    return best
