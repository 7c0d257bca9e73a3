"""Expression in the layouts of others: a sheet of samples, genes in rows, BEELINE's two files.

Nothing is turned over silently: genes in rows must be said to be so, and BEELINE's layout is
known by its second file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.h5ad import read_h5ad, said_of_cells
from grn_tvcs.expression.missing_values import MARKS, numbers_with_gaps
from grn_tvcs.expression.reading import (
    LABELS,
    SERIES,
    expression_in,
    read_expression,
    warn_of_dates,
)
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.files.rows import Rows
from tvcs_core.files.shown import listed
from tvcs_core.files.tables import Table, read_table

CELLS_AT_ONCE = 2**18  # of a table that is turned


def read_layout(
    path: str | Path,
    *,
    samples: str | Path | None = None,
    pseudotime: str | Path | None = None,
    lineage_weights: str | Path | None = None,
    genes_in_rows: bool = False,
    time_column: str | None = None,
    series_column: str | None = None,
    missing: str = "error",
) -> Expression:
    """Read expression in the layout that the other arguments tell; without them, the usual one.

    A file whose name ends in ``.h5ad`` is one of AnnData.

    Parameters
    ----------
    path
        The levels.
    samples
        A sheet with a row for each sample, as for `read_samples`.
    pseudotime
        BEELINE's ``PseudoTime.csv``; `path` then is its ``ExpressionData.csv``.
    lineage_weights
        Beside `pseudotime`, as for `read_beeline`.
    genes_in_rows
        The first column of `path` names genes, the others are samples.
    time_column, series_column
        Columns of an ``.h5ad`` file, as for `read_h5ad`.
    missing
        As for `read_expression`.

    Raises
    ------
    ValueError
        If the arguments contradict each other, or as for the functions of this module.
    """
    if lineage_weights is not None and pseudotime is None:
        raise ValueError("weights of lineages are those of cells with a file of pseudotimes")
    if Path(path).suffix.lower() == ".h5ad":
        if samples is not None or pseudotime is not None or genes_in_rows or missing != "error":
            raise ValueError(
                "an .h5ad file says it all: no sheet of samples, no pseudotimes, no genes in rows "
                "and no missing values beside it"
            )
        return read_h5ad(path, time_column=time_column, series_column=series_column)
    if time_column is not None or series_column is not None:
        raise ValueError("--time-column and --series-column are for .h5ad files only")
    if pseudotime is not None:
        if samples is not None or genes_in_rows or missing != "error":
            raise ValueError(
                "a file of pseudotimes says it all: no sheet of samples, no genes in rows and no "
                "missing values beside it"
            )
        return read_beeline(path, pseudotime, lineage_weights)
    if samples is not None:
        return read_samples(path, samples, genes_in_rows=genes_in_rows, missing=missing)
    if genes_in_rows:
        return expression_in(_turned(_whole(path), missing), missing=missing)
    return read_expression(path, missing=missing)


def read_files(paths: Sequence[str | Path], **layout: Any) -> Expression:
    """Read several files of the same layout and genes; the series of all stand after each other.

    So do their samples at rest.

    Genes may stand in any order, as in the first file they come out. A series is named by the file
    as well where names would clash. Where some files tell of perturbations and others do not, the
    others count as not perturbed, with a warning.

    Raises
    ------
    DataError
        If a file has other genes than the first, or as for `read_layout`.
    """
    parts = [read_layout(path, **layout) for path in paths]
    if len(parts) == 1:
        return parts[0]
    genes = parts[0].genes
    for path, part in zip(paths, parts, strict=True):
        if strangers := sorted(set(genes) ^ set(part.genes)):
            raise DataError(
                f"must have the genes of {paths[0]}, but these are in one of the two only: "
                f"{listed(strangers)}",
                path=path,
            )
    column = [[part.genes.index(gene) for gene in genes] for part in parts]
    names = [list(part.series) for part in parts]
    if repeated([name for part in names for name in dict.fromkeys(part)]):
        names = [[f"{k}: {name}" for name in part] for k, part in enumerate(names, start=1)]
    known = [part.perturbed is not None for part in parts if part.series]
    if any(known) and not all(known):
        told = [part.perturbed is not None or not part.series for part in parts]
        untold = [str(path) for path, is_told in zip(paths, told, strict=True) if not is_told]
        warn_user(f"taken as never perturbed, for nothing is told: {listed(untold)}")
    rest = [
        part.at_rest[:, at]
        for part, at in zip(parts, column, strict=True)
        if part.at_rest is not None
    ]
    on = [np.zeros(len(p.times), bool) if p.perturbed is None else p.perturbed for p in parts]
    return Expression(
        np.concatenate([part.values[:, at] for part, at in zip(parts, column, strict=True)]),
        np.concatenate([part.times for part in parts]),
        tuple(name for part in names for name in part),
        genes,
        np.concatenate(on) if any(known) else None,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        at_rest=np.concatenate(rest) if rest else None,
        cells=_cells(parts),
    )


def _cells(parts: Sequence[Expression]) -> NDArray[np.float64] | None:
    if all(part.cells is None for part in parts):
        return None
    return np.concatenate([np.ones(len(p.times)) if p.cells is None else p.cells for p in parts])


def read_samples(
    path: str | Path,
    sheet: str | Path,
    *,
    genes_in_rows: bool = False,
    missing: str = "error",
) -> Expression:
    """Read levels, and beside them a sheet that tells time and series of every sample.

    A sample without a time is at rest, and one may stand in several series, each with a row of its
    own. The sheet has the columns ``sample`` and ``time`` and any of ``series``, ``condition``,
    ``replicate`` and ``perturbed``, with the meaning they have for `read_expression`; other
    columns are not used. The first column of the levels names the samples, the others are genes,
    or the other way round with `genes_in_rows`. Samples that are not in the sheet are left out,
    with a warning.

    Raises
    ------
    DataError
        If a sample of the sheet has no levels, a gene is there twice or a sample is in its series,
        a gene has the name of a column of the sheet; or as for `read_expression`.
    """
    levels = _whole(path)
    if genes_in_rows:
        levels = _turned(levels, missing)
    rows = _rows_by_name(levels, "sample")
    genes = levels.rows[0][1:]
    if taken := [gene for gene in genes if gene.lower() in LABELS]:
        raise levels.error(f"a gene must not be called {listed(taken)}", row=0)
    header, facts = _sheet(sheet, levels, rows)
    named = {sample for sample, _ in facts}
    if spare := [sample for sample in rows if sample not in named]:
        warn_user(f"{levels.path}: left out {len(spare)} samples: {listed(spare)}")
    body = ([*fact, *levels.rows[rows[sample]][1:]] for sample, fact in facts)
    merged = Rows.of(chain([[*header, *genes]], body))
    lines = [levels.lines[0], *(levels.lines[rows[sample]] for sample, _ in facts)]
    table = Table(levels.path, levels.delimiter, merged, lines, bytes(len(merged)))
    return expression_in(table, missing=missing)


def _sheet(
    path: str | Path, levels: Table, rows: dict[str, int]
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Labels that a sheet has, and what it says of samples; one series if it names none."""
    table = _whole(path)
    header = [cell.lower() for cell in table.rows[0]]
    for label in ("sample", "time"):
        if header.count(label) != 1:
            raise table.error(f"must have one column {label}, found {listed(table.rows[0])}", row=0)
    numbers_with_gaps(table, [header.index("time")], refuse=False)
    names = [row[header.index("sample")] for row in table.rows[1:]]
    kinds = [j for j, label in enumerate(header) if label in SERIES]
    if twice := _twice_in_a_series(table, names, kinds, header.index("time")):
        raise table.error(f"samples must be different, found twice: {listed(twice)}")
    if unknown := [name for name in names if name not in rows]:
        raise table.error(
            f"every sample must have levels in {levels.path}, but {len(unknown)} have none: "
            f"{listed(unknown)}; there stands {listed(list(rows))}"
        )
    used = [j for j, label in enumerate(header) if label in LABELS]
    one = [] if set(SERIES) & set(header) else ["series"]
    facts = [
        (name, ["1" for _ in one] + [row[j] for j in used])
        for name, row in zip(names, table.rows[1:], strict=True)
    ]
    return one + [header[j] for j in used], facts


