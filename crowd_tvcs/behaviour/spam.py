"""Flag answers that do not depend on the task: guesses, one label for all, a pattern."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.arrays import Integers
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import (
    DEFAULT_FDR,
    Flag,
    p_value_text,
    prob_at_least,
    prob_at_most,
    significant_flags,
)
from tvcs_core.files.display import quoted

MIN_GOLD = 5  # gold answers, to test for guessing
MIN_ANSWERS = 20  # to test a worker
MIN_OTHER_CLASS = 5  # answers to tasks of other classes, to test for a constant label
SAME_SHARE = 0.95  # share of the most frequent label
REPEAT_SHARE = 0.9  # share of labels that repeat those one period before
PERIODS = (2, 3, 4, 5, 6)  # answers


def guessing(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers whose answers are no better than chance, and clearly worse than usual.

    Two conditions must hold. Chance explains the right answers on gold and, elsewhere, the
    agreement with most of the others. Half of the crowd's knowledge above chance does not. So
    neither a worker with few answers nor a poor but informative one is flagged.
    """
    answers, classes = crowd.answers, len(crowd.answers.classes)
    at = crowd.compared
    usual = _beyond_chance(crowd.reference[at], answers.label_of[at], classes)
    tested, is_chance = [], set()
    for i, name in enumerate(answers.workers):
        mine, gold = crowd.of_worker[i], crowd.gold_of(i)
        mine = mine[at[mine]]
        if mine.size < MIN_ANSWERS or gold.size < MIN_GOLD:
            continue
        chance = _chance(crowd.reference[mine], answers.label_of[mine], classes)
        right, on_gold = int(crowd.agrees[mine].sum()), int(crowd.is_right[gold].sum())
        half = chance + (1.0 - chance) * usual / 2.0
        p = prob_at_most(right, mine.size, half)
        by_chance = _chance(crowd.truth[gold], answers.label_of[gold], classes)
        explained = (
            prob_at_least(right, np.full(mine.size, chance)),
            prob_at_most(right, mine.size, chance),
            prob_at_least(on_gold, np.full(gold.size, by_chance)),
        )
        if min(explained) > fdr:
            is_chance.add(name)
        evidence = (
            f"right (by gold or most others) on {right} of {mine.size}; guessing is right on "
            f"{chance:.0%}, half of the usual knowledge on {half:.0%}; on gold alone {on_gold} of "
            f"{gold.size}; {p_value_text(p)}"
        )
        tested.append(Flag(name, "guessing", mine.size, p, evidence))
    return [flag for flag in significant_flags(tested, fdr) if flag.worker in is_chance]


def same_label(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers who nearly always give one label, also to tasks of other classes.

    Only tasks with another reference count, so that a worker who saw one class, or answers where
    one class is most frequent, is not flagged for being right.
    """
    answers, tested = crowd.answers, []
    for i, name in enumerate(answers.workers):
        mine = crowd.of_worker[i]
        times = np.bincount(answers.label_of[mine], minlength=len(answers.classes))
        label = int(times.argmax())
        other = mine[crowd.compared[mine] & (crowd.reference[mine] != label)]
        if mine.size < MIN_ANSWERS or other.size < MIN_OTHER_CLASS:
            continue
        times_wrong = int((answers.label_of[other] == label).sum())
        expected = crowd.expected_labels[other, label]
        is_same = times[label] >= SAME_SHARE * mine.size
        p = prob_at_least(times_wrong, expected) if is_same else 1.0
        evidence = (
            f"{times[label]} of {mine.size} answers are {quoted(answers.classes[label])}, "
            f"{times_wrong} of {other.size} where that is wrong (by gold or most others), "
            f"{expected.sum():.0f} expected from the others; {p_value_text(p)}"
        )
        tested.append(Flag(name, "same label", mine.size, p, evidence))
    return significant_flags(tested, fdr)


def pattern(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers whose labels repeat with a period of 2 to 6; needs the times of answers.

    Only repeats between tasks with different references count, so that tasks shown by class are not
    a pattern.
    """
    answers, tested = crowd.answers, []
    if answers.when is None:
        return []
    for i, name in enumerate(answers.workers):
        mine = crowd.of_worker[i]
        mine = mine[~np.isnan(answers.when[mine])]
        if mine.size < MIN_ANSWERS:
            continue
        p, period, counts = min(_repeats(crowd, mine, k) for k in PERIODS)
        p = min(1.0, p * len(PERIODS))
        evidence = f"{counts} a label that was given {period} answers before; {p_value_text(p)}"
        tested.append(Flag(name, "pattern", mine.size, p, evidence))
    return significant_flags(tested, fdr)


def _repeats(crowd: Crowd, mine: Integers, period: int) -> tuple[float, int, str]:
    """Return the p-value of repeats with a period, the period, and a description.

    The p-value is 1 with one label or few repeats.
    """
    now, before = mine[period:], mine[:-period]
    labels = crowd.answers.label_of
    same = labels[now] == labels[before]
    own = np.bincount(labels[mine]) / mine.size
    if own.max() >= SAME_SHARE or same.sum() < REPEAT_SHARE * same.size:
        return 1.0, period, ""
    both = crowd.compared[now] & crowd.compared[before]
    other = both & (crowd.reference[now] != crowd.reference[before])
    chance = (crowd.expected_labels[now] * crowd.expected_labels[before]).sum(axis=1)[other]
    # A worker who gives one label more often repeats it more often by chance.
    chance = np.maximum(chance, float((own**2).sum()))
    repeats = int(same[other].sum())
    counts = (
        f"{same.sum()} of {same.size} answers have, and {repeats} of {other.sum()} where another "
        f"was right (by gold or most others), by chance {chance.sum():.0f} would,"
    )
    return prob_at_least(repeats, chance), period, counts


def _chance(truth: Integers, labels: Integers, classes: int) -> float:
    """Return the expected accuracy of answers with these label shares, independent of the truth."""
    given = np.bincount(labels, minlength=classes) / labels.size
    return float(given @ np.bincount(truth, minlength=classes) / truth.size)


def _beyond_chance(truth: Integers, labels: Integers, classes: int) -> float:
    """Return the accuracy above chance as a share of the possible: Cohen's kappa with the truth."""
    chance = _chance(truth, labels, classes)
    right = float((truth == labels).mean())
    return max(0.0, (right - chance) / (1.0 - chance)) if chance < 1.0 else 0.0
