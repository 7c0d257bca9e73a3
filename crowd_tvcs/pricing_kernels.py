"""Kernels of the priced task: which workers are worth their prices, exactly and by ascent.

A vote is kept as a table of its outcomes up to a change of labels: `t[e]` is the probability of
outcome e together with the label it speaks for, `f[e]` with the other one, so `t >= f`, the
expected accuracy is the sum of t and the confidence is t / (t + f). A prior p is one more
voter of quality p, so every table begins with it. Qualities are folded, in (1/2, 1].

Offers of a plan are a tuple (quality, who, count, cap, base): row j of `quality` holds the
qualities of the workers `who[j]`, best first, of whom `count[j]` may be asked; `base` is the
folded prior.
"""

import numpy as np

from tvcs_core.jit import kernel

EXACT = 12  # voters on a task that branch and bound may choose
TABLE = 2**EXACT  # outcomes; in a longer table neighbours are joined
SWEEPS = 4
SLOPES = (1.0, 4.0, 0.25)  # of accuracy by quality, relative to a guess for the size
FALL = 0.7  # by which the guess falls with every voter


@kernel
def add_voter(t, f, size, q, out_t, out_f):
    """Fill `out` with the table after one more voter; returns its size."""
    s = 1.0 - q
    if size == 1 and t[0] == f[0]:
        out_t[0] = 2.0 * t[0] * q
        out_f[0] = 2.0 * f[0] * s
        return size
    for e in range(size):
        a = t[e] * s
        b = f[e] * q
        out_f[e] = f[e] * s
        out_t[e] = t[e] * q
        out_t[size + e] = a if a > b else b
        out_f[size + e] = b if a > b else a
    return 2 * size


