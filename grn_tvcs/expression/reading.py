"""Expression from a text table: samples x genes, series told by columns or by falling times.

A sample without a time is at rest; in a table without a time all are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.missing_values import (
    MARKS,
    fill_gaps,
    numbers_with_gaps,
    said_of_gaps,
    without_gaps,
)
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.shown import listed, plain, shown
from tvcs_core.files.tables import Table, is_number, read_table

MISSING = ("error", "drop", "interpolate")
SERIES = ("series", "condition", "replicate")
MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)"
DATE = re.compile(rf"\d{{1,4}}-{MONTH}|{MONTH}-\d{{1,4}}|(19|20)\d\d-\d\d-\d\d.*", re.IGNORECASE)
LABELS = ("time", *SERIES, "perturbed", "sample")
# Names that mean a time and are not ``Time``: no gene is called so, and taken for one it would
# make steady states of a time course without a word.
CLOCK = re.compile(r"((pseudo|real)[\W_]?)?time([\W_].*|points?|s)?|hours?|minutes?|days?|hpf|hpi")

Flags = NDArray[np.bool_]


def warn_of_dates(path: str, genes: Sequence[str]) -> None:
    """Warn where names look like what a spreadsheet makes of MARCH1, SEPT2 or DEC1."""
    if dates := [gene for gene in genes if DATE.fullmatch(gene)]:
        warn_user(
            f"{path}: {len(dates)} gene names look like dates that a spreadsheet made of them: "
            f"{listed(dates)}"
        )


def read_expression(path: str | Path, *, missing: str = "error") -> Expression:
    """Read a table of samples x genes, perhaps with a time, plain or ``.gz``, tab or comma.

    The first row names the columns. One of them may be the time (``Time``, any case): a sample
    whose time is empty or ``NA`` is at rest, and without this column all are. Columns
    ``series``, ``condition`` and ``replicate`` name the series, all that there are of them
    together, so that a replicate is a series of its own. Without any, a blank line or a time that
    falls back starts a new series, as in the files of the DREAM challenge; they are named ``1``,
    ``2``, ... A column ``perturbed`` holds 1 where a perturbation was on and 0 elsewhere; a column
    ``sample`` is not used. All other columns are genes.

    Parameters
    ----------
    path
        The file.
    missing
        What is done about levels that are empty or ``NA``, ``NaN``, ``null``: ``"error"``;
        ``"drop"`` the samples; or ``"interpolate"`` in time within the series, with the nearest
        value at its ends, and the gene's mean where a whole series has none and for samples at
        rest. A warning says how many there were.

    Raises
    ------
    DataError
        Naming line and column: an empty file, a time of another name, genes in rows, a cell that
        is not a finite number, a gene that is there twice, a series of one time point, a time
        that comes twice in a series, a gene without any value.
    ValueError
        If `missing` is none of the three.
    """
    return expression_in(read_table(path), missing=missing)


def expression_in(table: Table, *, missing: str = "error") -> Expression:
    """Make out what a table of `read_expression` holds."""
    if missing not in MISSING:
        raise ValueError(f"missing must be one of {', '.join(MISSING)}, found {missing!r}")
    header = table.rows[0]
    lower = [name.lower() for name in header]
    _refuse_wrong_shape(table, lower)
    genes = [j for j in range(len(header)) if lower[j] not in LABELS]
    _check_header(table, genes)
    warn_of_dates(table.path, [header[j] for j in genes])
    table.require_rectangle()
    times = _times(table, lower)
    values = numbers_with_gaps(table, genes, refuse=missing == "error")
    is_rest = np.isnan(times)
    columns = [lower.index(name) for name in SERIES if name in lower]
    names, rows = _series(table, times, np.flatnonzero(~is_rest).tolist(), columns)
    notes = said_of_gaps(values, missing)
    if "replicate" in lower and names:
        notes += ("Replicates were taken as series of their own.",)
    rest = np.flatnonzero(is_rest).tolist()
    named: list[str | None] = [*names, *(None for _ in rest)]
    rows = [*rows, *rest]
    if missing == "drop":
        rows, named = without_gaps(values, rows, named)
    names = [name for name in named if name is not None]
    n = len(names)  # the samples of series; those at rest stand behind them
    if n:
        _check_times(table, times, names, rows[:n], lower.index("time"))
    elif not rows:
        raise table.error("must have a sample with all levels, found none")
    values, times = values[rows], times[rows]
    if missing == "interpolate":
        fill_gaps(table, values, times, named, genes)
    on = _perturbed(table, lower, is_rest)
    return Expression(
        values[:n],
        times[:n],
        tuple(names),
        tuple(header[j] for j in genes),
        None if on is None else on[rows[:n]],
        notes=notes,
        at_rest=values[n:],
    )


def _times(table: Table, lower: list[str]) -> NDArray[np.float64]:
    """The time of each sample; NaN for one at rest."""
    if "time" not in lower:
        return np.full(len(table.rows) - 1, np.nan)
    column = lower.index("time")
    if all(row[column].lower() not in MARKS for row in table.rows[1:]):
        return table.numbers(1, [column])[:, 0]
    return numbers_with_gaps(table, [column], refuse=False)[:, 0]


def _refuse_wrong_shape(table: Table, lower: list[str]) -> None:
    first = [row[0] for row in table.rows[1:]]
    has_names = bool(first) and not any(is_number(cell) for cell in first)
    turn = (
        "genes seem to stand in rows: the first column holds names such as "
        f"{listed(first[:3])}; give one row per sample and one column per gene, with a column Time"
    )
    if "time" not in lower:
        if all(is_number(cell) for cell in lower):
            raise table.error("the first row must name the columns, found only numbers", row=0)
        if has_names and lower[0] not in LABELS:
            raise table.error(
                f"must have a column named Time, or none but numbers where all samples are at "
                f"rest. Perhaps {turn}; or if it names samples, call it sample",
                row=0,
            )
        clocks = [name for name in table.rows[0] if CLOCK.fullmatch(name.lower())]
        if clocks or "series" in lower:
            why = f"{listed(clocks)} seems to be it" if clocks else "for there are series"
            raise table.error(
                f"must have a column named Time, {why}; only samples at rest have none", row=0
            )
    if twice := [name for name in repeated(lower) if name in LABELS]:
        raise table.error(f"must have one column of each kind, found twice: {listed(twice)}", row=0)
    names = [cell for cell in lower if cell not in LABELS]
    if lower[0] == "time" and has_names and names and all(is_number(cell) for cell in names):
        raise table.error(turn, row=0)
    if len(table.rows) == 1:
        raise table.error("must have samples below the first row, found none", row=0)


def _check_header(table: Table, genes: list[int]) -> None:
    header = table.rows[0]
    if not genes:
        raise table.error(
            f"must have a column for each gene, found only {listed(table.rows[0])}", row=0
        )
    for j in genes:
        if not header[j]:
            raise table.error("a gene must have a name, found an empty cell", 0, j)
    if twice := repeated([header[j] for j in genes]):
        raise table.error(
            f"gene names must be different, found twice: {listed(twice)}; "
            "rename or remove their columns",
            row=0,
        )


def _series(
    table: Table, times: NDArray[np.float64], timed: list[int], columns: list[int]
) -> tuple[list[str], list[int]]:
    """Name of the series of each sample with a time, and these in the order of series and time."""
    if not columns:
        return _series_by_time(table, times, timed), timed
    label = {}
    for i in timed:
        row = table.rows[i + 1]
        for j in columns:
            if not row[j]:
                kind = table.rows[0][j].lower()
                raise table.error(f"every sample needs a {kind}, found an empty cell", i + 1, j)
        label[i] = "/".join(row[j] for j in columns)
    place = {name: k for k, name in enumerate(dict.fromkeys(label.values()))}
    rows = sorted(timed, key=lambda i: (place[label[i]], times[i]))
    return [label[i] for i in rows], rows


def _series_by_time(table: Table, times: NDArray[np.float64], timed: list[int]) -> list[str]:
    """Number the series; a sample at rest between two samples does not part them."""
    number = 1
    names = []
    for k, i in enumerate(timed):
        if k:
            before = timed[k - 1]
            is_after_blank = any(table.after_blank[row + 1] for row in range(before + 1, i + 1))
            number += is_after_blank or times[i] < times[before]
        names.append(str(number))
    return names


def _perturbed(table: Table, lower: list[str], is_rest: Flags) -> Flags | None:
    """Whether a perturbation was on in each sample; False for those at rest, whose cell is free."""
    if "perturbed" not in lower or is_rest.all():
        return None
    column = lower.index("perturbed")
    cells = [row[column] for row in table.rows[1:]]
    for i, cell in enumerate(cells):
        if cell not in ("0", "1") and not is_rest[i]:
            raise table.error(f"must be 0 or 1, found {shown(cell)}", i + 1, column)
    on = np.array([cell == "1" for cell in cells]) & ~is_rest
    if on[~is_rest].all() or not on.any():
        warn_user(f"{table.path}: the column perturbed never changes and is not used")
        return None
    return on


def _check_times(
    table: Table, times: NDArray[np.float64], names: list[str], rows: list[int], column: int
) -> None:
    size = Counter(names)
    for k, name in enumerate(names):
        row = rows[k] + 1
        if size[name] < 2:
            raise table.error(
                f"a series must have at least 2 time points, but series {plain(name)} has 1; "
                "a blank line or a time that falls back starts a new series",
                row,
                column,
            )
        if k and names[k - 1] == name and times[rows[k]] == times[rows[k - 1]]:
            raise table.error(
                f"time {times[rows[k]]:g} comes twice in series {plain(name)}; "
                "tell replicates apart by a column replicate",
                row,
                column,
            )
