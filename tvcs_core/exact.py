"""The exact projection: a plain driver over the kernels.

Solves max sum(gain * x) over x in {0, 1} with caps on rows, columns and the total. See docs/method.md.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvcs_core.kernels import simplex, table

GRID_BITS = (
    56  # the largest gain is 2^55 .. 2^56 grid steps; potentials have 2^7 times as much room
)


@dataclass(frozen=True)
class Exact:
    """An optimal support with the prices that prove it, in the unit of the gains."""

    keep: np.ndarray
    row_duals: np.ndarray
    col_duals: np.ndarray
    total_dual: float
    warm: Any = None
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """The candidates in row order, dense or as a list; see kernels/table.py."""

    values: np.ndarray
    start: np.ndarray
    columns: np.ndarray
    keys: np.ndarray
    dense: bool
    squared: bool


class _Writeable:
    """Shows a read-only array as a writeable one: kernels have one signature, and write no input."""

    def __init__(self, array: np.ndarray):
        self.array = array
        shown = dict(array.__array_interface__)
        shown["data"] = (shown["data"][0], False)
        self.__array_interface__ = shown


def writeable(array: np.ndarray) -> np.ndarray:
    return array if array.flags.writeable else np.asarray(_Writeable(array))


def solve_dense(
    values: np.ndarray,
    row_caps: np.ndarray,
    col_caps: np.ndarray,
    total: int,
    *,
    squared: bool,
    warm: Any = None,
) -> Exact:
    """The best support of an (n, m) matrix of values (or of gains, if not `squared`)."""
    n, m = values.shape
    candidates = Table(
        writeable(values).reshape(-1),
        np.arange(n + 1, dtype=np.int64) * m,
        np.arange(m, dtype=np.int32),
        np.zeros(m, np.int64),
        True,
        squared,
    )
    return solve(candidates, row_caps, col_caps, total, warm, values.shape)


def solve_edges(
    row: np.ndarray,
    col: np.ndarray,
    key: np.ndarray,
    values: np.ndarray,
    n_rows: int,
    n_cols: int,
    row_caps: np.ndarray,
    col_caps: np.ndarray,
    total: int,
    *,
    squared: bool,
    warm: Any = None,
) -> Exact:
    """The best support of a list of candidates; label -1 = in no group."""
    size = values.size
    row = np.where(row < 0, n_rows, row)
    col = np.where(col < 0, n_cols, col).astype(np.int32)
    order = np.argsort(row, kind="stable")
    candidates = Table(
        values[order],
        np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows + 1))]).astype(np.int64),
        col[order],
        np.asarray(key, np.int64)[order],
        False,
        squared,
    )
    row_caps = np.append(row_caps, size).astype(np.int64)
    col_caps = np.append(col_caps, size).astype(np.int64)
    result = solve(candidates, row_caps, col_caps, total, warm, values.shape)
    keep = np.empty(size, bool)
    keep[order] = result.keep
    return Exact(
        keep,
        result.row_duals[:n_rows],
        result.col_duals[:n_cols],
        result.total_dual,
        result.warm,
        result.stats,
    )


def solve(candidates: Table, row_caps, col_caps, total, warm, shape) -> Exact:
    t = candidates
    n, m = row_caps.size, col_caps.size
    row_caps, col_caps = writeable(row_caps), writeable(col_caps)
    per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
    largest = table.survey(
        t.values, t.start, t.columns, t.dense, row_caps, col_caps, per_row, per_col
    )
    if t.squared:
        exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
        factor = 2.0**-exponent
    else:
        exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
        factor = 2.0**-exponent
    grid = 2.0**GRID_BITS
    nodes = n + m + 3
    fixed = n + m + 1 + nodes - 1
    n_core = int(per_row.sum()) if total > 0 else 0
    size = fixed + n_core
    tail, head = np.empty(size, np.int32), np.empty(size, np.int32)
    cost = np.zeros((size, 2), np.int64)
    state = np.zeros(size, np.int8)
    flow, cap = np.zeros(size, np.int32), np.zeros(size, np.int32)
    place = np.empty(n_core, np.int64)
    tail[:n], head[:n], cap[:n] = n + m, np.arange(n), row_caps
    tail[n : n + m], head[n : n + m] = np.arange(n, n + m), n + m + 1
    cap[n : n + m] = col_caps
    tail[n + m], head[n + m], cap[n + m] = n + m + 1, n + m, min(total, 2**31 - 1)
    state[: n + m + 1] = cap[: n + m + 1] > 0
    if n_core:
        table.collect(
            t.values, t.start, t.columns, t.keys, t.dense, row_caps, col_caps, factor, grid, t.squared,
            fixed, tail, head, cost, state, flow, cap, place,
        )  # fmt: skip
    tree, pi = np.empty((nodes, 6), np.int32), np.empty((nodes, 2), np.int64)
    simplex.start_tree(nodes, fixed, tail, head, tree, pi, state)
    clock = np.zeros(4, np.int64)
    block = max(30, int(np.sqrt(size)))
    while not simplex.run_simplex(
        size, tail, head, cost, state, flow, cap, tree, pi, clock, block, 10 * nodes, 20_000
    ):
        pass
    keep = np.zeros(t.values.size, bool)
    keep[place] = flow[fixed:] > 0
    unit = 2.0**-GRID_BITS
    back = factor * factor if t.squared else factor
    source, sink = pi[n + m, 0], pi[n + m + 1, 0]
    u = np.maximum(pi[:n, 0] - source, 0) * unit / back
    w = np.maximum(sink - pi[n : n + m, 0], 0) * unit / back
    price = float(max(source - sink, 0) * unit / back)
    u[row_caps == 0], w[col_caps == 0] = 0, 0
    if total == 0:
        u[:], w[:], price = 0, 0, 0.0
        if t.values.size:
            price = float(np.max(np.abs(t.values)))
            price = price * price if t.squared else price
    else:
        table.close_duals(
            t.values, t.start, t.columns, t.dense, row_caps, col_caps, t.squared, u, w, price
        )
    return Exact(keep.reshape(shape), u, w, price, None, {"pivots": int(clock[2]), "core": n_core})
