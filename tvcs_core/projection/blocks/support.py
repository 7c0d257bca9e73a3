"""Questions to blocks about the support: entries near prices, violators, and the support itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.blocks.context import BlockContext, RowChunk
from tvcs_core.projection.exact.candidates import room_for
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.records import Band, EntryList, Int32s, Ints, Prices, Support

MAX_VIOLATORS_PER_ROW = 32  # that join the core in one pass, as in exact/network.py


class CoreBlock(NamedTuple):
    """Core entries of a block, loads of entries above, and whether the list is complete."""

    per_row: Int32s
    col: Int32s
    values: NDArray[Any]
    row_load: Int32s
    col_load: Int32s
    is_whole: bool


@dataclass(frozen=True)
class ListCore:
    """List the entries near the prices; those above are kept, those below are not.

    A block with more than `most` such entries reports only that.
    """

    context: BlockContext
    prices: Prices
    band: Band
    most: int

    def classified_chunks(self, block: Block) -> Iterator[tuple[RowChunk, EntryList, Support]]:
        """Yield each chunk with its core entries, by position in it, and the entries above."""
        context, size = self.context, 0
        # Copies, since arrays from other processes may be read-only, which kernels do not accept.
        rows, cols, price = self.prices
        prices = Prices(context.placed(rows), np.array(cols), price)
        below, above = (context.placed(x) for x in self.band[:2])
        below_cols, above_cols = (np.array(x) for x in self.band[2:4])
        band = Band(below, above, below_cols, above_cols, *self.band[4:])
        loads = (
            context.placed(np.zeros(block.shape[0], np.int64)),
            np.zeros(block.shape[1], np.int64),
        )
        for chunk in context.chunks(block):
            size = max(size, chunk.candidates.values.size)
            listed = room_for(size)
            mask = np.zeros(size, np.bool_)
            taken = Support(mask[: chunk.candidates.values.size], *loads)
            _, n = table.list_band(
                chunk.candidates, context.grid, prices, band, chunk.first, taken, listed, 0
            )
            yield chunk, EntryList._make(x[:n] for x in listed), taken

    def answer(self, block: Block) -> CoreBlock:
        """Read the block once."""
        per_row, found, values = np.zeros(block.shape[0], np.int64), [], []
        n, is_whole, none = 0, True, np.empty(0, np.int64)
        loads = none, none
        for chunk, listed, taken in self.classified_chunks(block):
            loads = taken.row_load[self.context.first :], taken.col_load
            n += listed.row.size
            is_whole = is_whole and n <= self.most
            if is_whole:
                per_row += np.bincount(listed.row - self.context.first, minlength=per_row.size)
                found.append(listed.col.copy())
                values.append(chunk.candidates.values[listed.position].astype(_sent(block)))
        if not is_whole:
            found, values = [np.empty(0, np.int32)], [np.empty(0)]
        lists = np.concatenate(found), np.concatenate(values)
        row_load, col_load = (x.astype(np.int32) for x in loads)
        return CoreBlock(per_row.astype(np.int32), *lists, row_load, col_load, is_whole)


@dataclass(frozen=True)
class BlockSupport:
    """The support of a block: entries above the core band, and a mask over the core entries.

    Positions count the block's entries row by row, and are sorted.
    """

    question: ListCore
    core: Ints
    mask: NDArray[np.bool_]

    def chunks(self, block: Block) -> Iterator[tuple[RowChunk, NDArray[np.bool_]]]:
        """Yield each chunk with the mask of its support."""
        m = block.shape[1]
        for chunk, _, taken in self.question.classified_chunks(block):
            first, last = ((r - self.question.context.first) * m for r in chunk[:2])
            of_chunk = slice(*np.searchsorted(self.core, [first, last]))
            taken.mask[self.core[of_chunk] - first] = self.mask[of_chunk]
            yield chunk, taken.mask


class Violators(NamedTuple):
    """Violating entries: row in the block, column, value, and whether kept."""

    row: Int32s
    col: Int32s
    values: NDArray[Any]
    mask: NDArray[np.bool_]


@dataclass(frozen=True)
class FindViolators:
    """Send the worst entries of every row whose reduced cost contradicts the support.

    `rows` and `cols` are potentials, as pairs of grid steps and tie hash.
    """

    support: BlockSupport
    rows: Ints
    cols: Ints

    def answer(self, block: Block) -> Violators:
        """Read the block once."""
        context, parts = self.support.question.context, []
        rows, grid = context.placed(self.rows), context.grid._replace(nudged=False)
        for chunk, mask in self.support.chunks(block):
            pi = np.concatenate([rows[: chunk.last], self.cols])
            most = min((chunk.last - chunk.first) * MAX_VIOLATORS_PER_ROW, mask.size)
            listed = room_for(most + MAX_VIOLATORS_PER_ROW)
            _, n = table.violators(
                chunk.candidates, grid, pi, mask, MAX_VIOLATORS_PER_ROW, chunk.first, listed, 0
            )
            row, col, position, _ = (x[:n] for x in listed)
            in_block = row - context.first
            values = chunk.candidates.values[position].astype(_sent(block))
            parts.append((in_block.astype(np.int32), col.copy(), values, mask[position]))
        return Violators(*(np.concatenate(x) for x in zip(*parts, strict=True)))


class SupportPart(NamedTuple):
    """The support of a block, row by row."""

    per_row: Int32s
    col: Int32s
    values: NDArray[Any]


@dataclass(frozen=True)
class SendSupport:
    """Send the support of a block; without `support`, every nonzero entry of open groups."""

    context: BlockContext
    support: BlockSupport | None

    def answer(self, block: Block) -> SupportPart:
        """Read the block once."""
        per_row, cols, kept_values = np.zeros(block.shape[0], np.int32), [], []
        for chunk, mask in self._chunks(block):
            table_ = mask.reshape(-1, block.shape[1])
            at = slice(chunk.first - self.context.first, chunk.last - self.context.first)
            per_row[at] = np.count_nonzero(table_, axis=1)
            cols.append(np.nonzero(table_)[1].astype(np.int32))
            kept_values.append(chunk.candidates.values[mask].astype(_sent(block)))
        return SupportPart(per_row, np.concatenate(cols), np.concatenate(kept_values))

    def _chunks(self, block: Block) -> Iterator[tuple[RowChunk, NDArray[np.bool_]]]:
        if self.support is not None:
            yield from self.support.chunks(block)
            return
        for chunk in self.context.chunks(block):
            yield chunk, chunk.candidates.values != 0.0


def _sent(block: Block) -> Any:
    """Return the dtype in which values are sent: float32 if the block has it, else float64."""
    return np.float32 if block.dtype == np.float32 else np.float64
