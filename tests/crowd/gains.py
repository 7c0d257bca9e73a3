"""Gains of single workers of one task, by the kernel of greedy plans of many classes."""

import numpy as np

from crowd_tvcs.accuracy.kernels import many_class_table as kernels
from crowd_tvcs.accuracy.many_classes import table_size


def gains_of_classes(voters, candidates, model, prior):
    """How much each candidate alone would add to the expected accuracy of one task.

    One table of the outcomes of those who label the task already serves all candidates. Voters
    and candidates are kinds of `model`. Exact up to `TABLE` outcomes of the voters; beyond,
    similar outcomes are joined.
    """
    k = model.n_classes
    limit = table_size(k)
    t = np.empty((2, k, limit * k))
    root = kernels.Root(prior, np.empty(0, dtype=np.int64))
    at = np.arange(voters.size)
    size = kernels.tabulate(root, voters, at, voters.size, model.matrices, limit, t)
    n = candidates.size
    out = np.zeros(n)
    scratch = kernels.GainScratch(np.empty(n), np.empty(n), np.empty(limit))
    kernels.fill_gains(t[0], size, model.matrices, model.is_even, candidates, scratch, out)
    return out
