"""The way from a table to its best support: shortcut, warm start, or all steps."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.assigned import assigned_core, is_assignment
from tvcs_core.projection.exact.candidates import (
    Exact,
    Floats,
    Instance,
    Ints,
    Table,
    ask_for_memory,
    writeable,
)
from tvcs_core.projection.exact.closed_forms import closed_form
from tvcs_core.projection.exact.core import Core, Overfull, build_core
from tvcs_core.projection.exact.network import Network
from tvcs_core.projection.exact.prices import Prices, first_prices
from tvcs_core.projection.exact.shortcuts import SMALL, keep_everything, keep_nothing, solve_small
from tvcs_core.projection.kernels import prices, table


def solve_dense(
    values: Floats,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    *,
    squared: bool,
    warm: Any = None,
) -> Exact:
    """Find the best support of an (n, m) matrix of values (or of gains, if not `squared`)."""
    n, m = values.shape
    candidates = Table(
        writeable(values).reshape(-1),
        np.arange(n + 1, dtype=np.int64) * m,
        np.arange(m, dtype=np.int32),
        np.zeros(m, np.int64),
        True,
        squared,
        writeable(row_caps),
        writeable(col_caps),
        total,
    )
    return solve(candidates, warm, values.shape)


def solve_edges(
    row: NDArray[Any],
    col: NDArray[Any],
    key: Ints,
    values: Floats,
    n_rows: int,
    n_cols: int,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    *,
    squared: bool,
    warm: Any = None,
) -> Exact:
    """Find the best support of a list of candidates; label -1 = in no group."""
    size = values.size
    row = np.where(row < 0, n_rows, row).astype(np.int32)
    col = np.where(col < 0, n_cols, col).astype(np.int32)
    row_start, order = np.empty(n_rows + 2, np.int64), np.empty(size, np.int32)
    prices.by_column(row, n_rows + 1, row_start, order)
    candidates = Table(
        values[order],
        row_start,
        col[order],
        np.asarray(key, np.int64)[order],
        False,
        squared,
        np.append(row_caps, size).astype(np.int64),
        np.append(col_caps, size).astype(np.int64),
        total,
    )
    result = solve(candidates, warm, values.shape)
    keep = np.empty(size, bool)
    keep[order] = result.keep
    u, w = result.row_duals[:n_rows], result.col_duals[:n_cols]
    return Exact(keep, u, w, result.total_dual, result.warm, result.stats)


def solve(t: Table, warm: Any = None, shape: tuple[int, ...] | None = None) -> Exact:
    """Find the best support of a table; `shape` is the support's."""
    shape = t.values.shape if shape is None else shape
    if t.values.size <= SMALL:
        return solve_small(t, shape)
    n, m = t.shape
    per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
    largest = table.survey(
        t.values, t.start, t.columns, t.dense, t.row_caps, t.col_caps, per_row, per_col
    )
    if largest == 0.0 or t.total == 0:
        return keep_nothing(t, shape)
    if (per_row <= t.row_caps).all() and (per_col <= t.col_caps).all() and per_row.sum() <= t.total:
        return keep_everything(t, shape)
    ask_for_memory(t)
    instance, keep = Instance(t, largest, per_row, per_col), np.zeros(t.values.size, bool)
    closed = closed_form(instance, per_row, per_col, keep, shape)
    if closed is not None:
        return closed
    network, near = search(instance, keep, warm)
    return read(network, near, shape)


def search(i: Instance, keep: NDArray[np.bool_], warm: Any) -> tuple[Network, Prices]:
    """Find and prove a support, from the prices of an earlier result if they are any good."""
    if is_assignment(i):
        core = assigned_core(i, keep)
        network = Network(i, core, keep)
        network.stats |= {"path": "assignment"}
        network.prove()
        return network, core.prices
    if isinstance(warm, Prices) and (warm.rows.size, warm.cols.size) == i.t.shape:
        near = warm.at_level(i.level)
        warmed = from_warm(i, near, keep)
        if warmed is not None:
            return warmed, near
    near = first_prices(i, solve)
    network, near = lay(i, near, keep)
    network.prove()
    return network, near


def lay(i: Instance, near: Prices, keep: NDArray[np.bool_]) -> tuple[Network, Prices]:
    """The network of a core near the prices; these are widened until what is above it fits."""
    found, widened = build_core(i, near, keep), 0
    while isinstance(found, Overfull):
        widened += 1
        if widened == 3:
            near = near.everything()
        else:
            near = near.wider(float(widened), found.rows, found.cols)
        found = build_core(i, near, keep)
    network = Network(i, found, keep)
    network.stats |= {"path": "simplex"} | ({"widened": widened} if widened else {})
    return network, near


def from_warm(i: Instance, near: Prices, keep: NDArray[np.bool_]) -> Network | None:
    """The proven network from the prices of an earlier result; None if they are no good."""
    core = build_core(i, near, keep)
    if isinstance(core, Overfull) and 0 < core.size < sum(i.t.shape) // 5:
        core = build_core(i, near.wider(1.0, core.rows, core.cols), keep)
    if not isinstance(core, Core) or i.fits - int(core.row_load.sum()) > i.fits // 10:
        return None
    network = Network(i, core, keep)
    network.stats |= {"path": "simplex"}
    return network if network.prove(give_up=True) else None


def read(network: Network, near: Prices, shape: tuple[int, ...]) -> Exact:
    """The result of a proven network, with what a warm start of the next one needs."""
    i = network.i
    u, w, price = network.duals()
    warm = replace(near, rows=u, cols=w, total=price, level=i.level)
    u, w, price = u / i.scale, w / i.scale, price / i.scale
    i.t.price_closed(u, w, price)
    return Exact(network.keep.reshape(shape), u, w, price, warm, network.stats)
