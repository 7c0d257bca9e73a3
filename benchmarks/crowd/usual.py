"""What crowds have in common, learnt anew from some sets: for a set that is left out.

Every other set is fitted with a wide prior, on some splits; the mean over the sets and their spread
become the usual numbers for the one that is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.study import first_answers
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.belief.constants import KNOTS
from crowd_tvcs.routing.replay import draw_split
from crowd_tvcs.skills import dependence_loss
from crowd_tvcs.skills.dependence_fit import held_out_prefixes
from crowd_tvcs.skills.dependence_loss import Loss
from tvcs_core.streams import stream

GOLD = 0.2
SPLITS = 5
# In the middle the temperature and class shares of Bayes' rule, and, where that lies at the end of
# a scale, an overlap of .22, half a matrix, a common error of .05 and a contrast of .27.
WIDE = np.array([0.0, -1.5, 0.0, 0.0, -3.0, -1.0, *np.zeros(len(KNOTS))])
WIDTH = np.array([0.6, 1.5, 0.5, 1.5, 1.5, 1.5, *np.full(len(KNOTS), 0.35)])
LEAST_SPREAD = np.array([0.2, 0.7, 0.2, 0.7, 0.7, 0.7, *np.full(len(KNOTS), 0.2)])

Floats = NDArray[np.float64]


@contextmanager
def usual_numbers(mean: Floats, spread: Floats) -> Iterator[None]:
    """Fit around other numbers than the package's, for a time."""
    before = dependence_loss.PRIOR_MEAN, dependence_loss.PRIOR_DEVIATION
    dependence_loss.PRIOR_MEAN, dependence_loss.PRIOR_DEVIATION = mean, spread
    try:
        yield
    finally:
        dependence_loss.PRIOR_MEAN, dependence_loss.PRIOR_DEVIATION = before


def without(data: str, name: str) -> tuple[Floats, Floats]:
    """Return the mean and the spread of the numbers of all sets of `data` but this one."""
    others = sorted(path.parent.name for path in Path(data).glob("*/truth.csv"))
    points = np.array([points_of(data, other).mean(axis=0) for other in others if other != name])
    return points.mean(axis=0), np.maximum(points.std(axis=0, ddof=1), LEAST_SPREAD)


@cache
def points_of(data: str, name: str) -> Floats:
    """The numbers of one set by itself, on the scales of `Dependence.at`, split by split."""
    truth = read_gold(Path(data) / name / "truth.csv")
    answers = first_answers(Path(data) / name / "label.csv", truth)
    points = []
    with usual_numbers(WIDE, WIDTH):
        for number in range(SPLITS):
            rng = stream(0, "usual numbers", str(number))
            split = draw_split(answers, truth, GOLD, per_class=False, rng=rng)
            points.append(Loss(held_out_prefixes(answers, split.gold, split.skill)).minimizer())
    return np.array(points)
