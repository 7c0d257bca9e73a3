"""A flow of labels from workers to classes of tasks that meets the minimums of a plan.

Tasks that the same workers may label and that need as many are of one class. A flow of at most one
label per worker and task meets all minimums if any assignment within the caps of the workers does:
the labels of a class can be dealt to its tasks in turn (`crowd_tvcs.factors.minimums`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_tvcs.arrays import Bools, Integers
from crowd_tvcs.plan.terms import Terms


class MinimumFlow(NamedTuple):
    """The largest flow of labels from workers to classes of tasks.

    Attributes
    ----------
    need
        Labels that a task of every class needs, beyond forced pairs.
    class_of
        Class of every task; -1 for tasks that need none.
    labels
        Labels of every worker in every class, of shape (workers, classes).
    short
        The smallest set of classes that need more labels than all workers can give them; empty if
        the flow meets all minimums.
    able
        Labels that workers can give these classes at most.
    """

    need: Integers
    class_of: Integers
    labels: Integers
    short: Bools
    able: int


def minimum_flow(terms: Terms) -> MinimumFlow:
    """Find the largest flow of labels to tasks with a minimum."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    caps, need, may, class_of = _classes(terms)
    count = np.bincount(class_of[class_of >= 0], minlength=need.size)
    (n, k), sink = may.shape, sum(may.shape) + 1  # nodes: source, workers, classes, sink
    worker, of = np.nonzero(may)
    rows = np.concatenate([np.zeros(n, int), 1 + worker, 1 + n + np.arange(k)])
    columns = np.concatenate([1 + np.arange(n), 1 + n + of, np.full(k, sink)])
    capacity = np.concatenate([caps, count[of], need * count])
    shape = (sink + 1, sink + 1)
    graph = coo_array((capacity.astype(np.int32), (rows, columns)), shape=shape).tocsr()
    flow = maximum_flow(graph, 0, sink).flow
    labels = np.maximum(0, flow[1 : n + 1, n + 1 : sink].toarray()).astype(np.int64)
    short = np.zeros(k, dtype=bool)
    if labels.sum() < (need * count).sum():
        # Max-flow min-cut (Ford and Fulkerson 1956): from the sink's side of the smallest cut the
        # sink can be reached along edges with room left. Its classes break Hall's condition.
        room = (graph - flow).tocsr()
        room.data = np.where(room.data > 0, room.data, 0)
        room.eliminate_zeros()
        reaching = breadth_first_order(room.T.tocsr(), sink, return_predecessors=False)
        short[reaching[(reaching > n) & (reaching < sink)] - n - 1] = True
    able = np.minimum(caps, (may * count)[:, short].sum(axis=1)).sum()
    return MinimumFlow(need, class_of, labels, short, int(able))


def _classes(terms: Terms) -> tuple[Integers, Integers, Bools, Integers]:
    """Return caps of workers, need and workers of every class, and the class of every task."""
    caps, need = terms.max_tasks_per_worker, terms.min_workers_per_task
    table = terms.table if terms.is_table else terms.factors.table
    column = np.arange(need.size) if terms.is_table else terms.factors.kind
    allowed = np.ones(table.shape, dtype=bool) if table.allowed is None else table.allowed
    if terms.forced is not None:
        caps = caps - terms.forced.sum(axis=1)
        need, allowed = np.maximum(0, need - terms.forced.sum(axis=0)), allowed & ~terms.forced
    same = np.unique(allowed, axis=1, return_inverse=True)[1].reshape(-1)
    pairs = np.column_stack([same[column], need])
    known, inverse = np.unique(pairs, axis=0, return_inverse=True)
    has_need = known[:, 1] > 0
    number = np.where(has_need, np.cumsum(has_need) - 1, -1)
    first = np.unique(same, return_index=True)[1]
    may = allowed[:, first[known[has_need, 0]]]
    return caps, known[has_need, 1], may, number[inverse.reshape(-1)]
