"""Uncertainty of a task, and how much one answer is expected to reduce it.

The uncertainty of a task with posterior p is u = sum over pairs of classes of sqrt(p_a p_b); for
two classes sqrt(c (1 - c)) with c the confidence. One more answer is expected to multiply a pair's
term by the Bhattacharyya coefficient of the worker's answers under the two labels, sum over answers
l of sqrt(P(l | a) P(l | b)), whatever the posterior is. A worker whose mistakes are spread evenly
has one coefficient for all pairs, their affinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from crowd_tvcs.arrays import Floats


def uncertainty(posterior: Floats) -> Floats:
    """Return the uncertainty of every task, from a posterior of shape (tasks, classes).

    It is 0 if one class is certain.
    """
    root = np.sqrt(posterior)
    out: Floats = (root.sum(axis=1) ** 2 - posterior.sum(axis=1)) / 2.0
    return np.maximum(out, 0.0)


def uncertainty_of_task(chances: Sequence[float]) -> float:
    """Return the uncertainty of one task, from one probability per class."""
    roots = [math.sqrt(p) for p in chances]
    return max((sum(roots) ** 2 - sum(chances)) / 2.0, 0.0)


def separation(matrices: Floats) -> Floats:
    """Return how well a worker separates each two classes: 1 less the Bhattacharyya coefficient.

    `matrices` are confusion matrices of shape (workers, classes, classes); so is the result, with
    zeros on the diagonals.
    """
    root = np.sqrt(matrices)
    out: Floats = 1.0 - np.einsum("ial,ibl->iab", root, root)
    at = np.arange(matrices.shape[1])
    out[:, at, at] = 0.0
    return np.clip(out, 0.0, 1.0)


def even_separation(accuracy: Floats, n_classes: int) -> Floats:
    """Return the separation of any two classes by workers whose mistakes are spread evenly."""
    wrong = (1.0 - accuracy) / (n_classes - 1)
    apart = 1.0 - 2.0 * np.sqrt(accuracy * wrong) - (n_classes - 2) * wrong
    return np.clip(apart, 0.0, 1.0)


def affinity(accuracy: float, n_classes: int) -> float:
    """Return the Bhattacharyya coefficient of one such worker, in [0, 1]: 1 less the separation.

    It is 1 for a worker whose answers say nothing, and 0 for one who is always right.
    """
    wrong = (1.0 - accuracy) / (n_classes - 1)
    return min(2.0 * math.sqrt(accuracy * wrong) + (n_classes - 2) * wrong, 1.0)
