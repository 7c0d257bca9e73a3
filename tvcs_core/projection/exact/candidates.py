"""What is solved: candidates with their caps, and the numbers in which that is done."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.kernels import table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WORTH_ASKING = 100_000_000  # bytes


@dataclass(frozen=True)
class Exact:
    """An optimal support with the prices that prove it, in the unit of the gains."""

    keep: NDArray[np.bool_]
    row_duals: Floats
    col_duals: Floats
    total_dual: float
    warm: Any = None
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """The candidates in row order, dense or as a list (see kernels/table.py), and the caps."""

    values: Floats
    start: Ints
    columns: NDArray[np.int32]
    keys: Ints
    dense: bool
    squared: bool
    row_caps: Ints
    col_caps: Ints
    total: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.row_caps.size, self.col_caps.size

    @property
    def layout(self) -> tuple[Any, ...]:
        """The candidates as most kernels take them."""
        return self.values, self.start, self.columns, self.keys, self.dense

    def price_closed(self, u: Floats, w: Floats, price: float) -> None:
        """Price the groups that may keep nothing at what their best entry is worth."""
        if not (self.row_caps.all() and self.col_caps.all()):
            u[self.row_caps == 0], w[self.col_caps == 0] = 0.0, 0.0
            table.close_duals(
                self.values, self.start, self.columns, self.dense, self.row_caps, self.col_caps,
                self.squared, u, w, price,
            )  # fmt: skip


class Instance:
    """A table whose caps bind, its scale, and what is known before the search.

    Attributes
    ----------
    factor, scale
        What values and gains are multiplied by, so that the largest is in .5 .. 1 (.25 .. 1).
    closed_row, closed_col
        Groups that may keep nothing.
    open_size, fits
        How many candidates are nonzero in open groups; at most so many can be kept.
    grid
        Steps of the grid in 1.
    nudged
        Whether first prices are computed from gains that the hash tells apart.
    level
        A typical gain, by which a warm start is brought to this instance's scale.
    """

    def __init__(self, t: Table, largest: float, per_row: Ints, per_col: Ints) -> None:
        self.t = t
        self.factor = float(2.0 ** -np.clip(np.frexp(largest)[1], -1000, 1000))
        self.scale = self.factor * self.factor if t.squared else self.factor
        self.closed_row, self.closed_col = t.row_caps == 0, t.col_caps == 0
        self.open_size = int(per_row.sum())
        self.fits = min(
            t.total,
            int(np.minimum(per_row, t.row_caps).sum()),
            int(np.minimum(per_col, t.col_caps).sum()),
        )
        self.grid = grid_of(t)
        drawn = draw(t.values)
        self.nudged = has_ties(drawn)
        typical = float(drawn[drawn.size // 2]) * self.factor if drawn.size else 0.0
        self.level = typical * typical if t.squared else typical

    @property
    def gains(self) -> tuple[float, bool, bool]:
        """How values become gains, as the kernels take it."""
        return self.factor, self.t.squared, self.nudged


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


def draw(values: Floats) -> Floats:
    """Draw some 2,000 values and sort the sizes of those that are not 0."""
    drawn = np.abs(values[:: values.size // 2000 + 1])
    return np.sort(drawn[drawn > 0.0])


def has_ties(drawn: Floats) -> bool:
    """Guess from sorted values whether many are equal: then the first prices need the hash."""
    return int(np.count_nonzero(drawn[1:] == drawn[:-1])) > 0.02 * drawn.size


def grid_of(t: Table) -> float:
    """Choose the steps of the grid in the largest gain (or in twice that).

    A path of the tree has at most as many costs of either sign as the shorter side has groups,
    and one more, so that no potential can leave int64. The extra group of a list is not counted:
    a matrix and the list of its entries share their grid.
    """
    shorter = min(t.shape) - (not t.dense)
    return 2.0 ** min(56, 60 - (shorter + 2).bit_length())


def estimate_memory(size: int, dense: bool) -> int:
    """Bytes that a projection of `size` candidates is likely to need beyond its input."""
    return size + (4 if dense else 100) * size + 10_000_000


def ask_for_memory(t: Table) -> None:
    """Refuse before the work begins what the machine has no memory for."""
    need = estimate_memory(t.values.size, t.dense)
    have = available_memory() if need > WORTH_ASKING else None
    if have is not None and need > have:
        raise MemoryError(
            f"this projection needs about {need / 1e6:,.0f} MB beyond its input, "
            f"and {have / 1e6:,.0f} MB are available"
        )


def available_memory() -> int | None:
    """Bytes of memory that are free or can be freed; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a longer array with the same beginning."""
    grown = np.empty((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
