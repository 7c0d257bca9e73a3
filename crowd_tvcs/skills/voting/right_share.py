"""Share of right labels of all tasks, from a random sample of gold: prediction-powered inference.

Few gold tasks estimate the share of right labels with a wide interval. The confidences of all
tasks, which need no gold, narrow it if they separate right labels from wrong ones (Angelopoulos and
others, 2023, with the power tuning of Angelopoulos, Duchi and Zrnic, 2023):

    share = mean(hit) + lambda (mean(confidence of the other tasks) - mean(confidence of gold))

lambda minimises the variance of the share, so uninformative confidences get 0. The interval is
Wilson's, with as many gold tasks as that variance is worth. It is valid however wrong the
confidences are, if gold is a random sample of the tasks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.belief.intervals import prediction_interval
from tvcs_core.files.display import plural

MIN_GOLD = 10  # gold tasks; with fewer, lambda is fitted to nothing


class RightShare(NamedTuple):
    """Share of right labels of the tasks without gold, with its 95 % interval.

    Attributes
    ----------
    share, low, high
        The estimate and the ends of its interval.
    gold
        Number of gold tasks behind it.
    worth
        Number of gold tasks that would give this interval without confidences.
    """

    share: float
    low: float
    high: float
    gold: int
    worth: float

    def __str__(self) -> str:
        return (
            f"by {plural(self.gold, 'gold task')} and the confidences a share of "
            f"{self.share:.3f} of the "
            f"other labels is right (95 % interval {self.low:.3f} to {self.high:.3f})"
        )


def right_share(hit: Bools | Floats, claim: Floats, confidence: Floats) -> RightShare | None:
    """Estimate the share of right labels of tasks without gold.

    Parameters
    ----------
    hit, claim
        Whether the label of every gold task is right, and its confidence; each judged by other
        gold. Of labels that may still come out in several ways, `hit` is the share of right ones;
        then its variance counts one right and one wrong task besides, as rare tasks on which all
        fail may be missing among the gold.
    confidence
        Confidence of every label of the other tasks.

    Returns
    -------
    RightShare or None
        None with fewer than `MIN_GOLD` gold tasks, or without other tasks.
    """
    n, m = hit.size, confidence.size
    if n < MIN_GOLD or not m:
        return None
    right = hit.astype(np.float64)
    power, spread = 0.0, float(claim.var(ddof=1))
    if float(right.var(ddof=1)) > 0.0 and spread > 0.0:
        covariance = float(np.cov(right, claim)[0, 1])
        power = min(max(covariance / spread / (1.0 + n / m), 0.0), 1.0)
    share = float(right.mean() + power * (confidence.mean() - claim.mean()))
    share = min(max(share, 0.0), 1.0)
    left = right - power * claim
    if hit.dtype != np.bool_:
        left = np.append(left, np.array([1.0, 0.0]) - power * claim.mean())
    variance = float(left.var(ddof=1)) / n + power**2 * float(confidence.var()) / m
    # That of n labels of which this share is right; where all are, Wilson's interval rests on n.
    of_labels = float(right.mean() * (1.0 - right.mean())) / (n - 1.0)
    worth = n / min(1.0, variance / of_labels) if of_labels > 0.0 else n
    # The other tasks are a sample too: their own share varies around the estimated one.
    low, high = prediction_interval(share, worth, m)
    return RightShare(share, low, high, n, worth)
