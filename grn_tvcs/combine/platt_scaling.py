"""Platt scaling: edge probabilities from log-odds, fitted on networks with known edges.

    p = sigmoid(a + b z),     z the log-odds given by the combiner,

with a and b fitted by maximum likelihood on networks of the same design (Platt, Advances in Large
Margin Classifiers, 1999). A Gaussian prior shrinks them to a = 0 and b = 1. All pairs have the same
weight: a probability is the frequency of edges among such pairs over all networks that the user
may have. Weighting each network equally would make edges look rarer than they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PRIOR_WEIGHT = 1.0  # precision of the prior of a and b, in units of one network's edges
MAX_STEPS = 50  # Newton steps; a bound on the time, for convergence is quadratic
# Line search (Armijo, 1966): required fraction of the gain that the slope predicts, and shortest
# step as a fraction of the Newton step.
MIN_GAIN, MIN_STEP = 1e-4, 1e-6

Array = NDArray[np.float64]


def fit_platt_scaling(
    logits: Sequence[Array], truths: Sequence[NDArray[np.bool_]]
) -> tuple[float, float]:
    """Return a and b fitted to the log-odds and true edges of the pairs of several networks.

    The total weight of all edges is the number of networks. Newton's method with step halving:
    far from the optimum, full steps can oscillate forever.
    """
    z = np.concatenate([np.ravel(part) for part in logits])
    true = np.concatenate([np.ravel(part) for part in truths]).astype(float)
    weight = np.full(z.size, len(truths) / max(float(true.sum()), 1.0))
    x = np.column_stack([np.ones_like(z), z])
    middle = np.array([0.0, 1.0])

    def loss(at: Array) -> float:
        off = np.logaddexp(0.0, np.where(true > 0, -1.0, 1.0) * (x @ at))
        return float(weight @ off + PRIOR_WEIGHT / 2 * ((at - middle) ** 2).sum())

    at = middle
    for _ in range(MAX_STEPS):
        p = sigmoid(x @ at)
        slope = x.T @ (weight * (p - true)) + PRIOR_WEIGHT * (at - middle)
        bend = (x * (weight * p * (1 - p))[:, None]).T @ x + PRIOR_WEIGHT * np.eye(2)
        step = np.linalg.solve(bend, slope)
        if np.abs(step).max() < 1e-9:
            break
        size, enough = 1.0, MIN_GAIN * float(slope @ step)
        while size > MIN_STEP and loss(at - size * step) > loss(at) - size * enough:
            size /= 2
        at = at - size * step
    return float(at[0]), float(at[1])


def sigmoid(logits: Array) -> Array:
    """Return the logistic function of `logits`."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -500, 500))))
