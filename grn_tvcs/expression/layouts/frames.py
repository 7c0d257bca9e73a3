"""Expression from what Python users hold: a DataFrame, an AnnData, or the name of a file.

A DataFrame says what a table says, and is read by the same rules; an AnnData what its file says.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.annotated import RAW, Annotated, expression_of
from grn_tvcs.expression.annotated import TAKES as OF_ANNOTATED
from grn_tvcs.expression.clock import (
    repeats_in_header,
    rise_like_times,
    said_of_repeats,
    times_in_header,
)
from grn_tvcs.expression.columns import LABELS, expanded, find_place, kinds_of, may_read
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.judge.genes import refuse_results
from grn_tvcs.expression.judge.names import CLOCK
from grn_tvcs.expression.judge.samples import refuse_two_units, refuse_unlike, samples_by_name
from grn_tvcs.expression.judge.shape import are_genes
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.reading import expression_in
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import found
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.tables import Table

if TYPE_CHECKING:
    import pandas as pd

FRAME, OBJECT = "the DataFrame", "the AnnData"
TAKES = (
    "samples", "genes_in_rows", "time_column", "sample_column", "series_column", "ignore", "keep",
    "replicates", "missing",
)  # fmt: skip
PARTS = ("obs", "var", "X")  # of an AnnData
OTHER_THAN_NUMBERS = "cmMSU"  # kinds of NumPy: complex, times and texts


def from_frame(frame: pd.DataFrame, options: Options) -> Expression:
    """Make expression of a DataFrame: a row per sample, a column per gene, perhaps a time.

    Columns mean what they mean in a file, and so do named levels of the index; other names in the
    index are not used. Of a sheet of samples the index or the column ``sample`` names them.
    """
    options.refuse_all_but(TAKES, FRAME)
    frame = _frame("data", frame)
    samples = None if options.samples is None else _frame("samples", options.samples)
    if options.genes_in_rows:
        is_told = samples is not None
        frame, options = _of_samples(frame, options, is_told=is_told)
        frame = _turned(frame, has_times=not is_told and options.time_column is None)
        here = {str(name).lower() for name in frame.columns}
        options = replace(options, keep=tuple(n for n in options.keep if n.lower() in here))
    elif samples is None:
        _refuse_turned(frame, options)
    frame = _with_index(frame, options, is_beside=samples is not None)
    if samples is not None:
        frame = _beside(frame, samples, options)
        options = replace(options, ignore=())
    table, levels = _table(frame, options)
    return expression_in(table, options, levels=levels)


def from_anndata(data: Any, options: Options) -> Expression:
    """Make expression of an AnnData in memory, as its file says it."""
    options.refuse_all_but(OF_ANNOTATED, OBJECT)
    return expression_of(_InMemory(data, options))


def is_anndata(data: Any) -> bool:
    """Whether an object is an AnnData."""
    return all(hasattr(data, part) for part in PARTS)


def is_frame(data: Any) -> bool:
    """Whether an object is a DataFrame."""
    return hasattr(data, "columns") and hasattr(data, "iloc")


def _frame(name: str, frame: Any) -> Any:
    """A DataFrame, its names without spaces around them, which read_csv leaves."""
    if not is_frame(frame):
        raise TypeError(f"{name} must be a DataFrame, found {found(frame)}")
    spaced = {c: c.strip() for c in frame.columns if isinstance(c, str) and c != c.strip()}
    return frame.rename(columns=spaced) if spaced else frame


def _of_samples(
    frame: pd.DataFrame, options: Options, *, is_told: bool
) -> tuple[pd.DataFrame, Options]:
    """Leave out what is ignored and columns that tell of genes; refuse what is no sample."""
    names = [str(name) for name in frame.columns]
    wanted = expanded(options.ignore, names)
    gone = {name.lower() for name in wanted} & {name.lower() for name in names}
    options = replace(options, ignore=tuple(n for n in wanted if n.lower() not in gone))
    frame = frame.loc[:, [name.lower() not in gone for name in names]]
    names = [str(name) for name in frame.columns]
    is_sample = samples_by_name(FRAME, names, options.keep)
    if is_told:
        return frame.loc[:, is_sample], options
    refuse_results(FRAME, names, options.keep)
    frame = frame.loc[:, is_sample]
    names = [str(name) for name in frame.columns]
    refuse_two_units(FRAME, names)
    is_numeric = all(dtype.kind in "iufb" for dtype in frame.dtypes if hasattr(dtype, "kind"))
    if is_numeric and not (times_in_header(names) or repeats_in_header(names)):
        refuse_unlike(FRAME, names, frame.to_numpy(dtype=np.float64), options.keep)
    return frame, options


def _refuse_turned(frame: pd.DataFrame, options: Options) -> None:
    """Refuse a frame whose index seems to name genes, where nothing says that it is turned."""
    names = [str(name).lower() for name in frame.columns]
    index = frame.index
    if index.nlevels > 1 or options.time_column or options.sample_column or "time" in names:
        return
    counts = [list(range(first, first + len(index))) for first in (0, 1)]
    if index.dtype.kind in "fmM" or list(index) in counts:
        return
    why = are_genes(str(index.name or ""), [str(name) for name in index], [str(c) for c in frame])
    if why:
        raise may_read(
            DataError(
                f"its index seems to name genes, for {why}: give genes_in_rows=True, or name it "
                "'sample' (frame.rename_axis('sample')) if it names samples",
                path=FRAME,
            ),
            {"genes_in_rows": True},
        )


def _turned(frame: pd.DataFrame, *, has_times: bool) -> pd.DataFrame:
    """Genes as columns; where the names of the samples are times, a column of them comes first."""
    turned = frame.T
    names = [str(name) for name in turned.index]
    if has_times and "time" not in (str(name).lower() for name in turned.columns):
        are_times = times_in_header(names)
        if are_times is None and repeats_in_header(names) is None:
            warn_user(
                f"{FRAME}: its columns count from {names[0]} to {names[-1]}, taken for numbers of "
                "samples at rest; where these are times, give a row Time"
            )
        if (repeats := repeats_in_header(names)) is not None:
            turned.insert(0, "Time", repeats[0])
            turned.insert(0, "replicate", repeats[1])
            warn_user(said_of_repeats(FRAME, *repeats))
        elif are_times:
            turned.insert(0, "Time", names)
    return turned


def _with_index(frame: pd.DataFrame, options: Options, *, is_beside: bool) -> pd.DataFrame:
    """Make columns of what the index says of samples; row numbers and other names say nothing."""
    asked = {
        name.lower()
        for name in (options.time_column, options.sample_column, *options.series_column)
        if name
    }
    has_time = options.time_column is not None or "time" in (str(c).lower() for c in frame.columns)
    told = [
        name for name in frame.index.names
        if name is not None and (
            str(name).lower() in {*LABELS, *asked}
            or (not (has_time or is_beside) and CLOCK.fullmatch(str(name).lower()))
        )
    ]  # fmt: skip
    if told:
        return frame.reset_index(level=told)
    if not (has_time or is_beside):
        _doubt(frame.index)
    if is_beside and (
        options.sample_column is None or options.sample_column not in map(str, frame.columns)
    ):
        return frame.rename_axis(index="sample").reset_index()
    return frame


def _doubt(index: pd.Index) -> None:
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
            "rest; if it is a time, name it so (frame.rename_axis('Time'))"
        )


def _beside(frame: pd.DataFrame, sheet: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Levels of the samples of a sheet, with what it says of them in the first columns."""
    import pandas as pd

    sheet = sheet.reset_index() if sheet.index.name is not None else sheet
    names, key = _names(frame, options), _names(sheet, options)
    if key is None:
        key = list(map(str, sheet.index))
    if names is None:  # cannot be: the index was made a column
        raise DataError("must name its samples", path=FRAME)
    if twice := repeated(names):
        raise DataError(f"samples must be different, found twice: {listed(twice)}", path=FRAME)
    place = {name: i for i, name in enumerate(names)}
    if unknown := [name for name in key if name not in place]:
        raise DataError(
            f"every sample must have levels in {FRAME}, but {len(unknown)} have none: "
            f"{listed(unknown)}; there stands {listed(names)}",
            path="the sheet of samples",
        )
    if spare := [name for name in names if name not in set(key)]:
        warn_user(f"{FRAME}: left out {len(spare)} samples: {listed(spare)}")
    asked = {name.lower() for name in (options.time_column, *options.series_column) if name}
    of_sheet = [c for c in sheet.columns if str(c).lower() in {*LABELS, *asked} - {"sample"}]
    gone = {"sample", (options.sample_column or "sample").lower(), *map(str.lower, options.ignore)}
    genes = [c for c in frame.columns if str(c).lower() not in gone]
    levels = frame[genes].iloc[[place[name] for name in key]].reset_index(drop=True)
    return pd.concat([sheet[of_sheet].reset_index(drop=True), levels], axis=1)


