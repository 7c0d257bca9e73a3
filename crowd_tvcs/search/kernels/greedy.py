"""Kernels of the greedy assignment: gains of all workers on a task, and a tree of the best."""

import numpy as np

from crowd_tvcs.accuracy.kernels.outcome_lists import fill_gains, join, tabulate
from tvcs_core.jit import kernel

NO_GAIN = 1e-13  # what rounding leaves of 0
BEHIND = 10.0  # puts the gains in probability of truth behind all others
BEFORE = 100.0  # puts tasks that must have more voters before all others
COARSE = 64  # outcomes that are enough for gains in probability of truth


@kernel
def fill_truth_gains(t, f, size, q, c, out):
    """What each voter alone would add to the expected posterior probability of the truth.

    That is the sum of (t^2 + f^2) / (t + f), or 1 minus the sum of 2 t f / (t + f).
    """
    now = 0.0
    for e in range(size):
        if f[e] > 0.0:
            now += 2.0 * t[e] * f[e] / (t[e] + f[e])
    for i in range(c):
        out[i] = now
    for e in range(size):
        if f[e] > 0.0:
            both = 2.0 * t[e] * f[e] * (t[e] + f[e])
            for i in range(c):
                s = 1.0 - q[i]
                out[i] -= both * q[i] * s / ((t[e] * q[i] + f[e] * s) * (t[e] * s + f[e] * q[i]))


@kernel
def fill_sharp_gains(t, f, size, q, c, out):
    """Likewise with 4 (t f)^1.5 / (t + f)^2 for 2 t f / (t + f): nearer to the error, min(t, f)."""
    now = 0.0
    for e in range(size):
        if f[e] > 0.0:
            mass = t[e] + f[e]
            now += 4.0 * t[e] * f[e] * np.sqrt(t[e] * f[e]) / (mass * mass)
    for i in range(c):
        out[i] = now
    for e in range(size):
        if f[e] > 0.0:
            both = 4.0 * t[e] * f[e] * np.sqrt(t[e] * f[e])
            for i in range(c):
                s = 1.0 - q[i]
                agree = t[e] * q[i] + f[e] * s
                differ = t[e] * s + f[e] * q[i]
                part = q[i] * s * np.sqrt(q[i] * s)
                out[i] -= both * part * (1.0 / (agree * agree) + 1.0 / (differ * differ))


@kernel
def fill_scores(j, offers, exact, sharp, taken, places, scores, t, f, gain):
    """Score every worker for task j, whose voters are places[0:taken]; they get -inf.

    If `exact`, the exact gain, and where it is 0 the gain in probability of truth minus BEHIND;
    otherwise the gain in probability of truth, on a table of at most COARSE outcomes, or if `sharp`
    of what is nearer to the expected accuracy. A task that
    must have more voters goes before all that need not; no other gets one who tells nothing.
    """
    quality, _, count, need, cap, fixed, n_fixed, _ = offers
    c = count[j]
    if taken >= cap[j]:
        for i in range(c):
            scores[i] = -np.inf
        return
    size = tabulate(fixed[j], n_fixed[j], quality[j], places, taken, taken, t, f)
    if exact:
        fill_gains(t[0], f[0], size, quality[j], np.int64(0), c, gain)
    at = 0
    if size > COARSE:
        size = join(t[0], f[0], size, np.int64(COARSE), t[1], f[1])
        at = 1
    if sharp:
        fill_sharp_gains(t[at], f[at], size, quality[j], c, scores)
    else:
        fill_truth_gains(t[at], f[at], size, quality[j], c, scores)
    ahead = BEFORE if taken < need[j] else 0.0
    for i in range(c):
        if exact:
            scores[i] = gain[i] if gain[i] > NO_GAIN else scores[i] - BEHIND
        scores[i] += ahead
        if quality[j, i] == 0.5 and ahead == 0.0:
            scores[i] = -np.inf
    for s in range(taken):
        scores[places[s]] = -np.inf


@kernel
def best_with_room(who, count, room, scores):
    """The place of the best of the first workers in `who` who has room, and his score."""
    best = -np.inf
    at = 0
    for i in range(count):
        if scores[i] > best and room[who[i]] > 0:
            best = scores[i]
            at = i
    return at, best


@kernel
def lift(tree, leaf, value):
    """Set a leaf of the tree in which every node holds the largest value below it."""
    k = tree.size // 2 + leaf
    tree[k] = value
    k //= 2
    while k >= 1:
        tree[k] = max(tree[2 * k], tree[2 * k + 1])
        k //= 2


@kernel
def leader(tree):
    """The first leaf that holds the largest value of the tree."""
    k = 1
    while k < tree.size // 2:
        k = 2 * k if tree[2 * k] == tree[k] else 2 * k + 1
    return k - tree.size // 2


@kernel
def take(j, place, worker, places, sets, sizes, room):
    """Give task j the worker at this place among its offers."""
    places[j, sizes[j]] = place
    sets[j, sizes[j]] = worker
    sizes[j] += 1
    room[worker] -= 1
    room[room.size - 1] -= 1


@kernel
def climb(offers, exact, sharp, room, tree, sets, sizes, places, choice, scores, gain, t, f):
    """Assign pair after pair, always the one of the largest score among those with room.

    Begins with the sizes[j] voters of task j that are in places[j] (by rank) and in sets[j] (by
    worker). `room` is one per worker and then the budget's. A score changes only with the voters
    of its task, so all are kept, and a task is looked at again only if it leads.
    """
    _, who, count, _, _, _, _, _ = offers
    m = count.size
    n = room.size - 1
    for j in range(m):
        fill_scores(j, offers, exact, sharp, sizes[j], places[j], scores[j], t, f, gain)
        choice[j], value = best_with_room(who[j], count[j], room, scores[j])
        lift(tree, j, value)
    while room[n] > 0 and tree[1] > -np.inf:
        j = leader(tree)
        i = choice[j]
        if room[who[j, i]] > 0:
            take(j, i, who[j, i], places, sets, sizes, room)
            fill_scores(j, offers, exact, sharp, sizes[j], places[j], scores[j], t, f, gain)
        choice[j], value = best_with_room(who[j], count[j], room, scores[j])
        lift(tree, j, value)
