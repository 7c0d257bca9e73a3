"""Arguments that travel together: records of arrays and numbers, with their shapes and units.

numba takes named tuples apart where kernels are compiled. They cost nothing there if a kernel that
is called often takes the fields out at its top and leaves the record alone after that: who uses
both counts references to both at every call.

n is the number of rows, m of columns; a *place* is the number of an entry in `Candidates.values`.
Gains and prices are in units of the scaled gains (see `Grid`) where nothing else is said.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]


class Candidates(NamedTuple):
    """What may be kept, in row order: a dense table, or a list with the column of each entry.

    Attributes
    ----------
    values
        (size,), in the caller's unit; row r holds the places start[r]:start[r+1].
    start
        (n + 1,).
    columns
        Dense: (m,), 0 .. m-1, for every row holds every column. List: (size,).
    keys
        Laid out like the columns; a part of the hash that breaks ties.
    dense
        Which of the two it is.
    squared
        Whether an entry gains the square of its value or the value itself.
    """

    values: Floats
    start: Ints
    columns: Int32s
    keys: Ints
    dense: bool
    squared: bool


class Grid(NamedTuple):
    """The numbers in which gains are compared (docs/method.md).

    Attributes
    ----------
    factor
        What values are multiplied by, so that the largest is in .5 .. 1.
    steps
        Steps of the grid in a gain of 1; a power of two.
    nudged
        Whether gains that the hash tells apart are meant (by 2^-37 at most).
    """

    factor: float
    steps: float
    nudged: bool


class Counts(NamedTuple):
    """Entries per row (n,), per column (m,) and in all: caps, the room that is left, or loads."""

    rows: Ints
    cols: Ints
    total: int


class Prices(NamedTuple):
    """Dual prices of the caps of rows (n,), of columns (m,) and of the total; none below 0."""

    rows: Floats
    cols: Floats
    total: float


class Band(NamedTuple):
    """How far below and above zero a slack is near it: for rows (n,), columns (m,), the total.

    The slack of an entry is its gain less its three prices. It is near if its row or its column
    says so, or the total where row and column are (all but) free.
    """

    below_rows: Floats
    above_rows: Floats
    below_cols: Floats
    above_cols: Floats
    below_total: float
    above_total: float


class Across(NamedTuple):
    """What the columns of a row's entries say, entry by entry; the first numbers are in use.

    Attributes
    ----------
    price
        Of the column.
    below, above
        Its band.
    free
        1 where the column is (all but) free, so that the total's band counts; else 0.
    """

    price: Floats
    below: Floats
    above: Floats
    free: Floats


class Thresholds(NamedTuple):
    """Of each line of one side: what separates the kept gains from the others.

    Attributes
    ----------
    at
        The threshold; comes in with guesses.
    low, high
        The gains some ranks below and above it.
    """

    at: Floats
    low: Floats
    high: Floats


class Listed(NamedTuple):
    """Entries of the table, row by row: row, column, place and gain of each.

    `place` or `gains` has size 0 where it is not asked for.
    """

    row: Int32s
    col: Int32s
    place: Ints
    gains: Floats


class Lines(NamedTuple):
    """The entries of each line (row or column) of a list.

    Line g holds the entries order[start[g]:start[g+1]] of the list, or without `order` (of size 0)
    the entries start[g]:start[g+1].
    """

    start: Ints
    order: Int32s


class Side(NamedTuple):
    """The rows of a list with what a block of them needs, or its columns (see prices.py).

    Attributes
    ----------
    start
        (lines + 1,); line g holds the next two arrays at start[g]:start[g+1].
    across
        The column of each entry where the lines are rows, and the row where they are columns.
    gains
        Of each entry.
    across_price
        Prices of the other side.
    caps
        How many entries each line may keep.
    width
        Ranks that low and high are off each threshold; 0 where they are not wanted.
    price
        Of each line; comes in with guesses.
    low, high
        The values below and above each threshold, the total's price included.
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
    """Price of the total after a block, and the values some ranks below and above it."""

    price: float
    low: float
    high: float


class TieKeys(NamedTuple):
    """What the tie hash of the entry at a place is made of: its row, column and key.

    `columns` and `keys` are those of the `Candidates`; `row_of` is (size,) for a list and of size
    0 for a dense table, where a place says its row and column.
    """

    dense: bool
    row_of: Int32s
    columns: Int32s
    keys: Ints


class Support(NamedTuple):
    """What is kept, by place (size,), and how much of it rows (n,) and columns (m,) hold."""

    keep: Bools
    row_load: Ints
    col_load: Ints


class Arcs(NamedTuple):
    """The arcs of the network, laid out as simplex.py says.

    Attributes
    ----------
    tail, head
        (arcs,), the nodes they lead from and to.
    cost
        (arcs, 2), in grid steps and in tie hash: minus what a unit of flow is worth.
    state
        (arcs,), 1 at the lower bound, -1 at the upper one, 0 in the tree (or never to move).
    flow, cap
        (arcs,), the lower bound is 0.
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
        (nodes, 6), the columns are named in simplex.py.
    pi
        (nodes, 2), the potentials, in units of the costs.
    """

    links: Int32s
    pi: Ints


class Ones(NamedTuple):
    """A dense table whose caps are all 1; its shorter side is called rows, whatever it was.

    Attributes
    ----------
    values
        (rows, columns), in the caller's unit.
    squared
        As in `Candidates`.
    turned
        Whether rows and columns have changed places: the tie hash has to know.
    factor, steps
        As in `Grid`.
    """

    values: Floats
    squared: bool
    turned: bool
    factor: float
    steps: float


class NearEntries(NamedTuple):
    """The tied entries of each row that are most likely to be assigned: see tied.py.

    Attributes
    ----------
    start
        (rows + 1,); row r holds start[r]:start[r+1] of the next two.
    col, worth
        Of each entry.
    """

    start: Ints
    col: Ints
    worth: Ints


class Pairing(NamedTuple):
    """What is found of a table of `Ones`, in half steps of its grid: so all numbers are even.

    Attributes
    ----------
    gains
        (rows, columns); in the end what tied entries are worth, if there is a choice of them.
    u, w
        Prices of rows and columns.
    p, q
        The same among tied entries.
    col_of, row_of
        Whom each row and each column is assigned to; below 0 for nobody.
    near
        Entries among which ties of wide rows are settled.
    """

    gains: Ints
    u: Ints
    w: Ints
    p: Ints
    q: Ints
    col_of: Ints
    row_of: Ints
    near: NearEntries
