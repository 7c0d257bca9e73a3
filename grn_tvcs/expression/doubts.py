"""What a table holds that may not be what it is taken for: warned of, and read all the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import FEWEST_SAMPLES, hold_times, rise_like_times
from grn_tvcs.expression.columns import MAY_BE_SERIES, Columns, option_words
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.shown import CELL, listed, shown
from tvcs_core.files.tables import Table

MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)"
DATE = re.compile(rf"\d{{1,4}}-{MONTH}|{MONTH}-\d{{1,4}}|(19|20)\d\d-\d\d-\d\d.*", re.IGNORECASE)


def warn_of_dates(path: str, genes: Sequence[str]) -> None:
    """Warn where names look like what a spreadsheet makes of MARCH1, SEPT2 or DEC1."""
    if dates := [gene for gene in genes if DATE.fullmatch(gene)]:
        warn_user(
            f"{path}: {len(dates)} gene names look like dates that a spreadsheet made of them: "
            f"{listed(dates)}"
        )


def warn_of_times(
    table: Table, kinds: Sequence[str], name: str, first: NDArray[np.float64]
) -> None:
    """Warn where all samples are at rest, but the `first` gene or their names look like times."""
    if rise_like_times(first.tolist()):
        is_count = first[0] in (0, 1) and bool((np.diff(first) == 1).all())
        told = name if len(name) <= CELL and name.isprintable() else "NAME"
        counts = f"if it counts them, give {option_words({'ignore': told})}; " if is_count else ""
        start = ", ".join(f"{value:g}" for value in first[:3])
        warn_user(
            f"{table.path}: {shown(name)} rises like a time ({start}, ...), and is taken for a "
            f"gene and all samples as at rest; {counts}if it is a time, give "
            f"{option_words({'time_column': told})}"
        )
    if "sample" in kinds:
        names = [row[kinds.index("sample")] for row in table.rows[1:]]
        if hold_times(names):
            warn_user(
                f"{table.path}: names of samples seem to hold times ({listed(names[:3])}), but all "
                "samples are taken as at rest; to have series, give --samples SHEET with columns "
                "sample, time and replicate"
            )


def warn_of_counts(
    table: Table, kinds: Sequence[str], genes: Sequence[int], values: NDArray[np.float64]
) -> None:
    """Warn where a gene in front of a time course counts the samples, as ``ID`` or ``No`` does."""
    if "time" not in kinds or len(values) < FEWEST_SAMPLES:
        return
    for k, place in enumerate(genes[:2]):
        start = values[0, k]
        if place < 2 and start in (0, 1) and bool((np.diff(values[:, k]) == 1).all()):
            name = table.rows[0][place]
            warn_user(
                f"{table.path}: {shown(name)} counts the samples and is taken for a gene; if it "
                f"is none, give {option_words({'ignore': name})}"
            )


def warn_of_series(
    table: Table,
    kinds: Sequence[str],
    columns: Columns,
    genes: Sequence[int],
    values: NDArray[np.float64],
) -> None:
    """Warn of columns of numbers that are called as what tells series apart."""
    for k, j in enumerate(genes):
        name, known = table.rows[0][j], values[:, k]
        if (
            MAY_BE_SERIES.fullmatch(name.lower())
            and (known == np.round(known)).all()
            and 2 * np.unique(known).size <= known.size
        ):
            ignore = option_words({"ignore": name})
            if "time" in kinds:
                option = option_words(columns.more_series(table, kinds, j))
                what = f"if it tells series apart, give {option}, and else {ignore}"
            else:
                what = f"if it is none, give {ignore}"
            warn_user(f"{table.path}: {shown(name)} is taken for a gene; {what}")
