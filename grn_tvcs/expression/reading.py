"""Expression from a text table: samples x genes, series told by columns or by falling times.

A sample without a time is at rest; in a table without a time all are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import (
    CLOCK,
    read_times,
    rise_like_times,
    said_of_unit,
    times_in,
    times_in_header,
)
from grn_tvcs.expression.columns import (
    CONTROL,
    IGNORED,
    LABELS,
    MAY_BE_SERIES,
    Columns,
    LayoutError,
    may_read,
    option_words,
    place_of,
)
from grn_tvcs.expression.doubts import warn_of_counts, warn_of_dates, warn_of_series, warn_of_times
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.missing_values import (
    MARKS,
    fill_gaps,
    known_numbers,
    numbers_with_gaps,
    said_of_gaps,
    with_some_value,
    without_gaps,
)
from grn_tvcs.expression.opening import OF_GENES, SERIES, open_table
from grn_tvcs.expression.warned import warn_user
from tvcs_core.arguments import require_one_of
from tvcs_core.files.shown import listed, plain, shown
from tvcs_core.files.tables import Table, is_number

MISSING = ("error", "drop", "interpolate")
MOST_LOOKED_AT = 20  # columns, where none is called a time
PLAIN = Columns()
TELL = "tell replicates apart by a column replicate"

Flags = NDArray[np.bool_]
Levels = NDArray[np.float64] | None


def read_expression(path: str | Path, *, missing: str = "error") -> Expression:
    """Read a table of samples x genes, perhaps with a time: text, plain or ``.gz``, or ``.xlsx``.

    The first row names the columns. One of them may be the time (``Time``, any case), in numbers
    or with a unit as in ``2h``: a sample whose time is empty or ``NA`` is at rest, and without
    this column all are. Columns
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
    return expression_in(open_table(path), missing=missing)


class Apart(NamedTuple):
    """What may tell series apart that a sheet beside the table does not name.

    Attributes
    ----------
    ways
        Options that name them by a column more of the sheet.
    remedy
        What to do where there is none.
    """

    ways: Sequence[dict[str, Any]]
    remedy: str


def expression_in(
    table: Table,
    *,
    missing: str = "error",
    columns: Columns = PLAIN,
    levels: Levels = None,
    apart: Apart | None = None,
) -> Expression:
    """Make out what a table of `read_expression` holds.

    Parameters
    ----------
    table
        Of samples x genes.
    missing
        As for `read_expression`.
    columns
        What the user says of its columns.
    levels
        The levels of its genes, where they are known as numbers already; (samples, genes).
    apart
        What may tell series apart, where a sheet tells of the samples.
    """
    require_one_of("missing", missing, MISSING)
    header = table.rows[0]
    lower = columns.kinds(table)
    _refuse_wrong_shape(table, lower, {IGNORED} | ({"series"} if columns.series else set()))
    genes, levels = _genes(table, lower, levels)
    _check_header(table, genes)
    warn_of_dates(table.path, [header[j] for j in genes])
    table.require_rectangle()
    times, unit = np.full(len(table.rows) - 1, np.nan), ""
    if "time" in lower:
        times, unit = times_in(table, lower.index("time"))
    is_strict = missing == "error"
    if levels is None:
        known = columns.series_names(table, lower) if "time" in lower else None
        values = numbers_with_gaps(table, genes, refuse=is_strict, known_series=known)
    else:
        values = known_numbers(table, genes, levels, refuse=is_strict)
    if not is_strict:
        genes, values = with_some_value(table, genes, values)
    if "time" not in lower:
        warn_of_times(table, lower, header[genes[0]], values[:, 0])
    warn_of_counts(table, lower, genes, values)
    warn_of_series(table, lower, columns, genes, values)
    is_rest = np.isnan(times)
    of_series = columns.series_places(table, lower)
    names, rows = _series(table, times, np.flatnonzero(~is_rest).tolist(), of_series)
    notes = said_of_unit(unit) if names else ()
    if "replicate" in lower and names:
        notes += ("Replicates were taken as series of their own.",)
    rest = np.flatnonzero(is_rest).tolist()
    named: list[str | None] = [*names, *(None for _ in rest)]
    rows = [*rows, *rest]
    if missing != "error":
        n_all = len(rows)
        rows, named = without_gaps(values, rows, named, only_empty=missing != "drop")
        notes = said_of_gaps(values, rows, n_all, missing) + notes
    names = [name for name in named if name is not None]
    n = len(names)  # the samples of series; those at rest stand behind them
    if n:
        apart = apart or Apart(
            _may_be_series(table, lower, columns), f"{TELL}, or give --series-column NAME"
        )
        _check_times(table, times, names, rows[:n], lower.index("time"), apart)
    elif not rows:
        raise table.error("must have a sample with all levels, found none")
    values, times = values[rows], times[rows]
    if missing == "interpolate":
        fill_gaps(values, times, named)
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


def _genes(table: Table, kinds: list[str], levels: Levels) -> tuple[list[int], Levels]:
    """Places of the genes, and what of known `levels` is theirs; controls are none, and said."""
    header = table.rows[0]
    named = [j for j, kind in enumerate(kinds) if kind not in LABELS]
    is_gene = [CONTROL.fullmatch(header[j]) is None for j in named]
    if all(is_gene) or not any(is_gene):
        return named, levels
    controls = [header[j] for j, is_one in zip(named, is_gene, strict=True) if not is_one]
    warn_user(
        f"{table.path}: left out {len(controls)} controls, which are no genes: {listed(controls)}"
    )
    genes = [j for j, is_one in zip(named, is_gene, strict=True) if is_one]
    return genes, None if levels is None else levels[:, is_gene]


