"""The way from a table to its best support: shortcut, warm start, or all steps."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.assigned import (
    bytes_of_each,
    is_assignment,
    solve_assignment,
)
from tvcs_core.projection.exact.candidates import (
    Exact,
    Instance,
    ask_for_memory,
    price_closed,
    writeable,
)
from tvcs_core.projection.exact.closed_forms import closed_form
from tvcs_core.projection.exact.core import NO_GROUPS, Core, Overfull, build_core
from tvcs_core.projection.exact.dispatch import (
    AT_ALL,
    CLOSE,
    FEW_LEFT,
    SHORT,
    USABLE,
    begins_with_scan,
    block_prices,
    may_scan,
    misfit,
    pivot_budget,
)
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import (
    Near,
    begins_with_rows,
    first_prices,
    full_blocks,
    has_jumps,
    width,
)
from tvcs_core.projection.exact.scan import Found, scan
from tvcs_core.projection.exact.shortcuts import (
    SMALL,
    SMALL_ONES,
    keep_everything,
    keep_nothing,
    solve_small,
)
from tvcs_core.projection.kernels import prices, table
from tvcs_core.projection.kernels.records import (
    Candidates,
    Counts,
    Floats,
    Int32s,
    Ints,
    Prices,
)

MISSING = 1000  # of what fits, as 1 in so many: what first prices may leave out of equal lines
MORE = 6  # times two blocks, at most, that are looked at for it
AWAY = 3  # times the usual size of a core, or one in so many, from which on bands are too old
OVERFULL = 20  # of all groups, as 1 in so many: how many earlier prices may overfill


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
    candidates = Candidates(writeable(values).reshape(-1), *layout(*values.shape), True, squared)
    caps = Counts(writeable(row_caps), writeable(col_caps), total)
    return solve(candidates, caps, warm, values.shape)


@lru_cache(maxsize=8)
def layout(n: int, m: int) -> tuple[Ints, Int32s, Ints]:
    """Where the rows of a table of this shape begin, its columns, and no keys; never written to."""
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
) -> Exact:
    """Find the best support of a list of candidates; label -1 = in no group."""
    size = values.size
    row = np.where(row < 0, n_rows, row).astype(np.int32)
    col = np.where(col < 0, n_cols, col).astype(np.int32)
    row_start, order = np.empty(n_rows + 2, np.int64), np.empty(size, np.int32)
    prices.by_column(row, n_rows + 1, row_start, order)
    keys = np.asarray(key, np.int64)[order]
    candidates = Candidates(values[order], row_start, col[order], keys, False, squared)
    # One more row and column, with room for all, hold what is in no group.
    caps = Counts(
        np.append(row_caps, size).astype(np.int64),
        np.append(col_caps, size).astype(np.int64),
        total,
    )
    result = solve(candidates, caps, warm, values.shape)
    keep = np.empty(size, bool)
    keep[order] = result.keep
    u, w = result.row_duals[:n_rows], result.col_duals[:n_cols]
    return Exact(keep, u, w, result.total_dual, result.warm, result.stats)


def solve(
    candidates: Candidates, caps: Counts, warm: Any = None, shape: tuple[int, ...] | None = None
) -> Exact:
    """Find the best support of some candidates; `shape` is the support's."""
    size = candidates.values.size
    shape = (size,) if shape is None else shape
    if size <= SMALL and not (size > SMALL_ONES and is_assignment(candidates, caps)):
        return solve_small(candidates, caps, shape)
    per_row, per_col = np.zeros(caps.rows.size, np.int64), np.zeros(caps.cols.size, np.int64)
    largest = table.survey(candidates, caps, per_row, per_col)
    if largest == 0.0 or caps.total == 0:
        return keep_nothing(candidates, caps, shape)
    fits = (per_row <= caps.rows).all() and (per_col <= caps.cols).all()
    if fits and per_row.sum() <= caps.total:
        return keep_everything(candidates, caps, shape)
    if is_assignment(candidates, caps):
        ask_for_memory(candidates, bytes_of_each(caps))
        return solve_assignment(candidates, caps, largest, shape)
    ask_for_memory(candidates)
    instance = Instance(candidates, caps, largest, per_row, per_col)
    keep = np.zeros(size, bool)
    closed = closed_form(instance, per_row, per_col, keep, shape)
    if closed is not None:
        return closed
    return read(instance, search(instance, keep, warm), keep.reshape(shape))


