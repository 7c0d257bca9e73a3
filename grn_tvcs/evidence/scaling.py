"""Scaling of sources to a common unit: the mean of the strongest scores, one per gene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def top_mean(scores: NDArray[np.float64], n: int) -> float:
    """Return the mean of the `n` largest scores; NaN counts as 0, and no scores give 0."""
    known = np.nan_to_num(scores).ravel()
    if 0 < n < known.size:
        known = np.partition(known, known.size - n)[known.size - n :]
    strongest = np.sort(known)[::-1][:n]
    return float(strongest.mean()) if strongest.size else 0.0


def scale_by_top_mean(scores: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Divide scores by the mean of the `n` largest."""
    largest = top_mean(scores, n)
    return scores / largest if largest > 0 else scores
