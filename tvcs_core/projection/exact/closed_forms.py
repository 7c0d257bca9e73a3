"""Caps of one side and of the total have a closed form: the answer if the other side allows it."""

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Exact, Instance
from tvcs_core.projection.kernels import laminar, prices
from tvcs_core.projection.kernels.records import Floats, Ints

SPREAD = 4.0  # standard deviations that a random load stays below


def closed_form(
    i: Instance, per_row: Ints, per_col: Ints, keep: NDArray[np.bool_], shape: tuple[int, ...]
) -> Exact | None:
    """Best entries under the caps of rows and total, or of columns and total; None if too many.

    Tried where the other side's caps cannot bind, or would not bind if entries fell at random.
    Fills in `keep`, or leaves it empty.
    """
    if i.closed_row.any() or i.closed_col.any():
        return None
    for by_rows in (True, False):
        rows, cols = (i.caps.rows, per_row), (i.caps.cols, per_col)
        (caps, counts), (across, counts_across) = (rows, cols) if by_rows else (cols, rows)
        most = min(i.caps.total, int(np.minimum(caps, counts).sum()))
        if not are_loose(across, counts_across, most / across.size):
            continue
        others, total_other = keep_lines(i, by_rows, keep)
        if (loads(i, keep, not by_rows) <= across).all():
            return read(i, by_rows, others, total_other, keep.reshape(shape))
        keep[:] = False
    return None


def are_loose(caps: Ints, counts: Ints, load: float) -> bool:
    """Whether no cap is likely to bind where every group is to hold `load` entries."""
    return bool(((caps >= counts) | (caps >= load + SPREAD * np.sqrt(load) + 1.0)).all())


def keep_lines(i: Instance, by_rows: bool, keep: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Keep the best entries; return the best gain that each line and the total left out."""
    candidates, (n, m), none = i.candidates, i.shape, np.empty(0, np.int32)
    start, order, apart, row_of = candidates.start, none, 1, none
    if candidates.dense:
        start = np.append(np.arange(n) * m, m) if by_rows else np.append(np.arange(m), n)
        apart = 1 if by_rows else m
    else:
        row_of = np.repeat(np.arange(n, dtype=np.int32), np.diff(candidates.start))
        order = np.arange(candidates.values.size, dtype=np.int32)
        if not by_rows:
            start = np.empty(m + 1, np.int64)
            prices.by_column(candidates.columns, m, start, order)
    caps = i.caps.rows if by_rows else i.caps.cols
    others, what = np.empty(caps.size), (candidates, row_of, i.grid)
    laminar.keep_best_of_lines(*what, start, order, apart, caps, keep, others)
    n_kept, other = int(np.count_nonzero(keep)), 0.0
    if n_kept > i.caps.total:
        other = laminar.keep_best_of_kept(*what, i.caps.total, n_kept, keep)
    return others, other


def loads(i: Instance, keep: NDArray[np.bool_], of_rows: bool) -> Ints:
    """How many entries each row or each column keeps."""
    n, m = i.shape
    if i.candidates.dense:
        return np.count_nonzero(keep.reshape(n, m), axis=1 if of_rows else 0)
    if of_rows:
        return np.bincount(np.repeat(np.arange(n), np.diff(i.candidates.start))[keep], minlength=n)
    return np.bincount(i.candidates.columns[keep], minlength=m)


def read(
    i: Instance, by_rows: bool, others: Floats, other: float, keep: NDArray[np.bool_]
) -> Exact:
    """The result: every cap is worth the best gain that it leaves out."""
    n, m = i.shape
    unit = 1.0 / (i.grid.steps * i.scale)
    lines, price = np.maximum(others - other, 0.0) * unit, other * unit
    u, w = (lines, np.zeros(m)) if by_rows else (np.zeros(n), lines)
    return Exact(keep, u, w, price, None, {"path": "closed form"})
