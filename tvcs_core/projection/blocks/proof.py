"""How far a support and prices are from proving each other optimal: NumPy and the definition alone.

This shares no kernel with what found them, and takes the support as rows and columns. A block reads
its entries again and sends three sums and two facts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks.block import Block


class Proof(NamedTuple):
    """What a block's part of the support is worth, and the slack of its entries.

    Attributes
    ----------
    kept
        Sum of the squares of what is kept.
    slack
        What is worth more than its prices and left out, and what falls short and is kept.
    surplus
        What all entries are worth beyond their prices.
    wrong
        How many kept entries have another value in the block than in the support.
    """

    kept: float
    slack: float
    surplus: float
    wrong: int


@dataclass(frozen=True)
class Prove:
    """Hold every entry of a block against the prices of its groups.

    Attributes
    ----------
    row_duals, col_duals, total_dual
        The prices of the block's rows, of all columns and of the total.
    rows, cols, values
        What is kept: row in the block, which grow, column and value.
    """

    row_duals: NDArray[np.float64]
    col_duals: NDArray[np.float64]
    total_dual: float
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    values: NDArray[np.float64]

    def answer(self, block: Block) -> Proof:
        """Go through the block once."""
        kept, slack, surplus, wrong = [], [], [], 0
        charged = self.row_duals + self.total_dual
        for first, values in block.pieces():
            last = first + len(values)
            part = slice(*np.searchsorted(self.rows, [first, last]))
            at = self.rows[part] - first, self.cols[part]
            wrong += int(np.count_nonzero(values[at] != self.values[part]))
            gains = np.square(values, out=values)
            kept.append(math.fsum(gains[at].tolist()))
            gains -= charged[first:last, None]
            gains -= self.col_duals
            of_kept = gains[at]
            beyond = np.maximum(gains, 0.0, out=gains)
            surplus.append(float(beyond.sum()))
            beyond[at] = np.maximum(-of_kept, 0.0)
            slack.append(float(beyond.sum()))
        return Proof(math.fsum(kept), math.fsum(slack), math.fsum(surplus), wrong)
