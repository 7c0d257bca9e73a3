"""Kernels of exchanges: two workers change places, or one gives his place to one who has room.

A place s of task j has the number j * sets.shape[1] + s. For every place, `better` holds what the
task would gain if each other worker were there. The best exchange of two workers is then
found by two searches, one among the places of either.
"""

import numpy as np

from crowd_tvcs.accuracy.kernels.outcome_lists import fill_gains, join, tabulate
from tvcs_core.jit import kernel

COARSE = 64  # outcomes that are enough
ENOUGH = 1e-9  # a gain that is one


@kernel
def value_places(j, offers, sets, sizes, rank, better, t, f, gain, chosen):
    """Fill the rows of `better` of the places of task j; -inf for who may not be there."""
    quality, who, count, _, _, fixed, n_fixed, _ = offers
    c = count[j]
    k = sizes[j]
    for s in range(k):
        chosen[s] = rank[j, sets[j, s]]
    for s in range(k):
        size = tabulate(fixed[j], n_fixed[j], quality[j], chosen, k, s, t, f)
        at = 0
        if size > COARSE:
            size = join(t[0], f[0], size, np.int64(COARSE), t[1], f[1])
            at = 1
        fill_gains(t[at], f[at], size, quality[j], np.int64(0), c, gain)
        place = j * sets.shape[1] + s
        for w in range(better.shape[1]):
            better[place, w] = -np.inf
        for i in range(c):
            better[place, who[j, i]] = gain[i] - gain[chosen[s]]
        for r in range(k):
            better[place, sets[j, r]] = -np.inf


@kernel
def best_place(places, load, worker, better):
    """The index, among some places, of the one where another `worker` adds most, and how much."""
    best = -np.inf
    at = 0
    for x in range(load):
        if better[places[x], worker] > best:
            best = better[places[x], worker]
            at = x
    return at, best


@kernel
def exchange(
    offers, room, sets, sizes, rank, places, loads, better, t, f, gain, chosen, limit, stop
):
    """Exchange workers, pair after pair, until none gains, after `limit` of them or at stop[0].

    `places` has one row per worker, of the numbers of his loads[i] places, with space for as many
    as his cap. `rank` is the place of every worker in the offers of every task.
    """
    n = loads.size
    most = sets.shape[1]
    for j in range(sizes.size):
        value_places(j, offers, sets, sizes, rank, better, t, f, gain, chosen)
    done = 0
    changed = True
    while changed:
        changed = False
        for a in range(n):
            for b in range(n):
                while a != b:
                    x, gained = best_place(places[a], loads[a], b, better)
                    y, other = best_place(places[b], loads[b], a, better)
                    alone = room[b] > 0 and gained > ENOUGH
                    first = places[a, x]
                    second = places[b, y]
                    apart = first // most != second // most
                    if not alone and not (gained + other > ENOUGH and apart):
                        break
                    done += 1
                    changed = True
                    sets[first // most, first % most] = b
                    if alone and not (other > 0.0 and apart):
                        places[b, loads[b]] = first
                        loads[b] += 1
                        room[b] -= 1
                        loads[a] -= 1
                        places[a, x] = places[a, loads[a]]
                        room[a] += 1
                    else:
                        places[a, x] = second
                        places[b, y] = first
                        sets[second // most, second % most] = a
                        value_places(
                            second // most, offers, sets, sizes, rank, better, t, f, gain, chosen
                        )
                    value_places(
                        first // most, offers, sets, sizes, rank, better, t, f, gain, chosen
                    )
                    if done >= limit or stop[0] != 0:
                        return done
    return done
