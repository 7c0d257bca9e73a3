"""Posterior of every task: by the ordinal model, and with gold by confusion matrices beside it.

Both are calibrated, and the posterior is their geometric mean to a power. As in the vote on classes
(`crowd_tvcs.belief.dependent`), an answer of worker i among n counts by its contrast

    f_i = max(0, 1 - kappa (1 - 1/n) mean(om) / om_i),    om_i = log odds of a right answer,

since weaker workers add little but shared errors where better ones have answered. kappa and the
power are maximum a posteriori on the gold tasks, which are judged without their own labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_tvcs.answer_kinds.calibration import (
    Calibration,
    Evidence,
    calibrated_posterior,
    fit_calibration,
)
from crowd_tvcs.answer_kinds.ordinal import MatrixFit, OrdinalFit, fit_matrices
from crowd_tvcs.answer_kinds.propagation import Edges
from crowd_tvcs.arrays import Floats, Integers, softmax, sum_by
from crowd_tvcs.belief.constants import MIN_LOG_ODDS
from crowd_tvcs.belief.dependent import contrasts, log_odds

CONTRASTS = (0.0, 0.2, 0.4, 0.6, 0.8)
CONTRAST_SD = 0.4
POWERS = np.exp(np.linspace(-0.6, 0.6, 25))
POWER_SD = 0.12  # of the logarithm


class Judged(NamedTuple):
    """Posterior of every task, calibration of the ordinal model, contrast, and log density."""

    posterior: Floats
    calibration: Calibration
    contrast: float
    density: float


def judge_tasks(edges: Edges, gold: Integers, fit: OrdinalFit) -> Judged:
    """Return the posterior of every task; by the ordinal model alone with too little gold."""
    calibration = fit_calibration(fit.evidence, gold)
    if not calibration.gold:
        return Judged(calibrated_posterior(fit.evidence, calibration), calibration, 0.0, 0.0)
    matrices = fit_matrices(edges, gold, fit)
    tried = [_with_contrast(edges, gold, fit, matrices, contrast) for contrast in CONTRASTS]
    return max(tried, key=lambda judged: judged.density)


def _with_contrast(
    edges: Edges, gold: Integers, fit: OrdinalFit, matrices: MatrixFit, contrast: float
) -> Judged:
    n_tasks, n = gold.size, fit.evidence.n_answers
    weight = answer_weights(edges, matrices, n, contrast)[:, None]
    ordinal = fit.evidence._replace(
        log_likelihood=sum_by(edges.task, weight * fit.messages, n_tasks)
    )
    by_matrix = Evidence(matrices.prior, sum_by(edges.task, weight * matrices.messages, n_tasks), n)
    calibration = fit_calibration(ordinal, gold)
    both = (
        calibrated_posterior(ordinal, calibration),
        calibrated_posterior(by_matrix, fit_calibration(by_matrix, gold)),
    )
    logs = (np.log(both[0]) + np.log(both[1])) / 2
    known = np.flatnonzero((gold >= 0) & (n > 0))
    density = [_density(power, logs[known], gold[known]) for power in POWERS.tolist()]
    best = int(np.argmax(density))
    total = density[best] - (contrast / CONTRAST_SD) ** 2 / 2
    return Judged(softmax(POWERS[best] * logs), calibration, contrast, total)


def answer_weights(
    edges: Edges, matrices: MatrixFit, n_answers: Integers, contrast: float
) -> Floats:
    """Return the weight f of every answer."""
    odds = np.maximum(log_odds(matrices.accuracy, matrices.prior.size), MIN_LOG_ODDS)
    return np.maximum(0.0, 1.0 - contrast * contrasts(odds, edges.task, n_answers))


def _density(power: float, logs: Floats, classes: Integers) -> float:
    """Return the log posterior density of a power on gold tasks."""
    chances = softmax(power * logs)[np.arange(classes.size), classes]
    return float(np.log(chances).sum() - (np.log(power) / POWER_SD) ** 2 / 2)
