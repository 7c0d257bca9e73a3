"""What a block has to know of the whole, and its rows as the kernels take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.kernels.records import Candidates, Counts, Grid, Ints


class Piece(NamedTuple):
    """Rows `first` up to `last` of V as the kernels take them, the rows before them left out."""

    first: int
    last: int
    candidates: Candidates
    caps: Counts


@dataclass(frozen=True)
class Ground:
    """What a block has to know of the whole: its first row, its caps, the grid of the gains."""

    first: int
    row_caps: Ints
    col_caps: Ints
    total: int
    grid: Grid

    def placed(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """What is said of the block's rows, at the numbers that they have in V."""
        out = np.zeros((self.first + len(of_rows), *of_rows.shape[1:]), of_rows.dtype)
        out[self.first :] = of_rows
        return out

    def pieces(self, block: Block) -> Iterator[Piece]:
        """The block piece by piece."""
        m = block.shape[1]
        start = np.zeros(self.first + block.shape[0] + 1, np.int64)
        columns = np.arange(m, dtype=np.int32)
        keys = np.zeros(m, np.int64)
        row_caps, col_caps = self.placed(self.row_caps), np.array(self.col_caps)
        for at, values in block.pieces():
            first, last = self.first + at, self.first + at + len(values)
            start[first : last + 1] = np.arange(len(values) + 1) * m
            flat = values.reshape(-1)
            candidates = Candidates(flat, start[: last + 1], columns, keys, True, True)
            yield Piece(first, last, candidates, Counts(row_caps[:last], col_caps, self.total))
