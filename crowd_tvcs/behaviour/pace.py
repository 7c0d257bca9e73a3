"""How fast workers are, what that pays, and answers that are too fast to be meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import LEVEL, Flag, Floats, at_most, chance_text, judged
from crowd_tvcs.behaviour.trends import PAUSE

LEAST_ANSWERS = 50  # with a duration, below which no limit is drawn
APART = 2.0  # of two kinds of answers: their means, in deviations of the wider one
FAR = 3.0  # deviations below the median, where there is one kind of answers
LEAST_FAST = 5  # answers of a worker
LEAST_SHARE = 0.1
STEPS = 200


@dataclass(frozen=True)
class Haste:
    """What is too fast in this crowd.

    Attributes
    ----------
    limit
        Seconds; faster answers are fast. NaN if too few durations are known.
    fast_right, fast, slow_right, slow
        Gold answers that were fast and slow, and how many of them are right.
    p_value
        How likely it is by chance that fast ones are right so seldom (Fisher's exact test).
    """

    limit: float
    fast_right: int = 0
    fast: int = 0
    slow_right: int = 0
    slow: int = 0
    p_value: float = 1.0

    def __str__(self) -> str:
        if np.isnan(self.limit):
            return "too few durations are known to say what is too fast"
        return (
            f"answers under {self.limit:.3g} s are fast: {self.fast_right} of {self.fast} right on "
            f"gold, of the others {self.slow_right} of {self.slow}; {chance_text(self.p_value)}"
        )


def seconds_of(crowd: Crowd) -> tuple[Floats | None, bool]:
    """How long each answer took, NaN where it is not known; and whether that is only inferred.

    Where no duration is known but times are, the time since the worker's last answer stands for it,
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


def limit_of(seconds: Floats) -> float:
    """Seconds below which an answer is fast; NaN of too few durations.

    Two log-normal kinds of answers are fitted. If they are well apart the limit is where an answer
    is as likely of either; else far below the median.
    """
    logs = np.log(seconds[~np.isnan(seconds)])
    if logs.size < LEAST_ANSWERS:
        return float("nan")
    weight, mean, deviation = _two_kinds(logs)
    fast, slow = int(np.argmin(mean)), int(np.argmax(mean))
    if mean[slow] - mean[fast] > APART * deviation.max() and weight[fast] > 0.005:
        grid = np.linspace(mean[fast], mean[slow], 500)[:, None]
        law = np.log(weight / deviation) - ((grid - mean) / deviation) ** 2 / 2.0
        return float(np.exp(grid[int(np.argmax(law[:, slow] > law[:, fast])), 0]))
    median = float(np.median(logs))
    spread = 1.4826 * float(np.median(np.abs(logs - median)))
    return float(np.exp(median - FAR * max(spread, 0.1)))


def haste(crowd: Crowd) -> tuple[Haste, NDArray[np.bool_]]:
    """What is too fast, whether such answers are right less often, and which they are."""
    from scipy.stats import fisher_exact

    seconds, _ = seconds_of(crowd)
    nobody = np.zeros(crowd.answers.size, dtype=bool)
    if seconds is None:
        return Haste(float("nan")), nobody
    limit = limit_of(seconds)
    fast = np.less(seconds, limit, where=~np.isnan(seconds), out=nobody)
    timed = crowd.known & ~np.isnan(seconds)
    table = [[int((timed & (fast == is_fast) & (crowd.right == is_right)).sum())
              for is_right in (True, False)] for is_fast in (True, False)]  # fmt: skip
    p = float(fisher_exact(table, alternative="less").pvalue) if table[0] != [0, 0] else 1.0
    (a, b), (c, d) = table
    return Haste(limit, a, a + b, c, c + d, p), fast


def too_fast(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers many of whose answers are fast, where fast answers are right less often.

    Who is fast and right (by gold, else by most of the others) is not flagged.
    """
    found, fast = haste(crowd)
    if np.isnan(found.limit) or not (crowd.compared & ~fast).any():
        return []
    usual = max(float(fast.mean()), 0.02)
    usually = float(crowd.agrees[crowd.compared & ~fast].mean())
    tested = []
    for i, name in enumerate(crowd.answers.workers):
        mine = crowd.of_worker[i]
        n_fast = int(fast[mine].sum())
        if n_fast < LEAST_FAST or n_fast < LEAST_SHARE * mine.size:
            continue
        own = mine[fast[mine] & crowd.compared[mine]]
        right, gold = int(crowd.agrees[own].sum()), own[crowd.known[own]]
        p = max(at_most(right, own.size, usually), 1.0 - at_most(n_fast - 1, mine.size, usual))
        evidence = (
            f"{n_fast} of {mine.size} answers under {found.limit:.3g} s; {right} of {own.size} of "
            f"these right (by gold or most others), where slower ones are on {usually:.0%}; on "
            f"gold alone {int(crowd.right[gold].sum())} of {gold.size}; {chance_text(p)}"
        )
        tested.append(Flag(name, "too fast", mine.size, p, evidence))
    return judged(tested, level)


def _two_kinds(logs: Floats) -> tuple[Floats, Floats, Floats]:
    """Fit two normal laws by EM, from a low and a high end: weights, means and deviations."""
    mean = np.quantile(logs, [0.02, 0.6])
    deviation = np.full(2, max(float(logs.std()) / 2.0, 0.05))
    weight = np.array([0.1, 0.9])
    before = -np.inf
    for _ in range(STEPS):
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
