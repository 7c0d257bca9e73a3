"""Cells along pseudotime in bins: one sample per bin, the mean of its cells.

A single cell is mostly noise and dropouts, and its pseudotime is a guess; neighbours in pseudotime
are replicates of each other. A lineage of c cells is cut into bins of equal numbers of cells (sums
of weights, where cells have any), the square root of c of them by default: so many bins, and as
many cells in each. Cells at the same pseudotime stay together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, is_even
from grn_tvcs.expression.judge.remarks import warn_of_copies
from grn_tvcs.expression.options import AUTO, OFF
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import check_number, check_type, option_name, option_words

MANY_POINTS = 100  # a series of more, at uneven times, is taken for cells
FEWEST_BINS, MOST_BINS = 10, 50  # of a lineage, where the number is chosen
MAX_UNBINNED = 2000  # cells that are kept for evidence without time, evenly spaced among more

Array = NDArray[np.float64]


def average_in_bins(expression: Expression, bins: int | str = AUTO) -> Expression:
    """Average the samples of every series in bins of equal numbers of cells along time.

    Parameters
    ----------
    expression
        Its `cells` count the cells of a sample; steady-state samples stay as they are.
    bins
        The number for each series; or ``"auto"``: for cells (see `holds_cells`) the square root
        of the cells of the series, at least 10 and at most 50, and none for others.

    Returns
    -------
    Expression
        A note gives the numbers of cells and bins, and the share of zero levels. Its `unbinned`
        are the levels before averaging, of at most `MAX_UNBINNED` samples.
        A perturbation is on in a bin if it is in at least half of it.

    Raises
    ------
    ValueError
        If there is no series, or `bins` is not 2 or more, or more than a series has samples.
    """
    check_type("expression", expression, Expression)
    numbers = _bins_of_series(expression, bins)
    return expression if numbers is None else _averaged(expression, numbers)


def prepared(
    expression: Expression, bins: int | str = AUTO, scale: str | None = None
) -> Expression:
    """Return the expression as methods take it: on its scale, cells along time averaged in bins.

    A warning describes the averages, unless a number of bins was asked for. Another names series
    that hold the same values.

    Parameters
    ----------
    expression, bins
        As for `average_in_bins`; ``"off"`` for no bins.
    scale
        As for `infer`.
    """
    settled = on_scale(expression, scale)
    warn_of_copies(settled)
    is_off = isinstance(bins, str) and bins == OFF
    numbers = None if is_off else _bins_of_series(settled, bins)
    if numbers is None:
        return settled
    averaged = _averaged(settled, numbers)
    if isinstance(bins, str):
        warn_user(f"{averaged.notes[-1]} Give {option_words({'bins': OFF})} to use each by itself.")
    return on_scale(averaged)


def _bins_of_series(expression: Expression, bins: int | str) -> list[int] | None:
    """Return the number of bins of each series; None where samples are no cells."""
    if not isinstance(bins, str):
        check_number("bins", bins, whole=True)
    pieces = expression.pieces
    if bins == AUTO:
        cells = _cells(expression)
        is_of_cells = holds_cells(expression)
        return [_chosen(cells[rows]) for rows in pieces.values()] if is_of_cells else None
    numbers = [_checked(bins, name, rows) for name, rows in pieces.items()]
    if not numbers:
        raise ValueError(
            "bins lie along time, but all samples are in steady state: leave "
            f"{option_name('bins')} out, or give the times of the cells "
            f"({option_name('time_column')}, {option_name('pseudotime')})"
        )
    return numbers


def _cells(expression: Expression) -> Array:
    """Return how many cells each sample of a series stands for."""
    return np.ones(len(expression.times)) if expression.cells is None else expression.cells


def _averaged(expression: Expression, numbers: list[int]) -> Expression:
    """Average the samples of every series in its number of bins."""
    cells, pieces = _cells(expression), expression.pieces
    parts = [
        rows.start + _starts(cells[rows], n)
        for rows, n in zip(pieces.values(), numbers, strict=True)
    ]
    starts = np.concatenate(parts)
    total = np.add.reduceat(cells, starts)
    on = expression.perturbed
    if on is not None:
        on = np.add.reduceat(cells * on, starts) >= total / 2
        on = None if on.all() or not on.any() else on
    return replace(
        expression,
        values=np.add.reduceat(cells[:, None] * expression.values, starts) / total[:, None],
        times=np.add.reduceat(cells * expression.times, starts) / total,
        series=tuple(expression.series[i] for i in starts),
        perturbed=on,
        cells=total,
        unbinned=_some_of(expression.values)
        if expression.unbinned is None
        else expression.unbinned,
        notes=(*expression.notes, _bins_note(expression, cells, total)),
    )


def _some_of(values: Array) -> Array:
    """Return at most `MAX_UNBINNED` rows, evenly spaced."""
    n = len(values)
    if n <= MAX_UNBINNED:
        return values
    return values[np.linspace(0, n - 1, MAX_UNBINNED).round().astype(np.int64)]


def holds_cells(expression: Expression) -> bool:
    """Whether a series looks like cells: over 100 points, unevenly apart, nothing perturbed."""
    return expression.perturbed is None and any(
        rows.stop - rows.start > MANY_POINTS and not is_even(np.diff(expression.times[rows]))
        for rows in expression.pieces.values()
    )


def _chosen(cells: Array) -> int:
    """Square root of the number of cells, within bounds and not above the points there are."""
    return min(int(np.clip(round(cells.sum() ** 0.5), FEWEST_BINS, MOST_BINS)), len(cells))


def _checked(bins: int | str, name: str, rows: slice) -> int:
    if isinstance(bins, str) or bins < 2:
        raise ValueError(f"bins must be {AUTO} or an integer >= 2, found {bins!r}")
    n = rows.stop - rows.start
    if bins > n:
        raise ValueError(
            f"bins must be at most the cells at different times of every series, but series "
            f"{name} has {n} and {bins} bins are asked for"
        )
    return bins


def _starts(cells: Array, n: int) -> NDArray[np.int64]:
    """First sample of each bin of a series: of `n` equal parts of the cells that with its middle.

    As a sample counts where its middle lies, one that stands for many cells may leave a part
    empty; the first and the last sample are in different bins for any `n` >= 2.
    """
    middle = np.cumsum(cells) - cells / 2
    part = np.floor(middle * n / cells.sum())
    return np.flatnonzero(np.diff(part, prepend=-1.0))


def _bins_note(expression: Expression, cells: Array, total: Array) -> str:
    zeros = float((expression.values == 0).mean())
    dropouts = (
        f" {100 * zeros:.0f} % of their levels were 0 and count as 0 in the means: "
        "dropouts and silent genes cannot be distinguished."
        if zeros
        else ""
    )
    return (
        f"{cells.sum():.0f} cells were averaged to {len(total)} samples, bins of about equal "
        f"numbers of cells along time in each of {expression.n_series} series.{dropouts}"
    )
