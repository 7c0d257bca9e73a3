"""The unit in which parts are added: their strongest scores, one per gene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def by_strongest(scores: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Divide by the mean of the `n` largest."""
    largest = np.sort(scores, axis=None)[::-1][:n].mean()
    return scores / largest if largest > 0 else scores
