"""Kernel of the greedy assignment with K classes."""

import numpy as np

from crowd_tvcs.accuracy.kernels.many_class_table import (
    fill_gains,
    join,
    tabulate,
    truth,
    truth_after,
)
from crowd_tvcs.search.kernels.greedy import (
    BEFORE,
    BEHIND,
    COARSE,
    NO_GAIN,
    best_with_room,
    leader,
    lift,
    take,
)
from tvcs_core.jit import kernel


@kernel
def fill_scores(j, offers, model, exact, taken, places, scores, t, gain, inner):
    """Score every worker for task j, whose voters are places[0:taken]; they get -inf.

    As in `crowd_tvcs.search.kernels.greedy.fill_scores`.
    """
    quality, _, count, need, cap, fixed, n_fixed, _ = offers
    kind_of, prior, matrices, is_even, _, _, limit = model
    c = count[j]
    if taken >= cap[j]:
        for i in range(c):
            scores[i] = -np.inf
        return
    kinds = kind_of[j]
    n_classes = matrices.shape[1]
    size = tabulate(prior[j], matrices, fixed[j], n_fixed[j], kinds, places, taken, taken, limit, t)
    if exact:
        fill_gains(t[0], size, matrices, is_even, kinds, c, inner, gain)
    at = 0
    if size > COARSE:
        size = join(t[0], size, n_classes, np.int64(COARSE), t[1])
        at = 1
    now = truth(t[at], size, n_classes)
    ahead = BEFORE if taken < need[j] else 0.0
    for i in range(c):
        scores[i] = truth_after(t[at], size, matrices[kinds[i]]) - now
        if exact:
            scores[i] = gain[i] if gain[i] > NO_GAIN else scores[i] - BEHIND
        scores[i] += ahead
        if quality[j, i] == 0.5 and ahead == 0.0:
            scores[i] = -np.inf
    for s in range(taken):
        scores[places[s]] = -np.inf


@kernel
def climb(offers, model, exact, room, tree, sets, sizes, places, choice, scores, gain, t, inner):
    """Assign pair after pair, always the one of the largest score among those with room.

    As in `crowd_tvcs.search.kernels.greedy.climb`.
    """
    _, who, count, _, _, _, _, _ = offers
    m = count.size
    n = room.size - 1
    for j in range(m):
        fill_scores(j, offers, model, exact, sizes[j], places[j], scores[j], t, gain, inner)
        choice[j], value = best_with_room(who[j], count[j], room, scores[j])
        lift(tree, j, value)
    while room[n] > 0 and tree[1] > -np.inf:
        j = leader(tree)
        i = choice[j]
        if room[who[j, i]] > 0:
            take(j, i, who[j, i], places, sets, sizes, room)
            fill_scores(j, offers, model, exact, sizes[j], places[j], scores[j], t, gain, inner)
        choice[j], value = best_with_room(who[j], count[j], room, scores[j])
        lift(tree, j, value)
