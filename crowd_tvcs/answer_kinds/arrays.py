"""Sums and normalised exponentials by groups of answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.belief.independent import softmax

__all__ = ["Floats", "Integers", "softmax", "sum_by"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def sum_by(group: Integers, rows: Floats, n_groups: int) -> Floats:
    """Return the sum of the rows of each group, of shape (n_groups, columns)."""
    order = np.argsort(group, kind="stable")
    found = np.flatnonzero(np.diff(group[order], prepend=-1))
    out = np.zeros((n_groups, rows.shape[1]))
    if found.size:
        out[group[order][found]] = np.add.reduceat(rows[order], found, axis=0)
    return out
