"""Kernels of exchanges: two workers change places, or one gives theirs to one who has room.

A place s of task j has the number j * most + s, where `most` is the width of `TaskSets.workers`.
For every place, `Places.better` holds the gain of the task if each other worker were there. The
best exchange of two workers is then found by two searches, one among the places of either.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.two_class_table import fill_gains, join, tabulate
from crowd_tvcs.search.kernels.groups import bar_mates_of_others
from tvcs_core.jit import kernel

COARSE = 64  # outcomes that are enough
ENOUGH = 1e-9  # a gain that is one


@kernel
def value_places(j, candidates, sets, rank, better, tables, gain, chosen):
    """Fill the rows of `better` of the places of task j; -inf for workers who may not be there."""
    count = candidates.size[j]
    q, worker = candidates.quality[j, :count], candidates.worker[j, :count]
    fixed = candidates.fixed[j, : candidates.n_fixed[j]]
    t, f, team = tables.t, tables.f, sets.workers[j, : sets.sizes[j]]
    k = team.size
    for s in range(k):
        chosen[s] = rank[j, team[s]]
    for s in range(k):
        # One table of the others says what everybody would add in this place (gain identity).
        size = tabulate(fixed, q, chosen[:k], s, t, f)
        at = 0
        if size > COARSE:
            size = join(t[0], f[0], size, np.int64(COARSE), t[1], f[1])
            at = 1
        fill_gains(t[at], f[at], size, q, np.int64(0), count, gain)
        place = j * sets.workers.shape[1] + s
        for w in range(better.shape[1]):
            better[place, w] = -np.inf
        for i in range(count):
            better[place, worker[i]] = gain[i] - gain[chosen[s]]
        for r in range(k):
            better[place, team[r]] = -np.inf
        if candidates.group.size > 0:
            bar_mates_of_others(candidates.group, team, s, better[place])


@kernel
def best_place(held, load, worker, better):
    """The index, among some places, of the one where another `worker` adds most, and how much."""
    best = -np.inf
    at = 0
    for x in range(load):
        if better[held[x], worker] > best:
            best = better[held[x], worker]
            at = x
    return at, best


@kernel
def hand_over(a, x, b, places):
    """Hand the x-th place of worker a to worker b, who has room; the last of a takes its index."""
    held, load, room = places.held, places.load, places.room
    held[b, load[b]] = held[a, x]
    load[b] += 1
    room[b] -= 1
    load[a] -= 1
    held[a, x] = held[a, load[a]]
    room[a] += 1


@kernel
def exchange(candidates, sets, places, tables, gain, chosen, limit):
    """Exchange workers, pair after pair, until none gains or at `limit`; return how many.

    Loads stay within the caps, and the money is enough: changing places keeps both, and else b must
    have room and be paid.
    """
    held, load, room = places.held, places.load, places.room
    rank, better, money, cost = places.rank, places.better, places.money, candidates.cost
    workers, most = sets.workers, sets.workers.shape[1]
    for j in range(sets.sizes.size):
        value_places(j, candidates, sets, rank, better, tables, gain, chosen)
    done = 0
    changed = True
    while changed:
        changed = False
        for a in range(load.size):
            for b in range(load.size):
                while a != b:
                    x, gained = best_place(held[a], load[a], b, better)
                    y, other = best_place(held[b], load[b], a, better)
                    more = 0.0 if cost.size == 0 else cost[b] - cost[a]
                    alone = room[b] > 0 and gained > ENOUGH and more <= money[0]
                    first = held[a, x]
                    second = held[b, y]
                    apart = first // most != second // most
                    if not alone and not (gained + other > ENOUGH and apart):
                        break
                    done += 1
                    changed = True
                    workers[first // most, first % most] = b
                    if alone and not (other > 0.0 and apart):
                        hand_over(a, x, b, places)
                        money[0] -= more
                    else:
                        held[a, x] = second
                        held[b, y] = first
                        workers[second // most, second % most] = a
                        j = second // most
                        value_places(j, candidates, sets, rank, better, tables, gain, chosen)
                    # Gains beside the others of a task change only with its voters.
                    j = first // most
                    value_places(j, candidates, sets, rank, better, tables, gain, chosen)
                    if done >= limit.steps or limit.stop[0] != 0:
                        return done
    return done
