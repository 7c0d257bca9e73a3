"""Types of arrays, sums by group, log odds, and normalised exponentials."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def sum_by(group_of: Integers, rows: Floats, n_groups: int) -> Floats:
    """Return the sum of the rows of each group, of shape (groups, columns)."""
    columns = [np.bincount(group_of, column, minlength=n_groups) for column in rows.T]
    return np.stack(columns, axis=1)


def softmax(logs: Floats) -> Floats:
    """Return exp(logs) divided by its sum over the last of two axes; `logs` is overwritten."""
    logs -= logs.max(axis=1, keepdims=True)
    out = np.exp(logs)
    out /= out.sum(axis=1, keepdims=True)
    return out


def logit(chance: Floats, margin: float) -> Floats:
    """Return the log odds of probabilities, which are kept `margin` away from 0 and 1."""
    inside = np.clip(chance, margin, 1.0 - margin)
    return np.log(inside) - np.log1p(-inside)
