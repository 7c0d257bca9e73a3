"""The core: entries near their threshold, with a first feasible support among them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact.candidates import Instance, extended, room_for
from tvcs_core.projection.exact.prices import CoreBand, col_lines, row_lines, sweep_list
from tvcs_core.projection.kernels import start, table
from tvcs_core.projection.kernels.records import Counts, EntryList, Ints, Support


@dataclass(frozen=True)
class Core:
    """Listed core entries, their first support, the loads of all groups, and the core band."""

    listed: EntryList
    kept: NDArray[np.bool_]
    load: Counts
    core_band: CoreBand


@dataclass(frozen=True)
class OverfullGroups:
    """Groups overfilled by entries above the core."""

    rows: Ints
    cols: Ints


def build_core(
    instance: Instance, core_band: CoreBand, mask: NDArray[np.bool_]
) -> Core | OverfullGroups:
    """List the entries near the prices, and fit a first support into the caps."""
    n, m = instance.shape
    taken = Support(mask, np.zeros(n, np.int64), np.zeros(m, np.int64))
    listed = list_core_entries(instance, core_band, taken)
    core = fitted_core(instance, core_band, listed, taken.row_load, taken.col_load)
    if isinstance(core, Core):
        mask[listed.position] = core.kept
    return core


def fitted_core(
    instance: Instance, core_band: CoreBand, listed: EntryList, row_load: Ints, col_load: Ints
) -> Core | OverfullGroups:
    """Fit a first support among the listed entries into what the loads above the core leave."""
    n, m = instance.shape
    rows, cols = row_lines(listed, n), col_lines(listed, m)
    above = int(row_load.sum())
    row_caps, col_caps, total = instance.caps
    room = Counts(row_caps - row_load, col_caps - col_load, total - above)
    wanted = room._replace(total=instance.capacity - above)
    swept = sweep_list(listed, rows, cols, core_band.prices, wanted)
    kept = np.empty(listed.row.size, bool)
    if not start.settle(listed, rows, cols, swept.prices, room, kept):
        return OverfullGroups(np.flatnonzero(room.rows < 0), np.flatnonzero(room.cols < 0))
    row_load = row_load + np.bincount(listed.row[kept], minlength=n)
    col_load = col_load + np.bincount(listed.col[kept], minlength=m)
    return Core(listed, kept, Counts(row_load, col_load, int(row_load.sum())), swept)


def list_core_entries(instance: Instance, core_band: CoreBand, taken: Support) -> EntryList:
    """List the entries near the prices and keep those above."""
    size, lines = instance.candidates.values.size, np.diff(instance.candidates.start)
    room = min(size, size // 16 + 4 * int(lines.max()) + 1000)
    listed, near, at, found = room_for(room), (core_band.prices, core_band.band), 0, 0
    while at < instance.shape[0]:
        at, found = table.list_band(
            instance.candidates, instance.grid, *near, at, taken, listed, found
        )
        if at < instance.shape[0]:
            grown = min(size, 2 * listed.row.size)
            listed = EntryList._make(extended(x, grown) for x in listed)
    return EntryList._make(x[:found] for x in listed)
