"""Choice between the simplex on a core and cost scaling on the table.

All thresholds were measured by `python -m benchmarks.speed.families`; docs/method.md ("Which way")
has the reasons.
"""

import numpy as np

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.exact.candidates import Instance
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.shortcuts import MAX_ONE_CALL

MAX_SCALING_ENTRIES = 20_000_000  # of a table for cost scaling
SLOW_PIVOT_ENTRIES = 4_000_000  # a pivot takes as long as several in smaller tables
MAX_ASPECT_RATIO = 100  # of the sides of a table for cost scaling
# Pivots per node and core entry after which cost scaling takes over.
PIVOTS_USUAL = 6.0
PIVOTS_LARGE = 1.0  # above SLOW_PIVOT_ENTRIES
ENTRIES_PER_PIVOT_TIES = 4  # pivots that take about as long as cost scaling, with ties
BYTES_PER_ENTRY = 16  # bytes per entry of both tables of cost scaling


def can_use_cost_scaling(instance: Instance) -> bool:
    """Return whether cost scaling can run: a dense table of moderate shape that fits memory."""
    size, shape = instance.candidates.values.size, instance.shape
    if not instance.is_filled or size > MAX_SCALING_ENTRIES:
        return False
    if max(shape) > MAX_ASPECT_RATIO * min(shape):
        return False
    have = available_memory() if size > MAX_ONE_CALL else None
    return have is None or BYTES_PER_ENTRY * size < have


def pivot_budget(instance: Instance, network: CoreNetwork) -> int:
    """Return the number of pivots in whose time cost scaling would be done."""
    size = instance.candidates.values.size
    if instance.has_ties and size <= SLOW_PIVOT_ENTRIES:
        return size // ENTRIES_PER_PIVOT_TIES
    most = PIVOTS_LARGE if size > SLOW_PIVOT_ENTRIES else PIVOTS_USUAL
    share = max(1.0, (size / 250_000) ** 0.6)
    return int(min(most, 2.5 * share) * (network.size + np.sum(instance.shape)))
