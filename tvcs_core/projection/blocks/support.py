"""What blocks are asked about the support: what is near prices, on their wrong side, kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.blocks.block import Block
from tvcs_core.projection.blocks.ground import Ground, Piece
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.records import Band, Int32s, Ints, Listed, Prices, Support

WORST = 32  # violators of a row that join the core in one pass


class NearBlock(NamedTuple):
    """The entries near the prices, row by row; what is kept above them; whether these are all."""

    per_row: Int32s
    col: Int32s
    values: NDArray[Any]
    row_load: Int32s
    col_load: Int32s
    is_whole: bool


@dataclass(frozen=True)
class ListNear:
    """List the entries near the prices; those above them are kept, those below are not.

    `most` entries at most are listed: a block that has more says so.
    """

    ground: Ground
    prices: Prices
    band: Band
    most: int

    def sorted_pieces(self, block: Block) -> Iterator[tuple[Piece, Listed, Support]]:
        """Each piece with what is near of it, by place in the piece, and what is above."""
        ground, size = self.ground, 0
        # Copies: what comes from another process may be read-only, and kernels take no such arrays.
        rows, cols, price = self.prices
        prices = Prices(ground.placed(rows), np.array(cols), price)
        below, above = (ground.placed(x) for x in self.band[:2])
        below_cols, above_cols = (np.array(x) for x in self.band[2:4])
        band = Band(below, above, below_cols, above_cols, *self.band[4:])
        loads = (
            ground.placed(np.zeros(block.shape[0], np.int64)),
            np.zeros(block.shape[1], np.int64),
        )
        for piece in ground.pieces(block):
            size = max(size, piece.candidates.values.size)
            row, col = np.empty(size, np.int32), np.empty(size, np.int32)
            listed = Listed(row, col, np.empty(size, np.int64), np.empty(size))
            keep = np.zeros(size, np.bool_)
            taken = Support(keep[: piece.candidates.values.size], *loads)
            _, n = table.list_band(
                piece.candidates,
                piece.caps,
                ground.grid,
                prices,
                band,
                piece.first,
                taken,
                listed,
                0,
            )
            yield piece, Listed._make(x[:n] for x in listed), taken

    def answer(self, block: Block) -> NearBlock:
        """Go through the block once."""
        per_row, found, values = np.zeros(block.shape[0], np.int64), [], []
        n, is_whole, none = 0, True, np.empty(0, np.int64)
        loads = none, none
        for piece, listed, taken in self.sorted_pieces(block):
            loads = taken.row_load[self.ground.first :], taken.col_load
            n += listed.row.size
            is_whole = is_whole and n <= self.most
            if is_whole:
                per_row += np.bincount(listed.row - self.ground.first, minlength=per_row.size)
                found.append(listed.col.copy())
                values.append(piece.candidates.values[listed.place].astype(_sent(block)))
        if not is_whole:
            found, values = [np.empty(0, np.int32)], [np.empty(0)]
        lists = np.concatenate(found), np.concatenate(values)
        row_load, col_load = (x.astype(np.int32) for x in loads)
        return NearBlock(per_row.astype(np.int32), *lists, row_load, col_load, is_whole)


@dataclass(frozen=True)
class Kept:
    """Which entries a block keeps: those above `near`, but of the core, by place, what `keep` says.

    A place counts the block's entries row by row; they grow.
    """

    near: ListNear
    core: Ints
    keep: NDArray[np.bool_]

    def pieces(self, block: Block) -> Iterator[tuple[Piece, NDArray[np.bool_]]]:
        """Each piece with which of its entries are kept."""
        m = block.shape[1]
        for piece, _, taken in self.near.sorted_pieces(block):
            first, last = ((r - self.near.ground.first) * m for r in piece[:2])
            of_piece = slice(*np.searchsorted(self.core, [first, last]))
            taken.keep[self.core[of_piece] - first] = self.keep[of_piece]
            yield piece, taken.keep


class Wrong(NamedTuple):
    """Entries on the wrong side of the prices: row in the block, column, value, whether kept."""

    row: Int32s
    col: Int32s
    values: NDArray[Any]
    keep: NDArray[np.bool_]


@dataclass(frozen=True)
class FindViolators:
    """Send the worst entries of every row that are kept though their reduced cost says no.

    Or the other way round. `rows` and `cols` are potentials, as pairs of grid steps and tie hash.
    """

    kept: Kept
    rows: Ints
    cols: Ints

    def answer(self, block: Block) -> Wrong:
        """Go through the block once."""
        ground, parts = self.kept.near.ground, []
        rows, grid = ground.placed(self.rows), ground.grid._replace(nudged=False)
        for piece, keep in self.kept.pieces(block):
            pi = np.concatenate([rows[: piece.last], self.cols])
            room = min((piece.last - piece.first) * WORST, keep.size) + WORST
            row, col = np.empty(room, np.int32), np.empty(room, np.int32)
            place = np.empty(room, np.int64)
            listed = Listed(row, col, place, np.empty(0))
            _, n = table.violators(
                piece.candidates, piece.caps, grid, pi, keep, WORST, piece.first, listed, 0,
            )  # fmt: skip
            in_block, place = row[:n] - ground.first, place[:n]
            values = piece.candidates.values[place].astype(_sent(block))
            parts.append((in_block.astype(np.int32), col[:n].copy(), values, keep[place]))
        return Wrong(*(np.concatenate(x) for x in zip(*parts, strict=True)))


class SupportPart(NamedTuple):
    """What is kept of a block, row by row."""

    per_row: Int32s
    col: Int32s
    values: NDArray[Any]


@dataclass(frozen=True)
class SendKept:
    """Send what is kept; without `kept` that is every entry of open groups that is not 0."""

    ground: Ground
    kept: Kept | None

    def answer(self, block: Block) -> SupportPart:
        """Go through the block once."""
        per_row, cols, kept_values = np.zeros(block.shape[0], np.int32), [], []
        for piece, keep in self._pieces(block):
            table_ = keep.reshape(-1, block.shape[1])
            at = slice(piece.first - self.ground.first, piece.last - self.ground.first)
            per_row[at] = np.count_nonzero(table_, axis=1)
            cols.append(np.nonzero(table_)[1].astype(np.int32))
            kept_values.append(piece.candidates.values[keep].astype(_sent(block)))
        return SupportPart(per_row, np.concatenate(cols), np.concatenate(kept_values))

    def _pieces(self, block: Block) -> Iterator[tuple[Piece, NDArray[np.bool_]]]:
        if self.kept is not None:
            yield from self.kept.pieces(block)
            return
        open_cols = self.ground.col_caps > 0
        for piece in self.ground.pieces(block):
            is_open = (piece.caps.rows[piece.first :] > 0)[:, None] & open_cols
            yield piece, (piece.candidates.values != 0.0) & is_open.reshape(-1)


def _sent(block: Block) -> Any:
    """The type in which values are sent: the block's own where it is shorter than float64."""
    return np.float32 if block.dtype == np.float32 else np.float64