def _names(frame: pd.DataFrame, options: Options) -> list[str] | None:
    """Names of samples in a column, where one says them."""
    header = [str(name) for name in frame.columns]
    for wanted in filter(None, (options.sample_column, "sample")):
        place = find_place(header, wanted)
        if place is not None:
            return [str(value) for value in frame.iloc[:, place]]
    return None


def _table(frame: pd.DataFrame, options: Options) -> tuple[Table, NDArray[np.float64]]:
    """A table of what is said of samples, with the levels of its genes beside it."""
    header = [str(name) for name in frame.columns]
    if twice := repeated(header):
        raise DataError(
            f"columns must be different, found twice: {listed(twice)}; rename or drop them "
            "(frame.loc[:, ~frame.columns.duplicated()] keeps the first of each)",
            path=FRAME,
        )
    if not header:
        raise DataError("must have a column for each gene, found none", path=FRAME)
    first = Table(FRAME, "\t", [header], [0], b"\0")
    kinds = kinds_of(first, options, has_index=False)
    is_gene = [kind not in LABELS for kind in kinds]
    texts = [
        ["0"] * len(frame) if of_gene and j else _texts(frame.iloc[:, j])
        for j, of_gene in enumerate(is_gene)
    ]
    rows = [header, *(list(row) for row in zip(*texts, strict=True))]
    table = Table(FRAME, "\t", rows, range(len(rows)), bytes(len(rows)))
    genes = [j for j, of_gene in enumerate(is_gene) if of_gene]
    levels = np.empty((len(frame), len(genes)))
    for k, j in enumerate(genes):
        levels[:, k] = _numbers(frame.iloc[:, j], table, j)
    return table, levels


