"""Kernel of the greedy assignment with K classes."""

import numpy as np

from crowd_tvcs.accuracy.kernels.many_class_table import (
    Root,
    fill_gains,
    join,
    tabulate,
    truth,
    truth_after,
)
from crowd_tvcs.search.kernels.greedy import (
    BEFORE,
    COARSE,
    best_with_room,
    leader,
    lift,
    order_scores,
    take,
)
from tvcs_core.jit import kernel


@kernel
def fill_scores(j, candidates, model, exact, places, scores, pair, gain, gains):
    """Score every candidate of task j, whose voters are in `places`; they get -inf.

    As in `crowd_tvcs.search.kernels.greedy.fill_scores`. `pair` is two tables, `gain` and `gains`
    are scratch.
    """
    count = candidates.size[j]
    kinds, matrices = model.kind[j, :count], model.matrices
    if places.size >= candidates.cap[j]:
        for i in range(count):
            scores[i] = -np.inf
        return
    root = Root(model.prior[j], candidates.fixed[j, : candidates.n_fixed[j]])
    size = tabulate(root, kinds, places, places.size, matrices, model.limit, pair)
    if exact:
        fill_gains(pair[0], size, matrices, model.is_even, kinds, gains, gain)
    at = 0
    if size > COARSE:
        size = join(pair[0], size, np.int64(COARSE), pair[1])
        at = 1
    table = pair[at]
    now = truth(table, size)
    for i in range(count):
        scores[i] = truth_after(table, size, matrices[kinds[i]]) - now
    ahead = BEFORE if places.size < candidates.need[j] else 0.0
    order_scores(scores, gain, exact, ahead, candidates.quality[j, :count], places)


@kernel
def climb(candidates, model, exact, state, pair, gains):
    """Assign pair after pair, always the one of the largest score among those with room.

    As in `crowd_tvcs.search.kernels.greedy.climb`.
    """
    room, tree, best, gain = state.room, state.tree, state.best, state.gain
    sizes, places, scores = state.sets.sizes, state.places, state.scores
    waiting = best.size  # tasks that have no score yet
    while waiting > 0 or (room[room.size - 1] > 0 and tree[1] > -np.inf):
        j = leader(tree) if waiting == 0 else best.size - waiting
        worker = candidates.worker[j, : candidates.size[j]]
        changed = waiting > 0
        if waiting > 0:
            waiting -= 1
        elif room[worker[best[j]]] > 0:
            take(j, best[j], worker[best[j]], places, state.sets, room)
            changed = True
        if changed:
            team = places[j, : sizes[j]]
            fill_scores(j, candidates, model, exact, team, scores[j], pair, gain, gains)
        best[j], score = best_with_room(worker, room, scores[j])
        lift(tree, j, score)
