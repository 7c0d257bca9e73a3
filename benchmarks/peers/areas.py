"""Areas of a ranking against the truth, as arrays over the pairs that are judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def area_under_roc(truth: NDArray[np.bool_], ranking: NDArray[np.float64]) -> float:
    """Return the chance that a true pair ranks above a false one, ties counting half."""
    true_at, false_at = _counts(truth, ranking)
    false_above = np.cumsum(false_at) - false_at
    won = (true_at * (false_at.sum() - false_above - false_at / 2)).sum()
    n_pairs = true_at.sum() * false_at.sum()
    return float(won / n_pairs) if n_pairs else float("nan")


def average_precision(truth: NDArray[np.bool_], ranking: NDArray[np.float64]) -> float:
    """Return the precision at each distinct score, weighted with the recall that it adds."""
    true_at, false_at = _counts(truth, ranking)
    found = np.cumsum(true_at)
    precision = found / np.cumsum(true_at + false_at)
    return float((precision * true_at).sum() / found[-1]) if found[-1] else float("nan")


def _counts(
    truth: NDArray[np.bool_], ranking: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the true and the false pairs at each distinct score, the highest first."""
    values, at = np.unique(-ranking, return_inverse=True)
    true_at = np.bincount(at, weights=truth, minlength=values.size).astype(np.int64)
    return true_at, np.bincount(at, minlength=values.size) - true_at
