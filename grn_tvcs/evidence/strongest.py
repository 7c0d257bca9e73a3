"""The unit in which parts are added: their strongest scores, one per gene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mean_of_strongest(scores: NDArray[np.float64], n: int) -> float:
    """Mean of the `n` largest, what is not known (NaN) being 0; 0 where there are none."""
    known = np.nan_to_num(scores).ravel()
    if 0 < n < known.size:
        known = np.partition(known, known.size - n)[known.size - n :]
    strongest = np.sort(known)[::-1][:n]
    return float(strongest.mean()) if strongest.size else 0.0


def by_strongest(scores: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Divide by the mean of the `n` largest."""
    largest = mean_of_strongest(scores, n)
    return scores / largest if largest > 0 else scores
