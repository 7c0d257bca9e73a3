"""Quality of every model from gold, shrunk to the other models, and the value of its confidence.

A stated confidence c moves the quality q of a model: logit P(right) = logit q + a + b x, with x the
logit of c less its mean over the answers of the model. The coefficients a and b are fitted to gold
by maximum a posteriori with normal priors; b is never below 0. With fewer than
`MIN_STATED_CONFIDENCES` gold answers that state one, the confidence is not used. No gold task is
judged by its own answer: its coefficients leave it out (jackknife, one step of Newton's method).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.skill import Skill

# Calibration with these numbers is measured by benchmarks/models.py (docs/models.md).
MIN_STATED_CONFIDENCES = 10  # gold answers of a model that state a confidence
PRIOR_MEAN = np.array([0.0, 0.5])  # of a and b
PRIOR_PRECISION = np.array([4.0, 4.0])  # inverse variances of a and b
PROBABILITY_CLIP = 0.999  # largest stated confidence, so that its logit is finite
NEWTON_STEPS = 30


@dataclass(frozen=True, eq=False)
class CalibratedModels:
    """Skills of models, and shifts of their answers by stated confidence.

    Attributes
    ----------
    skill
        Skill of the models, from their gold answers.
    shift
        Difference of the log odds of each answer from those of its model, by its stated confidence;
        for gold tasks without their own label. 0 without a stated confidence.
    coefficients
        a and b of every model whose confidence is used, by its number.
    unused
        Number of gold answers of each model whose confidence is not used, because they are too few.
    """

    skill: Skill
    shift: Floats
    coefficients: dict[int, tuple[float, float]]
    unused: dict[int, int]


def calibrate(models: Answers, gold: Gold, confidence: Floats | None = None) -> CalibratedModels:
    """Estimate the skills of models, and calibrate their stated confidences.

    Parameters
    ----------
    models
        Answers of models alone, with the classes of `gold`.
    gold
        Known labels.
    confidence
        Stated confidence of every answer; nan if missing. None for none.
    """
    skill = estimate_quality(models, gold, model="independent")
    truth = gold.codes(models.tasks, models.classes)[models.task_of]
    is_gold = truth >= 0
    is_right = np.where(is_gold, models.label_of == truth, False)
    worker_of, shift = models.worker_of, np.zeros(models.size)
    coefficients, unused = {}, {}
    if confidence is not None:
        for i in range(len(models.workers)):
            stated = np.flatnonzero((worker_of == i) & ~np.isnan(confidence))
            known = is_gold[stated]
            if not stated.size:
                continue
            if known.sum() < MIN_STATED_CONFIDENCES:
                unused[i] = int(known.sum())
                continue
            x = logit(confidence[stated])
            x -= x.mean()
            base = np.full(stated.size, logit(skill.mean[i : i + 1])[0])
            both = fit_shift_and_slope(base[known], x[known], is_right[stated][known])
            each = np.tile(both, (stated.size, 1))
            each[known] = _leave_one_out(both, base[known], x[known], is_right[stated][known])
            shift[stated] = each[:, 0] + np.maximum(each[:, 1], 0.0) * x
            coefficients[i] = (float(both[0]), float(max(both[1], 0.0)))
    return CalibratedModels(skill, shift, coefficients, unused)


def fit_shift_and_slope(
    base: Floats, x: Floats, is_right: Bools, prior: Floats = PRIOR_MEAN
) -> Floats:
    """Fit a and b of logit P(right) = base + a + b x by maximum a posteriori.

    The log posterior is concave, so Newton's steps, of at most 1, reach its only maximum.
    """
    both = prior.copy()
    for _ in range(NEWTON_STEPS):
        _, curvature, each = _derivatives(both, base, x, is_right)
        slope = each.sum(axis=0) + PRIOR_PRECISION * (both - prior)
        step = np.linalg.solve(curvature.sum(axis=0) + np.diag(PRIOR_PRECISION), slope)
        both = both - np.clip(step, -1.0, 1.0)
    return both


def _leave_one_out(both: Floats, base: Floats, x: Floats, is_right: Bools) -> Floats:
    """Return a and b without each answer, by one Newton step from those with all of them."""
    _, curvature, each = _derivatives(both, base, x, is_right)
    rest = curvature.sum(axis=0) + np.diag(PRIOR_PRECISION) - curvature
    return both + np.linalg.solve(rest, each[:, :, None])[:, :, 0]


def _derivatives(
    both: Floats, base: Floats, x: Floats, is_right: Bools
) -> tuple[Floats, Floats, Floats]:
    """Return probabilities, and curvature and slope of the loss of each answer."""
    inputs = np.stack([np.ones_like(x), x], axis=1)
    chance = 1.0 / (1.0 + np.exp(-(base + inputs @ both)))
    each = (chance - is_right)[:, None] * inputs
    weight = np.maximum(chance * (1.0 - chance), 1e-6)
    curvature = weight[:, None, None] * inputs[:, :, None] * inputs[:, None, :]
    return chance, curvature, each


def logit(chance: Floats) -> Floats:
    """Return the log odds of probabilities, clipped to `PROBABILITY_CLIP`."""
    inside = np.clip(chance, 1.0 - PROBABILITY_CLIP, PROBABILITY_CLIP)
    return np.log(inside / (1.0 - inside))