def _twice_in_a_series(table: Table, names: list[str], kinds: list[int], time: int) -> list[str]:
    """Samples that a sheet names twice in one series, or at rest and elsewhere."""
    body = list(table.rows[1:])
    at_rest = {name for name, row in zip(names, body, strict=True) if row[time].lower() in MARKS}
    place = [(name, *(row[j] for j in kinds)) for name, row in zip(names, body, strict=True)]
    twice = {name for (name, *_), count in Counter(place).items() if count > 1}
    return [name for name in repeated(names) if name in twice or name in at_rest]


def read_beeline(
    path: str | Path, pseudotime: str | Path, lineage_weights: str | Path | None = None
) -> Expression:
    """Read BEELINE's ``ExpressionData.csv`` (genes x cells) and ``PseudoTime.csv``.

    Every column of pseudotimes is a series of the cells that have one in it (the others are
    empty or ``NA``), in the order of pseudotime; levels of cells at the same pseudotime are
    averaged. With `lineage_weights`, a table of the same columns that says how far each cell
    belongs to each lineage (those of slingshot are from 0 to 1; nothing is 0), a mean is weighted,
    and a cell of weight 0 is not in the lineage.

    Raises
    ------
    DataError
        If a cell has no levels, a cell or a gene is there twice, a level is no finite number, a
        column has fewer than two pseudotimes, or weights are of other cells or columns or
        below 0.
    """
    table, times = _whole(path), _whole(pseudotime)
    values = table.numbers(1, range(1, len(table.rows[0]))).T
    genes = list(_rows_by_name(table, "gene"))
    warn_of_dates(table.path, genes)
    column = {cell: j for j, cell in enumerate(table.rows[0][1:])}
    if twice := repeated(table.rows[0][1:]):
        raise table.error(f"cells must be different, found twice: {listed(twice)}", row=0)
    cells = list(_rows_by_name(times, "cell"))
    if unknown := [cell for cell in cells if cell not in column]:
        raise times.error(
            f"every cell must have levels in {table.path}, but {len(unknown)} have none: "
            f"{listed(unknown)}; there stands {listed(list(column))}"
        )
    at = numbers_with_gaps(times, range(1, len(times.rows[0])), refuse=False)
    place = np.array([column[cell] for cell in cells])
    weights = np.ones(at.shape) if lineage_weights is None else _weights(lineage_weights, times)
    levels, clock, series = [], [], []
    sizes: list[NDArray[np.float64]] = []
    for k, name in enumerate(times.rows[0][1:]):
        has_time = ~np.isnan(at[:, k]) & (weights[:, k] > 0)
        moments, moment = np.unique(at[has_time, k], return_inverse=True)
        if moments.size < 2:
            raise times.error(
                f"must have at least 2 different pseudotimes, found {moments.size}", 0, k + 1
            )
        sums = np.zeros((moments.size, len(genes)))
        weight = weights[has_time, k]
        np.add.at(sums, moment, weight[:, None] * values[place[has_time]])
        sizes.append(np.bincount(moment, weights=weight).astype(np.float64))
        levels.append(sums / sizes[-1][:, None])
        clock.append(moments)
        series += [name] * moments.size
    size = np.concatenate(sizes)
    return Expression(
        np.concatenate(levels),
        np.concatenate(clock),
        tuple(series),
        tuple(genes),
        notes=said_of_cells(int((~np.isnan(at) & (weights > 0)).sum()), len(series)),
        cells=None if (size == 1).all() else size,
    )


