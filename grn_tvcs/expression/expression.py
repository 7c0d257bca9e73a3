"""Expression over time: what was measured, of which genes, in which series; from a text file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.missing_values import (
    fill_gaps,
    numbers_with_gaps,
    said_of_gaps,
    without_gaps,
)
from grn_tvcs.expression.warned import warn_user
from tvcs_core.files.shown import listed, plain, shown
from tvcs_core.files.tables import Table, is_number, read_table

SCALES = ("levels", "log", "counts")
MISSING = ("error", "drop", "interpolate")
SERIES = ("series", "condition", "replicate")
MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)"
DATE = re.compile(rf"\d{{1,4}}-{MONTH}|{MONTH}-\d{{1,4}}|(19|20)\d\d-\d\d-\d\d.*", re.IGNORECASE)
LABELS = ("time", *SERIES, "perturbed", "sample")


@dataclass(frozen=True)
class Expression:
    """Levels of genes over time, in one or more series.

    Parameters
    ----------
    values
        One row per sample, one column per gene; finite, of any unit.
    times
        When each sample was taken; rising within a series.
    series
        The name of each sample's series; the samples of a series stand together.
    genes
        Names of the columns, all different.
    perturbed
        Whether a perturbation was on when each sample was taken; None where nothing is known.
    notes
        What was done to the samples on reading, a sentence each, for the methods of a paper.
    scale
        What the values are: ``"levels"``, ``"log"`` (logarithms or z-scores) or ``"counts"``; None
        where it is to be guessed, as `infer` does.
    guessed_from
        What the scale was guessed from; None where it was said.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the scale is unknown, a name is there twice, a
        series is in pieces or has fewer than two time points, or times do not rise within a series.
    """

    values: NDArray[np.float64]
    times: NDArray[np.float64]
    series: tuple[str, ...]
    genes: tuple[str, ...]
    perturbed: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()
    scale: str | None = None
    guessed_from: str | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        times = np.array(self.times, dtype=np.float64)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "series", tuple(str(name) for name in self.series))
        object.__setattr__(self, "genes", tuple(str(name) for name in self.genes))
        if values.ndim != 2 or values.shape != (times.size, len(self.genes)):
            raise ValueError(
                f"values must have the shape samples x genes = ({times.size}, {len(self.genes)}), "
                f"but it is {values.shape}"
            )
        if times.ndim != 1 or len(self.series) != times.size:
            raise ValueError(
                f"every sample needs a time and a series, found {times.size} times and "
                f"{len(self.series)} series names"
            )
        if self.perturbed is not None:
            perturbed = np.array(self.perturbed, dtype=bool)
            object.__setattr__(self, "perturbed", perturbed)
            if perturbed.shape != times.shape:
                raise ValueError(
                    f"perturbed must hold one flag per sample, found {perturbed.shape} for "
                    f"{times.size} samples"
                )
        if not (np.isfinite(values).all() and np.isfinite(times).all()):
            raise ValueError("values and times must be finite")
        if self.scale is not None and self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}, found {self.scale!r}")
        if twice := repeated(self.genes):
            raise ValueError(f"gene names must be different, found twice: {listed(twice)}")
        self._check_series()

    def _check_series(self) -> None:
        starts = [i for i, name in enumerate(self.series) if i == 0 or name != self.series[i - 1]]
        names = [self.series[i] for i in starts]
        if twice := repeated(names):
            raise ValueError(f"the samples of a series must stand together: {listed(twice)}")
        if not starts:
            raise ValueError("expression must have samples, found none")
        for name, rows in self.pieces().items():
            if len(self.times[rows]) < 2:
                raise ValueError(
                    f"a series must have at least 2 time points, but series {name!r} has 1"
                )
            if (np.diff(self.times[rows]) <= 0).any():
                raise ValueError(f"times must rise within a series, but not in series {name!r}")

    def pieces(self) -> dict[str, slice]:
        """Rows of each series, in the order of the samples."""
        edges = [i for i, name in enumerate(self.series) if i and name != self.series[i - 1]]
        bounds = [0, *edges, len(self.series)]
        return {self.series[a]: slice(a, b) for a, b in pairwise(bounds)}

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Which genes have the same value in every sample; (genes,)."""
        return np.asarray((self.values == self.values[:1]).all(axis=0))

    @property
    def constant_genes(self) -> tuple[str, ...]:
        """Names of the genes with the same value in every sample."""
        return tuple(g for g, is_flat in zip(self.genes, self.is_constant, strict=True) if is_flat)

    def in_name_order(self) -> Expression:
        """Sort genes by name and series by their numbers, so that the file's order is forgotten."""
        order = sorted(range(len(self.genes)), key=lambda j: self.genes[j])
        values = self.values[:, order]
        pieces = sorted(
            self.pieces().values(),
            key=lambda rows: (self.times[rows].tolist(), values[rows].tolist()),
        )
        rows = np.concatenate([np.arange(piece.start, piece.stop) for piece in pieces])
        return replace(
            self,
            values=values[rows],
            times=self.times[rows],
            series=tuple(self.series[i] for i in rows),
            genes=tuple(self.genes[j] for j in order),
            perturbed=None if self.perturbed is None else self.perturbed[rows],
        )

    def part(self, is_in: NDArray[np.bool_]) -> Expression:
        """The samples for which `is_in` holds."""
        names = zip(self.series, is_in, strict=True)
        return replace(
            self,
            values=self.values[is_in],
            times=self.times[is_in],
            series=tuple(name for name, is_there in names if is_there),
            perturbed=None if self.perturbed is None else self.perturbed[is_in],
        )

    def with_perturbation_until(self, time: float) -> Expression:
        """The same samples, those before `time` in their series being perturbed.

        The protocol of the DREAM challenge: the perturbation is on from the start of every
        series, and the sample at `time` is the first one after it.

        Raises
        ------
        ValueError
            If no sample, or every sample, is before `time`.
        """
        on = self.times < time
        if on.all() or not on.any():
            few = "every sample" if on.all() else "no sample"
            raise ValueError(
                f"the end of the perturbation must lie within the series, but {few} is before "
                f"{time:g}; times go from {self.times.min():g} to {self.times.max():g}"
            )
        return replace(self, perturbed=on)