def search(i: Instance, keep: NDArray[np.bool_], warm: Any) -> Found:
    """Find and prove a support, from the prices of an earlier result if they are any good."""
    near, begins = None, begins_with_scan(i)
    if isinstance(warm, Near) and (warm.prices.rows.size, warm.prices.cols.size) == i.shape:
        # Where blocks were nearly right at once, or not asked, earlier prices may be worse.
        near = warm.at_level(i.level) if (warm.left or 0) > FEW_LEFT or not begins else None
    if begins:
        if near is not None and misfit(i, near) > AT_ALL:
            near = None
        found = scan(i, block_prices(i, near), keep, anew=near is None)
        if found is not None:
            # What is tied says little of the same values with noise.
            left = 0 if "ties" in found.stats else found.stats["phases"]
            left = left if near is None else near.left
            return replace(found, near=replace(found.near, left=left))
    return by_core(i, near, keep)


def by_core(i: Instance, warm: Near | None, keep: NDArray[np.bool_]) -> Found:
    """The simplex on a core, as long as it is likely to be done before the scan would be."""
    can_scan = may_scan(i)
    # Of lists it is not asked how far earlier prices are off.
    off = misfit(i, warm) if warm is not None and i.candidates.dense else 0.0
    guess = warm.prices if warm is not None and i.candidates.dense and off <= CLOSE else None
    if warm is not None and off <= USABLE:
        core = from_warm(i, warm, keep)
        if isinstance(core, Core):
            network = CoreNetwork(i, core, keep)
            network.stats |= {"path": "simplex"}
            budget = pivot_budget(i, network) if can_scan else None
            if network.prove(give_up=True, budget=budget):
                return settled(network, warm)
        elif core.size:
            guess = None
    network, near, missing = begin(i, keep, guess)
    if not network.prove(budget=pivot_budget(i, network, missing) if can_scan else None):
        found = scan(i, near, keep)
        if found is not None:
            return found
        network.prove()
    return settled(network, near)


def settled(network: CoreNetwork, near: Near) -> Found:
    """What the simplex has found."""
    return Found(network.duals(), near, network.stats)


def begin(
    i: Instance, keep: NDArray[np.bool_], guess: Prices | None
) -> tuple[CoreNetwork, Near, int]:
    """The network of a core near first prices, and how many entries it lacks of all that fit.

    Where all of a line are worth the same, each of these takes the simplex a hundred pivots. If the
    total binds, more blocks find them.
    """
    network, near, missing = lay(i, first_prices(i, solve, guess), keep)
    if has_jumps(i):
        rows_first = begins_with_rows(i, otherwise=True)
        for _ in range(MORE):
            if missing <= i.fits // MISSING:
                break
            near = full_blocks(i, near.prices, rows_first, count=2)
            network, near, missing = lay(i, near, keep)
    return network, near, missing


def lay(i: Instance, near: Near, keep: NDArray[np.bool_]) -> tuple[CoreNetwork, Near, int]:
    """The network of a core near the prices; these are widened until what is above it fits.

    And how many entries it lacks of all that fit.
    """
    found, widened = build_core(i, near, keep), 0
    while isinstance(found, Overfull):
        widened += 1
        if widened == 3:
            near = near.everything()
        else:
            near = near.wider(float(widened), found.rows, found.cols)
        found = build_core(i, near, keep)
    network = CoreNetwork(i, found, keep)
    network.stats |= {"path": "simplex"} | ({"widened": widened} if widened else {})
    return network, near, i.fits - found.load.total


def usual_core(n: int, m: int) -> int:
    """Entries of a core about prices that are right: some ranks on both sides of each line's."""
    return 2 * (n * width(m) + m * width(n))


def from_warm(i: Instance, near: Near, keep: NDArray[np.bool_]) -> Core | Overfull:
    """The core near the prices of an earlier result, or the groups that these overfill.

    None are overfull if the bands, which are as wide as they were, are of no use: they may hold
    most of a table whose values have shrunk, or next to nothing.
    """
    usual = usual_core(*i.shape) if i.candidates.dense else 0
    most = AWAY * usual or None  # of lists it is not asked
    core = build_core(i, near, keep, most)
    if isinstance(core, Overfull) and 0 < core.size < sum(i.shape) // OVERFULL:
        core = build_core(i, near.wider(1.0, core.rows, core.cols), keep, most)
    if isinstance(core, Core):
        short = near.kept - core.load.total > near.kept // SHORT
        filled = i.open_size / i.candidates.values.size
        if short or AWAY * core.listed.row.size < filled * usual:
            return NO_GROUPS
    return core


def read(i: Instance, found: Found, keep: NDArray[np.bool_]) -> Exact:
    """The result, with what a warm start of the next one needs."""
    prices = found.prices
    warm = Near(prices, found.near.band, i.level, found.near.left, int(keep.sum()))
    u, w, price = prices.rows / i.scale, prices.cols / i.scale, prices.total / i.scale
    price_closed(i.candidates, i.caps, Prices(u, w, price))
    return Exact(keep, u, w, price, warm, found.stats)
