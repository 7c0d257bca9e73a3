"""The search for the best support of a table: shortcuts, warm start, or all steps."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.assigned import bytes_per_entry, is_assignment, solve_assignment
from tvcs_core.projection.exact.candidates import (
    ExactSolution,
    Instance,
    check_memory,
    price_closed,
    writeable,
)
from tvcs_core.projection.exact.closed_forms import closed_form
from tvcs_core.projection.exact.core import NO_OVERFULL_GROUPS, Core, OverfullGroups, build_core
from tvcs_core.projection.exact.cost_scaling import SearchResult, solve_by_cost_scaling
from tvcs_core.projection.exact.dispatch import (
    MAX_MISFIT_CORE,
    MAX_MISFIT_SCALING,
    MAX_MISFIT_SWEEPS,
    can_use_cost_scaling,
    misfit,
    pivot_budget,
    starts_with_cost_scaling,
    sweep_prices,
)
from tvcs_core.projection.exact.listed import solve_list
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import (
    CoreBand,
    first_prices,
    width,
)
from tvcs_core.projection.exact.pruning import prune
from tvcs_core.projection.exact.shortcuts import (
    MAX_SMALL,
    MAX_SMALL_UNIT_CAPS,
    keep_everything,
    keep_nothing,
    solve_small,
)
from tvcs_core.projection.kernels import prices, table
from tvcs_core.projection.kernels.records import Candidates, Counts, Floats, Int32s, Ints, Prices

# Measured by `python -m benchmarks.speed.families`; docs/method.md has the reasons.
STALE_BAND_FACTOR = 3  # a core this many times as large as expected, or as small, is stale
MAX_OVERFULL_INVERSE = 20  # 1 / the share of groups that earlier prices may overfill


def solve_dense(
    values: Floats, row_caps: Ints, col_caps: Ints, total: int, *, squared: bool, warm: Any = None
) -> ExactSolution:
    """Return the best support of an (n, m) matrix of values (of gains, if not `squared`)."""
    candidates = Candidates(writeable(values).reshape(-1), *layout(*values.shape), True, squared)
    caps = Counts(writeable(row_caps), writeable(col_caps), total)
    return solve(candidates, caps, warm, values.shape)


@lru_cache(maxsize=8)
def layout(n: int, m: int) -> tuple[Ints, Int32s, Ints]:
    """Return row starts, columns and zero keys of a table of this shape; shared, never written."""
    return np.arange(n + 1, dtype=np.int64) * m, np.arange(m, dtype=np.int32), np.zeros(m, np.int64)


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
) -> ExactSolution:
    """Return the best support of a list of candidates; label -1 means no group."""
    size = values.size
    row = np.where(row < 0, n_rows, row).astype(np.int32)
    col = np.where(col < 0, n_cols, col).astype(np.int32)
    row_start, order = np.empty(n_rows + 2, np.int64), np.empty(size, np.int32)
    prices.by_column(row, n_rows + 1, row_start, order)
    keys = np.asarray(key, np.int64)[order]
    candidates = Candidates(values[order], row_start, col[order], keys, False, squared)
    # An extra row and column without limits hold the entries that are in no group.
    caps = Counts(
        np.append(row_caps, size).astype(np.int64),
        np.append(col_caps, size).astype(np.int64),
        total,
    )
    result = solve(candidates, caps, warm, values.shape)
    mask = np.empty(size, bool)
    mask[order] = result.mask
    u, w = result.row_duals[:n_rows], result.col_duals[:n_cols]
    return ExactSolution(mask, u, w, result.total_dual, result.warm, result.stats)


def solve(
    candidates: Candidates, caps: Counts, warm: Any = None, shape: tuple[int, ...] | None = None
) -> ExactSolution:
    """Return the best support of the candidates, reshaped to `shape`."""
    size = candidates.values.size
    shape = (size,) if shape is None else shape
    if size <= MAX_SMALL and not (size > MAX_SMALL_UNIT_CAPS and is_assignment(candidates, caps)):
        return solve_small(candidates, caps, shape)
    per_row, per_col = np.zeros(caps.rows.size, np.int64), np.zeros(caps.cols.size, np.int64)
    largest = table.survey(candidates, caps, per_row, per_col)
    if largest == 0.0 or caps.total == 0:
        return keep_nothing(candidates, caps, shape)
    fits = (per_row <= caps.rows).all() and (per_col <= caps.cols).all()
    if fits and per_row.sum() <= caps.total:
        return keep_everything(candidates, caps, shape)
    if is_assignment(candidates, caps):
        check_memory(candidates, bytes_per_entry(caps))
        return solve_assignment(candidates, caps, largest, shape)
    check_memory(candidates)
    instance, mask = Instance(candidates, caps, largest, per_row, per_col), np.zeros(size, bool)
    closed = closed_form(instance, per_row, per_col, mask, shape)
    if closed is not None:
        return closed
    needed = prune(instance, per_row, per_col) if size > MAX_SMALL else None
    if needed is not None:
        return solve_needed(candidates, caps, needed, shape)
    if not candidates.dense:
        return solve_list(instance, mask, shape)
    return read(instance, search(instance, mask, warm), mask.reshape(shape))


def solve_needed(
    candidates: Candidates, caps: Counts, needed: NDArray[np.bool_], shape: tuple[int, ...]
) -> ExactSolution:
    """Return the best support of the candidates among those needed; its prices hold for all."""
    position, values, squared = np.flatnonzero(needed), candidates.values, candidates.squared
    if candidates.dense:
        row, col = np.divmod(position, caps.cols.size)
        key, (n, m) = np.zeros(position.size, np.int64), (caps.rows.size, caps.cols.size)
        found = solve_edges(
            row, col, key, values[position], n, m, caps.rows, caps.cols, caps.total, squared=squared
        )
    else:
        start = np.searchsorted(position, candidates.start)
        columns, keys = candidates.columns[position], candidates.keys[position]
        fewer = Candidates(values[position], start, columns, keys, False, squared)
        found = solve(fewer, caps)
    mask = np.zeros(values.size, bool)
    mask[position] = found.mask
    price_closed(candidates, caps, Prices(*found[1:4]))
    return found._replace(mask=mask.reshape(shape), stats=found.stats | {"needed": position.size})


def search(instance: Instance, mask: NDArray[np.bool_], warm: Any) -> SearchResult:
    """Find and prove a support, from the prices of an earlier result if they are good enough."""
    core_band, begins = None, starts_with_cost_scaling(instance)
    if isinstance(warm, CoreBand) and warm.shape == instance.shape:
        core_band = warm.at_level(instance.level)
    if begins:
        if core_band is not None and misfit(instance, core_band) > MAX_MISFIT_SCALING:
            core_band = None
        found = solve_by_cost_scaling(instance, sweep_prices(instance, core_band), mask)
        if found is not None:
            return found
    return solve_on_core(instance, core_band, mask)


def solve_on_core(
    instance: Instance, warm: CoreBand | None, mask: NDArray[np.bool_]
) -> SearchResult:
    """Run the simplex on a core while it is expected to finish before cost scaling would."""
    can_scan = can_use_cost_scaling(instance)
    # The misfit of earlier prices is not measured for lists.
    off, guess = 0.0, None
    if warm is not None and instance.candidates.dense:
        off = misfit(instance, warm)
        guess = warm.prices if off <= MAX_MISFIT_SWEEPS else None
    if warm is not None and off <= MAX_MISFIT_CORE:
        core = warm_core(instance, warm, mask)
        if isinstance(core, Core):
            network = CoreNetwork(instance, core, mask)
            network.stats |= {"path": "simplex"}
            budget = pivot_budget(instance, network) if can_scan else None
            if network.prove(give_up=True, budget=budget):
                return simplex_result(network, warm)
        elif core.size:
            guess = None
    network, core_band = feasible_network(instance, first_prices(instance, solve, guess), mask)
    if not network.prove(budget=pivot_budget(instance, network) if can_scan else None):
        found = solve_by_cost_scaling(instance, core_band, mask)
        if found is not None:
            return found
        network.prove()
    return simplex_result(network, core_band)


def simplex_result(network: CoreNetwork, core_band: CoreBand) -> SearchResult:
    """Return the result of a finished simplex."""
    return SearchResult(network.duals(), core_band, network.stats)


def feasible_network(
    instance: Instance, core_band: CoreBand, mask: NDArray[np.bool_]
) -> tuple[CoreNetwork, CoreBand]:
    """Return the network of a core near the prices, and its band.

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
    return network, core_band


