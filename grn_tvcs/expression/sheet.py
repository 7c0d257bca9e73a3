"""A table with named columns from any source; its columns are interpreted elsewhere.

Cells stay where they are, in a text, a DataFrame or a matrix: a sheet knows which of them it has,
in which order, and which way up. So it is turned, cut and joined without a copy, and every error
names the place in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers
from grn_tvcs.expression.missing_values import MARKS_OF_LEVELS, numbers_with_gaps
from tvcs_core import DataError
from tvcs_core.files.errors import Remedies
from tvcs_core.files.tables import Table

HEAD = -1  # the row of an error that is in the names of the columns

Levels = NDArray[np.float64]


class Grid:
    """Cells as they stand in a file or in memory, with the names of the columns in row 0.

    Attributes
    ----------
    path
        Their name in errors.
    heads
        The names of the columns.
    may_hold_times
        Whether a column without a role may be the time; False where all are genes.
    """

    path: str
    heads: Sequence[str]
    may_hold_times = True

    def row(self, i: int) -> Sequence[str]:
        """Return the cells of a row."""
        raise NotImplementedError

    def column(self, j: int) -> Sequence[str]:
        """Return the cells of a column, without its name."""
        raise NotImplementedError

    def numbers(
        self, rows: Sequence[int], columns: Sequence[int], *, refuse: bool, marks: Collection[str]
    ) -> Levels:
        """Return numbers, NaN where one is missing and `refuse` does not refuse that."""
        raise NotImplementedError

    def error(
        self,
        what: str,
        row: int | None = None,
        column: int | None = None,
        remedies: Remedies = (),
    ) -> DataError:
        """Make an error that names the row, from 1, and the column, where they are in the grid."""
        name = self.heads[column] if column is not None and column >= 0 else None
        return DataError(what, path=self.path, line=row or None, column=name, remedies=remedies)


class Text(Grid):
    """The grid of a text or a workbook."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.path = table.path
        self.heads = table.rows[0]
        self._known: dict[int, Sequence[str]] = {}

    def row(self, i: int) -> Sequence[str]:
        """Return the cells of a row."""
        return self.table.rows[i]

    def column(self, j: int) -> Sequence[str]:
        """Return the cells of a column, without its name."""
        if j not in self._known:
            self._known[j] = [row[j] for row in self.table.rows[1:]]
        return self._known[j]

    def numbers(
        self, rows: Sequence[int], columns: Sequence[int], *, refuse: bool, marks: Collection[str]
    ) -> Levels:
        """Return numbers, NaN where one is missing and `refuse` does not refuse that."""
        return numbers_with_gaps(self.table, columns, rows, refuse=refuse, marks=marks)

    def error(
        self,
        what: str,
        row: int | None = None,
        column: int | None = None,
        remedies: Remedies = (),
    ) -> DataError:
        """Make an error that names line and column."""
        return self.table.error(what, row, column, remedies)


@dataclass(frozen=True)
class Column:
    """A column of a sheet.

    Attributes
    ----------
    name
        Its heading.
    place
        Its position in the grid of its sheet, or among the columns of `sample_sheet`.
    texts
        Its cells, if they are not in the grid.
    sample_sheet
        The sheet that holds it, if that is another one with the same rows.
    """

    name: str
    place: int
    texts: Sequence[str] | None = None
    sample_sheet: Sheet | None = None


