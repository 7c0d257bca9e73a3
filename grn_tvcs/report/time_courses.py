"""Time courses for the scripts of a report: levels and predictions, two letters per value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.report.held_out import HeldOut, predicted

# Sizes that keep a page below some megabytes (`python -m benchmarks.speed.network_report`).
MAX_SERIES = 60
MAX_POINTS = 200  # per series
MAX_SAMPLES = 2_400  # in all
MAX_VALUES = 900_000  # levels and predictions, two bytes each
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


def time_courses(expression: Expression, network: Network, genes: Sequence[str]) -> dict[str, Any]:
    """Return the time courses of as many of `genes` as a page holds, with predictions.

    The first `MAX_SERIES` series are shown, with evenly spaced samples, `MAX_SAMPLES` in all.
    Steady-state samples are last, by number. A profile is (index of the gene in the network,
    lowest, highest, levels, predictions, gain), with levels in 4094 steps from lowest to highest.
    """
    shown = _shown(expression)
    rows = np.concatenate([part for _, part in shown])
    column = {gene: j for j, gene in enumerate(expression.genes)}
    kept = [gene for gene in genes if gene in column][: MAX_VALUES // (2 * max(rows.size, 1))]
    held_out = predicted(expression, network, [column[gene] for gene in kept])
    number = {gene: k for k, gene in enumerate(network.genes)}
    return {
        "series": [_series(expression, name, part) for name, part in shown],
        "profiles": [
            [number[gene], *_profile(expression, held_out, column[gene], rows)] for gene in kept
        ],
        "all_series": expression.n_series + bool(expression.n_steady),
        "n_folds": 0 if held_out is None else held_out.n_folds,
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


def _profile(
    expression: Expression, held_out: HeldOut | None, column: int, rows: Rows
) -> list[float | str | None]:
    """Return lowest, highest, levels, predictions and gain of a gene."""
    values = expression.values[:, column]
    if expression.steady_values is not None:
        values = np.concatenate([values, expression.steady_values[:, column]])
    levels, expected, gain = values[rows], np.empty(0), None
    if held_out is not None and not np.isnan(held_out.levels[:, column]).all():
        n_rest = np.full(expression.n_steady, np.nan)
        expected = np.concatenate([held_out.levels[:, column], n_rest])[rows]
        gain = held_out.gain[column]
    both = np.concatenate([levels, expected])
    low, high = (float(f"{part(both):.{DIGITS}g}") for part in (np.nanmin, np.nanmax))
    shown_gain = None if gain is None or gain != gain else round(float(gain), 2)
    return [low, high, *(letters(part, low, high) for part in (levels, expected)), shown_gain]


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
