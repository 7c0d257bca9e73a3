"""Review of every worker, with a verdict: keep, train, stop, or ask more gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.arrays import Floats
from crowd_tvcs.behaviour import copying as copies
from crowd_tvcs.behaviour.confusing import confusing
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import DEFAULT_FDR, Flag
from crowd_tvcs.behaviour.pace import SpeedTest, answer_durations, fast_answer_test, too_fast
from crowd_tvcs.behaviour.spam import guessing, pattern, same_label
from crowd_tvcs.behaviour.trends import PAUSE, drift, fatigue
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.skill import INTERVAL, Skill
from tvcs_core.files.display import unquoted

SPAM = ("same label", "pattern", "guessing")  # the clearest reason first
HABITS = ("drift", "fatigue", "too fast", "confuses")  # which training may improve
KINDS = (*SPAM, "copying", *HABITS)
STOP, TRAIN, MORE_GOLD, KEEP = "stop", "train", "more gold", "keep"
MIN_ABOVE_CHANCE = 0.1  # accuracy above a guess, below which a worker is stopped by default
MAX_INTERVAL_WIDTH = 0.25  # of the accuracy; beyond, more gold is recommended
COLUMNS = ("worker", "verdict", "answers", "gold", "right", "quality", "low", "high", "seconds",
           "pay_per_hour", "flags", "why")  # fmt: skip
FLAG_COLUMNS = ("worker", "flag", "other", "answers", "p_value", "adjusted", "evidence")


@dataclass(frozen=True)
class WorkerSummary:
    """Summary of one worker.

    Attributes
    ----------
    worker, answers
        Name, and number of answers.
    gold, right
        Numbers of gold tasks answered, and answered correctly.
    quality, low, high
        Accuracy and its interval, as in `Skill`.
    seconds
        Median duration of an answer; NaN if no duration is known.
    pay_per_hour
        Pay per hour of answering, at the mean duration; NaN without a cost or a duration.
    flags
        Flags of the worker.
    verdict, why
        `STOP`, `TRAIN`, `MORE_GOLD` or `KEEP`, and the reason.
    """

    worker: str
    answers: int
    gold: int
    right: int
    quality: float
    low: float
    high: float
    seconds: float
    pay_per_hour: float
    flags: tuple[Flag, ...]
    verdict: str
    why: str


@dataclass(frozen=True)
class WorkerReview:
    """Review of all workers.

    Attributes
    ----------
    workers
        Summary of every worker, in the order of the answers.
    speed_test
        Threshold of fast answers, and whether they are less often right.
    skill
        Skills behind the accuracies.
    has_times, inferred
        Whether times are known, and whether durations are only the time since the worker's last
        answer.
    """

    workers: tuple[WorkerSummary, ...]
    speed_test: SpeedTest
    skill: Skill
    has_times: bool
    inferred: bool

    @property
    def flags(self) -> list[Flag]:
        """All flags, by worker."""
        return [flag for one in self.workers for flag in one.flags]

    def rows(self) -> list[list[object]]:
        """Return the rows of `COLUMNS`, for a file."""
        return [
            [
                s.worker, s.verdict, s.answers, s.gold, s.right, s.quality, s.low, s.high,
                s.seconds, s.pay_per_hour,
                "; ".join(dict.fromkeys(flag.kind for flag in s.flags)), s.why,
            ]
            for s in self.workers
        ]  # fmt: skip

    def minutes(self) -> list[list[object]]:
        """Return worker and minutes per label, for `assign --workers`; empty if none are known.

        Minutes are the median; a worker without durations has that of all workers.
        """
        known = [s.seconds for s in self.workers if not np.isnan(s.seconds)]
        usual = float(np.median(known)) if known else 0.0
        return [
            [s.worker, round((usual if np.isnan(s.seconds) else s.seconds) / 60.0, 6)]
            for s in (self.workers if known else ())
        ]

    def flag_rows(self) -> list[list[object]]:
        """Return the rows of `FLAG_COLUMNS`, for a file."""
        return [
            [f.worker, f.kind, f.other, f.answers, f.p_value, f.adjusted, f.evidence]
            for f in self.flags
        ]


def review_workers(
    answers: Answers,
    gold: Gold,
    *,
    cost: Mapping[str, float] | None = None,
    min_quality: float | None = None,
    fdr: float = DEFAULT_FDR,
    interval: float = INTERVAL,
) -> WorkerReview:
    """Review all workers of a crowd.

    Parameters
    ----------
    answers, gold
        Times of the answers are optional; without them drift, fatigue, patterns, speed and pay are
        not assessed.
    cost
        Cost of a label of each worker, for the pay per hour.
    min_quality
        Accuracy below which a label is worthless to you; workers surely below it are to be stopped.
        None for `MIN_ABOVE_CHANCE` above a guess among equally frequent classes.
    fdr
        False discovery rate of the flags of each kind; for copying a fifth of it.
    interval
        Credible level of the interval of an accuracy.

    Raises
    ------
    ValueError
        If no gold task is answered, or an argument is out of its range.
    """
    _check_shares(min_quality=min_quality, fdr=fdr)
    skill = estimate_quality(answers, gold, interval=interval, model="independent")
    crowd = Crowd.of(answers, gold)
    least = (
        1.0 / len(crowd.answers.classes) + MIN_ABOVE_CHANCE if min_quality is None else min_quality
    )
    found = find_flags(crowd, fdr)
    doubles = _doubles(crowd, [flag for flag in found if flag.kind == "copying"], skill)
    seconds, inferred = answer_durations(crowd)
    workers = []
    for i, name in enumerate(crowd.answers.workers):
        own = tuple(flag for flag in found if flag.worker == name)
        low, high = float(skill.low[i]), float(skill.high[i])
        mine = crowd.of_worker[i]
        median, mean = _pace(None if seconds is None else seconds[mine])
        price = None if cost is None else cost.get(name)
        pay = float("nan") if price is None else 3600.0 * price / mean
        verdict, why = _verdict(own, low, high, least, doubles.get(name))
        workers.append(
            WorkerSummary(name, mine.size, int(skill.n_gold[i]), int(skill.n_right[i]),
                     float(skill.mean[i]), low, high, median, pay, own, verdict, why)
        )  # fmt: skip
    has_times = crowd.answers.when is not None
    return WorkerReview(tuple(workers), fast_answer_test(crowd)[0], skill, has_times, inferred)


def _check_shares(**given: float | None) -> None:
    for name, value in given.items():
        if value is not None and not 0.0 < value < 1.0:
            raise ValueError(f"{name} must be above 0 and below 1, found {value}")


def find_flags(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Return all flags, in the order of `KINDS`.

    Workers whose answers do not depend on the task are left out of the comparison of pairs: they
    would make shared mistakes of good workers look suspicious.
    """
    spam = [*same_label(crowd, fdr), *pattern(crowd, fdr), *guessing(crowd, fdr)]
    idle = {flag.worker for flag in spam}
    is_idle = np.array([name in idle for name in crowd.answers.workers])
    kept = ~is_idle[crowd.answers.worker_of]
    others = crowd if kept.all() else Crowd(crowd.answers.select(kept), crowd.truth[kept])
    return [
        *spam,
        *copies.copying(others, copies.PAIR_FDR * fdr / DEFAULT_FDR),
        *drift(crowd, fdr),
        *fatigue(crowd, fdr),
        *too_fast(crowd, fdr),
        *confusing(crowd, fdr),
    ]