def _texts(column: Any) -> list[str]:
    return [
        repr(float(value)) if isinstance(value, float) else str(value) for value in column.tolist()
    ]


def _numbers(column: Any, table: Table, j: int) -> NDArray[np.float64]:
    """A column of levels; NaN where there is none."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.dtype.kind == "c":
        raise table.error(f"must be a real number, found {column.iloc[0]}", 1, j)
    levels = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(levels) & column.notna().to_numpy())
    if wrong.size:
        i = int(wrong[0])
        raise table.error(
            f"must be a number, found {shown(column.iloc[i])}; if the column is no gene, give "
            f"ignore=[{table.rows[0][j]!r}]",
            i + 1,
            j,
        )
    return levels


class _InMemory(Annotated):
    """An AnnData in memory, or one that is backed by its file."""

    def __init__(self, data: Any, options: Options) -> None:
        self._data = data
        super().__init__(OBJECT, options)

    def obs_columns(self) -> list[str]:
        return [str(name) for name in self._data.obs.columns]

    def obs(self, name: str) -> list[Any]:
        return _values(self._data.obs[name])

    def layers(self) -> list[str]:
        return [str(name) for name in self._data.layers]

    def has_raw(self) -> bool:
        return self._data.raw is not None

    def var_columns(self) -> list[str]:
        return [str(name) for name in self._var.columns]

    def var(self, name: str | None) -> list[Any]:
        return list(self._var.index) if name is None else _values(self._var[name])

    @property
    def _var(self) -> Any:
        return self._data.raw.var if self.is_raw and self.has_raw() else self._data.var

    def matrix(self, name: str) -> Any:
        from scipy import sparse

        if name == "X":
            levels = self._data.X
        elif self.is_raw and name == RAW:
            levels = self._data.raw.X
        else:
            levels = self._data.layers[name]
        if levels is None:
            raise self.error("has no X; give a layer")
        if hasattr(levels, "to_memory"):  # of a file
            levels = levels.to_memory()
        if levels.dtype.kind in OTHER_THAN_NUMBERS:
            raise self.error(f"{name} must hold real numbers, found {levels.dtype}")
        if sparse.issparse(levels):
            return sparse.csr_array(levels, dtype=np.float64)
        return np.asarray(levels, dtype=np.float64)


def _values(column: Any) -> list[Any]:
    values: list[Any] = column.astype(object).where(column.notna(), float("nan")).tolist()
    return values
