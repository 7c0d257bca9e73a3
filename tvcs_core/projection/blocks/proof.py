"""Measurement of objective and gap of a block, using NumPy and the definition only.

It shares no kernel with the search, and takes the support as rows and columns. A block reads its
entries again and sends three sums and a count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.blocks.readers import BlockReaders

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BlockProof(NamedTuple):
    """Objective and slack of a block's part of the support.

    Attributes
    ----------
    objective
        Sum of the squares in the support.
    slack
        Positive surplus of entries outside the support, plus negative surplus of those in it.
    surplus
        Positive surplus of all entries: gains above their prices.
    wrong
        Number of support entries whose value differs from the block.
    """

    objective: float
    slack: float
    surplus: float
    wrong: int


@dataclass(frozen=True)
class ProveBlock:
    """Compare every entry of a block with the prices of its groups.

    Attributes
    ----------
    row_duals, col_duals, total_dual
        Prices of the block's rows, of all columns and of the total.
    rows, cols, values
        The support: row in the block (sorted), column and value.
    """

    row_duals: Floats
    col_duals: Floats
    total_dual: float
    rows: Ints
    cols: Ints
    values: Floats

    def answer(self, block: Block) -> BlockProof:
        """Read the block once and return its sums."""
        objective, slack, surplus, wrong = [], [], [], 0
        charged = self.row_duals + self.total_dual
        for first, values in block.chunks():
            last = first + len(values)
            part = slice(*np.searchsorted(self.rows, [first, last]))
            at = self.rows[part] - first, self.cols[part]
            wrong += int(np.count_nonzero(values[at] != self.values[part]))
            gains = np.square(values, out=values)
            objective.append(math.fsum(gains[at].tolist()))
            gains -= charged[first:last, None]
            gains -= self.col_duals
            of_kept = gains[at]
            beyond = np.maximum(gains, 0.0, out=gains)
            surplus.append(float(beyond.sum()))
            beyond[at] = np.maximum(-of_kept, 0.0)
            slack.append(float(beyond.sum()))
        return BlockProof(math.fsum(objective), math.fsum(slack), math.fsum(surplus), wrong)


def prove_support(
    readers: BlockReaders,
    rows: Ints,
    cols: Ints,
    values: Floats,
    duals: tuple[Floats, Floats, float],
) -> list[BlockProof]:
    """Ask all blocks to compare a support, listed row by row, with the prices in `duals`."""
    u, w, price = duals

    def prove(block: int) -> ProveBlock:
        of_block = readers.rows(block)
        at = slice(*np.searchsorted(rows, [of_block.start, of_block.stop]))
        return ProveBlock(u[of_block], w, price, rows[at] - of_block.start, cols[at], values[at])

    return readers.ask(prove)
