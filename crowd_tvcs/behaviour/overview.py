"""All that is known of every worker, and whom to keep, train, stop, or ask more gold of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.behaviour import copying as copies
from crowd_tvcs.behaviour.confusing import confusing
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import LEVEL, Flag, Floats
from crowd_tvcs.behaviour.pace import Haste, haste, seconds_of, too_fast
from crowd_tvcs.behaviour.spam import guessing, pattern, same_label
from crowd_tvcs.behaviour.trends import PAUSE, drift, fatigue
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.skill import INTERVAL, Skill
from tvcs_core.files.shown import plain
from tvcs_core.files.spreadsheet import shield

SPAM = ("same label", "pattern", "guessing")  # the plainest reason first
HABITS = ("drift", "fatigue", "too fast", "confuses")  # what a word with the worker may mend
KINDS = (*SPAM, "copying", *HABITS)
STOP, TRAIN, MORE_GOLD, KEEP = "stop", "train", "more gold", "keep"
ABOVE_CHANCE = 0.1  # what a label must be worth beyond one of equal chances
WIDE = 0.25  # interval of the accuracy, beyond which more gold is asked for
COLUMNS = ("worker", "verdict", "answers", "gold", "right", "quality", "low", "high", "seconds",
           "pay_per_hour", "flags", "why")  # fmt: skip
FLAG_COLUMNS = ("worker", "flag", "other", "answers", "p_value", "adjusted", "evidence")


@dataclass(frozen=True)
class Standing:
    """Where one worker stands.

    Attributes
    ----------
    worker, answers
        Who, and how many answers they gave.
    gold, right
        Gold tasks answered, and rightly.
    quality, low, high
        Accuracy and its interval, as `Skill` has them.
    seconds
        Median of an answer; NaN if no duration is known.
    pay_per_hour
        What an hour of answering pays, at the mean duration; NaN without a cost or a duration.
    flags
        What was found.
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
class Overview:
    """All workers.

    Attributes
    ----------
    standings
        Of every worker, in the order of the answers.
    haste
        What is too fast, and whether such answers are right less often.
    skill
        The skills that the accuracies are from.
    has_times, inferred
        Whether times of day are known, and whether durations are only the time since the worker's
        last answer.
    """

    standings: tuple[Standing, ...]
    haste: Haste
    skill: Skill
    has_times: bool
    inferred: bool

    @property
    def flags(self) -> list[Flag]:
        """All flags, by worker."""
        return [flag for one in self.standings for flag in one.flags]

    def rows(self) -> list[list[object]]:
        """Rows of `COLUMNS`, for a file."""
        return [
            [
                shield(s.worker), s.verdict, s.answers, s.gold, s.right, s.quality, s.low, s.high,
                "" if np.isnan(s.seconds) else s.seconds,
                "" if np.isnan(s.pay_per_hour) else s.pay_per_hour,
                "; ".join(dict.fromkeys(flag.kind for flag in s.flags)), s.why,
            ]
            for s in self.standings
        ]  # fmt: skip

    def minutes(self) -> list[list[object]]:
        """Worker and minutes of a label, for `assign --minutes`; empty if none are known.

        The median; of a worker whose durations are not known that of all workers.
        """
        known = [s.seconds for s in self.standings if not np.isnan(s.seconds)]
        usual = float(np.median(known)) if known else 0.0
        return [
            [shield(s.worker), round((usual if np.isnan(s.seconds) else s.seconds) / 60.0, 6)]
            for s in (self.standings if known else ())
        ]

    def flag_rows(self) -> list[list[object]]:
        """Rows of `FLAG_COLUMNS`, for a file."""
        return [
            [
                shield(f.worker),
                f.kind,
                shield(f.other),
                f.answers,
                f.p_value,
                f.adjusted,
                f.evidence,
            ]
            for f in self.flags
        ]


