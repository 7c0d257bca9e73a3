"""What is solved: candidates with their caps, and the numbers in which that is done."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.files.memory import available_memory
from tvcs_core.projection.kernels import table
from tvcs_core.projection.kernels.records import Candidates, Counts, Floats, Grid, Ints, Prices

WORTH_ASKING = 100_000_000  # bytes
OF_TABLE, OF_LIST = 4, 100  # bytes of a candidate: its share of the core, and of lists
SCANNED = 100_000  # entries of a table up to which the scan comes first
FILLED = 0.6  # share of nonzero entries below which lists of them are shorter
LONG = 8  # times the shorter side, beyond which lines are looked at by the scan only if need be
TIED = 0.02  # share of a draw that is equal to another, or of entries to their neighbour: ties
ALIKE = 0.9  # of the latter: nearly all lines of one side are of one value
FINE = 2.0**-30  # of the largest, by less than which all values differ: the hash would drown that
NEVER = np.finfo(float).max  # a price; from a gain beyond all floats inf would leave no number
HEAVY = 100.0  # times the typical one, more than which the mean square of values tells of tails


class Exact(NamedTuple):
    """An optimal support with the prices that prove it, in the unit of the gains."""

    keep: NDArray[np.bool_]
    row_duals: Floats
    col_duals: Floats
    total_dual: float
    warm: Any
    stats: dict[str, Any]


class Instance:
    """Candidates whose caps bind, the grid of their gains, and what is known before the search.

    Attributes
    ----------
    candidates, caps, grid
        As the kernels take them.
    scale
        What gains are multiplied by, so that the largest is in .25 .. 1.
    closed_row, closed_col
        Groups that may keep nothing.
    open_size, fits
        How many candidates are nonzero in open groups; at most so many can be kept.
    fit_rows, fit_cols
        The same if only the caps of rows counted, or only those of columns.
    level
        A typical gain, by which a warm start is brought to this instance's scale.
    spread
        By how much gains differ, by a draw; 0 says no more than that most are equal.
    has_ties, has_equal_lines
        Whether many values are equal; whether nearly all of the lines of one side are.
    has_tails
        Whether a few values are so large that a typical one says nothing of them.
    is_scanned
        Whether the scan is likely to be faster than the simplex.
    """

    def __init__(
        self, candidates: Candidates, caps: Counts, largest: float, per_row: Ints, per_col: Ints
    ) -> None:
        self.candidates, self.caps = candidates, caps
        factor = scale_of(largest)
        drawn = draw(candidates.values)
        self.scale = factor * factor if candidates.squared else factor
        self.closed_row, self.closed_col = caps.rows == 0, caps.cols == 0
        self.open_size = int(per_row.sum())
        self.fit_rows = int(np.minimum(per_row, caps.rows).sum())
        self.fit_cols = int(np.minimum(per_col, caps.cols).sum())
        self.fits = min(caps.total, self.fit_rows, self.fit_cols)
        with np.errstate(over="ignore"):  # in groups that may keep nothing
            mean_square = float(np.square(drawn * factor).mean()) if drawn.size else 0.0
            ends = drawn[[0, -1]] * factor if drawn.size else np.zeros(2)
            self.spread = float(np.ptp(np.square(ends) if candidates.squared else ends))
        typical = float(drawn[drawn.size // 2]) * factor if drawn.size else 0.0
        self.level = typical * typical if candidates.squared else typical
        self.has_tails = mean_square > HEAVY * typical * typical
        is_small = candidates.values.size <= SCANNED
        self.is_scanned = (
            is_small and self.is_filled and not self.has_tails and not self.has_long_lines
        )
        beside = share_of_equal(candidates)
        self.has_ties = beside > TIED or share_of_drawn(drawn) > TIED
        self.has_equal_lines = beside > ALIKE
        nudged = self.has_ties and not is_drowned(drawn)
        self.grid = Grid(factor, grid_steps(candidates, caps), nudged)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.caps.rows.size, self.caps.cols.size

    @property
    def is_filled(self) -> bool:
        """Whether it is a table of which a list would be no shorter."""
        return self.candidates.dense and self.open_size >= FILLED * self.candidates.values.size

    @property
    def has_long_lines(self) -> bool:
        """Whether one side is so much longer than the other that its lines are dear to look at."""
        return max(self.shape) > LONG * min(self.shape)


def price_closed(candidates: Candidates, caps: Counts, prices: Prices) -> None:
    """Price the groups that may keep nothing at what their best entry is worth."""
    n, m = caps.rows.size, caps.cols.size
    if np.count_nonzero(caps.rows) < n or np.count_nonzero(caps.cols) < m:
        prices.rows[caps.rows == 0], prices.cols[caps.cols == 0] = 0.0, 0.0
        table.close_duals(candidates, caps, prices)


class _Writeable:
    """Shows an array as writeable: kernels have one signature, and write to no input."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        shown = dict(array.__array_interface__)
        shown["data"] = (shown["data"][0], False)
        self.__array_interface__ = shown