def _verdict(
    flags: tuple[Flag, ...], low: float, high: float, least: float, double: str | None
) -> tuple[str, str]:
    """Return the verdict on a worker with the reason, by the first rule that applies."""
    spam = [flag for flag in flags if flag.kind in SPAM]
    habits = [flag for flag in flags if flag.kind in HABITS]
    if spam:
        return STOP, f"{spam[0].kind}: {spam[0].evidence}"
    if high < least:
        return STOP, f"accuracy at most {high:.2f}, a label must have {least:.2f}"
    if double is not None:
        return STOP, f"copying: repeats the labels of {unquoted(double)}"
    if habits:
        return TRAIN, f"{habits[0].kind}: {habits[0].evidence}"
    if high - low > MAX_INTERVAL_WIDTH:
        return MORE_GOLD, f"accuracy interval {low:.2f} to {high:.2f} is too wide to decide"
    return KEEP, ""


def _doubles(crowd: Crowd, flags: list[Flag], skill: Skill) -> dict[str, str]:
    """Return the worker of every copying pair whose labels add least, with the other one.

    It is the one who answered later on most tasks; without times, the one with the lower `low`.
    """
    low = dict(zip(skill.workers, skill.low.tolist(), strict=True))
    out: dict[str, str] = {}
    for a, b in ((flag.worker, flag.other) for flag in flags if flag.worker < flag.other):
        order = copies.count_later_answers(crowd, a, b)
        after = {name: order[name][0] if order else -low[name] for name in (a, b)}
        double, source = (a, b) if after[a] > after[b] else (b, a)
        out.setdefault(double, source)
    return out


def _pace(seconds: Floats | None) -> tuple[float, float]:
    """Return median and mean of the known seconds, NaN without any.

    In the mean, no answer counts for longer than a pause.
    """
    known = np.empty(0) if seconds is None else seconds[~np.isnan(seconds)]
    if not known.size:
        return float("nan"), float("nan")
    return float(np.median(known)), float(np.minimum(known, PAUSE).mean())
