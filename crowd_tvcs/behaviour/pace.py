"""Speed and pay of workers, and answers that are too fast to be meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_tvcs.arrays import Bools, Floats
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import (
    DEFAULT_FDR,
    Flag,
    p_value_text,
    prob_at_most,
    significant_flags,
)
from crowd_tvcs.behaviour.trends import PAUSE

MIN_ANSWERS = 50  # with a duration; with fewer there is no threshold
BIMODAL_SD = 2.0  # distance of two components' means, in deviations of the wider one
OUTLIER_SD = 3.0  # robust deviations below the median, if there is one component
MIN_FAST = 5  # fast answers of a worker, to test them
MIN_SHARE = 0.1  # of a worker's answers that are fast, to test them
MAX_ITERATIONS = 200  # of EM


@dataclass(frozen=True)
class SpeedTest:
    """Threshold of fast answers in a crowd, and their accuracy on gold.

    Attributes
    ----------
    limit
        Seconds below which an answer is fast. NaN if too few durations are known.
    fast_right, fast, slow_right, slow
        Numbers of fast and slow gold answers, and of the right ones among them.
    p_value
        Probability of so few right fast answers by chance (Fisher's exact test).
    """

    limit: float
    fast_right: int = 0
    fast: int = 0
    slow_right: int = 0
    slow: int = 0
    p_value: float = 1.0

    def __str__(self) -> str:
        if np.isnan(self.limit):
            return "too few durations are known to define fast answers"
        return (
            f"answers under {self.limit:.3g} s are fast: {self.fast_right} of {self.fast} right on "
            f"gold, of the others {self.slow_right} of {self.slow}; {p_value_text(self.p_value)}"
        )


def answer_durations(crowd: Crowd) -> tuple[Floats | None, bool]:
    """Return the duration of each answer, NaN if unknown, and whether it is inferred.

    If no duration is known but times are, the time since the worker's last answer stands for it,
    unless there was a pause.
    """
    answers = crowd.answers
    if answers.seconds is not None and not np.isnan(answers.seconds).all():
        return answers.seconds, False
    if answers.when is None:
        return None, False
    out = np.full(answers.size, np.nan)
    for mine in crowd.of_worker:
        gaps = np.diff(answers.when[mine])
        out[mine[1:]] = np.where((gaps > 0.0) & (gaps <= PAUSE), gaps, np.nan)
    return out, True


def fast_limit(seconds: Floats) -> float:
    """Return the seconds below which an answer is fast; NaN with too few durations.

    A mixture of two log-normal components is fitted. If they are well separated, the limit is where
    an answer is equally likely to be from either; else it is far below the median.
    """
    logs = np.log(seconds[~np.isnan(seconds)])
    if logs.size < MIN_ANSWERS:
        return float("nan")
    weight, mean, deviation = _fit_two_components(logs)
    fast, slow = int(np.argmin(mean)), int(np.argmax(mean))
    if mean[slow] - mean[fast] > BIMODAL_SD * deviation.max() and weight[fast] > 0.005:
        grid = np.linspace(mean[fast], mean[slow], 500)[:, None]
        law = np.log(weight / deviation) - ((grid - mean) / deviation) ** 2 / 2.0
        return float(np.exp(grid[int(np.argmax(law[:, slow] > law[:, fast])), 0]))
    median = float(np.median(logs))
    spread = 1.4826 * float(np.median(np.abs(logs - median)))
    return float(np.exp(median - OUTLIER_SD * max(spread, 0.1)))


def fast_answer_test(crowd: Crowd) -> tuple[SpeedTest, Bools]:
    """Return the test of fast answers, and their mask."""
    from scipy.stats import fisher_exact

    seconds, _ = answer_durations(crowd)
    nobody = np.zeros(crowd.answers.size, dtype=bool)
    if seconds is None:
        return SpeedTest(float("nan")), nobody
    limit = fast_limit(seconds)
    fast = np.less(seconds, limit, where=~np.isnan(seconds), out=nobody)
    timed = crowd.is_gold & ~np.isnan(seconds)
    table = [[int((timed & (fast == is_fast) & (crowd.is_right == is_right)).sum())
              for is_right in (True, False)] for is_fast in (True, False)]  # fmt: skip
    p = float(fisher_exact(table, alternative="less").pvalue) if table[0] != [0, 0] else 1.0
    (a, b), (c, d) = table
    return SpeedTest(limit, a, a + b, c, c + d, p), fast


def too_fast(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers with many fast answers that are less often right.

    Fast workers who are right (by gold, else by the majority of the others) are not flagged.
    """
    found, fast = fast_answer_test(crowd)
    if np.isnan(found.limit) or not (crowd.compared & ~fast).any():
        return []
    usual = max(float(fast.mean()), 0.02)
    usually = float(crowd.agrees[crowd.compared & ~fast].mean())
    tested = []
    for i, name in enumerate(crowd.answers.workers):
        mine = crowd.of_worker[i]
        n_fast = int(fast[mine].sum())
        if n_fast < MIN_FAST or n_fast < MIN_SHARE * mine.size:
            continue
        own = mine[fast[mine] & crowd.compared[mine]]
        right, gold = int(crowd.agrees[own].sum()), own[crowd.is_gold[own]]
        p = max(
            prob_at_most(right, own.size, usually), 1.0 - prob_at_most(n_fast - 1, mine.size, usual)
        )
        evidence = (
            f"{n_fast} of {mine.size} answers under {found.limit:.3g} s; {right} of {own.size} of "
            f"these right (by gold or most others), slower answers {usually:.0%}; on gold alone "
            f"{int(crowd.is_right[gold].sum())} of {gold.size}; {p_value_text(p)}"
        )
        tested.append(Flag(name, "too fast", mine.size, p, evidence))
    return significant_flags(tested, fdr)


def _fit_two_components(logs: Floats) -> tuple[Floats, Floats, Floats]:
    """Fit a mixture of two normals by EM: weights, means and deviations.

    It starts from a low quantile and one above the median.
    """
    mean = np.quantile(logs, [0.02, 0.6])
    deviation = np.full(2, max(float(logs.std()) / 2.0, 0.05))
    weight = np.array([0.1, 0.9])
    before = -np.inf
    for _ in range(MAX_ITERATIONS):
        law = np.log(weight / deviation) - ((logs[:, None] - mean) / deviation) ** 2 / 2.0
        top = law.max(axis=1, keepdims=True)
        share = np.exp(law - top)
        total = share.sum(axis=1, keepdims=True)
        now = float((np.log(total) + top).sum())
        share /= total
        n = share.sum(axis=0) + 1e-9
        weight, mean = n / n.sum(), (share * logs[:, None]).sum(axis=0) / n
        spread = (share * (logs[:, None] - mean) ** 2).sum(axis=0) / n
        deviation = np.sqrt(np.maximum(spread, 0.05**2))
        if now - before < 1e-7 * logs.size:
            break
        before = now
    return weight, mean, deviation
