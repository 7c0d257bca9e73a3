"""Kernels of the greedy assignment: gains of all workers on a task, and a tree of the best."""

import numpy as np

from crowd_tvcs.accuracy.kernels.two_class_table import fill_gains, join, tabulate
from tvcs_core.jit import kernel

NO_GAIN = 1e-13  # what rounding leaves of 0
BEHIND = 10.0  # puts the gains in probability of truth behind all others
BEFORE = 100.0  # puts tasks that must have more voters before all others
COARSE = 64  # outcomes that are enough for gains in probability of truth


@kernel
def fill_truth_gains(t, f, size, q, out):
    """The gain of each voter alone in the expected posterior probability of the truth.

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
def order_scores(scores, gain, exact, ahead, quality, places):
    """Put gains before scores if `exact`, and all `ahead`; -inf for whom the task cannot use.

    These are present and uninformative workers, the latter unless the task must have more voters.
    """
    for i in range(quality.size):
        if exact:
            scores[i] = gain[i] if gain[i] > NO_GAIN else scores[i] - BEHIND
        scores[i] += ahead
        if quality[i] == 0.5 and ahead == 0.0:
            scores[i] = -np.inf
    for s in range(places.size):
        scores[places[s]] = -np.inf


@kernel
def fill_scores(quality, fixed, need, cap, exact, places, scores, tables, gain):
    """Score every candidate of a task, whose voters are in `places`; they get -inf.

    If `exact`, the exact gain, and where it is 0 the gain in probability of truth minus BEHIND;
    otherwise the gain in probability of truth, on a table of at most COARSE outcomes. A task that
    must have more voters goes before all that need not; no other gets an uninformative one.
    """
    t, f = tables.t, tables.f
    if places.size >= cap:
        for i in range(quality.size):
            scores[i] = -np.inf
        return
    size = tabulate(fixed, quality, places, places.size, t, f)
    if exact:
        fill_gains(t[0], f[0], size, quality, np.int64(0), quality.size, gain)
    at = 0
    if size > COARSE:
        size = join(t[0], f[0], size, np.int64(COARSE), t[1], f[1])
        at = 1
    fill_truth_gains(t[at], f[at], size, quality, scores)
    ahead = BEFORE if places.size < need else 0.0
    order_scores(scores, gain, exact, ahead, quality, places)


@kernel
def best_with_room(worker, room, scores):
    """The place of the best of some workers who has room, and their score."""
    best = -np.inf
    at = 0
    for i in range(worker.size):
        if scores[i] > best and room[worker[i]] > 0:
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
def take(j, place, worker, places, sets, room):
    """Assign task j the worker at this place among its candidates."""
    size = sets.sizes[j]
    places[j, size] = place
    sets.workers[j, size] = worker
    sets.sizes[j] = size + 1
    room[worker] -= 1
    room[room.size - 1] -= 1


@kernel
def climb(candidates, exact, state, tables):
    """Assign pair after pair, always the one of the largest score among those with room.

    Begins with the sets that are there. A score changes only with the voters of its task, and room
    only goes: a value in the tree is never too small, and the first one with room is the best.
    """
    count, need, cap = candidates.size, candidates.need, candidates.cap
    room, tree, best, gain = state.room, state.tree, state.best, state.gain
    sizes, places, scores = state.sets.sizes, state.places, state.scores
    waiting = best.size  # tasks that have no score yet
    while waiting > 0 or (room[room.size - 1] > 0 and tree[1] > -np.inf):
        j = leader(tree) if waiting == 0 else best.size - waiting
        worker = candidates.worker[j, : count[j]]
        changed = waiting > 0
        if waiting > 0:
            waiting -= 1
        elif room[worker[best[j]]] > 0:
            take(j, best[j], worker[best[j]], places, state.sets, room)
            changed = True
        if changed:
            quality = candidates.quality[j, : count[j]]
            fixed = candidates.fixed[j, : candidates.n_fixed[j]]
            team = places[j, : sizes[j]]
            fill_scores(quality, fixed, need[j], cap[j], exact, team, scores[j], tables, gain)
        best[j], score = best_with_room(worker, room, scores[j])
        lift(tree, j, score)