def repeated(names: Sequence[str]) -> list[str]:
    """Names that are there more than once, in order."""
    return [name for name, count in Counter(names).items() if count > 1]


def warn_of_dates(path: str, genes: Sequence[str]) -> None:
    """Warn where names look like what a spreadsheet makes of MARCH1, SEPT2 or DEC1."""
    if dates := [gene for gene in genes if DATE.fullmatch(gene)]:
        warn_user(
            f"{path}: {len(dates)} gene names look like dates that a spreadsheet made of them: "
            f"{listed(dates)}"
        )


def read_expression(path: str | Path, *, missing: str = "error") -> Expression:
    """Read a table of samples x genes with a time column, plain or ``.gz``, tab or comma.

    The first row names the columns. One of them is the time (``Time``, any case). Columns
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
        What is done about cells that are empty or ``NA``, ``NaN``, ``null``: ``"error"``;
        ``"drop"`` the samples; or ``"interpolate"`` in time within the series, with the nearest
        value at its ends, and the gene's mean where a whole series has none. A warning says how
        many there were.

    Raises
    ------
    DataError
        Naming line and column: an empty file, no time column, genes in rows, a cell that is not
        a finite number, a gene that is there twice, a series of one time point, a time that
        comes twice in a series, a gene without any value.
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
    time_column = lower.index("time")
    times = table.numbers(1, [time_column])[:, 0]
    values = numbers_with_gaps(table, genes, refuse=missing == "error")
    names, rows = _series(table, times, [lower.index(name) for name in SERIES if name in lower])
    notes = said_of_gaps(values, missing)
    if "replicate" in lower:
        notes += ("Replicates were taken as series of their own.",)
    if missing == "drop":
        rows, names = without_gaps(values, rows, names)
    _check_times(table, times, names, rows, time_column)
    values, times = values[rows], times[rows]
    if missing == "interpolate":
        fill_gaps(table, values, times, names, genes)
    on = _perturbed(table, lower)
    return Expression(
        values,
        times,
        tuple(names),
        tuple(header[j] for j in genes),
        None if on is None else on[rows],
        notes=notes,
    )


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
        if has_names and "series" not in lower:
            raise table.error(f"must have a column named Time. Perhaps {turn}", row=0)
        raise table.error(f"must have a column named Time, found {listed(table.rows[0])}", row=0)
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
        raise table.error("must have a column for each gene, found only the time", row=0)
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
    table: Table, times: NDArray[np.float64], columns: list[int]
) -> tuple[list[str], list[int]]:
    """Name of the series of each sample, and the samples in the order of series and time."""
    if not columns:
        return _series_by_time(table, times), list(range(times.size))
    label = ["/".join(row[j] for j in columns) for row in table.rows[1:]]
    for i, row in enumerate(table.rows[1:], start=1):
        for j in columns:
            if not row[j]:
                kind = table.rows[0][j].lower()
                raise table.error(f"every sample needs a {kind}, found an empty cell", i, j)
    place = {name: k for k, name in enumerate(dict.fromkeys(label))}
    rows = sorted(range(len(label)), key=lambda i: (place[label[i]], times[i]))
    return [label[i] for i in rows], rows


def _series_by_time(table: Table, times: NDArray[np.float64]) -> list[str]:
    number = 1
    names = []
    for i, time in enumerate(times):
        if i and (table.after_blank[i + 1] or time < times[i - 1]):
            number += 1
        names.append(str(number))
    return names


def _perturbed(table: Table, lower: list[str]) -> NDArray[np.bool_] | None:
    if "perturbed" not in lower:
        return None
    column = lower.index("perturbed")
    for i, row in enumerate(table.rows[1:], start=1):
        if row[column] not in ("0", "1"):
            raise table.error(f"must be 0 or 1, found {shown(row[column])}", i, column)
    on = np.array([row[column] == "1" for row in table.rows[1:]])
    if on.all() or not on.any():
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


def write_expression(expression: Expression, path: Path) -> None:
    """Write the layout of the DREAM challenge: tabs, ``Time`` first, a blank line before a series.

    Six decimals. Names of series are not kept: `read_expression` will number them.
    """
    lines = ["\t".join(["Time", *expression.genes])]
    for rows in expression.pieces().values():
        lines.append("")
        for time, levels in zip(expression.times[rows], expression.values[rows], strict=True):
            lines.append("\t".join([f"{time:g}", *(f"{level:.6f}" for level in levels)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def spacing(expression: Expression) -> str:
    """Describe how samples are spaced in time."""
    steps = np.concatenate([np.diff(expression.times[p]) for p in expression.pieces().values()])
    low, high = steps.min(), steps.max()
    if high - low <= 1e-6 * high:
        return f"even, every {low:g}"
    return f"uneven, {low:g} to {high:g}; the past fades with time"
