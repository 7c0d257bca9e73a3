"""The places of the workers, before any of them exchange theirs."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.search.kernels.records import Candidates, Places, TaskSets
from crowd_tvcs.search.rations import Integers


def places_of(candidates: Candidates, caps: Integers, sets: TaskSets, money: float) -> Places:
    """List the places that every worker has in some sets, and the room and the money left."""
    n, most = caps.size - 1, sets.workers.shape[1]
    load = sets.loads(n)[:-1]
    j, s = sets.pairs()
    order = np.argsort(sets.workers[j, s], kind="stable")
    holder = sets.workers[j, s][order]
    held = np.zeros((n, max(1, int(caps[:-1].max(initial=0)))), dtype=np.int64)
    held[holder, np.arange(j.size) - (np.cumsum(load) - load)[holder]] = (j * most + s)[order]
    return Places(
        held=held,
        load=load,
        room=caps[:-1] - load,
        rank=np.argsort(candidates.worker, axis=1),
        better=np.empty((sets.sizes.size * most, n)),
        money=np.array([money]),
    )
