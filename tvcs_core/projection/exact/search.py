"""The search for the best support of a table: shortcuts, or all steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.assigned import bytes_per_entry, is_assignment, solve_assignment
from tvcs_core.projection.exact.candidates import (
    Instance,
    PricedSupport,
    check_memory,
    opened,
    price_closed,
    table_of,
    writeable,
)
from tvcs_core.projection.exact.closed_forms import closed_form
from tvcs_core.projection.exact.core import OverfullGroups, build_core
from tvcs_core.projection.exact.dispatch import pivot_budget
from tvcs_core.projection.exact.listed import solve_list
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import CoreBand, first_prices
from tvcs_core.projection.exact.pruning import prune
from tvcs_core.projection.exact.shortcuts import (
    MAX_ONE_CALL,
    MAX_SMALL_UNIT_CAPS,
    is_small_table,
    keep_everything,
    keep_nothing,
    solve_small,
)
from tvcs_core.projection.kernels import prices, table
from tvcs_core.projection.kernels.few.solve import has_few_lines
from tvcs_core.projection.kernels.records import Candidates, Counts, Floats, Ints, Prices


def solve_dense(
    values: Floats,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    *,
    squared: bool,
    as_list: bool = False,
) -> PricedSupport:
    """Return the best support of an (n, m) matrix of values (of gains, if not `squared`).

    A table that is nearly empty is solved faster `as_list`.
    """
    candidates = table_of(writeable(values), squared)
    caps = Counts(writeable(row_caps), writeable(col_caps), total)
    if as_list:
        found = solve_needed(candidates, caps, candidates.values != 0.0)
    else:
        found = solve(candidates, caps)
    return found._replace(mask=found.mask.reshape(values.shape))


def solve_edges(
    row: NDArray[Any],
    col: NDArray[Any],
    key: Ints,
    values: Floats,
    row_caps: Ints,
    col_caps: Ints,
    total: int,
    *,
    squared: bool,
) -> PricedSupport:
    """Return the best support of a list of candidates; label -1 means no group."""
    size, n_rows, n_cols = values.size, row_caps.size, col_caps.size
    row, col = row.astype(np.int32), col.astype(np.int32)
    row[row < 0], col[col < 0] = n_rows, n_cols
    row_start, order = np.empty(n_rows + 2, np.int64), np.empty(size, np.int32)
    prices.by_column(row, n_rows + 1, row_start, order)
    at: Any = slice(None) if (row[1:] >= row[:-1]).all() else order
    keys, values = writeable(np.asarray(key, np.int64))[at], writeable(values)[at]
    candidates = Candidates(values, row_start, col[at], keys, False, squared)
    # An extra row and column without limits hold the entries that are in no group.
    caps = Counts(
        np.append(row_caps, size).astype(np.int64),
        np.append(col_caps, size).astype(np.int64),
        total,
    )
    result = solve(candidates, caps)
    mask = np.empty(size, bool)
    mask[at] = result.mask
    u, w = result.row_duals[:n_rows], result.col_duals[:n_cols]
    return PricedSupport(mask, u, w, result.total_dual, result.stats)


def solve(candidates: Candidates, caps: Counts) -> PricedSupport:
    """Return the best support of the candidates.

    The search sees zeros in groups with cap 0, whose prices are set at the end.
    """
    if caps.total == 0:
        largest = float(np.abs(candidates.values).max(initial=0.0))
        price = largest * largest if candidates.squared else largest
        return keep_nothing(candidates, caps, price)
    found = solve_opened(opened(candidates, caps), caps)
    price_closed(candidates, caps, Prices(*found[1:4]))
    return found


def solve_opened(candidates: Candidates, caps: Counts) -> PricedSupport:
    """Return the best support of candidates that are 0 in groups with cap 0."""
    size, n, m = candidates.values.size, caps.rows.size, caps.cols.size
    is_ones = size > MAX_SMALL_UNIT_CAPS and is_assignment(candidates, caps)
    if candidates.dense and is_small_table(n, m) and not is_ones:
        found = solve_small(candidates, caps)
        if found is not None:
            return found
    per_row, per_col = np.zeros(n, np.int64), np.zeros(m, np.int64)
    largest = table.survey(candidates, per_row, per_col)
    if largest == 0.0:
        return keep_nothing(candidates, caps, 0.0)
    fits = (per_row <= caps.rows).all() and (per_col <= caps.cols).all()
    if fits and per_row.sum() <= caps.total:
        return keep_everything(candidates, caps)
    if is_ones:
        check_memory(candidates, bytes_per_entry(caps))
        return solve_assignment(candidates, caps, largest)
    check_memory(candidates)
    instance, mask = Instance(candidates, caps, largest, per_row, per_col), np.zeros(size, bool)
    closed = closed_form(instance, mask)
    if closed is not None:
        return closed
    needed = prune(instance)
    if needed is not None:
        return solve_needed(candidates, caps, needed)
    if not candidates.dense:
        return solve_list(instance, mask)
    is_table = instance.is_filled and not instance.has_long_lines
    if size <= MAX_ONE_CALL and (is_table or has_few_lines(n, m)):
        found = solve_small(candidates, caps)
        if found is not None:
            return found
    return search(instance, mask)


def solve_needed(candidates: Candidates, caps: Counts, needed: NDArray[np.bool_]) -> PricedSupport:
    """Return the best support of the candidates among those needed; its prices hold for all."""
    position, values, squared = np.flatnonzero(needed), candidates.values, candidates.squared
    if candidates.dense:
        row, col = np.divmod(position, caps.cols.size)
        key = np.zeros(position.size, np.int64)
        found = solve_edges(row, col, key, values[position], *caps, squared=squared)
    else:
        start = np.searchsorted(position, candidates.start)
        columns, keys = candidates.columns[position], candidates.keys[position]
        fewer = Candidates(values[position], start, columns, keys, False, squared)
        found = solve_opened(fewer, caps)
    mask = np.zeros(values.size, bool)
    mask[position] = found.mask
    return found._replace(mask=mask, stats=found.stats | {"needed": position.size})


def search(instance: Instance, mask: NDArray[np.bool_]) -> PricedSupport:
    """Find and prove a support, by the simplex on a core or by cost scaling.

    The simplex runs while it is expected to finish before cost scaling would. `mask` is empty.
    """
    candidates, caps, scale = instance.candidates, instance.caps, instance.scale
    network = feasible_network(instance, first_prices(instance, solve), mask)
    if not network.prove(budget=pivot_budget(instance, network)):
        found = solve_small(candidates, caps)
        if found is not None:
            return found
        network.prove()
    u, w, price = network.duals()
    return PricedSupport(mask, u / scale, w / scale, price / scale, network.stats)


def feasible_network(
    instance: Instance, core_band: CoreBand, mask: NDArray[np.bool_]
) -> CoreNetwork:
    """Return the network of a core near the prices.

    The band is widened until the entries above it fit into the caps.
    """
    found, widened = build_core(instance, core_band, mask), 0
    while isinstance(found, OverfullGroups):
        widened += 1
        if widened == 3:
            core_band = core_band.unbounded()
        else:
            core_band = core_band.widened(float(widened), found.rows, found.cols)
        found = build_core(instance, core_band, mask)
    network = CoreNetwork(instance, found, mask)
    network.stats |= {"path": "simplex"} | ({"widened": widened} if widened else {})
    return network
