"""Answers that do not depend on the task: guesses, one label for everything, a pattern."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import (
    LEVEL,
    Flag,
    Integers,
    at_least,
    at_most,
    chance_text,
    judged,
)
from tvcs_core.files.shown import shown

LEAST_GOLD = 5  # gold answers, below which nobody is called a guesser
LEAST_ANSWERS = 20
LEAST_ELSE = 5  # answers where another label is right, below which nobody says always the same
SAME = 0.95  # share of one label
REPEATED = 0.9  # share of labels that are those of a period before
PERIODS = (2, 3, 4, 5, 6)


def guessing(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers whose answers are no better than chance, and surely worse than usual.

    Both must hold: chance explains what they have right on gold and, elsewhere, in common with most
    of the others; and half of what the crowd knows beyond chance does not. A worker of whom little
    is known is not flagged, nor one who is poor and still knows something.
    """
    answers, classes = crowd.answers, len(crowd.answers.classes)
    at = crowd.compared
    usual = _beyond_chance(crowd.reference[at], answers.label_of[at], classes)
    tested, is_chance = [], set()
    for i, name in enumerate(answers.workers):
        mine, gold = crowd.of_worker[i], crowd.gold_of(i)
        mine = mine[at[mine]]
        if mine.size < LEAST_ANSWERS or gold.size < LEAST_GOLD:
            continue
        chance = _chance(crowd.reference[mine], answers.label_of[mine], classes)
        right, on_gold = int(crowd.agrees[mine].sum()), int(crowd.right[gold].sum())
        half = chance + (1.0 - chance) * usual / 2.0
        p = at_most(right, mine.size, half)
        by_chance = _chance(crowd.truth[gold], answers.label_of[gold], classes)
        explained = (
            at_least(right, np.full(mine.size, chance)),
            at_most(right, mine.size, chance),
            at_least(on_gold, np.full(gold.size, by_chance)),
        )
        if min(explained) > level:
            is_chance.add(name)
        evidence = (
            f"right (by gold or most others) on {right} of {mine.size}; guesses are on {chance:.0%}"
            f", who knows half of what is usual on {half:.0%}; on gold alone {on_gold} of "
            f"{gold.size}; {chance_text(p)}"
        )
        tested.append(Flag(name, "guessing", mine.size, p, evidence))
    return [flag for flag in judged(tested, level) if flag.worker in is_chance]


def same_label(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers who give nearly always one label, also to tasks that are something else.

    Only tasks count whose reference is another label, so that who was shown one class, or answers
    where one class is most frequent, is not flagged for being right.
    """
    answers, tested = crowd.answers, []
    for i, name in enumerate(answers.workers):
        mine = crowd.of_worker[i]
        times = np.bincount(answers.label_of[mine], minlength=len(answers.classes))
        label = int(times.argmax())
        other = mine[crowd.compared[mine] & (crowd.reference[mine] != label)]
        if mine.size < LEAST_ANSWERS or other.size < LEAST_ELSE:
            continue
        said = int((answers.label_of[other] == label).sum())
        expected = crowd.expected_labels[other, label]
        is_same = times[label] >= SAME * mine.size
        p = at_least(said, expected) if is_same else 1.0
        evidence = (
            f"{times[label]} of {mine.size} answers are {shown(answers.classes[label])}, {said} of "
            f"{other.size} where that is wrong (by gold or most others), by the others there "
            f"{expected.sum():.0f} would be; {chance_text(p)}"
        )
        tested.append(Flag(name, "same label", mine.size, p, evidence))
    return judged(tested, level)


def pattern(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers whose labels repeat with a period of 2 to 6; needs the times of answers.

    Only repeats count from a task to one with another reference, so that tasks that were shown by
    class are no pattern.
    """
    answers, tested = crowd.answers, []
    if answers.when is None:
        return []
    for i, name in enumerate(answers.workers):
        mine = crowd.of_worker[i]
        mine = mine[~np.isnan(answers.when[mine])]
        if mine.size < LEAST_ANSWERS:
            continue
        p, period, said = min(_repeats(crowd, mine, k) for k in PERIODS)
        p = min(1.0, p * len(PERIODS))
        evidence = f"{said} a label that was given {period} answers before; {chance_text(p)}"
        tested.append(Flag(name, "pattern", mine.size, p, evidence))
    return judged(tested, level)


def _repeats(crowd: Crowd, mine: Integers, period: int) -> tuple[float, int, str]:
    """The p-value of repeats with a period, 1 of one label or few repeats; the period; counts."""
    now, before = mine[period:], mine[:-period]
    labels = crowd.answers.label_of
    same = labels[now] == labels[before]
    own = np.bincount(labels[mine]) / mine.size
    if own.max() >= SAME or same.sum() < REPEATED * same.size:
        return 1.0, period, ""
    both = crowd.compared[now] & crowd.compared[before]
    other = both & (crowd.reference[now] != crowd.reference[before])
    chance = (crowd.expected_labels[now] * crowd.expected_labels[before]).sum(axis=1)[other]
    # Who says one label more often repeats it more often by chance as well.
    chance = np.maximum(chance, float((own**2).sum()))
    repeats = int(same[other].sum())
    said = (
        f"{same.sum()} of {same.size} answers have, and {repeats} of {other.sum()} where another "
        f"was right (by gold or most others), by chance {chance.sum():.0f} would,"
    )
    return at_least(repeats, chance), period, said


def _chance(truth: Integers, labels: Integers, classes: int) -> float:
    """Share right of answers with these shares of labels, if they do not depend on the truth."""
    given = np.bincount(labels, minlength=classes) / labels.size
    return float(given @ np.bincount(truth, minlength=classes) / truth.size)


def _beyond_chance(truth: Integers, labels: Integers, classes: int) -> float:
    """What share of the room above chance the crowd is right on (Cohen's kappa with the truth)."""
    chance = _chance(truth, labels, classes)
    right = float((truth == labels).mean())
    return max(0.0, (right - chance) / (1.0 - chance)) if chance < 1.0 else 0.0
