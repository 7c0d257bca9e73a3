"""Recompute the accuracy forecast of a plan from a dependence.json, with code of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NORMAL_QUANTILE = 1.96  # standard deviations of a 95 % interval
MIN_DIFFERENCE = 0.01  # accuracies closer than this count as equal


def recompute_forecast(
    model: Mapping[str, Any], quality: Floats, support: NDArray[np.bool_], accuracy: Floats
) -> dict[str, float]:
    """Recompute the field `forecast` of a summary.json.

    Parameters
    ----------
    model
        `forecast_model` of the file.
    quality, support
        Of shape (workers, tasks).
    accuracy
        Of every task.
    """
    tasks, gold = support.shape[1], model["gold_tasks"]
    qualities: dict[int, list[float]] = {}  # of all pairs whose task has so many workers
    for j, chosen in enumerate(support.T):
        n = int(chosen.sum())
        if n:
            qualities.setdefault(n, []).append(float(quality[chosen, j].mean()))
    share = math.fsum(accuracy.tolist()) / tasks
    for n, means in qualities.items():
        best, gap = (_between(n, model["labels"], model[name]) for name in ("best", "gaps"))
        apart = best - model["usual"]
        far = (
            1.0
            if apart < MIN_DIFFERENCE
            else (math.fsum(means) / len(means) - model["usual"]) / apart
        )
        share += min(max(far, 0.0), 1.0) * gap * len(means) / tasks
    share = min(max(share, 0.0), 1.0)
    n = 1.0 / (1.0 / gold + 1.0 / tasks)
    # Wilson: the shares p with |share - p| <= Z sqrt(p (1 - p) / n).
    a, b, c = (
        1.0 + NORMAL_QUANTILE * NORMAL_QUANTILE / n,
        -(2.0 * share + NORMAL_QUANTILE * NORMAL_QUANTILE / n),
        share * share,
    )
    root = math.sqrt(max(b * b - 4.0 * a * c, 0.0))
    low, high = (-b - root) / (2.0 * a), (-b + root) / (2.0 * a)
    return {"accuracy": share, "low": max(0.0, low), "high": min(1.0, high), "gold_tasks": gold}


def _between(n: int, labels: list[int], values: list[float]) -> float:
    """Value at n answers, linear in log n."""
    return float(np.interp(math.log(n), [math.log(k) for k in labels], values))
