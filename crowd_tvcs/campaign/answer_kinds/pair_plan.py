"""Plan a round of comparisons: the pairs of most expected information, and their workers.

First the pairs: one projection onto caps of every item on the left and on the right
(`crowd_tvcs.answer_kinds.next_pairs`). Then the people: rows are workers, columns the chosen pairs,
and the entry is the square root of the information that an answer of this worker is expected to
give; each pair is asked once, and everybody gets about as many.
"""

from __future__ import annotations

import numpy as np

from crowd_tvcs.answer_kinds.next_pairs import information, next_pairs
from crowd_tvcs.answer_kinds.ranking import Ranking, pair_differences
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.campaign.answer_kinds.kind import items_of_pair
from crowd_tvcs.campaign.answer_kinds.votes import comparisons_of, ranking_of
from crowd_tvcs.campaign.entries import Round
from crowd_tvcs.campaign.planning.proposal import labels_left
from crowd_tvcs.campaign.state import State
from crowd_tvcs.campaign.store.schema import LAPSED
from tvcs_core import TVCS, project
from tvcs_core.files.display import plural
from tvcs_core.streams import stream

METHOD = "information"
MAX_PER_SIDE = 2  # of the pairs of a round, as of `crowd-tvcs rank --next`


def propose_pairs(state: State, labels: int | None, max_per_side: int | None) -> Round:
    """Choose the pairs of a round and their workers; the same state gives the same.

    Parameters
    ----------
    labels
        Maximum number of new labels; None for the rest of the budget, else one for every task.
    max_per_side
        Maximum number of the pairs with an item on the left, and on the right; None for
        `MAX_PER_SIDE`. People see sides by lot all the same.
    """
    if not state.given.size:
        raise ValueError(
            "there are no answers yet to plan by: first pairs are handed out by lot, fewest "
            "answers first (serve, or campaign next)"
        )
    pairs = [items_of_pair(task.name) for task in state.tasks]
    items = {name for pair in pairs for name in pair}
    ranking = ranking_of(state, comparisons_of(state, also=items))
    place = {name: k for k, name in enumerate(ranking.data.items)}
    is_open = [not t.closed and t.slots < t.max_workers for t in state.tasks]
    task_of = {frozenset(pair): j for j, pair in enumerate(pairs) if is_open[j]}
    allowed = np.zeros((len(place), len(place)), dtype=bool)
    for both in task_of:
        i, j = (place[name] for name in both)
        allowed[i, j] = allowed[j, i] = True
    number = labels_left(state.settings, labels)
    chosen = next_pairs(
        ranking,
        len(state.tasks) if number is None else number,
        max_per_side=MAX_PER_SIDE if max_per_side is None else max_per_side,
        max_per_pair=len(state.workers) + ranking.data.size,  # the caps of tasks are in `allowed`
        allowed=allowed,
        rng=stream(state.settings.seed, "pairs of a round", str(state.settings.rounds)),
    )
    tasks = np.array([task_of[frozenset(pair[:2])] for pair in chosen.pairs], dtype=np.int64)
    gain = _gain_by_person(state, ranking, tasks)
    asked = _people(state, tasks, gain)
    total = float(sum(gain[i, k] for i, k in asked))
    found = sorted((state.workers[i].name, state.tasks[tasks[k]].name) for i, k in asked)
    reason = (
        f"{total:.3f} nats expected of {plural(len(found), 'answer')}; the pairs at most "
        f"{chosen.gap:.2g} below the optimum"
    )
    return Round(0, found, METHOD, reason, 0.0, None, len(chosen.pairs) - len(found))


def _gain_by_person(state: State, ranking: Ranking, tasks: Integers) -> Floats:
    """Return the information of an answer of every worker on every chosen pair, in nats."""
    place = {name: k for k, name in enumerate(ranking.data.items)}
    pairs = [items_of_pair(state.tasks[j].name) for j in tasks.tolist()]
    at = np.array([[place[name] for name in pair] for pair in pairs]).reshape(-1, 2).T
    differs, sd = (one[at[0], at[1]] for one in pair_differences(ranking.fit))
    weight = dict(zip(ranking.data.workers, ranking.fit.weight.tolist(), strict=True))
    rows = [information(ranking.fit, differs, sd, weight.get(w.name, 1.0)) for w in state.workers]
    return np.array(rows).reshape(len(state.workers), -1)


def _people(state: State, tasks: Integers, gain: Floats) -> list[tuple[int, int]]:
    """Assign the pairs to workers, within all caps and the money; most gain first."""
    able = state.lets_in(state.quality)[:, tasks] & (state.slots[:, tasks] == LAPSED)
    able &= ~state.blocked[:, None] & ~state.team_mates[:, tasks]
    room = np.array([w.max_tasks - w.slots for w in state.workers])
    room = np.where(able.any(axis=1), np.maximum(room, 0), 0)
    share = -(-tasks.size // max(1, int((room > 0).sum())))
    caps = TVCS.matrix(able.shape, row_caps=np.minimum(room, share), col_caps=1)
    kept = project(np.sqrt(np.where(able, gain, 0.0)), caps).matrix
    asked = sorted(zip(*np.nonzero(kept), strict=True), key=lambda one: -gain[one])
    out, spent = [], state.settings.committed
    for i, k in asked:
        cost = state.workers[i].cost
        if state.settings.money is None or spent + cost <= state.settings.money:
            spent += cost
            out.append((int(i), int(k)))
    return out
