"""Instances that need no search: small tables, and supports of everything or nothing."""

import numpy as np

from tvcs_core.projection.exact.candidates import (
    PricedSupport,
    are_closed,
    grid_steps,
    price_closed,
)
from tvcs_core.projection.kernels import small
from tvcs_core.projection.kernels.few.solve import has_few_lines
from tvcs_core.projection.kernels.records import Candidates, Counts, Prices

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
        return keep_nothing(candidates, caps)
    unit = 1.0 / (steps * (factor * factor if candidates.squared else factor))
    u *= unit
    w *= unit
    price *= unit
    price_closed(candidates, caps, Prices(u, w, price))
    return PricedSupport(mask, u, w, price, {"path": "small", "sent": status})


def keep_everything(candidates: Candidates, caps: Counts) -> PricedSupport:
    """Return all open nonzero entries, which fit into the caps."""
    mask = candidates.values != 0.0
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    if not (caps.rows.all() and caps.cols.all()):
        mask &= ~are_closed(candidates, caps)
    price_closed(candidates, caps, Prices(u, w, 0.0))
    return PricedSupport(mask, u, w, 0.0, {"path": "everything"})


def keep_nothing(candidates: Candidates, caps: Counts) -> PricedSupport:
    """Return the empty support: no entry may be kept, or none has a gain."""
    values, price = candidates.values, 0.0
    u, w = np.zeros(caps.rows.size), np.zeros(caps.cols.size)
    if caps.total > 0:
        price_closed(candidates, caps, Prices(u, w, price))
    elif values.size:
        price = float(np.max(np.abs(values)))
        price = price * price if candidates.squared else price
    return PricedSupport(np.zeros(values.size, bool), u, w, price, {"path": "nothing"})
