"""Time courses for the scripts of a report: levels, two letters per value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression

# Sizes that keep a page below some megabytes (`python -m benchmarks.speed.network_report`).
MAX_SERIES = 60
MAX_POINTS = 200  # per series
MAX_SAMPLES = 2_400  # in all
MAX_VALUES = 900_000  # levels, two bytes each
REST = "steady-state samples, by number"
DIGITS = 7  # significant digits of times and bounds
LETTERS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)
MISSING = 4095  # two letters hold 12 bits; the largest number encodes a missing value
MAX_STEP = MISSING - 1
UNITS = {"log": "log level as in the table", "counts": "counts in a sample of usual size"}

Rows = NDArray[np.int64]
Levels = NDArray[np.float64]


def time_courses(
    expression: Expression, nodes: Sequence[str], genes: Sequence[str]
) -> dict[str, Any]:
    """Return the time courses of as many of `genes` as a page holds.

    The first `MAX_SERIES` series are shown, with evenly spaced samples, `MAX_SAMPLES` in all.
    Steady-state samples are last, by number. A profile is (index of the gene among `nodes`,
    lowest, highest, levels), with levels in 4094 steps from lowest to highest.
    """
    shown = _shown(expression)
    rows = np.concatenate([part for _, part in shown])
    column = {gene: j for j, gene in enumerate(expression.genes)}
    kept = [gene for gene in genes if gene in column][: MAX_VALUES // max(rows.size, 1)]
    number = {gene: k for k, gene in enumerate(nodes)}
    return {
        "series": [_series(expression, name, part) for name, part in shown],
        "profiles": [[number[gene], *_profile(expression, column[gene], rows)] for gene in kept],
        "all_series": expression.n_series + bool(expression.n_steady),
        "unit": UNITS.get(expression.scale or "", "level in the unit of the table"),
        "time": "time in the unit of the table",
    }


def _shown(expression: Expression) -> list[tuple[str, Rows]]:
    """Return names and samples of the series that are shown."""
    pieces = list(expression.pieces.items())[:MAX_SERIES]
    n, n_rest = len(expression.times), expression.n_steady
    most = min(MAX_POINTS, MAX_SAMPLES // (len(pieces) + bool(n_rest)))
    shown = [(name, _thinned(rows, most)) for name, rows in pieces]
    if n_rest:
        shown.append((REST, _thinned(slice(n, n + n_rest), most)))
    return shown


def _series(expression: Expression, name: str, rows: Rows) -> dict[str, Any]:
    """Return the name and times of a series, and the samples under perturbation."""
    is_rest = name == REST and rows[0] >= len(expression.times)
    if is_rest:
        return {"name": name, "times": (rows - len(expression.times) + 1).tolist(), "rest": True}
    times = [float(f"{time:.{DIGITS}g}") for time in expression.times[rows].tolist()]
    series: dict[str, Any] = {"name": name, "times": times}
    if expression.perturbed is not None:
        series["perturbed"] = expression.perturbed[rows].astype(int).tolist()
    return series


def _profile(expression: Expression, column: int, rows: Rows) -> tuple[float, float, str]:
    """Return lowest, highest and all levels of a gene."""
    values = expression.values[:, column]
    if expression.steady_values is not None:
        values = np.concatenate([values, expression.steady_values[:, column]])
    levels = values[rows]
    low, high = (float(f"{part(levels):.{DIGITS}g}") for part in (np.nanmin, np.nanmax))
    return low, high, letters(levels, low, high)


def letters(values: Levels, low: float, high: float) -> str:
    """Encode each value by two letters, in steps from `low` to `high`; NaN has its own code."""
    span = high - low or 1.0
    steps = np.rint(np.clip((np.nan_to_num(values, nan=low) - low) / span, 0, 1) * MAX_STEP)
    codes = np.where(np.isnan(values), MISSING, steps).astype(np.int64)
    pairs = np.column_stack([LETTERS[codes >> 6], LETTERS[codes & 63]])
    return pairs.astype(np.uint8).tobytes().decode("ascii")


def _thinned(rows: slice, most: int) -> Rows:
    n = rows.stop - rows.start
    places = np.linspace(0, n - 1, min(n, most)).round()
    return np.asarray(rows.start + places.astype(np.int64))
