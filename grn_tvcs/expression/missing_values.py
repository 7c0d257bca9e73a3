"""Missing values in a table of samples x genes: refuse, drop or fill."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.names import OF_GENES
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_words
from tvcs_core.files.display import quoted
from tvcs_core.files.encodings import number_hint
from tvcs_core.files.tables import Table, is_number

MARKS = frozenset(
    ("", "na", "nan", "null", "n/a", "none", "#n/a", "#n/a n/a", "#na", "<na>", "-nan")
)
# Of levels alone: they are refused unless asked for, but a time that is missing is a sample at
# rest without a question, which a broken formula must not make.
MARKS_OF_LEVELS = MARKS | {
    "n.a.", "nd", "n.d.", "n.d", "-", "--", ".", "?",
    "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!",
}  # fmt: skip
FILL = {"missing": "interpolate"}
UNDETERMINED = "undetermined"  # what qPCR machines write beyond their last cycle
CYCLES = "threshold cycles of qPCR (Ct, Cq), which fall where expression rises"
RISING = "give the Ct of a reference gene less that of each gene, and the scale log"
MOST_OF_A_LONG_TABLE = 8  # columns, of which one holds levels
# Headings of genes in long tables: also those of qPCR machines, which no wide table has.
_LISTED_GENES = re.compile(
    rf"{OF_GENES.pattern}|(target|detector|assay|analyte)([\W_]?name)?|variable", re.IGNORECASE
)
_MORE_THAN_A_NUMBER = re.compile(r"[<>~≤≥]\s*[0-9].*|[+-]?[0-9]*\.?[0-9]+\s*[^\s0-9.,].*")


def numbers_with_gaps(
    table: Table,
    columns: Sequence[int],
    rows: Sequence[int],
    *,
    refuse: bool,
    marks: Collection[str] = MARKS_OF_LEVELS,
) -> NDArray[np.float64]:
    """Read numbers of some rows and columns, NaN for one of `marks`, unless that is refused."""
    values = np.empty((len(rows), len(columns)))
    wanted = None if len(rows) == len(table.rows) - 1 else frozenset(rows)
    n_gaps, done, first = 0, 0, None
    for at, block in table.blocks(1):
        lines = [i for i in range(at, at + len(block)) if wanted is None or i in wanted]
        cells = [[block[i - at][j] for j in columns] for i in lines]
        part = values[done : done + len(lines)]
        done += len(lines)
        if _all_finite(cells, part):
            continue
        gaps = np.array([[cell.lower() in marks for cell in row] for row in cells], dtype=bool)
        places = np.argwhere(gaps.reshape(part.shape)).tolist()
        if places:
            i, k = places[0]
            first = first or (cells[i][k], lines[i], columns[k])
            n_gaps += len(places)
        for i, k in places:
            cells[i][k] = "nan"
        if not (refuse and first) and not _all_finite(cells, part, len(places)):
            raise _no_number(table, cells, lines, columns, {(i, k) for i, k in places})
    if refuse and first is not None:
        cell, row, column = first
        count = "it is the only value that is missing"
        count = f"{n_gaps} values are missing" if n_gaps > 1 else count
        what = f"must be a number, found {quoted(cell)}; {count}: give {_remedies()}"
        raise table.error(what, row, column, [FILL])
    return values


def _all_finite(cells: list[list[str]], values: NDArray[np.float64], n_gaps: int = 0) -> bool:
    """Read the numbers of cells into `values`, and whether they are finite but for the gaps."""
    try:
        values[...] = np.array(cells, dtype=np.float64).reshape(values.shape)
    except ValueError:
        return False
    return int((~np.isfinite(values)).sum()) == n_gaps


def _remedies() -> str:
    """Return the options that let values be missing."""
    drop, interpolate = (option_words({"missing": one}) for one in ("drop", "interpolate"))
    return f"{drop} or {interpolate}"


def without_gaps(
    path: str, values: NDArray[np.float64], is_rest: NDArray[np.bool_], missing: str
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which samples stay where values may be missing, and notes on the others and on gaps.

    `is_rest` are those in steady state. Left out are samples with a gap, or without any value if
    gaps are to be filled.
    """
    gaps = np.isnan(values)
    if not gaps.any():
        way = option_words({"missing": missing})
        warn_user(f"{path}: no value is missing, so {way} changes nothing")
    is_drop, notes = missing == "drop", []
    is_kept = np.asarray(~(gaps.any(axis=1) if is_drop else gaps.all(axis=1)))
    if n_gone := int((~is_kept).sum()):
        which, had = "without any value", "no value"
        if is_drop:
            which, had = "with missing values", "missing values"
        warn_user(f"left out {n_gone} of {len(gaps)} samples {which}")
        notes.append(f"{n_gone} of {len(gaps)} samples had {had} and were left out.")
    gaps = gaps[is_kept]
    if gaps.any():
        how = _filled(gaps, is_rest[is_kept])
        notes.append(f"{int(gaps.sum())} of {gaps.size} values were missing and were filled {how}.")
    return is_kept, tuple(notes)


