"""Whether a confidence is what it says: gold tasks by how sure they are, and where to stop.

Both rest on gold tasks that are judged by all others (`dependence_fit.judged`), as in a campaign:
by the first 1, 2, 3, 5 and all of their answers.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.answers.intervals import wilson
from crowd_tvcs.skills.dependence import Claimed, Dependence
from crowd_tvcs.skills.dependence_fit import PREFIXES, judged
from crowd_tvcs.skills.skill import Skill

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)  # of confidence
DOUBT = 40  # sure gold tasks that must all be right: what was fitted to gold looks better there
ROUNDING = 1e-9
STEPS = (1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1)  # of the error that a target allows

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def claims(answers: Answers, gold: Gold, skill: Skill) -> tuple[Floats, Bools]:
    """Judge every gold task by the others: how sure its likeliest label is, and if it is right.

    Both have shape (tasks, numbers of answers), see `dependence_fit.PREFIXES`; where answers were
    put in several orders, a task is there for each.
    """
    given = judged(answers, gold, skill)
    chances = given.chances(skill.dependence or Dependence())
    hit = chances.argmax(axis=1) == given.truth
    shape = (len(PREFIXES), -1)
    return chances.max(axis=1).reshape(shape).T, hit.reshape(shape).T


def by_confidence(claim: Floats, hit: Bools) -> list[Claimed]:
    """Compare what is claimed with what is reached, by how sure the claim is.

    Parameters
    ----------
    claim, hit
        Confidence and whether the label is right, of gold tasks by several numbers of answers;
        of shape (tasks, numbers).

    Returns
    -------
    list of Claimed
        One for every part between two `EDGES` that holds a claim, the least sure first. Answers
        of the same task do not make it several: the intervals are of so many different `tasks`.
    """
    out = []
    for low, high in pairwise(EDGES):
        inside = (claim >= low) & ((claim < high) | (high == EDGES[-1]))
        tasks = int(inside.any(axis=1).sum())
        if tasks:
            reached = float(hit[inside].mean())
            out.append(
                Claimed(None, tasks, float(claim[inside].mean()), reached, *wilson(reached, tasks))
            )
    return out


def sure_at(claim: Floats, hit: Bools, target: float) -> float:
    """Find how sure a label must be so that a share `target` of such labels are right.

    Every gold task stops at its first number of answers with which it is so sure. Gold shows the
    target where `DOUBT` of these tasks are right and of the others at most a share 1 - target errs.
    With less gold nothing is shown.

    Returns
    -------
    float
        `target` or more; 1 if gold shows it of no confidence.
    """
    for step in STEPS:
        at = 1.0 - (1.0 - target) * step if step < 1.0 else target
        is_sure = claim >= at
        stops = is_sure.any(axis=1)
        first = is_sure.argmax(axis=1)
        wrong = np.count_nonzero(~hit[np.arange(first.size), first][stops])
        others = np.count_nonzero(stops) - DOUBT
        if others >= 0 and wrong <= (1.0 - target) * others + ROUNDING:
            return at
    return 1.0