def look_over(
    answers: Answers,
    gold: Gold,
    *,
    cost: Mapping[str, float] | None = None,
    worth: float | None = None,
    level: float = LEVEL,
    interval: float = INTERVAL,
) -> Overview:
    """Look over all workers of a crowd.

    Parameters
    ----------
    answers, gold
        Times of the answers are optional; without them nothing is said of drift, fatigue, patterns,
        haste or pay.
    cost
        What a label of each worker costs, for the pay per hour.
    worth
        Accuracy below which a label is worth nothing to you: who surely is below is to be stopped.
        None for `ABOVE_CHANCE` more than a guess among equally frequent classes.
    level
        Expected share of false ones among the flags of each kind; of copying a fifth of it.
    interval
        Chance that an accuracy lies from low to high.

    Raises
    ------
    ValueError
        If no gold task is answered, or an argument is out of its range.
    """
    _require_shares(worth=worth, level=level)
    skill = estimate_quality(answers, gold, interval=interval, model="independent")
    crowd = Crowd.of(answers, gold)
    least = 1.0 / len(crowd.answers.classes) + ABOVE_CHANCE if worth is None else worth
    found = find_flags(crowd, level)
    doubles = _doubles(crowd, [flag for flag in found if flag.kind == "copying"], skill)
    seconds, inferred = seconds_of(crowd)
    standings = []
    for i, name in enumerate(crowd.answers.workers):
        own = tuple(flag for flag in found if flag.worker == name)
        low, high = float(skill.low[i]), float(skill.high[i])
        mine = crowd.of_worker[i]
        median, mean = _pace(None if seconds is None else seconds[mine])
        price = None if cost is None else cost.get(name)
        pay = float("nan") if price is None else 3600.0 * price / mean
        verdict, why = _verdict(own, low, high, least, doubles.get(name))
        standings.append(
            Standing(name, mine.size, int(skill.n_gold[i]), int(skill.n_right[i]),
                     float(skill.mean[i]), low, high, median, pay, own, verdict, why)
        )  # fmt: skip
    has_times = crowd.answers.when is not None
    return Overview(tuple(standings), haste(crowd)[0], skill, has_times, inferred)


def _require_shares(**given: float | None) -> None:
    for name, value in given.items():
        if value is not None and not 0.0 < value < 1.0:
            raise ValueError(f"{name} must be above 0 and below 1, found {value}")


def find_flags(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Everything that is found, in the order of `KINDS`.

    Workers whose answers do not depend on the task are left out of the comparison of pairs: their
    answers would make shared mistakes of good workers look strange.
    """
    spam = [*same_label(crowd, level), *pattern(crowd, level), *guessing(crowd, level)]
    idle = {flag.worker for flag in spam}
    is_idle = np.array([name in idle for name in crowd.answers.workers])
    kept = ~is_idle[crowd.answers.worker_of]
    others = crowd if kept.all() else Crowd(crowd.answers.select(kept), crowd.truth[kept])
    return [
        *spam,
        *copies.copying(others, copies.LEVEL * level / LEVEL),
        *drift(crowd, level),
        *fatigue(crowd, level),
        *too_fast(crowd, level),
        *confusing(crowd, level),
    ]


def _verdict(
    flags: tuple[Flag, ...], low: float, high: float, least: float, double: str | None
) -> tuple[str, str]:
    """What to do about a worker, and why; the first rule that holds."""
    spam = [flag for flag in flags if flag.kind in SPAM]
    habits = [flag for flag in flags if flag.kind in HABITS]
    if spam:
        return STOP, f"{spam[0].kind}: {spam[0].evidence}"
    if high < least:
        return STOP, f"accuracy at most {high:.2f}, a label must have {least:.2f}"
    if double is not None:
        return STOP, f"copying: the labels of {plain(double)} are there already"
    if habits:
        return TRAIN, f"{habits[0].kind}: {habits[0].evidence}"
    if high - low > WIDE:
        return MORE_GOLD, f"accuracy {low:.2f} to {high:.2f}: too wide to say"
    return KEEP, ""


def _doubles(crowd: Crowd, flags: list[Flag], skill: Skill) -> dict[str, str]:
    """Of every two who copy the one whose labels add least, and the other.

    Who answered later on most tasks; without times who has the lower end of the accuracy.
    """
    low = dict(zip(skill.workers, skill.low.tolist(), strict=True))
    out: dict[str, str] = {}
    for a, b in ((flag.worker, flag.other) for flag in flags if flag.worker < flag.other):
        order = copies.later(crowd, a, b)
        after = {name: order[name][0] if order else -low[name] for name in (a, b)}
        double, source = (a, b) if after[a] > after[b] else (b, a)
        out.setdefault(double, source)
    return out


def _pace(seconds: Floats | None) -> tuple[float, float]:
    """Median and mean of the seconds that are known, NaN of none.

    For the mean nothing counts for longer than a pause.
    """
    known = np.empty(0) if seconds is None else seconds[~np.isnan(seconds)]
    if not known.size:
        return float("nan"), float("nan")
    return float(np.median(known)), float(np.minimum(known, PAUSE).mean())
