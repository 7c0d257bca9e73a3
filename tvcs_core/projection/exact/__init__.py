"""The exact projection: drivers of the kernels, in the order of docs/method.md.

Maximises sum(gain * x) over x in {0, 1} with caps on rows, columns and the total, and proves the
result by prices. `candidates` defines the instance, and `shortcuts` handles instances that need no
search. `prices` computes first prices, and `core` lists the entries near them. `network` runs the
simplex on these and checks the rest. `search` combines all steps.
"""

from tvcs_core.projection.exact.assigned import are_all_ones
from tvcs_core.projection.exact.candidates import PricedSupport, grid_steps_for, writeable
from tvcs_core.projection.exact.prices import CoreBand
from tvcs_core.projection.exact.search import solve_dense, solve_edges
from tvcs_core.projection.exact.shortcuts import MAX_SMALL, MAX_SMALL_UNIT_CAPS, is_small_table

__all__ = [
    "MAX_SMALL", "MAX_SMALL_UNIT_CAPS", "CoreBand", "PricedSupport", "are_all_ones",
    "grid_steps_for", "is_small_table", "solve_dense", "solve_edges", "writeable",
]  # fmt: skip
