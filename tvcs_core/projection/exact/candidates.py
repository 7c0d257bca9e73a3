"""The instance of an exact projection: candidates, caps, and the grid of the gains."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.records import (
    Candidates,
    Counts,
    EntryList,
    Floats,
    Grid,
    Int32s,
    Ints,
    Prices,
)

MIN_CHECKED_BYTES = 100_000_000  # smaller needs are not compared with the available memory
# Bytes per candidate: share of the core for a table, arrays of a list (docs/method.md, costs).
BYTES_PER_TABLE_ENTRY, BYTES_PER_LIST_ENTRY = 4, 100
# The other thresholds were measured by `python -m benchmarks.speed.families` (docs/method.md).
MIN_FILLED_SHARE = 0.6  # share of nonzero entries below which a list is shorter than the table
LONG_LINE_RATIO = 8  # lines this many times as long as their number are too costly to scan first
MIN_TIED_SHARE = 0.02  # share of equal values in a draw, or of equal neighbours: there are ties
MIN_EQUAL_SHARE = 0.9  # share of equal neighbours: nearly all lines of one side are constant
HASH_RESOLUTION = 2.0**-30  # relative range of values below which the hash would outweigh them


class PricedSupport(NamedTuple):
    """A support, and the prices that bound all others, in units of the gains."""

    mask: NDArray[np.bool_]
    row_duals: Floats
    col_duals: Floats
    total_dual: float
    stats: dict[str, Any]


class Instance:
    """Candidates under binding caps, the grid of their gains, and statistics of both.

    The candidates of groups with cap 0 are 0.

    Attributes
    ----------
    candidates, caps, grid
        Arguments of the kernels.
    scale
        Factor that brings the largest gain into .25 .. 1.
    per_row, per_col
        Numbers of nonzero candidates of each row and of each column.
    open_size, capacity
        Number of nonzero candidates; upper bound on the size of a support.
    row_capacity, col_capacity
        The same bound from the caps of rows alone, and of columns alone.
    has_ties, has_equal_lines
        Whether many values are equal; whether nearly all lines of one side are constant.
    """

    def __init__(
        self, candidates: Candidates, caps: Counts, largest: float, per_row: Ints, per_col: Ints
    ) -> None:
        self.candidates, self.caps = candidates, caps
        self.per_row, self.per_col = per_row, per_col
        factor = scale_of(largest)
        drawn = draw_sizes(candidates.values)
        self.scale = factor * factor if candidates.squared else factor
        self.open_size = int(per_row.sum())
        self.row_capacity = int(np.minimum(per_row, caps.rows).sum())
        self.col_capacity = int(np.minimum(per_col, caps.cols).sum())
        self.capacity = min(caps.total, self.row_capacity, self.col_capacity)
        neighbours = equal_neighbour_share(candidates)
        self.has_ties = neighbours > MIN_TIED_SHARE or tied_share(drawn) > MIN_TIED_SHARE
        self.has_equal_lines = neighbours > MIN_EQUAL_SHARE
        nudged = self.has_ties and not is_below_hash(drawn)
        self.grid = Grid(factor, grid_steps(candidates, caps), nudged)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.caps.rows.size, self.caps.cols.size

    @property
    def is_filled(self) -> bool:
        """Whether it is a table that a list would not shorten."""
        return (
            self.candidates.dense
            and self.open_size >= MIN_FILLED_SHARE * self.candidates.values.size
        )

    @property
    def has_long_lines(self) -> bool:
        """Whether one side is so much longer than the other that scanning its lines is costly."""
        return max(self.shape) > LONG_LINE_RATIO * min(self.shape)


@lru_cache(maxsize=8)
def layout(n: int, m: int) -> tuple[Ints, Int32s, Ints]:
    """Return row starts, columns and empty keys of a table of this shape; shared, never written."""
    return np.arange(n + 1, dtype=np.int64) * m, np.arange(m, dtype=np.int32), np.empty(0, np.int64)


def table_of(values: Floats, squared: bool) -> Candidates:
    """Return the entries of a contiguous (n, m) matrix as candidates."""
    return Candidates(values.reshape(-1), *layout(*values.shape), True, squared)


def rows_of(candidates: Candidates) -> Int32s:
    """Return the row of each position of a list; nothing for a table."""
    if candidates.dense:
        return np.empty(0, np.int32)
    lengths = np.diff(candidates.start)
    return np.repeat(np.arange(lengths.size, dtype=np.int32), lengths)


def opened(candidates: Candidates, caps: Counts) -> Candidates:
    """Return the candidates with zeros for those whose row or column has cap 0."""
    if caps.rows.all() and caps.cols.all():
        return candidates
    values = candidates.values.copy()
    if candidates.dense:
        close(values.reshape(caps.rows.size, caps.cols.size), caps.rows, caps.cols)
    else:
        values[(caps.rows == 0)[rows_of(candidates)] | (caps.cols == 0)[candidates.columns]] = 0.0
    return candidates._replace(values=values)


def close(table: Floats, row_caps: Ints, col_caps: Ints) -> None:
    """Set the entries of groups with cap 0 to 0, in the table itself."""
    table[row_caps == 0] = 0.0
    table[:, col_caps == 0] = 0.0


def price_closed(candidates: Candidates, caps: Counts, prices: Prices) -> None:
    """Set the prices of groups with cap 0 to the value of their best entry."""
    if not (caps.rows.all() and caps.cols.all()):
        prices.rows[caps.rows == 0], prices.cols[caps.cols == 0] = 0.0, 0.0
        table.close_duals(candidates, caps, prices)


class _Writeable:
    """Presents an array as writeable: kernels have one signature, and never write to inputs."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def writeable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, or a view of it that is not marked read-only."""
    return array if array.flags.writeable else np.asarray(_Writeable(array))


