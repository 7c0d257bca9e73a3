"""Records of kernel arguments that belong together, with their shapes and units.

numba takes named tuples apart at compile time. They cost nothing if a kernel that is called often
reads the fields at its top and does not use the record afterwards; a kernel that uses both counts
references to both at every call.

n is the number of rows, m of columns. A *position* is the index of an entry in `Candidates.values`.
Gains and prices are in units of the scaled gains (see `Grid`) unless stated otherwise.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]


class Candidates(NamedTuple):
    """The entries that may be kept, in row order: a dense table, or a list with columns.

    Attributes
    ----------
    values
        (size,), in the caller's unit; row r holds the positions start[r]:start[r+1].
    start
        (n + 1,).
    columns
        Dense: (m,), 0 .. m-1, shared by all rows. List: (size,), the column of each entry.
    keys
        (size,) of a list: additional input of the tie hash, 0 for all entries of a table.
    dense
        Whether it is a table.
    squared
        Whether gains are the squares of the values, or the values themselves.
    """

    values: Floats
    start: Ints
    columns: Int32s
    keys: Ints
    dense: bool
    squared: bool


class Grid(NamedTuple):
    """The integer grid on which gains are compared (docs/method.md).

    Attributes
    ----------
    factor
        Factor of the values that brings the largest into .5 .. 1.
    steps
        Grid steps in a gain of 1; a power of two.
    nudged
        Whether the tie hash is added to the gains (at most 2^-37).
    """

    factor: float
    steps: float
    nudged: bool


class Counts(NamedTuple):
    """Numbers of entries per row (n,), per column (m,) and in total: caps, room, or loads."""

    rows: Ints
    cols: Ints
    total: int


class Prices(NamedTuple):
    """Dual prices of the caps of rows (n,), columns (m,) and total; >= 0."""

    rows: Floats
    cols: Floats
    total: float


class Band(NamedTuple):
    """Largest slack below and above zero of a core entry: per row (n,), per column (m,), total.

    The slack of an entry is its gain minus its three prices. It is in the core if the slack is in
    the band of its row or column, or in that of the total if both are (almost) free.
    """

    below_rows: Floats
    above_rows: Floats
    below_cols: Floats
    above_cols: Floats
    below_total: float
    above_total: float


class Thresholds(NamedTuple):
    """Thresholds between the kept gains and the others, for every line of one side.

    Attributes
    ----------
    at
        The threshold; on entry a guess.
    low, high
        Gains some ranks below and above it.
    """

    at: Floats
    low: Floats
    high: Floats


class EntryList(NamedTuple):
    """Entries of the table, row by row: row, column, position and gain of each.

    `position` or `gains` has size 0 if it is not needed.
    """

    row: Int32s
    col: Int32s
    position: Ints
    gains: Floats


class Lines(NamedTuple):
    """The entries of each line (row or column) of a list.

    Line g holds the entries order[start[g]:start[g+1]] of the list; without `order` (size 0), the
    entries start[g]:start[g+1].
    """

    start: Ints
    order: Int32s


class Side(NamedTuple):
    """The rows (or columns) of a list or table, with input and output of a sweep (see prices.py).

    Attributes
    ----------
    start
        (lines + 1,); line g holds the next two arrays at start[g]:start[g+1].
    across
        Line of the other side that each entry belongs to; of size 0 for a table, whose lines have
        an entry for each of them.
    gains
        Gain of each entry.
    across_price
        Prices of the other side.
    caps
        Cap of each line.
    width
        Ranks between each threshold and low or high; 0 if these are not needed.
    price
        Price of each line; on entry a guess.
    low, high
        Values below and above each threshold, including the total's price.
    """

    start: Ints
    across: Int32s
    gains: Floats
    across_price: Floats
    caps: Ints
    width: int
    price: Floats
    low: Floats
    high: Floats


class TotalPrice(NamedTuple):
    """Price of the total after a sweep, and the values some ranks below and above it."""

    price: float
    low: float
    high: float


class Support(NamedTuple):
    """The support by position (size,), and the loads of rows (n,) and columns (m,)."""

    mask: Bools
    row_load: Ints
    col_load: Ints


class Arcs(NamedTuple):
    """The arcs of the network, in the order given in simplex.py.

    Attributes
    ----------
    tail, head
        (arcs,), start and end node.
    cost
        (arcs, 2), minus the gain of a unit of flow in grid steps, and minus its tie hash.
    state
        (arcs,), 1 at the lower bound, -1 at the upper bound, 0 in the tree (or fixed).
    flow, cap
        (arcs,); the lower bound is 0.
    """

    tail: Int32s
    head: Int32s
    cost: Ints
    state: NDArray[np.int8]
    flow: Int32s
    cap: Int32s


class Tree(NamedTuple):
    """The spanning tree of the simplex.

    Attributes
    ----------
    links
        (nodes, 6); simplex.py names the columns.
    pi
        (nodes, 2), the potentials, in units of the costs.
    """

    links: Int32s
    pi: Ints


class UnitCapTable(NamedTuple):
    """A dense table with unit caps, transposed if necessary so that rows are at most as many.

    Attributes
    ----------
    values
        (rows, columns), in the caller's unit.
    squared
        As in `Candidates`.
    turned
        Whether it was transposed, which the tie hash must undo.
    factor, steps
        As in `Grid`.
    """

    values: Floats
    squared: bool
    turned: bool
    factor: float
    steps: float


class AssignmentState(NamedTuple):
    """State of an assignment in a `UnitCapTable`, in half steps of its grid: all numbers are even.

    Attributes
    ----------
    gains
        (rows, columns); in the end the worths of tied entries, if there is a choice.
    u, w
        Prices of rows and columns.
    p, q
        Prices of rows and columns among tied entries.
    col_of, row_of
        Partner of each row and column; negative for none.
    """

    gains: Ints
    u: Ints
    w: Ints
    p: Ints
    q: Ints
    col_of: Ints
    row_of: Ints
