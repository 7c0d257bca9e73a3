"""Missing values in a table of samples x genes: refuse, drop or fill."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.warned import warn_user
from tvcs_core.files import Table

MARKS = ("", "na", "nan", "null", "n/a", "none")


def numbers_with_gaps(table: Table, columns: Sequence[int], *, refuse: bool) -> NDArray[np.float64]:
    """Read numbers from `columns`; NaN where a cell is missing, unless that is refused."""
    is_gap = [[row[j].lower() in MARKS for j in columns] for row in table.rows[1:]]
    gaps = np.array(is_gap, dtype=bool).reshape(len(is_gap), len(columns))
    if not gaps.any():
        return table.numbers(1, columns)
    i, k = (int(at[0]) for at in np.nonzero(gaps))
    if refuse:
        cell = table.rows[i + 1][columns[k]]
        raise table.error(
            f"must be a number, found {cell!r}; of all cells {int(gaps.sum())} are missing: give "
            "--missing drop or --missing interpolate",
            i + 1,
            columns[k],
        )
    rows = [
        ["0" if is_missing else row[j] for j, is_missing in zip(columns, flags, strict=True)]
        for row, flags in zip(table.rows[1:], is_gap, strict=True)
    ]
    header = [table.rows[0][j] for j in columns]
    plain = Table(table.path, table.delimiter, [header, *rows], table.lines, table.after_blank)
    values = plain.numbers(1, range(len(columns)))
    values[gaps] = np.nan
    return values


def said_of_gaps(values: NDArray[np.float64], missing: str) -> tuple[str, ...]:
    """Say what is done about the missing values, if there are any."""
    gaps = np.isnan(values)
    if not gaps.any():
        return ()
    if missing == "drop":
        n_samples = int(gaps.any(axis=1).sum())
        return (f"{n_samples} of {len(values)} samples had missing values and were left out.",)
    n_gaps = f"{int(gaps.sum())} of {gaps.size}"
    return (f"{n_gaps} values were missing and were filled by interpolation in time.",)


def without_gaps(
    values: NDArray[np.float64], rows: list[int], names: list[str]
) -> tuple[list[int], list[str]]:
    """Rows whose values are all there, and the names of their series."""
    is_whole = np.asarray(~np.isnan(values).any(axis=1))
    kept = [k for k, row in enumerate(rows) if is_whole[row]]
    if len(kept) < len(rows):
        warn_user(f"left out {len(rows) - len(kept)} of {len(rows)} samples with missing values")
    return [rows[k] for k in kept], [names[k] for k in kept]


def fill_gaps(
    table: Table,
    values: NDArray[np.float64],
    times: NDArray[np.float64],
    names: list[str],
    columns: Sequence[int],
) -> None:
    """Fill NaN in place: along time in its series, or with the gene's mean over the others."""
    gaps = np.isnan(values)
    if not gaps.any():
        return
    if (nothing := gaps.all(axis=0)).any():
        gene = table.rows[0][columns[int(np.flatnonzero(nothing)[0])]]
        raise table.error(f"a gene must have a value in some sample, but {gene!r} has none")
    labels = np.array(names, dtype=object)
    for j in np.flatnonzero(gaps.any(axis=0)):
        known = ~gaps[:, j]
        mean = values[known, j].mean()
        for name in dict.fromkeys(names):
            is_in = labels == name
            at, away = is_in & known, is_in & ~known
            values[away, j] = np.interp(times[away], times[at], values[at, j]) if at.any() else mean
    warn_user(f"filled {int(gaps.sum())} of {gaps.size} values along time")
