"""Calibration of confidences on gold tasks, and the confidence at which a task may stop.

Both rest on gold tasks that are judged by other gold (`dependence_fit.held_out_prefixes`), as in a
campaign: by the first 1, 2, 3, 5 and all of their answers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence
from crowd_tvcs.skills.dependence_fit import held_out_prefixes
from crowd_tvcs.skills.dependence_loss import PREFIXES
from crowd_tvcs.skills.skill import Skill
from tvcs_core.files.display import plural

BIN_EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)  # of confidence
# Confident gold tasks that must all be right before errors are counted: parameters that were fitted
# to these tasks look better on them than elsewhere (docs/decisions, 102; benchmarks/crowd/sure.py).
MIN_CONFIDENT_GOLD = 40
TOLERANCE = 1e-9  # rounding of 1 - target
ERROR_FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1)  # of the error that a target allows

# Confident gold tasks for an interval of the share of right ones: with fewer it held on .4 of the
# splits of a public set with 40 gold tasks (benchmarks/crowd/sure.py --counts).
MIN_INTERVAL_GOLD = 10
MOST_GOLD = 10_000  # gold tasks; if more were needed, the answer is "too many"
# Probability with which so many more gold tasks settle a target: "four cases of five".
SETTLED = 0.8
STEP = 1.05  # between numbers of further gold tasks that are tried


def gold_confidences(answers: Answers, gold: Gold, skill: Skill) -> tuple[Floats, Bools]:
    """Judge every gold task by other gold: the confidence of its label, and whether it is right.

    Both have shape (tasks, numbers of answers), see `dependence_loss.PREFIXES`; if the answers were
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
            out.append(CalibrationBin.of(claim[inside], hit[inside], tasks=tasks))
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


class TargetEvidence(NamedTuple):
    """Evidence of gold on the labels with the confidence of a target.

    Attributes
    ----------
    sure
        Number of gold tasks that reach the confidence.
    right
        Share of these whose label is right, with its 95 % interval from `low` to `high`; NaN with
        fewer than `MIN_INTERVAL_GOLD` such tasks.
    more
        Further gold tasks, answered like these, with which gold confirms or contradicts the target
        with probability `SETTLED`; without an interval, those with which there is one. None if that
        takes more than `MOST_GOLD`, or no task is sure.
    """

    sure: int
    right: float
    low: float
    high: float
    more: int | None


def target_evidence(claim: Floats, hit: Bools, target: float, n_gold: int) -> TargetEvidence:
    """Return the share of right labels among those confident of a target, as shown by gold.

    Every gold task stops at its first number of answers with the target for a confidence, as in
    `confidence_threshold`.

    Parameters
    ----------
    claim, hit
        As there; several rows for each gold task if its answers were put into several orders.
    target
        Required share of right labels.
    n_gold
        Number of gold tasks behind the rows.
    """
    is_sure = claim >= target
    stops = is_sure.any(axis=1)
    rows = int(np.count_nonzero(stops))
    copies = claim.shape[0] / n_gold
    if not rows:
        return TargetEvidence(0, math.nan, math.nan, math.nan, None)
    sure = rows / copies
    if sure < MIN_INTERVAL_GOLD:
        more = _until_interval(round(sure), n_gold)
        return TargetEvidence(round(sure), math.nan, math.nan, math.nan, more)
    first = is_sure.argmax(axis=1)
    right = float(hit[np.arange(first.size), first][stops].mean())
    more = _until_settled(right, sure, target, n_gold)
    return TargetEvidence(round(sure), right, *wilson(right, sure), more)


def _until_interval(sure: int, n_gold: int) -> int | None:
    """Return how many more gold tasks bring `MIN_INTERVAL_GOLD` confident ones, see `SETTLED`."""
    for more in _numbers():
        missing = MIN_INTERVAL_GOLD - sure
        if predictive(sure, n_gold, more)[missing:].sum() >= SETTLED:
            return more
    return None


def _until_settled(right: float, sure: float, target: float, n_gold: int) -> int | None:
    """Return how many more gold tasks settle a target, see `SETTLED`.

    They confirm it by the rule of `confidence_threshold`, or the interval is below it.
    """
    wrong = (1.0 - right) * sure
    for more in _numbers():
        further = round(more * sure / n_gold)
        n, errors = sure + further, range(further + 1)
        allowed = (1.0 - target) * (n - MIN_CONFIDENT_GOLD) + TOLERANCE
        too_many = bisect_right(errors, False, key=lambda k: wrong + k > allowed)
        contradicted = bisect_right(
            errors, False, key=lambda k: wilson(1.0 - (wrong + k) / n, n)[1] < target
        )
        chances = predictive(wrong, sure, further)
        if chances[:too_many].sum() + chances[contradicted:].sum() >= SETTLED:
            return more
    return None


def _numbers() -> Iterator[int]:
    """Yield numbers of further gold tasks up to `MOST_GOLD`."""
    more = 1
    while more <= MOST_GOLD:
        yield more
        more = max(more + 1, int(more * STEP))


def predictive(hits: float, tries: float, further: int) -> Floats:
    """Return the probability of 0, 1, ... hits in further tries, after some hits in some tries.

    It is beta-binomial, with the prior of Jeffreys.
    """
    from scipy.special import betaln, gammaln

    k = np.arange(further + 1.0)
    a, b = hits + 0.5, tries - hits + 0.5
    log = betaln(k + a, further - k + b) - betaln(a, b)
    log += gammaln(further + 1.0) - gammaln(k + 1.0) - gammaln(further - k + 1.0)
    return np.exp(log)


def describe_evidence(found: TargetEvidence | None, target: float) -> str:
    """Describe the evidence on a target that gold does not confirm, and a way to settle it."""
    if found is None or not found.sure:
        return (
            f"target {target:g}: no gold task reaches this confidence, so gold says nothing on it "
            "and no task is considered finished; lower the target, or ask more workers per task"
        )
    if math.isnan(found.right):
        more = "" if found.more is None else f"; about {found.more} more gold tasks would do"
        return (
            f"target {target:g}: only {found.sure} of the gold tasks reach this confidence, too "
            f"few to say how many of such labels are right, so no task is considered finished{more}"
        )
    share = (
        f"target {target:g}: between {found.low:.2f} and {found.high:.2f} of the labels with this "
        f"confidence are right, by {plural(found.sure, 'gold task')} that reach it"
    )
    if found.high < target:
        return (
            f"{share}; gold contradicts the target, so no task is considered finished: lower the "
            "target, or ask more or better workers"
        )
    if found.more is None:
        return (
            f"{share}; more than {MOST_GOLD} further gold tasks would be needed to settle it, so "
            "no task is considered finished: choose a target further from that share"
        )
    return (
        f"{share}; about {found.more} more gold tasks, answered like these, would settle it in "
        "four cases of five, and no task is considered finished until then"
    )