def _weights(path: str | Path, times: Table) -> NDArray[np.float64]:
    """How far each cell of a table of pseudotimes belongs to each lineage; (cells, lineages)."""
    table = _whole(path)
    for what, found, wanted in (
        ("lineages", table.rows[0][1:], times.rows[0][1:]),
        ("cells", list(_rows_by_name(table, "cell")), list(_rows_by_name(times, "cell"))),
    ):
        if strangers := sorted(set(found) ^ set(wanted)):
            raise table.error(
                f"must have the {what} of {times.path}, but these are in one of the two only: "
                f"{listed(strangers)}"
            )
        if twice := repeated(found):
            raise table.error(f"{what} must be different, found twice: {listed(twice)}", row=0)
    weights = numbers_with_gaps(table, range(1, len(table.rows[0])), refuse=False)
    weights = np.where(np.isnan(weights), 0.0, weights)
    if (weights < 0).any():
        i, k = (int(found[0]) for found in np.nonzero(weights < 0))
        raise table.error(f"a weight must be >= 0, found {weights[i, k]:g}", i + 1, k + 1)
    row = _rows_by_name(table, "cell")
    rows = [row[cell] - 1 for cell in _rows_by_name(times, "cell")]
    columns = [table.rows[0][1:].index(name) for name in times.rows[0][1:]]
    return weights[np.ix_(rows, columns)]


def _whole(path: str | Path) -> Table:
    table = read_table(path)
    table.require_rectangle()
    if len(table.rows) < 2 or len(table.rows[0]) < 2:
        raise table.error("must have a first row and a first column of names, and cells", row=0)
    return table


def _turned(table: Table, missing: str) -> Table:
    """Rows as columns; what is no number is found before, while its line is known."""
    is_label = [row[0].lower() in LABELS for row in table.rows]
    plain = (row for row, is_one in zip(table.rows, is_label, strict=True) if not is_one)
    header = [table.rows[0]] if is_label[0] else []
    lines = [n for n, is_one in zip(table.lines[1:], is_label[1:], strict=True) if not is_one]
    levels = replace(
        table, rows=Rows.of(chain(header, plain)), lines=[table.lines[0], *lines], after_blank=()
    )
    numbers_with_gaps(levels, range(1, len(table.rows[0])), refuse=missing == "error")
    del levels
    rows = Rows.of(_columns(table, "" if is_label[0] else "sample"))
    return replace(table, rows=rows, lines=[1] * len(rows), after_blank=bytes(len(rows)))


def _columns(table: Table, corner: str) -> Iterator[list[str]]:
    """The columns of a table, the first with another first cell; some of them at a time."""
    at_once = max(1, max(CELLS_AT_ONCE, table.n_bytes // 16) // len(table.rows))
    for start in range(0, len(table.rows[0]), at_once):
        part = [row[start : start + at_once] for row in table.rows]
        for j, column in enumerate(zip(*part, strict=True), start=start):
            yield [corner, *column[1:]] if j == 0 and corner else list(column)


def _rows_by_name(table: Table, kind: str) -> dict[str, int]:
    """The row of each name of the first column."""
    names = [row[0] for row in table.rows[1:]]
    if "" in names:
        raise table.error(f"a {kind} must have a name, found an empty cell", names.index("") + 1, 0)
    if twice := repeated(names):
        raise DataError(f"{kind}s must be different, found twice: {listed(twice)}", path=table.path)
    return {name: i for i, name in enumerate(names, start=1)}
