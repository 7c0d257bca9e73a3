"""Kernels of the greedy assignment: gains of all workers on a task, and a tree of the best."""

import numpy as np

from crowd_tvcs.pricing_kernels import TABLE, fill_gains, tabulate
from tvcs_core.jit import kernel

NO_GAIN = 1e-13  # what rounding leaves of 0
BEHIND = 10.0  # puts the gains in probability of truth behind all others


@kernel
def fill_truth_gains(t, f, size, q, out):
    """What each voter alone would add to the expected posterior probability of the truth.

    That is the sum of (t^2 + f^2) / (t + f), or 1 minus the sum of 2 t f / (t + f).
    """
    now = 0.0
    for e in range(size):
        if f[e] > 0.0:
            now += 2.0 * t[e] * f[e] / (t[e] + f[e])
    for i in range(q.size):
        out[i] = now
    for e in range(size):
        if f[e] > 0.0:
            both = 2.0 * t[e] * f[e] * (t[e] + f[e])
            for i in range(q.size):
                s = 1.0 - q[i]
                out[i] -= both * q[i] * s / ((t[e] * q[i] + f[e] * s) * (t[e] * s + f[e] * q[i]))


@kernel
def fill_scores(j, offers, exact, taken, places, scores, t, f, gain):
    """Score every worker for task j, whose voters are places[0:taken]; they get -inf.

    If `exact`, the exact gain, and where it is 0 the gain in probability of truth minus BEHIND;
    otherwise the gain in probability of truth.
    """
    quality, _, count, cap, base = offers
    c = count[j]
    if taken >= cap[j]:
        scores[:c] = -np.inf
        return
    size = tabulate(quality[j], places, taken, -1, base[j], t, f)
    fill_truth_gains(t[0], f[0], size, quality[j, :c], scores)
    if exact:
        fill_gains(t[0], f[0], size, quality[j], 0, c, gain)
        for i in range(c):
            scores[i] = gain[i] if gain[i] > NO_GAIN else scores[i] - BEHIND
    for s in range(taken):
        scores[places[s]] = -np.inf


@kernel
def best_with_room(j, offers, room, scores):
    """The place of the best worker for task j who has room, and his score."""
    _, who, count, _, _ = offers
    best = -np.inf
    at = 0
    for i in range(count[j]):
        if scores[i] > best and room[who[j, i]] > 0:
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
def climb(offers, exact, room, tree, sets, sizes):
    """Assign pair after pair, always the one of the largest score among those with room.

    `room` is one per worker and then the budget's. A score changes only with the voters of its
    task, so all are kept, and a task is looked at again only if it leads.
    """
    _, who, count, _, _ = offers
    m = count.size
    n = room.size - 1
    scores = np.full((m, n), -np.inf)
    places = np.empty((m, sets.shape[1]), dtype=np.int64)
    choice = np.zeros(m, dtype=np.int64)
    gain = np.empty(n)
    t = np.empty((2, 2 * TABLE))
    f = np.empty((2, 2 * TABLE))
    for j in range(m):
        fill_scores(j, offers, exact, 0, places[j], scores[j], t, f, gain)
        choice[j], value = best_with_room(j, offers, room, scores[j])
        lift(tree, j, value)
    while room[n] > 0 and tree[1] > -np.inf:
        k = 1
        while k < tree.size // 2:
            k = 2 * k if tree[2 * k] == tree[k] else 2 * k + 1
        j = k - tree.size // 2
        i = choice[j]
        if room[who[j, i]] > 0:
            places[j, sizes[j]] = i
            sets[j, sizes[j]] = who[j, i]
            sizes[j] += 1
            room[who[j, i]] -= 1
            room[n] -= 1
            fill_scores(j, offers, exact, sizes[j], places[j], scores[j], t, f, gain)
        choice[j], value = best_with_room(j, offers, room, scores[j])
        lift(tree, j, value)