def scaled_gains(instance: Instance, values: Floats) -> Floats:
    """Return the scaled gains of some values."""
    gains = values * instance.grid.factor
    return np.square(gains, out=gains) if instance.candidates.squared else gains


def draw_sizes(values: Floats) -> Floats:
    """Draw some 2,000 values; return the sorted sizes of the nonzero ones."""
    drawn = np.abs(values[:: values.size // 2000 + 1])
    return np.sort(drawn[drawn > 0.0])


def tied_share(drawn: Floats) -> float:
    """Return the share of a sorted draw that equals its predecessor."""
    return float(np.count_nonzero(drawn[1:] == drawn[:-1])) / max(1, drawn.size)


def is_below_hash(drawn: Floats) -> bool:
    """Return whether the values of a sorted draw differ by less than the hash would change them."""
    return bool(drawn.size) and 0.0 < drawn[-1] - drawn[0] < HASH_RESOLUTION * drawn[-1]


def equal_neighbour_share(candidates: Candidates) -> float:
    """Return the share of sampled table entries that equal the next in their row or column.

    A draw may hold only one entry of each line, and then miss that the lines are constant.
    """
    values, step = candidates.values, candidates.values.size // 2000 + 1
    if not candidates.dense:
        return 0.0
    most = 0.0
    for apart in (1, candidates.columns.size):  # distance to the next column, to the next row
        here, there = values[: values.size - apart : step], values[apart::step]
        equal = np.count_nonzero((here == there) & (here != 0.0))
        most = max(most, equal / max(1, here.size))
    return most


def scale_of(largest: float) -> float:
    """Return the power of two that brings the size of the largest value into .5 .. 1."""
    return math.ldexp(1.0, -min(max(math.frexp(largest)[1], -1000), 1000))


def grid_steps(candidates: Candidates, caps: Counts) -> float:
    """Return the number of grid steps in the largest gain (or in twice that).

    A path of the tree has at most one more cost of either sign than the shorter side has groups.
    The grid is chosen so that no potential, a sum along a path, overflows int64. The extra group
    of a list does not count, so that a matrix and the list of its entries share their grid.
    """
    return grid_steps_for(min(caps.rows.size, caps.cols.size) - (not candidates.dense))


def grid_steps_for(shorter: int) -> float:
    """Return the number of grid steps for a shorter side of so many groups."""
    return 2.0 ** min(56, 60 - (shorter + 2).bit_length())


def estimate_memory(size: int, of_each: int) -> int:
    """Return the bytes that `size` candidates are likely to need beyond the input.

    `of_each` is the need per candidate, without its byte in the support mask.
    """
    return size + of_each * size + 10_000_000


def check_memory(candidates: Candidates, of_each: int | None = None) -> None:
    """Raise MemoryError before the work if the machine has too little memory for it.

    `of_each` (see `estimate_memory`) defaults to the need of the simplex.
    """
    of_each = of_each or (BYTES_PER_TABLE_ENTRY if candidates.dense else BYTES_PER_LIST_ENTRY)
    need = estimate_memory(candidates.values.size, of_each)
    have = available_memory() if need > MIN_CHECKED_BYTES else None
    if have is not None and need > have:
        raise MemoryError(
            f"this projection needs about {need / 1e6:,.0f} MB beyond its input, "
            f"and {have / 1e6:,.0f} MB are available"
        )


def room_for(size: int) -> EntryList:
    """Return undefined entries, for kernels to fill in."""
    row, col = np.empty((2, size), np.int32)
    return EntryList(row, col, np.empty(size, np.int64), np.empty(size))


def extended(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a copy extended to `size`, with undefined new elements."""
    grown = np.empty((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
