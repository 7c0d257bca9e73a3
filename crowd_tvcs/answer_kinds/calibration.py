"""Calibrate posteriors on gold: temperature, overlap, width of steps, prior weight, contamination.

    log p_y = b log pi_y + log sum_z N(z; mu_y, tau^2) exp(c_n sum_w log m_w(z)),
    c_n = T / (1 + rho (n - 1)),    p <- (1 - eps) p + eps pi

for a task with n answers; without scores z the sum is the log likelihood of the classes. The five
parameters are maximum a posteriori on the gold tasks, whose messages leave out their own label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from crowd_tvcs.arrays import Floats, Integers, softmax

MIN_GOLD = 5  # gold tasks with answers; fewer fit nothing
# Priors of log T, log rho, log tau, logit eps, log b (docs/crowd-kinds.md): means, deviations.
MEANS = np.array([-0.05, -2.2, np.log(0.4), -3.5, -0.2])
DEVIATIONS = np.array([0.3, 1.0, 0.6, 1.0, 0.3])
WIDTH = 0.35  # tau before it is fitted


class Evidence(NamedTuple):
    """Evidence of every task before calibration.

    Attributes
    ----------
    prior
        Probability of every class, of shape (classes,), or of every task, (tasks, classes).
    log_likelihood
        Sum over the answers of a task, of shape (tasks, scores) or (tasks, classes).
    n_answers
        Number of answers of every task.
    scores, centres
        The scores, and where every step lies among them; None for classes.
    """

    prior: Floats
    log_likelihood: Floats
    n_answers: Integers
    scores: Floats | None = None
    centres: Floats | None = None

    def take(self, tasks: Integers) -> Evidence:
        """Return the evidence of some tasks."""
        return self._replace(
            prior=self.prior[tasks] if self.prior.ndim > 1 else self.prior,
            log_likelihood=self.log_likelihood[tasks],
            n_answers=self.n_answers[tasks],
        )


class Calibration(NamedTuple):
    """The parameters, and the number of gold tasks that fitted them; 0 if none did."""

    temperature: float
    overlap: float
    width: float
    contamination: float
    prior_weight: float
    gold: int = 0


def score_given_step(scores: Floats, centres: Floats, width: float) -> Floats:
    """Return the distribution of scores of every step, of shape (steps, scores)."""
    return softmax(-0.5 * ((scores - centres[:, None]) / width) ** 2)


def calibrated_posterior(evidence: Evidence, by: Calibration) -> Floats:
    """Return the posterior of every class of every task, of shape (tasks, classes)."""
    overlap = 1.0 + by.overlap * np.maximum(evidence.n_answers - 1, 0)
    weighed = (by.temperature / overlap)[:, None] * evidence.log_likelihood
    if evidence.scores is not None and evidence.centres is not None:
        given = score_given_step(evidence.scores, evidence.centres, by.width)
        weighed = logsumexp(np.log(given + 1e-12)[None] + weighed[:, None], axis=2)
    posterior = softmax(by.prior_weight * np.log(evidence.prior) + weighed)
    return (1 - by.contamination) * posterior + by.contamination * evidence.prior


def fit_calibration(evidence: Evidence, gold: Integers, means: Floats = MEANS) -> Calibration:
    """Fit the parameters to the class of every task, -1 where it is not known.

    With fewer than `MIN_GOLD` known tasks that have answers they are the prior means.
    """
    known = np.flatnonzero((gold >= 0) & (evidence.n_answers > 0))
    if known.size < MIN_GOLD:
        return _calibration(means, 0)
    loss = _negative_log_posterior(evidence.take(known), gold[known], means)
    found = minimize(loss, means, method="L-BFGS-B", options={"maxiter": 30})
    return _calibration(found.x, known.size)


def _negative_log_posterior(
    evidence: Evidence, classes: Integers, means: Floats
) -> Callable[[Floats], float]:
    def loss(x: Floats) -> float:
        chances = calibrated_posterior(evidence, _calibration(x, 0))
        likelihood = np.log(chances[np.arange(classes.size), classes]).sum()
        return float(0.5 * (((x - means) / DEVIATIONS) ** 2).sum() - likelihood)

    return loss


def _calibration(x: Floats, gold: int) -> Calibration:
    temperature, overlap, width, weight = np.exp(x[[0, 1, 2, 4]]).tolist()
    return Calibration(temperature, overlap, width, float(expit(x[3])), weight, gold)
