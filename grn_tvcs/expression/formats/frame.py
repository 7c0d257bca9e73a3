"""A DataFrame as a sheet: it is read as its CSV file would be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import rise_like_times
from grn_tvcs.expression.expression import describe_repeated
from grn_tvcs.expression.formats.text import open_samples
from grn_tvcs.expression.judge.names import CLOCK
from grn_tvcs.expression.judge.roles import LABELS
from grn_tvcs.expression.judge.shape import are_genes, are_samples
from grn_tvcs.expression.missing_values import numbers_with_gaps
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import Column, Grid, Sheet, find_place
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import describe_value, option_words
from tvcs_core.files.display import joined
from tvcs_core.files.frames import FRAME, is_frame, is_missing, texts_of
from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import Table

if TYPE_CHECKING:
    import pandas as pd

SAMPLES = "the sheet of samples"
TAKES = (
    "samples", "genes_in_rows", "time_column", "sample_column", "series_column", "ignore", "keep",
    "replicates", "missing", "gene_column", "samples_sheet",
)  # fmt: skip

Values = NDArray[np.float64]


class Frame(Grid):
    """The grid of a DataFrame."""

    def __init__(self, path: str, frame: pd.DataFrame) -> None:
        self.path = path
        self.heads = ["" if is_missing(name) else str(name) for name in frame.columns]
        self._frame = frame

    def row(self, i: int) -> Sequence[str]:
        """Return the cells of a row as text."""
        return texts_of(self._frame.iloc[i - 1]) if i else self.heads

    def column(self, j: int) -> Sequence[str]:
        """Return the cells of a column as text."""
        return texts_of(self._frame.iloc[:, j])

    def numbers(
        self, rows: Sequence[int], columns: Sequence[int], *, refuse: bool, marks: Collection[str]
    ) -> Values:
        """Return numbers; NaN where one is missing, if `refuse` does not refuse that."""
        part = self._frame.iloc[np.array(rows, dtype=int) - 1, list(columns)]
        if all(dtype.kind in "iuf" for dtype in part.dtypes):
            values: Values = part.to_numpy(dtype=np.float64, na_value=np.nan)
            if not np.isinf(values).any() and not (refuse and np.isnan(values).any()):
                return values
        # Cells that are no numbers have one home: they are read as those of a text.
        texts = [texts_of(part.iloc[:, k]) for k in range(part.shape[1])]
        cells = ([cell or "NaN" for cell in row] for row in zip(*texts, strict=True))
        packed = Rows.of([[self.heads[j] for j in columns], *cells])
        table = Table(self.path, "", packed, [0, *rows], bytes(len(packed)))
        places, lines = range(len(columns)), range(1, len(packed))
        return numbers_with_gaps(table, places, lines, refuse=refuse, marks=marks)


def sheet_of_frame(frame: pd.DataFrame, options: Options, part: str | None = None) -> Sheet:
    """Make a sheet of a DataFrame, and a `sample_sheet` of the DataFrame or file of its samples.

    Named levels of the index that have a role are columns. So is an index that names genes, or
    samples beside a sheet. Other names in the index are not used.
    """
    options.refuse_except(TAKES, FRAME)
    frame = _frame("data", frame)
    sheet = _sheet(FRAME, frame)
    if not options.genes_in_rows and (twice := describe_repeated("columns", sheet.heads)):
        remedy = "(frame.loc[:, ~frame.columns.duplicated()] keeps the first of each)"
        raise DataError(f"{twice}; rename or drop them {remedy}", path=FRAME)
    if not sheet.heads:
        raise DataError("must have a column for each gene, found none", path=FRAME)
    of_samples = None
    if options.samples is not None:
        is_file = isinstance(options.samples, str | Path)
        if is_file:
            of_samples = open_samples(options.samples, options.samples_sheet)
        elif options.samples_sheet is not None:
            raise TypeError(
                "samples_sheet is the sheet of a workbook, found samples in a "
                f"{type(options.samples).__name__}"
            )
        else:
            of_samples = _of_samples(_frame("samples", options.samples), options)
    if options.genes_in_rows:
        made = _with_genes(sheet, frame)
    else:
        if of_samples is None:
            _refuse_turned(frame, options)
        made = _with_index(sheet, frame.index, options, part, has_samples=of_samples is not None)
    return (
        made
        if of_samples is None
        else Sheet(made.grid, made.columns, made.rows, sample_sheet=of_samples)
    )


def _sheet(path: str, frame: pd.DataFrame) -> Sheet:
    grid = Frame(path, frame)
    columns = [Column(name, j) for j, name in enumerate(grid.heads)]
    return Sheet(grid, columns, range(1, len(frame) + 1))


def _of_samples(frame: pd.DataFrame, options: Options) -> Sheet:
    """Make a sheet of the samples; the index names them if no column does."""
    sheet = _sheet(SAMPLES, frame)
    named = [find_place(sheet.heads, name) for name in (options.sample_column, "sample") if name]
    if frame.index.name is not None:
        return sheet.behind([Column(str(frame.index.name), -1, texts_of(frame.index))])
    if any(place is not None for place in named):
        return sheet
    return sheet.behind([Column("sample", -1, texts_of(frame.index))])


def _with_genes(sheet: Sheet, frame: pd.DataFrame) -> Sheet:
    """Put the names of genes in the first column: the index, unless it only counts them."""
    name, index = str(frame.index.name or ""), texts_of(frame.index.to_flat_index())
    if name or index != list(map(str, range(len(index)))):
        return sheet.behind([Column(name, -1, index)])
    if frame.dtypes.iloc[0].kind == "f":
        raise DataError(
            "must name its genes by its index or in its first column, found numbers of rows and "
            f"the levels {joined(sheet.cells(0)[:3])}; set the index (frame.set_index)",
            path=FRAME,
        )
    return sheet


def _with_index(
    sheet: Sheet, index: pd.Index, options: Options, part: str | None, *, has_samples: bool
) -> Sheet:
    """Turn index levels that describe samples into columns; row numbers are dropped."""
    wanted = (options.time_column, options.sample_column, *options.series_column, part)
    asked = {*LABELS, *(name.lower() for name in wanted if name)}
    lower = [name.lower() for name in sheet.heads]
    has_time = options.time_column is not None or "time" in lower
    from_index = [
        Column(str(name), -1, texts_of(index.get_level_values(name)))
        for name in index.names
        if name is not None
        and (
            str(name).lower() in asked
            or (not (has_time or has_samples) and CLOCK.fullmatch(str(name).lower()))
        )
    ]
    used = {column.name for column in from_index}
    for i, name in enumerate(index.names):
        level = index.get_level_values(i)
        if name is not None and str(name) not in used and _holds_levels(level):
            one = f"level={name!r}, " if index.nlevels > 1 else ""
            warn_user(
                f"{FRAME}: its index {name} holds the numbers {joined(texts_of(level[:3]))} and is "
                "not used; if it is a gene, give frame.reset_index(), and if it is none, "
                f"frame.reset_index({one}drop=True)"
            )
    if not (from_index or has_time or has_samples):
        _check_index_of_times(index)
        has_names = options.sample_column is not None or "sample" in lower
        if index.nlevels == 1 and index.dtype.kind == "O" and not has_names:
            return sheet.behind([Column("sample", -1, texts_of(index))])
    if has_samples and not from_index:
        names = (options.sample_column, "sample")
        place = next((p for n in names if n and (p := sheet.find(n)) is not None), None)
        if place is not None:
            return sheet.without({place}).behind([sheet.columns[place]])
        from_index = [Column("sample", -1, texts_of(index))]
    return sheet.behind(from_index)


def _holds_levels(level: pd.Index) -> bool:
    """Whether an index varies and has decimals, as a first column has that was taken for it."""
    if level.dtype.kind != "f":
        return False
    known = level.dropna().unique()
    return len(known) > 1 and bool((known != known.to_numpy().round()).any())


def _frame(name: str, frame: Any) -> Any:
    """A DataFrame, its names without spaces around them, which read_csv leaves."""
    if not is_frame(frame):
        raise TypeError(f"{name} must be a DataFrame, found {describe_value(frame)}")
    if frame.columns.nlevels > 1:
        raise DataError(
            f"columns must have one name each, but {name} has {frame.columns.nlevels} levels of "
            "names: join them (frame.columns = frame.columns.map('_'.join)), or keep one "
            "(frame.columns.get_level_values(0))"
        )
    spaced = {c: c.strip() for c in frame.columns if isinstance(c, str) and c != c.strip()}
    return frame.rename(columns=spaced) if spaced else frame


def _refuse_turned(frame: pd.DataFrame, options: Options) -> None:
    """Refuse a frame whose index seems to name genes, unless `genes_in_rows` is given."""
    names = [str(name).lower() for name in frame.columns]
    index = frame.index
    if index.nlevels > 1 or options.time_column or options.sample_column or "time" in names:
        return
    counts = [list(range(first, first + len(index))) for first in (0, 1)]
    if index.dtype.kind in "fmM" or list(index) in counts:
        return
    rows, heads = [str(name) for name in index], [str(name) for name in frame]
    why = are_genes(str(index.name or ""), rows, heads)
    if why is None and str(index.name or "").lower() not in LABELS:
        why = are_samples(heads, rows)
    if why:
        turn = {"genes_in_rows": True}
        raise DataError(
            f"its index seems to name genes, for {why}: give {option_words(turn)}, or name it "
            "'sample' (frame.rename_axis('sample')) if it names samples",
            path=FRAME,
            remedies=[turn],
        )


def _check_index_of_times(index: pd.Index) -> None:
    """Refuse an index of times that would not be used, and warn of one that may be."""
    if index.dtype.kind in "mM":
        raise DataError(
            f"its index holds times ({index.dtype}); make a column Time of numbers of them, such "
            "as (index - index[0]) / pandas.Timedelta('1h')",
            path=FRAME,
        )
    numbers = list(index) if index.dtype.kind in "iuf" else []
    if rise_like_times(numbers) and any(b - a != 1 for a, b in pairwise(numbers)):
        start = ", ".join(f"{number:g}" for number in numbers[:3])
        warn_user(
            f"{FRAME}: its index rises like a time ({start}, ...), and all samples are taken as at "
            "rest; if it is a time, name it so (frame.rename_axis('Time')), and if it is none, "
            "give frame.reset_index(drop=True)"
        )
