"""Closed form for the caps of one side and the total, used if the other side's caps allow it."""

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, PricedSupport, rows_of
from tvcs_core.projection.kernels import laminar, prices, table
from tvcs_core.projection.kernels.records import Floats, Ints

LOAD_SD = 4.0  # standard deviations by which a Poisson load is expected to stay below a cap


def closed_form(instance: Instance, mask: NDArray[np.bool_]) -> PricedSupport | None:
    """Solve with the caps of rows and total alone, or of columns and total; None if infeasible.

    Tried only if the other side's caps cannot bind, or would not bind for random entries. Fills in
    `mask`, or leaves it empty.
    """
    for by_rows in (True, False):
        rows = instance.caps.rows, instance.per_row
        cols = instance.caps.cols, instance.per_col
        (caps, counts), (across, counts_across) = (rows, cols) if by_rows else (cols, rows)
        most = min(instance.caps.total, int(np.minimum(caps, counts).sum()))
        if not are_loose(across, counts_across, most / across.size):
            continue
        found = keep_lines(instance, by_rows, caps, mask)
        price = keep_total(instance, mask)
        if (loads(instance, mask, not by_rows) <= across).all():
            return read(instance, by_rows, found, price, mask)
        mask[:] = False
    return None


def are_loose(caps: Ints, counts: Ints, load: float) -> bool:
    """Return whether no cap is likely to bind if every group holds about `load` entries."""
    return bool(((caps >= counts) | (caps >= load + LOAD_SD * np.sqrt(load) + 1.0)).all())


def keep_lines(instance: Instance, by_rows: bool, caps: Ints, mask: NDArray[np.bool_]) -> Floats:
    """Keep the best `caps` entries of each row or column; return prices of these lines."""
    candidates, (n, m), none = instance.candidates, instance.shape, np.empty(0, np.int32)
    start, order, apart = candidates.start, none, 1
    if candidates.dense:
        start = np.append(np.arange(n) * m, m) if by_rows else np.append(np.arange(m), n)
        apart = 1 if by_rows else m
    elif by_rows:
        order = np.arange(candidates.values.size, dtype=np.int32)
    else:
        start, order = np.empty(m + 1, np.int64), np.empty(candidates.values.size, np.int32)
        prices.by_column(candidates.columns, m, start, order)
    found = np.empty(caps.size)
    laminar.keep_best_of_lines(
        candidates, rows_of(candidates), instance.grid, start, order, apart, caps, mask, found
    )
    return found


def keep_total(instance: Instance, mask: NDArray[np.bool_]) -> float:
    """Keep as many of the kept entries as the total allows; return its price."""
    n_kept, total = int(np.count_nonzero(mask)), instance.caps.total
    if n_kept <= total:
        return 0.0
    arguments = (instance.candidates, rows_of(instance.candidates), instance.grid)
    return laminar.keep_best_of_kept(*arguments, total, n_kept, mask)


def loads(instance: Instance, mask: NDArray[np.bool_], of_rows: bool) -> Ints:
    """Return the number of kept entries per row, or per column."""
    candidates, (n, m) = instance.candidates, instance.shape
    if candidates.dense:
        return np.count_nonzero(mask.reshape(n, m), axis=1 if of_rows else 0)
    lines = rows_of(candidates) if of_rows else candidates.columns
    return np.bincount(lines[mask], minlength=n if of_rows else m)


def read(
    instance: Instance, by_rows: bool, found: Floats, total: float, mask: NDArray[np.bool_]
) -> PricedSupport:
    """Return the solution, given the price of every line without the total, and the total's.

    A line pays what its own price is more than the total's. If it is more, the line is full: its
    least kept gain is above the total's price, so the total has dropped none of them. Prices are
    rounded down to the common unit of all gains, which gives integer prices for integer gains.
    """
    (n, m), bits = instance.shape, int(table.all_bits(instance.candidates, instance.grid))
    unit, scale = float(bits & -bits), 1.0 / (instance.grid.steps * instance.scale)
    price = np.floor(total / unit) * unit
    lines = np.maximum(np.floor(found / unit) * unit - price, 0.0) * scale
    u, w = (lines, np.zeros(m)) if by_rows else (np.zeros(n), lines)
    return PricedSupport(mask, u, w, float(price * scale), {"path": "closed form"})
