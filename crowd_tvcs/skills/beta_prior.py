"""How the accuracies of a crowd are spread: a Beta prior, found from counts of right answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PRIORS = ("empirical-bayes", "two-answers")
FEW_STRENGTH = 2.0
FEW_WORKERS = 5  # with two gold answers or more, below which no spread is estimated
STRENGTHS = (1.0, 200.0)  # of a prior, in answers
USUAL_STRENGTH = 10.0  # its logarithm is off by 1 in the standard deviation
MEANS = (0.02, 0.98)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BetaPrior:
    """How the accuracies of a crowd are spread: a Beta with this mean, worth `strength` answers.

    Attributes
    ----------
    mean, strength
        Of Beta(mean * strength, (1 - mean) * strength).
    source
        ``"empirical-bayes"`` or ``"two-answers"``.
    covariance
        Of the mean and the logarithm of the strength as they are estimated: variances of both and
        their covariance.
    """

    mean: float
    strength: float
    source: str
    covariance: tuple[float, float, float] = (0.0, 0.0, 0.0)


def two_answers(n_gold: NDArray[np.int64], n_right: NDArray[np.int64]) -> BetaPrior:
    """Return the prior for few gold answers: the crowd's share of right ones, worth two answers."""
    total = float(n_gold.sum()) + 2.0
    mean = (float(n_right.sum()) + 1.0) / total
    return BetaPrior(mean, FEW_STRENGTH, "two-answers", (mean * (1.0 - mean) / total, 1.0, 0.0))


def beta_prior(n_gold: NDArray[np.int64], n_right: NDArray[np.int64]) -> BetaPrior:
    """Find the likeliest mean and strength of the beta-binomial model, within their bounds.

    The logarithm of the strength is normal, around that of `USUAL_STRENGTH` with deviation 1.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    if (n_gold >= 2).sum() < FEW_WORKERS:
        return two_answers(n_gold, n_right)
    some = n_gold > 0
    pairs, times = np.unique(
        np.stack([n_right[some], n_gold[some] - n_right[some]]), axis=1, return_counts=True
    )
    right, wrong = pairs.astype(np.float64)

    def loss(at: Floats) -> float:
        a, b = at[0] * np.exp(at[1]), (1.0 - at[0]) * np.exp(at[1])
        unusual = (at[1] - np.log(USUAL_STRENGTH)) ** 2 / 2.0
        return unusual - float(times @ (betaln(right + a, wrong + b) - betaln(a, b)))

    bounds = [MEANS, (np.log(STRENGTHS[0]), np.log(STRENGTHS[1]))]
    mean = float(np.clip(n_right.sum() / n_gold.sum(), *MEANS))
    tried = [
        minimize(loss, [mean, np.log(s)], method="L-BFGS-B", bounds=bounds)
        for s in (2.0, 8.0, 50.0)
    ]
    best = min(tried, key=lambda found: float(found.fun))
    mean, logarithm = best.x.tolist()
    spread = _covariance(loss, mean, logarithm)
    return BetaPrior(mean, float(np.exp(logarithm)), "empirical-bayes", spread)


def _covariance(
    loss: Callable[[Floats], float], mean: float, logarithm: float
) -> tuple[float, float, float]:
    """Invert the curvature of the loss at its minimum: both variances and the covariance."""
    steps = np.diag([1e-3, 1e-2])
    at = np.array([mean, logarithm])
    curvature = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            corners = [
                sign * other * loss(at + sign * steps[i] + other * steps[j])
                for sign in (1.0, -1.0)
                for other in (1.0, -1.0)
            ]
            curvature[i, j] = sum(corners) / (4.0 * steps[i, i] * steps[j, j])
    (a, c), (_, b) = np.linalg.inv(curvature)
    return float(a), float(b), float(c)
