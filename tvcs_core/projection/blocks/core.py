"""The core of a V in blocks: listed by the blocks, settled by the simplex of `project`, proved."""

from __future__ import annotations

import numpy as np

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.blocks import kernels
from tvcs_core.projection.blocks.questions import AllBits
from tvcs_core.projection.blocks.support import FindViolators, Kept, ListNear, NearBlock, Wrong
from tvcs_core.projection.blocks.whole import Whole
from tvcs_core.projection.exact import Near
from tvcs_core.projection.exact.core import Core
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.exact.prices import by_col, by_row, sweep
from tvcs_core.projection.kernels import start
from tvcs_core.projection.kernels.records import (
    Candidates,
    Counts,
    Floats,
    Grid,
    Ints,
    Listed,
    Prices,
)

PER_ENTRY = 200  # bytes that an entry of the core takes at most, the simplex included
WIDENED = 6  # times the band grows before all entries are taken for the core


class BlockNetwork(CoreNetwork):
    """The network of a core whose other entries are in blocks.

    The core's entries stand in the order of their arrival: those listed first, then violators.
    """

    def __init__(self, blocks: Whole, near: Near, core: Core, values: Floats) -> None:
        self.blocks, self.near = blocks, near
        blocks.instance.candidates = _candidates(values)
        super().__init__(blocks.instance, core, core.kept.copy())

    def violators(self, grid: Grid) -> Listed:
        """The worst entries of all blocks that are on the wrong side; they become candidates.

        Nudged gains are not worth a pass over the blocks: they only prepare the tree.
        """
        if grid.nudged:
            none = np.empty(0, np.int32)
            return Listed(none, none, np.empty(0, np.int64), np.empty(0))
        (n, m), pi, crew = self.i.shape, self.tree.pi, self.blocks.crew
        cols = pi[n : n + m].copy()
        found: list[Wrong] = crew.ask(
            lambda b: FindViolators(self.kept(b), pi[crew.rows(b)].copy(), cols)
        )
        rows = [x.row + crew.rows(b).start for b, x in enumerate(found)]
        row, col = np.concatenate(rows).astype(np.int32), np.concatenate([x.col for x in found])
        values = np.concatenate([self.i.candidates.values, *(x.values for x in found)])
        self.i.candidates = _candidates(values.astype(np.float64))
        self.keep = np.concatenate([self.keep, *(x.keep for x in found)])
        return Listed(row, col, np.arange(self.size, values.size, dtype=np.int64), np.empty(0))

    def kept(self, block: int) -> Kept:
        """Which entries a block keeps."""
        rows, row = self.blocks.crew.rows(block), self.listed.row
        mine = np.flatnonzero((row >= rows.start) & (row < rows.stop))
        place = (row[mine].astype(np.int64) - rows.start) * self.i.shape[1] + self.listed.col[mine]
        order = np.argsort(place)
        near = list_near(self.blocks, self.near, block, 0)
        return Kept(near, place[order], self.keep[mine[order]])

    def whole(self, pi: Ints) -> Ints:
        """Round potentials down to a common unit of all gains, those of the blocks too."""
        costs = self.arcs.cost[self.fixed : self.fixed + self.size, 0]
        bits = int(np.bitwise_or.reduce(costs))
        if bits & 1:
            return pi
        asked = self.blocks.ask(lambda ground, _: AllBits(ground))
        bits |= int(np.bitwise_or.reduce(np.array(asked, np.int64)))
        return pi & -(bits & -bits) if bits else pi


def lay(blocks: Whole, near: Near) -> BlockNetwork:
    """The network of a core near the prices; these are widened until what is above it fits.

    Raises
    ------
    MemoryError
        If the core does not fit into memory.
    """
    have = available_memory()
    most = 2**31 if have is None else have // PER_ENTRY
    for widened in range(1, WIDENED + 2):
        found = _listed(blocks, near, most)
        size = sum(x.col.size for x in found)
        if size > most or not all(x.is_whole for x in found):
            raise MemoryError(
                f"the entries near their prices are more than {most:,}, which is what "
                f"{most * PER_ENTRY / 1e6:,.0f} MB of memory hold"
            )
        network, room = _settled(blocks, near, found)
        if network is not None:
            network.stats |= {"path": "blocks"} | ({"widened": widened - 1} if widened > 1 else {})
            return network
        full_rows, full_cols = np.flatnonzero(room.rows < 0), np.flatnonzero(room.cols < 0)
        near = near.wider(float(widened), full_rows, full_cols)
        if widened == WIDENED:
            near = near.everything()
    raise AssertionError("every entry is in the core")


def _settled(
    blocks: Whole, near: Near, found: list[NearBlock]
) -> tuple[BlockNetwork | None, Counts]:
    """The network of what was found, None if it overfills a group; the room that is left."""
    i, (n, m) = blocks.instance, blocks.shape
    per_row = np.concatenate([x.per_row for x in found])
    row = np.repeat(np.arange(n, dtype=np.int32), per_row)
    col = np.concatenate([x.col for x in found])
    values = np.concatenate([x.values for x in found]).astype(np.float64)
    gains = np.empty(values.size)
    kernels.gains_of_list(row, col, _candidates(values), i.grid, gains)
    listed = Listed(row, col, np.arange(values.size, dtype=np.int64), gains)
    row_load = np.concatenate([x.row_load for x in found]).astype(np.int64)
    col_load = np.sum([x.col_load for x in found], axis=0, dtype=np.int64)
    above = int(row_load.sum())
    room = Counts(i.caps.rows - row_load, i.caps.cols - col_load, i.caps.total - above)
    rows, cols, kept = by_row(listed, n), by_col(listed, m), np.empty(values.size, np.bool_)
    swept = sweep(listed, rows, cols, near.prices, room._replace(total=i.fits - above))
    if not start.settle(listed, rows, cols, swept.prices, room, kept):
        return None, room
    row_load += np.bincount(row[kept], minlength=n)
    col_load += np.bincount(col[kept], minlength=m)
    core = Core(listed, kept, Counts(row_load, col_load, int(row_load.sum())), swept)
    return BlockNetwork(blocks, near, core, values), room


def _listed(blocks: Whole, near: Near, most: int) -> list[NearBlock]:
    return blocks.crew.ask(lambda b: list_near(blocks, near, b, most))


def list_near(blocks: Whole, near: Near, block: int, most: int) -> ListNear:
    """The question that lists what is near the prices."""
    rows, i = blocks.crew.rows(block), blocks.instance
    (u, w, price), band = near.prices, near.band
    prices = Prices(u[rows], np.where(i.closed_col, np.inf, w), price)
    of_block = band._replace(below_rows=band.below_rows[rows], above_rows=band.above_rows[rows])
    return ListNear(blocks.ground(block), prices, of_block, most)


def _candidates(values: Floats) -> Candidates:
    """The core's entries as a list, of which the network asks for values and keys alone."""
    none, keys = np.zeros(1, np.int64), np.zeros(values.size, np.int64)
    return Candidates(values, none, np.empty(0, np.int32), keys, False, True)
