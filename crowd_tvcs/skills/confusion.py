"""Estimate confusion matrices of workers from few counts, shrunk to the habits of the crowd.

Each row is shrunk to the one expected from the worker's accuracy and the crowd: the diagonal is the
crowd's accuracy on the class, shifted in log odds by the worker's advantage over the crowd; the
mistakes are spread as in the crowd. The strength of the shrinkage maximises the likelihood of the
Dirichlet-multinomial model.
"""

from __future__ import annotations

import numpy as np

from crowd_tvcs.arrays import Floats, logit
from crowd_tvcs.skills.beta_prior import FEW_STRENGTH, FEW_WORKERS, STRENGTHS, BetaPrior

# Pseudo-answers with evenly spread mistakes per class of the crowd's counts, for the model of
# dependence; chosen with its parameters (docs/studies/crowd-confidence.md).
CROWD_STRENGTH = 20.0
MARGIN = 1e-6  # of a probability in log odds


def confusion_matrices(
    counts: Floats, mean: Floats, prior: BetaPrior, crowd_strength: float = FEW_STRENGTH
) -> Floats:
    """Shrink every worker's counts of (label, answer) to the matrix expected from their accuracy.

    Parameters
    ----------
    counts
        Number of times that each worker gave each answer to gold tasks of each label, of shape
        (workers, classes, classes).
    mean
        Accuracy of every worker.
    prior
        Prior of the accuracies; the crowd's accuracy per class is shrunk to its mean.
    crowd_strength
        Pseudo-answers per class of that shrinkage.
    """
    pooled = counts.sum(axis=0)
    expected = expected_matrices(mean, pooled, prior.mean, crowd_strength)
    return shrink(counts, expected, fit_strength(counts, expected))


def expected_matrices(
    mean: Floats, pooled: Floats, crowd_mean: float, crowd_strength: float
) -> Floats:
    """Return the confusion matrices expected of workers with these accuracies in a crowd.

    `pooled` holds the counts of the crowd, of shape (classes, classes), or of shape (workers,
    classes, classes) where they differ by worker.
    """
    k = pooled.shape[-1]
    at, others = np.arange(k), 1.0 - np.eye(k)
    right = (pooled[..., at, at] + crowd_strength * crowd_mean) / (
        pooled.sum(axis=-1) + crowd_strength
    )
    wrong = pooled * others + crowd_strength * others / (k - 1)
    wrong = wrong / wrong.sum(axis=-1, keepdims=True)
    own = logit(mean, MARGIN)[:, None] + logit(right, MARGIN) - logit(np.array(crowd_mean), MARGIN)
    own = 1.0 / (1.0 + np.exp(-own))
    out: Floats = (1.0 - own)[:, :, None] * wrong
    out[:, at, at] = own
    return out


def shrink(counts: Floats, expected: Floats, strength: float) -> Floats:
    """Return posterior mean rows: counts plus `strength` pseudo-answers spread as `expected`."""
    total = counts.sum(axis=-1, keepdims=True) + strength
    return (counts + strength * expected) / total


def fit_strength(counts: Floats, expected: Floats) -> float:
    """Return the likeliest strength of rows of counts drawn around rows of `expected`."""
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