def _refuse_wrong_shape(table: Table, lower: list[str], several: set[str]) -> None:
    first = [row[0] for row in table.rows[1:]]
    is_named = lower[0] not in LABELS
    has_names = bool(first) and not any(is_number(cell) for cell in first)
    if "time" not in lower:
        if all(is_number(cell) for cell in lower):
            raise table.error("the first row must name the columns, found only numbers", row=0)
        if has_names and is_named:
            raise _of_names(table, lower)
        clocks = [
            name
            for name, kind in zip(table.rows[0], lower, strict=True)
            if kind != IGNORED and CLOCK.fullmatch(name.lower())
        ]
        if clocks or "series" in lower:
            raise _without_time(table, clocks or _rising(table, lower))
    if twice := [name for name in repeated(lower) if name in LABELS and name not in several]:
        raise table.error(f"must have one column of each kind, found twice: {listed(twice)}", row=0)
    names = [cell for cell in lower if cell not in LABELS]
    if lower[0] == "time" and has_names and names and all(is_number(cell) for cell in names):
        raise may_read(table.error(_turn(first), row=0), {"genes_in_rows": True})
    if len(table.rows) == 1:
        raise table.error("must have samples below the first row, found none", row=0)


def _turn(first: Sequence[str]) -> str:
    return (
        "genes seem to stand in rows: the first column holds names such as "
        f"{listed(first[:3])}; give --genes-in-rows, or one row per sample and one column per "
        "gene, with a column Time"
    )


def _of_names(table: Table, lower: list[str]) -> LayoutError:
    """The error of a first column of names: genes, or samples."""
    first = [row[0] for row in table.rows[1:]]
    of_samples = {"sample_column": table.rows[0][0] or "1"}
    clocks = [name for name in table.rows[0][1:] if CLOCK.fullmatch(name.lower())]
    ways: tuple[dict[str, Any], ...] = ({"genes_in_rows": True}, of_samples)
    is_of_genes = OF_GENES.fullmatch(table.rows[0][0].lower())
    if times_in_header(table.rows[0][1:]) or (is_of_genes and repeated(first)):
        ways = ways[:1]  # names of genes, of which some have several probes, above them times
    elif repeated(first):
        ways = ways[1:]
    if clocks:
        ways = (of_samples | {"time_column": clocks[0]}, *ways)
    elif set(SERIES) & set(lower):
        ways = ways[::-1]
    return may_read(
        table.error(
            "must have a column named Time, or none but numbers where all samples are at rest. "
            f"Perhaps {_turn(first)}; or if it names samples, call it sample or give "
            f"{option_words(of_samples)}",
            row=0,
        ),
        *ways,
    )


def _without_time(table: Table, clocks: list[str]) -> LayoutError:
    ways = tuple({"time_column": name} for name in clocks)
    why = f"{listed(clocks)} seems to be it" if clocks else "for there are series"
    give = f": give {option_words(ways[0])}" if ways else " (or give --time-column NAME)"
    return may_read(
        table.error(
            f"must have a column named Time, {why}{give}; only samples at rest have none", row=0
        ),
        *ways,
    )


def _rising(table: Table, lower: list[str]) -> list[str]:
    """Names of the first columns whose numbers rise as times do."""
    places = [j for j, kind in enumerate(lower[:MOST_LOOKED_AT]) if kind not in LABELS]
    body = [row[:MOST_LOOKED_AT] for row in table.rows[1:]]
    found = []
    for j in places:
        cells = [row[j] for row in body if j < len(row)]
        times = None if any(cell.lower() in MARKS for cell in cells) else read_times(cells)
        if times is not None and rise_like_times(times.values):
            found.append(table.rows[0][j])
    return found


def _check_header(table: Table, genes: list[int]) -> None:
    header = table.rows[0]
    if not genes:
        raise table.error(
            f"must have a column for each gene, found only {listed(table.rows[0])}", row=0
        )
    for j in genes:
        if not header[j]:
            raise may_read(
                table.error(
                    "a gene must have a name, found an empty cell; if the column is none, give "
                    f"--ignore {j + 1}",
                    0,
                    j,
                ),
                {"ignore": (str(j + 1),)},
            )
    if twice := repeated([header[j] for j in genes]):
        raise table.error(
            f"gene names must be different, found twice: {listed(twice)}; rename or remove them, "
            "or average what has one name (R: limma::avereps, pandas: groupby and mean)",
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


def _may_be_series(table: Table, lower: list[str], columns: Columns) -> list[dict[str, Any]]:
    """Options that name series by a column more that may tell them apart."""
    used = {*columns.series_places(table, lower)}
    used |= {place_of(table, name, "--ignore") for name in columns.ignore}
    return [
        columns.more_series(table, lower, j)
        for j, name in enumerate(table.rows[0])
        if j not in used and MAY_BE_SERIES.fullmatch(name.lower())
    ]


def _check_times(
    table: Table,
    times: NDArray[np.float64],
    names: list[str],
    rows: list[int],
    column: int,
    apart: Apart,
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
            ways = apart.ways
            give = f"{TELL}, or give {option_words(ways[0])}" if ways else apart.remedy
            raise may_read(
                table.error(
                    f"time {times[rows[k]]:g} comes twice in series {plain(name)}; {give}",
                    row,
                    column,
                ),
                *ways,
            )
