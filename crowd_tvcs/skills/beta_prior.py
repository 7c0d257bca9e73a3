"""Estimate a Beta prior for the worker accuracies of a crowd from counts of right answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Floats, Integers

PRIORS = ("empirical-bayes", "two-answers", "usual-crowd")
FEW_STRENGTH = 2.0  # answers, of the prior with few gold answers: one right and one wrong (Laplace)
FEW_WORKERS = 5  # workers with two gold answers; with fewer no spread is estimated
STRENGTHS = (1.0, 200.0)  # answers: bounds of the strength, wide enough that neither binds
PRIOR_STRENGTH = 10.0  # answers: median of the log-normal prior of the strength, deviation 1
# Share of right answers in six public sets of 27 to 269 workers: .69 .68 .70 .59 .73 .55. It counts
# as `PRIOR_STRENGTH` answers, so that the first answers to gold do not decide on everybody.
USUAL_MEAN = 0.65
MEANS = (0.02, 0.98)  # bounds of the mean accuracy, which keep the Beta parameters above 0


@dataclass(frozen=True)
class BetaPrior:
    """Prior Beta(mean * strength, (1 - mean) * strength) of the accuracies of a crowd.

    Attributes
    ----------
    mean, strength
        Mean accuracy, and the number of answers that the prior counts for.
    source
        One of `PRIORS`.
    """

    mean: float
    strength: float
    source: str


def few_answers(kind: str, n_gold: Integers, n_right: Integers) -> BetaPrior:
    """Return the prior of a crowd with few gold answers, counting two answers.

    Its mean is the share of right ones, with one right and one wrong added (``"two-answers"``), or
    `PRIOR_STRENGTH` of a crowd like others (``"usual-crowd"``).
    """
    strength, mean = (2.0, 0.5) if kind == "two-answers" else (PRIOR_STRENGTH, USUAL_MEAN)
    share = (float(n_right.sum()) + mean * strength) / (float(n_gold.sum()) + strength)
    return BetaPrior(share, FEW_STRENGTH, kind)


def prior_of(kind: str, n_gold: Integers, n_right: Integers) -> BetaPrior:
    """Return the prior of one of `PRIORS` for the counts of a crowd."""
    if kind != "two-answers" and (n_gold >= 2).sum() >= FEW_WORKERS:
        return beta_prior(n_gold, n_right)
    return few_answers("usual-crowd" if kind == "usual-crowd" else "two-answers", n_gold, n_right)


def beta_prior(n_gold: Integers, n_right: Integers) -> BetaPrior:
    """Fit mean and strength by maximum a posteriori in the beta-binomial model, within bounds.

    The strength has a log-normal prior with median `PRIOR_STRENGTH` and deviation 1.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    some = n_gold > 0
    pairs, times = np.unique(
        np.stack([n_right[some], n_gold[some] - n_right[some]]), axis=1, return_counts=True
    )
    right, wrong = pairs.astype(np.float64)

    def loss(at: Floats) -> float:
        a, b = at[0] * np.exp(at[1]), (1.0 - at[0]) * np.exp(at[1])
        unusual = (at[1] - np.log(PRIOR_STRENGTH)) ** 2 / 2.0
        return unusual - float(times @ (betaln(right + a, wrong + b) - betaln(a, b)))

    bounds = [MEANS, (np.log(STRENGTHS[0]), np.log(STRENGTHS[1]))]
    mean = float(np.clip(n_right.sum() / n_gold.sum(), *MEANS))
    tried = [
        minimize(loss, [mean, np.log(s)], method="L-BFGS-B", bounds=bounds)
        for s in (2.0, 8.0, 50.0)
    ]
    best = min(tried, key=lambda found: float(found.fun))
    mean, logarithm = best.x.tolist()
    return BetaPrior(mean, float(np.exp(logarithm)), "empirical-bayes")
