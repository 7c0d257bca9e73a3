"""Calibration of confidences on gold tasks, and the confidence at which a task may stop.

Both rest on gold tasks that are judged by other gold (`dependence_fit.held_out_prefixes`), as in a
campaign: by the first 1, 2, 3, 5 and all of their answers.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.answers.intervals import wilson
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence
from crowd_tvcs.skills.dependence_fit import PREFIXES, held_out_prefixes
from crowd_tvcs.skills.skill import Skill

BIN_EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)  # of confidence
# Confident gold tasks that must all be right before errors are counted: parameters that were fitted
# to these tasks look better on them than elsewhere (docs/decisions, 102; benchmarks/crowd/sure.py).
MIN_CONFIDENT_GOLD = 40
TOLERANCE = 1e-9  # rounding of 1 - target
ERROR_FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1)  # of the error that a target allows

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def gold_confidences(answers: Answers, gold: Gold, skill: Skill) -> tuple[Floats, Bools]:
    """Judge every gold task by other gold: the confidence of its label, and whether it is right.

    Both have shape (tasks, numbers of answers), see `dependence_fit.PREFIXES`; if the answers were
    put into several orders, there is a row for each task and order.
    """
    given = held_out_prefixes(answers, gold, skill)
    chances = given.posteriors(skill.dependence or Dependence())
    hit = chances.argmax(axis=1) == given.truth
    shape = (len(PREFIXES), -1)
    return chances.max(axis=1).reshape(shape).T, hit.reshape(shape).T


def calibration_bins(claim: Floats, hit: Bools) -> list[CalibrationBin]:
    """Compare mean confidence with accuracy, by confidence.

    Parameters
    ----------
    claim, hit
        Confidence and whether the label is right, of gold tasks by several numbers of answers; of
        shape (tasks, numbers).

    Returns
    -------
    list of CalibrationBin
        One for every non-empty bin between two `BIN_EDGES`, in ascending order. Several answers of
        one task count it once: the intervals are those of so many different `tasks`.
    """
    out = []
    for low, high in pairwise(BIN_EDGES):
        inside = (claim >= low) & ((claim < high) | (high == BIN_EDGES[-1]))
        tasks = int(inside.any(axis=1).sum())
        if tasks:
            reached = float(hit[inside].mean())
            out.append(
                CalibrationBin(
                    None, tasks, float(claim[inside].mean()), reached, *wilson(reached, tasks)
                )
            )
    return out


def confidence_threshold(claim: Floats, hit: Bools, target: float) -> float:
    """Return the least confidence at which a share `target` of labels is right, as shown by gold.

    Every gold task stops at its first number of answers with that confidence. Gold confirms the
    target if `MIN_CONFIDENT_GOLD` of these tasks are right and at most a share 1 - target of the
    others errs.

    Returns
    -------
    float
        `target` or more; 1 if gold confirms no confidence.
    """
    for step in ERROR_FRACTIONS:
        at = 1.0 - (1.0 - target) * step if step < 1.0 else target
        is_sure = claim >= at
        stops = is_sure.any(axis=1)
        first = is_sure.argmax(axis=1)
        wrong = np.count_nonzero(~hit[np.arange(first.size), first][stops])
        others = np.count_nonzero(stops) - MIN_CONFIDENT_GOLD
        if others >= 0 and wrong <= (1.0 - target) * others + TOLERANCE:
            return at
    return 1.0