def expected_core_size(n: int, m: int) -> int:
    """Return the expected size of a core about good prices: some ranks around each threshold."""
    return 2 * (n * width(m) + m * width(n))


def warm_core(
    instance: Instance, core_band: CoreBand, mask: NDArray[np.bool_]
) -> Core | OverfullGroups:
    """Return the core near the prices of an earlier result, or the groups that they overfill.

    Returns no overfull groups if the old band is useless: values may have shrunk or grown, so that
    it holds most of the table or next to nothing.
    """
    usual = expected_core_size(*instance.shape) if instance.candidates.dense else 0
    most = STALE_BAND_FACTOR * usual or None  # no limit for lists
    core = build_core(instance, core_band, mask, most)
    max_overfull = sum(instance.shape) // MAX_OVERFULL_INVERSE
    if isinstance(core, OverfullGroups) and 0 < core.size < max_overfull:
        core = build_core(instance, core_band.widened(1.0, core.rows, core.cols), mask, most)
    if isinstance(core, Core):
        filled = instance.open_size / instance.candidates.values.size
        if STALE_BAND_FACTOR * core.listed.row.size < filled * usual:
            return NO_OVERFULL_GROUPS
    return core


def read(instance: Instance, found: SearchResult, mask: NDArray[np.bool_]) -> ExactSolution:
    """Return the solution, with the warm start of the next one."""
    (u, w, price), last, scale = found.prices, found.core_band, instance.scale
    warm = CoreBand(found.prices, last.band, instance.level)
    u, w, price = u / scale, w / scale, price / scale
    price_closed(instance.candidates, instance.caps, Prices(u, w, price))
    return ExactSolution(mask, u, w, price, warm, found.stats)
