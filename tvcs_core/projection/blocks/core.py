"""The core of a V in blocks: listed by the blocks, solved by the simplex of `project`."""

from __future__ import annotations

from functools import partial

import numpy as np

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.blocks import kernels
from tvcs_core.projection.blocks.blocked_problem import BlockedProblem
from tvcs_core.projection.blocks.questions import AllBits
from tvcs_core.projection.blocks.support import (
    BlockSupport,
    CoreBlock,
    FindViolators,
    ListCore,
    Violators,
)
from tvcs_core.projection.exact import CoreBand
from tvcs_core.projection.exact.core import Core, OverfullGroups, fitted_core
from tvcs_core.projection.exact.network import CoreNetwork
from tvcs_core.projection.kernels.records import Candidates, EntryList, Floats, Grid, Ints, Prices

BYTES_PER_CORE_ENTRY = 200  # bytes of a core entry at most, arcs of the simplex included
MAX_WIDENINGS = 6  # of the band before all entries are taken into the core


class BlockNetwork(CoreNetwork):
    """The network of a core whose other entries are in blocks.

    Core entries are in the order of their arrival: first the listed ones, then violators.
    """

    def __init__(
        self, problem: BlockedProblem, core_band: CoreBand, core: Core, values: Floats
    ) -> None:
        self.problem, self.core_band = problem, core_band
        problem.instance.candidates = _candidates(values)
        super().__init__(problem.instance, core, core.kept.copy())

    def violators(self, grid: Grid) -> EntryList:
        """Return the worst violating entries of all blocks and add them to the candidates.

        Nudged gains only prepare the tree and are not worth a pass over the blocks.
        """
        if grid.nudged:
            none = np.empty(0, np.int32)
            return EntryList(none, none, np.empty(0, np.int64), np.empty(0))
        (n, m), pi, readers = self.instance.shape, self.tree.pi, self.problem.readers
        cols = pi[n : n + m].copy()
        found: list[Violators] = readers.ask(
            lambda b: FindViolators(self.support_of(b), pi[readers.rows(b)].copy(), cols)
        )
        rows = [x.row + readers.rows(b).start for b, x in enumerate(found)]
        row, col = np.concatenate(rows).astype(np.int32), np.concatenate([x.col for x in found])
        values = np.concatenate([self.instance.candidates.values, *(x.values for x in found)])
        self.instance.candidates = _candidates(values.astype(np.float64))
        self.mask = np.concatenate([self.mask, *(x.mask for x in found)])
        return EntryList(row, col, np.arange(self.size, values.size, dtype=np.int64), np.empty(0))

    def support_of(self, block: int) -> BlockSupport:
        """Return the support of one block."""
        rows, row = self.problem.readers.rows(block), self.listed.row
        mine = np.flatnonzero((row >= rows.start) & (row < rows.stop))
        m = self.instance.shape[1]
        position = (row[mine].astype(np.int64) - rows.start) * m + self.listed.col[mine]
        order = np.argsort(position)
        question = core_question(self.problem, self.core_band, 0, block)
        return BlockSupport(question, position[order], self.mask[mine[order]])

    def round_to_unit(self, pi: Ints) -> Ints:
        """Round potentials down to the common unit of all gains, including those in blocks."""
        costs = self.arcs.cost[self.fixed : self.fixed + self.size, 0]
        bits = int(np.bitwise_or.reduce(costs))
        if bits & 1:
            return pi
        asked = self.problem.ask(lambda context, _: AllBits(context))
        bits |= int(np.bitwise_or.reduce(np.array(asked, np.int64)))
        return pi & -(bits & -bits) if bits else pi


def feasible_network(problem: BlockedProblem, core_band: CoreBand) -> BlockNetwork:
    """Return the network of a core near the prices, with the band widened until it is feasible."""
    have = available_memory()
    most = 2**31 if have is None else have // BYTES_PER_CORE_ENTRY
    for widened in range(1, MAX_WIDENINGS + 2):
        found: list[CoreBlock] = problem.readers.ask(
            partial(core_question, problem, core_band, most)
        )
        size = sum(x.col.size for x in found)
        if size > most or not all(x.is_whole for x in found):
            raise MemoryError(
                f"more than {most:,} entries are near their prices, and memory of "
                f"{most * BYTES_PER_CORE_ENTRY / 1e6:,.0f} MB holds no more"
            )
        values = np.concatenate([x.values for x in found]).astype(np.float64)
        core = _first_core(problem, core_band, found, values)
        if isinstance(core, Core):
            network = BlockNetwork(problem, core_band, core, values)
            network.stats |= {"path": "blocks"} | ({"widened": widened - 1} if widened > 1 else {})
            return network
        core_band = core_band.widened(float(widened), core.rows, core.cols)
        if widened == MAX_WIDENINGS:
            core_band = core_band.unbounded()
    raise AssertionError("every entry is in the core")


def _first_core(
    problem: BlockedProblem, core_band: CoreBand, found: list[CoreBlock], values: Floats
) -> Core | OverfullGroups:
    """Fit a first support among the entries that the blocks have listed; `values` are theirs."""
    instance, n = problem.instance, problem.shape[0]
    per_row = np.concatenate([x.per_row for x in found])
    row = np.repeat(np.arange(n, dtype=np.int32), per_row)
    col = np.concatenate([x.col for x in found])
    gains = np.empty(values.size)
    kernels.gains_of_list(row, col, _candidates(values), instance.grid, gains)
    listed = EntryList(row, col, np.arange(values.size, dtype=np.int64), gains)
    row_load = np.concatenate([x.row_load for x in found]).astype(np.int64)
    col_load: Ints = np.sum([x.col_load for x in found], axis=0, dtype=np.int64)
    return fitted_core(instance, core_band, listed, row_load, col_load)


def core_question(problem: BlockedProblem, core_band: CoreBand, most: int, block: int) -> ListCore:
    """Return the question that lists the entries of a block near the prices."""
    rows = problem.readers.rows(block)
    (u, w, price), band = core_band.prices, core_band.band
    prices = Prices(u[rows], w, price)
    of_block = band._replace(below_rows=band.below_rows[rows], above_rows=band.above_rows[rows])
    return ListCore(problem.context(block), prices, of_block, most)


def _candidates(values: Floats) -> Candidates:
    """Return the core entries as a list; the network uses only its values."""
    none = np.zeros(1, np.int64)
    return Candidates(values, none, np.empty(0, np.int32), none, False, True)