@kernel
def join(t, f, size):
    """Halve a table in place by joining outcomes of similar confidence: never more accurate."""
    order = np.argsort(f[:size] / np.maximum(t[:size] + f[:size], 1e-300))
    sorted_t = t[:size][order]
    sorted_f = f[:size][order]
    for e in range(size // 2):
        t[e] = sorted_t[2 * e] + sorted_t[2 * e + 1]
        f[e] = sorted_f[2 * e] + sorted_f[2 * e + 1]
    return size // 2


@kernel
def tabulate(q, chosen, k, skip, base, t, f):
    """Build the table of the voters q[chosen[0:k]] without place `skip` in row 0; returns its size.

    `t` and `f` have two rows of 2 * TABLE entries; exact up to EXACT voters.
    """
    t[0, 0] = base
    f[0, 0] = 1.0 - base
    size = np.int64(1)
    at = 0
    for s in range(k):
        if s == skip:
            continue
        size = add_voter(t[at], f[at], size, q[chosen[s]], t[1 - at], f[1 - at])
        at = 1 - at
        if size > TABLE:
            size = join(t[at], f[at], size)
    if at == 1:
        for e in range(size):
            t[0, e] = t[1, e]
            f[0, e] = f[1, e]
    return size


@kernel
def fill_gains(t, f, size, q, first, last, out):
    """What each of the voters first..last - 1 alone would add: the sum of (q (t + f) - t)+."""
    for i in range(first, last):
        out[i] = 0.0
    for e in range(size):
        right = t[e]
        mass = t[e] + f[e]
        for i in range(first, last):
            more = q[i] * mass - right
            out[i] += more if more > 0.0 else 0.0


@kernel
def total(t, size):
    """Sum of the first entries."""
    out = 0.0
    for e in range(size):
        out += t[e]
    return out


@kernel
def shortlist(quality, who, count, price, cap, q, p, w, least):
    """Copy the workers that an optimal set may need; returns how many.

    Left out are those who cost what they could ever add, q - 1/2, and those whom `cap` others
    match in quality and price: one of these is not in the set and can take the place.
    """
    c = 0
    held = 0
    for i in range(count):
        cost = price[who[i]]
        if cost >= quality[i] - 0.5 or (held == cap and cost >= least[held - 1]):
            continue
        q[c] = quality[i]
        p[c] = cost
        w[c] = who[i]
        c += 1
        at = held if held < cap else cap - 1
        while at > 0 and least[at - 1] > cost:
            least[at] = least[at - 1]
            at -= 1
        least[at] = cost
        if held < cap:
            held += 1
    return c


@kernel
def cheapest_sums(p, c, cap, out):
    """Fill out[i, a] with the sum of the a cheapest prices from i on; infinite if too few."""
    least = np.empty(cap)
    held = 0
    for a in range(cap + 1):
        out[c, a] = 0.0 if a == 0 else np.inf
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
def bound_by_copies(copies, most, cheapest):
    """The most that 1..most more voters leave: as if all were the best and the cheapest."""
    best = -np.inf
    for a in range(1, most + 1):
        if copies[a] - cheapest[a] > best:
            best = copies[a] - cheapest[a]
    return best


@kernel
def bound_by_lines(copies, most, q, p, first, c, enough, least):
    """The most that up to `most` of the voters first..c - 1 leave; stops when below `enough`.

    Accuracy is convex in the quality of every voter, so replacing each by a copy of the best,
    q[first], with chance (q - 1/2) / (q[first] - 1/2) and by nobody otherwise loses nothing. Then
    it is at most linear in the number of copies, by any line above `copies`.
    """
    bound = copies[most]
    scale = 1.0 / (q[first] - 0.5)
    a = 0
    while a < most:
        b = a + 1
        slope = copies[b] - copies[a]
        for k in range(a + 2, most + 1):
            if (copies[k] - copies[a]) / (k - a) >= slope:
                slope = (copies[k] - copies[a]) / (k - a)
                b = k
        value = copies[a] - slope * a
        held = 0
        for i in range(first, c):
            left = slope * scale * (q[i] - 0.5) - p[i]
            if left <= 0.0 or (held == most and left <= least[held - 1]):
                continue
            value += left
            if held == most:
                value -= least[held - 1]
            else:
                held += 1
            at = held - 1
            while at > 0 and least[at - 1] < left:
                least[at] = least[at - 1]
                at -= 1
            least[at] = left
        if value < bound:
            bound = value
            if bound <= enough:
                return bound
        a = b
    return bound


@kernel
def branch_and_bound(q, p, c, cap, base, value, node_limit, t, f, chosen):
    """Find a set of more than `value`: its accuracy minus its prices; depth first by quality.

    Returns the value, the size of the set in `chosen` (-1: none is better) and the number of
    nodes, which is above `node_limit` where the search was broken off.
    """
    gain = np.empty(c)
    chance = np.empty(cap + 1)
    copies = np.empty(cap + 1)
    least = np.empty(cap + 1)
    cheapest = np.empty((c + 1, cap + 1))
    path = np.empty(cap + 1, dtype=np.int64)
    next_one = np.empty(cap + 2, dtype=np.int64)
    size = np.empty(cap + 2, dtype=np.int64)
    spent = np.zeros(cap + 2)
    cheapest_sums(p, c, cap, cheapest)
    found = -1
    nodes = 0
    t[0, 0] = base
    f[0, 0] = 1.0 - base
    size[0] = 1
    next_one[0] = 0
    d = 0
    enter = True
    while d >= 0:
        if enter:
            enter = False
            accuracy = total(t[d], size[d])
            fill_gains(t[d], f[d], size[d], q, next_one[d], c, gain)
            for i in range(next_one[d], c):
                leaves = accuracy + gain[i] - spent[d] - p[i]
                if leaves > value:
                    value = leaves
                    found = d + 1
                    for s in range(d):
                        chosen[s] = path[s]
                    chosen[d] = i
        i = next_one[d]
        rest = cap - d - 1
        if rest < 1 or i >= c - 1 or nodes > node_limit:
            d -= 1
            continue
        enough = value + spent[d]
        fill_copies(t[d], f[d], size[d], q[i], rest + 1, chance, copies)
        if bound_by_copies(copies, rest + 1, cheapest[i]) <= enough or (
            bound_by_lines(copies, rest + 1, q, p, i, c, enough, least) <= enough
        ):
            d -= 1
            continue
        next_one[d] = i + 1
        is_twin = i > 0 and q[i] == q[i - 1] and p[i] == p[i - 1]
        if is_twin and not (d > 0 and path[d - 1] == i - 1):
            continue
        nodes += 1
        size[d + 1] = add_voter(t[d], f[d], size[d], q[i], t[d + 1], f[d + 1])
        spent[d + 1] = spent[d] + p[i]
        enough = value + spent[d + 1]
        fill_copies(t[d + 1], f[d + 1], size[d + 1], q[i + 1], rest, chance, copies)
        if bound_by_copies(copies, rest, cheapest[i + 1]) > enough and (
            bound_by_lines(copies, rest, q, p, i + 1, c, enough, least) > enough
        ):
            path[d] = i
            d += 1
            next_one[d] = i + 1
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
def exchange_one(q, p, c, base, k, chosen, t, f, gain):
    """Replace one voter after another by the best one beside the others, until none changes.

    Returns the value of the set: its accuracy minus its prices.
    """
    value = -np.inf
    for _ in range(SWEEPS):
        changed = False
        for s in range(k):
            size = tabulate(q, chosen, k, s, base, t, f)
            fill_gains(t[0], f[0], size, q, 0, c, gain)
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
def ascend(q, p, c, cap, base, value, t, f, chosen):
    """Look for a set of more than `value` by exchanges from a few starts of every size.

    Returns its value and its size; the size is -1 if none was found.
    """
    gain = np.empty(c)
    tried = np.empty(cap, dtype=np.int64)
    found = -1
    guess = 1.0
    for k in range(1, cap + 1):
        for slope in SLOPES:
            pick_by_slope(q, p, c, k, slope * guess, tried)
            here = exchange_one(q, p, c, base, k, tried, t, f, gain)
            if here > value:
                value = here
                found = k
                chosen[:k] = tried[:k]
        guess *= FALL
    return value, found


@kernel
def slots_worth_pricing(quality, who, count, price, cap, value):
    """How many voters a set of more than `value` may have: its accuracy is at most 1."""
    cost = np.empty(count)
    c = 0
    for i in range(count):
        if price[who[i]] < quality[i] - 0.5:
            cost[c] = price[who[i]]
            c += 1
    cost[:c].sort()
    spent = 0.0
    k = 0
    while k < min(c, cap) and 1.0 - spent - cost[k] > value:
        spent += cost[k]
        k += 1
    return k


@kernel
def make_scratch(n_workers):
    """Room for the arrays that one task needs."""
    return (
        np.empty(n_workers),
        np.empty(n_workers),
        np.empty(n_workers, dtype=np.int64),
        np.empty(EXACT),
        np.empty(EXACT, dtype=np.int64),
        np.empty((EXACT + 1, 2 * TABLE)),
        np.empty((EXACT + 1, 2 * TABLE)),
    )


@kernel
def best_set(j, offers, price, sets, sizes, accuracy, node_limit, scratch):
    """Put the set of task j with the largest accuracy minus prices in row j of `sets`.

    Starts from the set that is there, with its `accuracy`. Returns the value and whether it is
    proved: no set of the task has more, but for rounding.
    """
    quality, who, count, cap, base = offers
    q, p, w, least, chosen, t, f = scratch
    value = accuracy[j]
    for s in range(sizes[j]):
        value -= price[sets[j, s]]
    if not value > base[j]:
        value = base[j]
        accuracy[j] = base[j]
        sizes[j] = 0
    worth = slots_worth_pricing(quality[j], who[j], count[j], price, cap[j], value)
    slots = min(worth, EXACT)
    c = 0
    if slots > 0:
        c = shortlist(quality[j], who[j], count[j], price, slots, q, p, w, least)
    if c == 0:
        return value, True
    slots = min(slots, c)
    start = value
    value, k, nodes = branch_and_bound(q, p, c, slots, base[j], value, node_limit, t, f, chosen)
    if nodes > node_limit:
        again, better = ascend(q, p, c, slots, base[j], value, t, f, chosen)
        if better >= 0:
            value = again
            k = better
    if k >= 0 and value > start:
        size = tabulate(q, chosen, k, -1, base[j], t, f)
        sizes[j] = k
        accuracy[j] = total(t[0], size)
        for s in range(k):
            sets[j, s] = w[chosen[s]]
    return value, worth <= EXACT and nodes <= node_limit


@kernel
def price_epoch(order, offers, shares, steps, prices, sets, sizes, accuracy, node_limit):
    """Ask the tasks in `order` for their best sets and move the prices after each one.

    `prices` and `shares` are one per worker and then the budget's: the price, and the part of the
    cap that falls to one task. `steps` are that of the workers and that of the budget.
    """
    n = shares.size - 1
    scratch = make_scratch(n)
    together = np.empty(n)
    for j in order:
        for i in range(n):
            together[i] = prices[i] + prices[n]
        best_set(j, offers, together, sets, sizes, accuracy, node_limit, scratch)
        for s in range(sizes[j]):
            prices[sets[j, s]] += steps[0]
        for i in range(n):
            prices[i] = max(0.0, prices[i] - steps[0] * shares[i])
        prices[n] = max(0.0, prices[n] + steps[1] * (sizes[j] - shares[n]))


@kernel
def price_tasks(tasks, offers, price, sets, sizes, accuracy, node_limit, value, proved):
    """Find the best sets of some tasks at the same prices."""
    scratch = make_scratch(price.size)
    for j in tasks:
        value[j], proved[j] = best_set(j, offers, price, sets, sizes, accuracy, node_limit, scratch)


@kernel
def take_in_order(order, offers, price, room, sets, sizes, accuracy, node_limit):
    """Let the tasks in `order` take their best sets among the workers who have room.

    `room` is one per worker and then the budget's; what is taken is taken off.
    """
    n = price.size
    quality, who, count, cap, base = offers
    scratch = make_scratch(n)
    asked = np.empty(n)
    left = cap.copy()
    limited = (quality, who, count, left, base)
    for j in order:
        for i in range(n):
            asked[i] = price[i] if room[i] > 0 else np.inf
        left[j] = min(cap[j], room[n])
        if sizes[j] > left[j]:
            sizes[j] = 0
            accuracy[j] = base[j]
        best_set(j, limited, asked, sets, sizes, accuracy, node_limit, scratch)
        for s in range(sizes[j]):
            room[sets[j, s]] -= 1
        room[n] -= sizes[j]
