"""When the simplex on a core hands over to cost scaling on the table.

All thresholds were measured by `python -m benchmarks.speed.families`; docs/method.md ("Which way")
has the reasons.
"""

import numpy as np

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.network import CoreNetwork

MAX_SCALING_ENTRIES = 4_000_000  # of a table for cost scaling in one call, which no Ctrl-C ends
MAX_ASPECT_RATIO = 100  # of the sides of a table for cost scaling
PIVOTS_PER_ARC = 2.5  # pivots per node and core entry after which cost scaling takes over
MORE_PIVOTS_ENTRIES = 250_000  # of a table above which these are more
MAX_PIVOTS_PER_ARC = 6.0  # of the largest tables
ENTRIES_PER_PIVOT_TIES = 4  # pivots that take about as long as cost scaling, with ties
BYTES_PER_ENTRY = 40  # of the tables of cost scaling, and of its first prices


def pivot_budget(instance: Instance, network: CoreNetwork) -> int | None:
    """Return the number of pivots in whose time cost scaling would be done; None if it cannot run.

    It needs a filled table of moderate size and shape, and memory.
    """
    size, shape = instance.candidates.values.size, instance.shape
    is_moderate = max(shape) <= MAX_ASPECT_RATIO * min(shape) and size <= MAX_SCALING_ENTRIES
    if not (instance.is_filled and is_moderate):
        return None
    have = available_memory()
    if have is not None and BYTES_PER_ENTRY * size >= have:
        return None
    if instance.has_ties:
        return size // ENTRIES_PER_PIVOT_TIES
    share = PIVOTS_PER_ARC * max(1.0, (size / MORE_PIVOTS_ENTRIES) ** 0.6)
    return int(min(MAX_PIVOTS_PER_ARC, share) * (network.size + np.sum(shape)))
