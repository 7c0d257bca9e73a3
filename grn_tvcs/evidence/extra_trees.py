"""Extremely randomised trees: fast forests for parts of which a few dozen trees are enough.

Every tree sees all samples; every node draws one cut, between the least and the largest value, for
each of the square root of the number of inputs, inputs that are constant there not counted, and
takes the best of them, down to single samples. Geurts, Ernst and Wehenkel, Machine Learning 63, 3
(2006). The importance of an input is the mean decrease of impurity, as in `random_forest`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.kernels import grow

Array = NDArray[np.float64]


def importances(inputs: Array, response: Array, rng: np.random.Generator, trees: int) -> Array:
    """Importance of every column of `inputs` for `response`, as parts of the response's variance.

    Rows that differ in some input are told apart by every tree, so where all do the importances
    add up to the variance of the response.
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
