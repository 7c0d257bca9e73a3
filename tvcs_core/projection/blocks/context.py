"""The context that a block needs to answer questions, and its rows as kernel arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.exact.candidates import close
from tvcs_core.projection.kernels.records import Candidates, Counts, Grid, Ints


class RowChunk(NamedTuple):
    """Rows `first` to `last` - 1 of V as kernel arguments, with the rows before them left out."""

    first: int
    last: int
    candidates: Candidates
    caps: Counts


@dataclass(frozen=True)
class BlockContext:
    """The context of a block: its first row, its caps, and the grid of the gains."""

    first: int
    row_caps: Ints
    col_caps: Ints
    total: int
    grid: Grid

    def placed(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Return an array over the block's rows, shifted to their row numbers in V."""
        out = np.zeros((self.first + len(of_rows), *of_rows.shape[1:]), of_rows.dtype)
        out[self.first :] = of_rows
        return out

    def chunks(self, block: Block) -> Iterator[RowChunk]:
        """Yield the block in chunks."""
        m = block.shape[1]
        start = np.zeros(self.first + block.shape[0] + 1, np.int64)
        columns = np.arange(m, dtype=np.int32)
        none = np.empty(0, np.int64)
        row_caps, col_caps = self.placed(self.row_caps), np.array(self.col_caps)
        for at, values in block.chunks():
            close(values, self.row_caps[at : at + len(values)], col_caps)
            first, last = self.first + at, self.first + at + len(values)
            start[first : last + 1] = np.arange(len(values) + 1) * m
            flat = values.reshape(-1)
            candidates = Candidates(flat, start[: last + 1], columns, none, True, True)
            yield RowChunk(first, last, candidates, Counts(row_caps[:last], col_caps, self.total))