@dataclass(frozen=True)
class Sheet:
    """A table with named columns, whatever it came from.

    Attributes
    ----------
    grid
        The grid of the cells.
    columns
        From left to right.
    rows
        Their places in the grid; one may be there twice.
    is_turned
        Whether rows of the grid are columns here; then errors swap line and column.
    breaks
        Places of rows with a blank line right before them.
    sample_sheet
        The sheet of samples in the same file.
    identifiers
        Other names of the genes, from columns that are left out.
    """

    grid: Grid
    columns: Sequence[Column]
    rows: Sequence[int]
    is_turned: bool = False
    breaks: frozenset[int] = frozenset()
    sample_sheet: Sheet | None = None
    identifiers: Identifiers = NO_IDENTIFIERS

    @classmethod
    def of(cls, table: Table) -> Sheet:
        """Make a sheet of a text, whose first row names the columns; all rows have its width."""
        table.check_rectangle()
        grid = Text(table)
        columns = [Column(name, j) for j, name in enumerate(grid.heads)]
        for i, cell in enumerate(grid.column(0), start=1):
            if cell == grid.heads[0] and grid.row(i) == grid.heads and any(grid.heads):
                raise table.error("repeats the row of column names: remove it", i)
        breaks = frozenset(i for i, is_one in enumerate(table.after_blank) if is_one)
        return cls(grid, columns, range(1, len(table.rows)), breaks=breaks)

    @property
    def path(self) -> str:
        """Its name in errors."""
        return self.grid.path

    @cached_property
    def heads(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def is_joined(self) -> bool:
        """Whether columns of a sheet of samples stand in front."""
        return any(column.sample_sheet is not None for column in self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, j: int) -> Sequence[str]:
        """Return the cells of a column as text."""
        column = self.columns[j]
        if column.texts is not None:
            return column.texts
        if column.sample_sheet is not None:
            return column.sample_sheet.cells(column.place)
        if self.is_turned:
            line = self.grid.row(column.place)
            return [line[i] for i in self.rows]
        cells = self.grid.column(column.place)
        return cells if isinstance(self.rows, range) else [cells[i - 1] for i in self.rows]

    def row(self, i: int) -> list[str]:
        """Return the cells of a row as text."""
        if self.is_turned:
            return [self.cells(j)[i] for j in range(len(self.columns))]
        line = self.grid.row(self.rows[i])
        return [
            line[one.place] if one.texts is None and one.sample_sheet is None else self.cells(j)[i]
            for j, one in enumerate(self.columns)
        ]

    def numbers(
        self,
        columns: Sequence[int],
        *,
        refuse: bool = False,
        marks: Collection[str] = MARKS_OF_LEVELS,
    ) -> Levels:
        """Return the numbers of some columns, NaN where one is missing; (rows, columns).

        Parameters
        ----------
        columns
            Rising.
        refuse
            Whether a missing one is refused.
        marks
            Marks of missing values, in lower case.

        Raises
        ------
        DataError
            Naming the first cell that is not a finite number.
        """
        places = [self.columns[j].place for j in columns]
        rows: Sequence[int] = self.rows
        again = None
        if not isinstance(rows, range):
            own, at = np.unique(np.array(rows, dtype=int), return_inverse=True)
            if own.tolist() != list(rows):
                rows, again = own.tolist(), at
        if self.is_turned:
            values = self.grid.numbers(places, rows, refuse=refuse, marks=marks).T
        else:
            values = self.grid.numbers(rows, places, refuse=refuse, marks=marks)
        return values if again is None else values[again]

    def error(
        self,
        what: str,
        row: int | None = None,
        column: int | None = None,
        remedies: Remedies = (),
    ) -> DataError:
        """Make an error that names the file and the place, as it is there; `HEAD` is a row too."""
        found = None if column is None else self.columns[column]
        if found is not None and found.sample_sheet is not None:
            return found.sample_sheet.error(what, row, found.place, remedies)
        line = 0 if row == HEAD else None if row is None else self.rows[row]
        place = None if found is None else found.place
        if self.is_turned and row is None:  # a row of the file by itself
            return self.grid.error(what, place, remedies=remedies)
        at = (place, line) if self.is_turned else (line, place)
        return self.grid.error(what, *at, remedies)

    def name_of_row(self, i: int) -> str:
        """Name the place of a row in the file."""
        if isinstance(self.grid, Text) and not self.is_turned:
            return f"line {self.grid.table.lines[self.rows[i]]}"
        return f"{'column' if self.is_turned else 'row'} {self.rows[i] + self.is_turned}"

    def is_after_blank(self, i: int) -> bool:
        """Whether a blank line stands right before a row."""
        return self.rows[i] in self.breaks

    def find(self, name: str) -> int | None:
        """Return the place of a column by its name, in any case, or by its number from 1."""
        return find_place(self.heads, name)

    def pick(self, columns: Iterable[int]) -> Sheet:
        """Return the same rows of some columns."""
        return replace(self, columns=[self.columns[j] for j in columns])

    def without(self, columns: Collection[int]) -> Sheet:
        """Return the same rows without some columns."""
        if not columns:
            return self
        return self.pick(j for j in range(len(self.columns)) if j not in columns)

    def take(self, rows: Sequence[int]) -> Sheet:
        """Return some of the rows, in this order; a blank line between two still parts them."""
        columns = [
            replace(one, texts=[one.texts[i] for i in rows])
            if one.texts is not None
            else replace(one, sample_sheet=one.sample_sheet.take(rows))
            if one.sample_sheet is not None
            else one
            for one in self.columns
        ]  # fmt: skip
        places = [self.rows[i] for i in rows]
        breaks = self.breaks and frozenset(
            b for a, b in pairwise(places) if any(k in self.breaks for k in range(a + 1, b + 1))
        )
        return replace(self, columns=columns, rows=places, breaks=breaks)

    def behind(self, front: Sequence[Column]) -> Sheet:
        """Return the same with some columns before the others."""
        return replace(self, columns=[*front, *self.columns])

    def turned(self, corner: str) -> Sheet:
        """Return rows as columns, named by the first column; under `corner` stand the heads."""
        rest, names = self.columns[1:], self.cells(0)
        columns = [Column(name, i) for name, i in zip(names, self.rows, strict=True)]
        heads = Column(corner, 0, [one.name for one in rest])
        rows = [one.place for one in rest]
        known = self.identifiers
        return Sheet(self.grid, [heads, *columns], rows, not self.is_turned, identifiers=known)

    def check_names(self) -> None:
        """Refuse a table that has names alone."""
        if not len(self.rows) or len(self.columns) < 2:
            raise self.error("must have a first row and a first column of names, and cells", HEAD)


def find_place(heads: Sequence[str], name: str) -> int | None:
    """Return the position of a column, None if it is missing."""
    for same in (name.__eq__, lambda other: name.lower() == other.lower()):
        if found := [j for j, other in enumerate(heads) if same(other)]:
            return found[0]
    if name.isdecimal() and 0 < int(name) <= len(heads):
        return int(name) - 1
    return None
