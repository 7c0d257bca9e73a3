"""The exact projection: drivers over the kernels, in the order of docs/method.md.

Maximises sum(gain * x) over x in {0, 1} with caps on rows, columns and the total, and proves it by
prices. `candidates` says what is solved, `shortcuts` what needs no search, `prices` where the
search begins, `core` which entries it looks at, `network` how they are settled and the rest is
checked, and `search` puts these together.
"""

from tvcs_core.projection.exact.assigned import are_ones
from tvcs_core.projection.exact.candidates import Exact, steps_for, writeable
from tvcs_core.projection.exact.prices import Near
from tvcs_core.projection.exact.search import solve_dense, solve_edges
from tvcs_core.projection.exact.shortcuts import SMALL, SMALL_ONES

__all__ = [
    "SMALL",
    "SMALL_ONES",
    "Exact",
    "Near",
    "are_ones",
    "solve_dense",
    "solve_edges",
    "steps_for",
    "writeable",
]