def _filled(gaps: NDArray[np.bool_], is_rest: NDArray[np.bool_]) -> str:
    """How gaps are filled, of samples of series and of those in steady state; (samples, genes)."""
    n_rest = int(gaps[is_rest].sum())
    mean = "with the mean of the gene over the other samples"
    if n_rest == gaps.sum():
        return mean
    along = "by interpolation in time"
    return f"{along}, {n_rest} of them, in steady state, {mean}" if n_rest else along


def _no_number(
    table: Table,
    cells: list[list[str]],
    lines: Sequence[int],
    columns: Sequence[int],
    gaps: Collection[tuple[int, int]],
) -> DataError:
    """The error of the first cell that is neither a finite number nor a gap."""
    i, j = next(
        (i, j)
        for i, row in enumerate(cells)
        for j, cell in enumerate(row)
        if not ((i, j) in gaps or (is_number(cell) and math.isfinite(float(cell))))
    )
    cell, same = cells[i][j], [row[j] for row in cells]
    kind = "a finite number" if is_number(cell) else "a number"
    what = f"must be {kind}, found {quoted(cell)}{remedy_of(cell)}"
    way: dict[str, Any] = {}
    if len(same) > 1 and not any(is_number(one) or number_hint(one) for one in same):
        heads = [table.rows[0][k] or str(k + 1) for k in columns]
        if _is_long(heads, cells):
            what += (
                ": this is a long table, with a row for each gene and sample; make it wide, a row "
                "for each sample and a column for each gene (R: pivot_wider, pandas: pivot)"
            )
        else:
            way = {"ignore": (heads[j],)}
            what += f"; as no cell is: if the column is no gene, give {option_words(way)}"
    elif cell.isalpha() and not remedy_of(cell) and 2 * sum(map(is_number, same)) >= len(same):
        what += f"; where it marks a missing value, leave the cell empty and give {_remedies()}"
    return table.error(what, lines[i], columns[j], remedies=[way] if way else ())


def _is_long(heads: Sequence[str], cells: list[list[str]]) -> bool:
    """Whether one column repeats names of genes, and one alone holds numbers."""
    if len(heads) > MOST_OF_A_LONG_TABLE:
        return False
    columns = list(zip(*cells, strict=True))
    is_word = [are_words(column) for column in columns]
    return sum(is_word) == len(heads) - 1 and any(
        is_one and _LISTED_GENES.fullmatch(head) and len(set(column)) < len(column)
        for is_one, head, column in zip(is_word, heads, columns, strict=True)
    )


def are_words(cells: Sequence[str]) -> bool:
    """Whether no cell is a number, and not all are missing."""
    is_missing = all(cell.lower() in MARKS_OF_LEVELS for cell in cells)
    return not is_missing and not any(map(is_number, cells))


def remedy_of(cell: str) -> str:
    """Return the remedy for a number in another form; empty for any other cell."""
    if cell.lower() == UNDETERMINED:
        return f", as of {CYCLES}: {RISING}"
    if is_number(cell) and math.isinf(float(cell)):
        return (
            "; the logarithm of 0 is -Inf: give the levels as they are, or add a small number "
            "before the logarithm (R: log2(x + 1)); where it is a failed value, write NA and give "
            f"{_remedies()}"
        )
    if found := number_hint(cell):
        return found
    if _MORE_THAN_A_NUMBER.fullmatch(cell) and not is_number(cell):
        return "; a level is one number alone, without a unit, an error or a limit"
    return ""


def fill_gaps(
    values: NDArray[np.float64], times: NDArray[np.float64], names: Sequence[str | None]
) -> None:
    """Fill NaN in place: along time in its series, or with the gene's mean over the others.

    A steady-state sample has no series, its name is None.
    """
    gaps = np.isnan(values)
    if not gaps.any():
        return
    labels = np.array(names, dtype=object)
    for j in np.flatnonzero(gaps.any(axis=0)):
        known = ~gaps[:, j]
        mean = values[known, j].mean()
        for name in dict.fromkeys(names):
            is_in = labels == name
            at, away = is_in & known, is_in & ~known
            is_known = name is not None and bool(at.any())
            values[away, j] = np.interp(times[away], times[at], values[at, j]) if is_known else mean
    how = _filled(gaps, np.array([name is None for name in names], dtype=bool))
    warn_user(f"filled {int(gaps.sum())} of {gaps.size} values {how}")
