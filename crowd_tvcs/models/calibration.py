"""Quality of every model by gold, shrunk to the models, and what its stated confidence adds.

A stated confidence c moves the quality q of a model: logit P(right) = logit q + a + b x, with x the
logit of c less its mean over the answers of the model. The two numbers are the likeliest ones
given gold and normal priors; b is never below 0, and with less than `LEAST` gold answers that state
one the confidence is not used. Nothing is told of a gold task by its own answer: there the two
numbers are those without it (jack-knife; one step of Newton's method).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.skill import Skill

LEAST = 10  # gold answers of a model that state a confidence
PRIOR = np.array([0.0, 0.5])  # of a and b
PRECISION = np.array([4.0, 4.0])
SUREST = 0.999
STEPS = 30

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What answers of models are worth.

    Attributes
    ----------
    skill
        Of the models, from their gold answers.
    shift
        By how much the log odds of each answer to be right lie above those of its model, by what it
        states; of gold tasks as if nothing were known of their label. 0 where nothing is stated.
    moved
        a and b of every model whose confidence is used, by its number.
    unused
        Models that state a confidence which gold is too thin to use: gold answers of each.
    """

    skill: Skill
    shift: Floats
    moved: dict[int, tuple[float, float]]
    unused: dict[int, int]


def calibrate(models: Answers, gold: Gold, confidence: Floats | None = None) -> Calibrated:
    """Estimate how good models are, and what their stated confidence adds to that.

    Parameters
    ----------
    models
        Answers of models alone, with the classes of `gold`.
    gold
        Known labels.
    confidence
        What the models state, one per answer; nan where they state nothing. None for none.
    """
    skill = estimate_quality(models, gold, model="independent")
    truth = gold.codes(models.tasks, models.classes)[models.task_of]
    is_gold = truth >= 0
    is_right = np.where(is_gold, models.label_of == truth, False)
    who, shift = models.worker_of, np.zeros(models.size)
    moved, unused = {}, {}
    if confidence is not None:
        for i in range(len(models.workers)):
            stated = np.flatnonzero((who == i) & ~np.isnan(confidence))
            known = is_gold[stated]
            if not stated.size:
                continue
            if known.sum() < LEAST:
                unused[i] = int(known.sum())
                continue
            x = logit(confidence[stated])
            x -= x.mean()
            base = np.full(stated.size, logit(skill.mean[i : i + 1])[0])
            both = likeliest(base[known], x[known], is_right[stated][known])
            each = np.tile(both, (stated.size, 1))
            each[known] = _without_own(both, base[known], x[known], is_right[stated][known])
            shift[stated] = each[:, 0] + np.maximum(each[:, 1], 0.0) * x
            moved[i] = (float(both[0]), float(max(both[1], 0.0)))
    return Calibrated(skill, shift, moved, unused)


def likeliest(
    base: Floats, x: Floats, is_right: NDArray[np.bool_], prior: Floats = PRIOR
) -> Floats:
    """Find the likeliest a and b of logit P(right) = base + a + b x; there is one maximum."""
    both = prior.copy()
    for _ in range(STEPS):
        _, curvature, each = _derivatives(both, base, x, is_right)
        slope = each.sum(axis=0) + PRECISION * (both - prior)
        step = np.linalg.solve(curvature.sum(axis=0) + np.diag(PRECISION), slope)
        both = both - np.clip(step, -1.0, 1.0)
    return both


def _without_own(both: Floats, base: Floats, x: Floats, is_right: NDArray[np.bool_]) -> Floats:
    """Return a and b without each answer, by one step from those with all of them."""
    _, curvature, each = _derivatives(both, base, x, is_right)
    rest = curvature.sum(axis=0) + np.diag(PRECISION) - curvature
    out: Floats = both + np.linalg.solve(rest, each[:, :, None])[:, :, 0]
    return out


def _derivatives(
    both: Floats, base: Floats, x: Floats, is_right: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Chances, and curvature and slope of the loss of each answer."""
    inputs = np.stack([np.ones_like(x), x], axis=1)
    chance = 1.0 / (1.0 + np.exp(-(base + inputs @ both)))
    each = (chance - is_right)[:, None] * inputs
    weight = np.maximum(chance * (1.0 - chance), 1e-6)
    curvature = weight[:, None, None] * inputs[:, :, None] * inputs[:, None, :]
    return chance, curvature, each


def logit(chance: Floats) -> Floats:
    """Logarithm of the odds of chances, none surer than `SUREST`."""
    inside = np.clip(chance, 1.0 - SUREST, SUREST)
    out: Floats = np.log(inside / (1.0 - inside))
    return out
