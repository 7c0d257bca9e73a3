"""Confusion matrices of workers, from few counts: shrunk to the crowd's habits.

Its rows are shrunk to what the worker's accuracy and the crowd's habits let one expect: for each
class the crowd's accuracy there, moved by what they are better or worse than the crowd, and the
crowd's mistakes. The strength of this is the likeliest one (the Dirichlet-multinomial model).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.skills.beta_prior import FEW_STRENGTH, FEW_WORKERS, STRENGTHS, BetaPrior

CROWD_STRENGTH = 20.0  # answers of no habit that are added to the crowd's where gold is thin

Floats = NDArray[np.float64]


def confusion_matrices(
    counts: Floats, mean: Floats, prior: BetaPrior, crowd_strength: float = FEW_STRENGTH
) -> Floats:
    """Shrink every worker's counts of (label, answer) to what their accuracy lets one expect.

    Parameters
    ----------
    counts
        How often each worker gave each answer to gold tasks of each label, of shape (workers,
        classes, classes).
    mean
        Accuracy of every worker.
    prior
        Of the accuracies; the crowd's accuracy per class is shrunk to its mean.
    crowd_strength
        By so many answers of every class.
    """
    pooled = counts.sum(axis=0)
    expected = usual_matrices(mean, pooled, prior.mean, crowd_strength)
    return shrunk(counts, expected, strength_around(counts, expected))


def usual_matrices(
    mean: Floats, pooled: Floats, crowd_mean: float, crowd_strength: float
) -> Floats:
    """Return what workers of these accuracies are expected to do in a crowd with these counts.

    `pooled` has shape (classes, classes), or (workers, classes, classes) where what is known of
    the crowd is not the same for all.
    """
    k = pooled.shape[-1]
    at, others = np.arange(k), 1.0 - np.eye(k)
    right = (pooled[..., at, at] + crowd_strength * crowd_mean) / (
        pooled.sum(axis=-1) + crowd_strength
    )
    wrong = pooled * others + crowd_strength * others / (k - 1)
    wrong = wrong / wrong.sum(axis=-1, keepdims=True)
    own = _logit(mean)[:, None] + _logit(right) - _logit(np.array(crowd_mean))
    own = 1.0 / (1.0 + np.exp(-own))
    out: Floats = (1.0 - own)[:, :, None] * wrong
    out[:, at, at] = own
    return out


def shrunk(counts: Floats, expected: Floats, strength: float) -> Floats:
    """Add `expected`, worth `strength` answers a row, to counts of the same shape."""
    total = counts.sum(axis=-1, keepdims=True) + strength
    out: Floats = (counts + strength * expected) / total
    return out


def strength_around(counts: Floats, expected: Floats) -> float:
    """Find the likeliest strength of rows of counts drawn around the rows of `expected`."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    k = counts.shape[-1]
    counts, expected = counts.reshape(-1, k), expected.reshape(-1, k)
    rows = counts.sum(axis=1) >= 2
    if rows.sum() < FEW_WORKERS:
        return STRENGTHS[1]
    total, counts, expected = counts[rows].sum(axis=1), counts[rows], expected[rows]

    def loss(logarithm: float) -> float:
        s = np.exp(logarithm)
        within = gammaln(counts + s * expected) - gammaln(s * expected)
        return -float(within.sum() + (gammaln(s) - gammaln(total + s)).sum())

    bounds = (np.log(STRENGTHS[0]), np.log(STRENGTHS[1]))
    found = minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(np.exp(found.x))


def _logit(chance: Floats) -> Floats:
    inside = np.clip(chance, 1e-6, 1.0 - 1e-6)
    out: Floats = np.log(inside) - np.log1p(-inside)
    return out
