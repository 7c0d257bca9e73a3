"""Extremely randomised trees: fast forests for evidence that needs only a few dozen trees.

Every tree uses all samples. Every node draws one threshold between minimum and maximum for each of
sqrt(n) inputs, not counting constant ones, and takes the best split, down to single samples.
Geurts, Ernst and Wehenkel, Machine Learning 63, 3 (2006). Importance is the mean decrease of
impurity, as in `random_forest`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.kernels import grow

Array = NDArray[np.float64]


def importances(inputs: Array, response: Array, rng: np.random.Generator, trees: int) -> Array:
    """Return the importance of each column for `response`, in units of the response's variance.

    Importances add up to the variance of the response if no two rows have equal inputs.
    """
    spread = response.std()
    n_samples, n_inputs = inputs.shape
    total = np.zeros(n_inputs)
    if not spread > 0:
        return total
    y = (response - response.mean()) / spread
    grow(
        np.ascontiguousarray(inputs.T),
        y,
        trees,
        max(1, int(np.sqrt(n_inputs))),
        rng.integers(2**64, size=1, dtype=np.uint64),
        np.arange(n_inputs),
        np.empty(n_samples, dtype=np.int64),
        np.empty((n_samples + 1, 2), dtype=np.int64),
        total,
    )
    return np.asarray(total * (spread**2 / (n_samples * trees)))
