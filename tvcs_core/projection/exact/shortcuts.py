"""Instances that need no search: small tables, and supports of everything or nothing."""

import numpy as np

from tvcs_core.projection.exact.candidates import PricedSupport, grid_steps
from tvcs_core.projection.kernels import small
from tvcs_core.projection.kernels.few.solve import has_few_lines
from tvcs_core.projection.kernels.records import Candidates, Counts

# Entries up to which one kernel call is no slower than all steps: of any table, of tables without
# few lines, of those that no closed form solves, and with unit caps: larger ones are faster as
# assignments (measured by `python -m benchmarks.speed.families`).
MAX_SMALL = 2_500
MAX_SMALL_TABLE = 22_500
MAX_ONE_CALL = 100_000
MAX_SMALL_UNIT_CAPS = 50


def is_small_table(n: int, m: int) -> bool:
    """Return whether a table of this shape is solved in one kernel call, if its caps are not 1."""
    return n * m <= (MAX_SMALL if has_few_lines(n, m) else MAX_SMALL_TABLE)


def solve_small(candidates: Candidates, caps: Counts) -> PricedSupport | None:
    """Solve a small table in one kernel call; None if that gives up."""
    steps = grid_steps(candidates, caps)
    mask = np.zeros(candidates.values.size, bool)
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    price, factor, status = small.solve_small(candidates, caps, steps, mask, u, w)
    if status < -1:
        return None
    if status < 0:
        return keep_nothing(candidates, caps, 0.0)
    unit = 1.0 / (steps * (factor * factor if candidates.squared else factor))
    u *= unit
    w *= unit
    price *= unit
    return PricedSupport(mask, u, w, price, {"path": "small", "sent": status})


def keep_everything(candidates: Candidates, caps: Counts) -> PricedSupport:
    """Return all nonzero entries, which fit into the caps."""
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    return PricedSupport(candidates.values != 0.0, u, w, 0.0, {"path": "everything"})


def keep_nothing(candidates: Candidates, caps: Counts, price: float) -> PricedSupport:
    """Return the empty support, with a price of the total."""
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    return PricedSupport(np.zeros(candidates.values.size, bool), u, w, price, {"path": "nothing"})