def writeable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, or a view that does not say that it is read-only."""
    return array if array.flags.writeable else np.asarray(_Writeable(array))


def gains_of(i: Instance, values: Floats) -> Floats:
    """Gains of some values, scaled; those of groups that may keep nothing are kept finite."""
    gains = values * i.grid.factor
    if i.candidates.squared:
        with np.errstate(over="ignore"):
            gains = np.minimum(np.square(gains, out=gains), NEVER)
    return gains


def draw(values: Floats) -> Floats:
    """Draw some 2,000 values and sort the sizes of those that are not 0."""
    drawn = np.abs(values[:: values.size // 2000 + 1])
    return np.sort(drawn[drawn > 0.0])


def share_of_drawn(drawn: Floats) -> float:
    """How many of a sorted draw are equal to the one before."""
    return float(np.count_nonzero(drawn[1:] == drawn[:-1])) / max(1, drawn.size)


def is_drowned(drawn: Floats) -> bool:
    """Guess from a sorted draw whether values differ by less than what the hash adds to gains."""
    return bool(drawn.size) and 0.0 < drawn[-1] - drawn[0] < FINE * drawn[-1]


def share_of_equal(candidates: Candidates) -> float:
    """How many entries of a table are worth what the next of their row or column is, of some.

    A draw may hold a single entry of each line, and not show that all of a line are equal.
    """
    values, step = candidates.values, candidates.values.size // 2000 + 1
    if not candidates.dense:
        return 0.0
    most = 0.0
    for apart in (1, candidates.columns.size):  # the next column, the next row
        here, there = values[: values.size - apart : step], values[apart::step]
        equal = np.count_nonzero((here == there) & (here != 0.0))
        most = max(most, equal / max(1, here.size))
    return most


def scale_of(largest: float) -> float:
    """The power of two that brings the size of the largest value to .5 .. 1."""
    return math.ldexp(1.0, -min(max(math.frexp(largest)[1], -1000), 1000))


def grid_steps(candidates: Candidates, caps: Counts) -> float:
    """Choose the steps of the grid in the largest gain (or in twice that).

    A path of the tree has at most as many costs of either sign as the shorter side has groups,
    and one more, so that no potential can leave int64. The extra group of a list is not counted:
    a matrix and the list of its entries share their grid.
    """
    return steps_for(min(caps.rows.size, caps.cols.size) - (not candidates.dense))


def steps_for(shorter: int) -> float:
    """The same for a shorter side of so many groups."""
    return 2.0 ** min(56, 60 - (shorter + 2).bit_length())


def estimate_memory(size: int, of_each: int) -> int:
    """Bytes that a projection of `size` candidates is likely to need beyond its input.

    `of_each` of them are needed for each candidate, beside its place in the support.
    """
    return size + of_each * size + 10_000_000


def ask_for_memory(candidates: Candidates, of_each: int | None = None) -> None:
    """Refuse before the work begins what the machine has no memory for.

    By default `of_each` (see `estimate_memory`) is that of the simplex.
    """
    of_each = of_each or (OF_TABLE if candidates.dense else OF_LIST)
    need = estimate_memory(candidates.values.size, of_each)
    have = available_memory() if need > WORTH_ASKING else None
    if have is not None and need > have:
        raise MemoryError(
            f"this projection needs about {need / 1e6:,.0f} MB beyond its input, "
            f"and {have / 1e6:,.0f} MB are available"
        )


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a longer array with the same beginning."""
    grown = np.empty((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
