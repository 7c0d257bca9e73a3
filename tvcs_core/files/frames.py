"""A DataFrame as a table: it is read as its CSV file would be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import Table, read_table

if TYPE_CHECKING:
    import pandas as pd

FRAME = "the DataFrame"
A_TABLE = "a table must be a path or a DataFrame"


def is_frame(data: Any) -> TypeGuard[pd.DataFrame]:
    """Return whether an object is a DataFrame of pandas."""
    kind = type(data)  # a column may be called compute
    return hasattr(kind, "columns") and hasattr(kind, "iloc") and not hasattr(kind, "compute")


def as_pandas(data: Any) -> str:
    """Return how a table of another library (polars, Dask) becomes a DataFrame; else empty."""
    ways = [f": give its .{way}()" for way in ("to_pandas", "compute") if hasattr(type(data), way)]
    return ways[0] if ways else ""


def table_in(
    source: str | Path | pd.DataFrame,
    *,
    spaces: bool = False,
    comments: bool = False,
    needed: str = A_TABLE,
    if_json: str = "",
) -> Table:
    """Return the table in a file, see `read_table`, or in a DataFrame; errors say what is `needed`.

    Raises
    ------
    TypeError
        If `source` is neither.
    """
    if is_frame(source):
        return table_of_frame(source)
    if not isinstance(source, str | Path):
        raise TypeError(f"{needed}, found {type(source).__name__}{as_pandas(source)}")
    return read_table(source, spaces=spaces, comments=comments, if_json=if_json)


def table_of_frame(frame: pd.DataFrame) -> Table:
    """Return the cells of a DataFrame as text; errors count its rows from 1.

    Levels of the index are columns, before the others, unless they are numbers without a name. A
    missing value is an empty cell; see `texts_of`.

    Raises
    ------
    DataError
        If the columns have several levels of names, or there is no column.
    """
    if frame.columns.nlevels > 1:
        raise DataError(
            f"columns must have one name each, found {frame.columns.nlevels} levels of names: join "
            "them (frame.columns = frame.columns.map('_'.join))",
            path=FRAME,
        )
    levels = [frame.index.get_level_values(k) for k in range(frame.index.nlevels)]
    index = [
        level.to_series()
        for level in levels
        if (level.name is None and level.dtype.kind not in "iuf")
        or (level.name is not None and level.name not in frame.columns)
    ]
    columns = [*index, *(frame.iloc[:, j] for j in range(frame.shape[1]))]
    names = ["" if is_missing(one.name) else str(one.name).strip() for one in columns]
    if not names:
        raise DataError("must have a column, found none", path=FRAME)
    rows = [names, *map(list, zip(*map(texts_of, columns), strict=True))]
    return Table(FRAME, "", rows, range(len(rows)), bytes(len(rows)), kind="a DataFrame")


def is_missing(value: object) -> bool:
    """Return whether a value is None, or the NaN or NA that pandas makes of it; a text never is."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "<NA>", "NaT"))


def texts_of(column: pd.Series | pd.Index) -> list[str]:
    """Return the cells of a column or an index as text, empty for a missing value.

    Floats that are all whole are written as integers: pandas makes these floats where one misses.
    """
    return texts_of_values(column.tolist(), column.notna().tolist())


def texts_of_values(values: Sequence[Any], is_known: Sequence[bool]) -> list[str]:
    """Return values of a column as text; see `texts_of`. Complex ones may be real."""
    known = [value for value, is_one in zip(values, is_known, strict=True) if is_one]
    known = [v.real if isinstance(v, complex) and v.imag == 0 else v for v in known]
    known = [float(v) if isinstance(v, Fraction) else v for v in known]
    is_whole = all(isinstance(value, float) and value.is_integer() for value in known)
    texts = iter(str(int(value) if is_whole else value).strip() for value in known)
    return [next(texts) if is_one else "" for is_one in is_known]
