"""Flag workers who copy: pairs that share wrong labels more often than the tasks explain.

Two good workers agree because both are right; only shared mistakes are informative. For every task
on which b is wrong (by gold, else by the majority of all but the two) the probability that a gives
b's label is that of the other workers on the task, shifted by a's rate of giving that label
wrongly. So tasks that mislead many workers explain themselves, and so do habits. Errors shared by a
part of the crowd are not explained: the spread of all pairs of the crowd therefore widens the null
distribution (an empirical null; Efron, 2004), so that such a crowd has no flags rather than many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import (
    Flag,
    Floats,
    Integers,
    p_value_text,
    prob_at_least,
    significant_flags,
)
from tvcs_core.files.display import unquoted

PAIR_FDR = 0.01  # false discovery rate: strict, because copying is an accusation
MIN_TASKS = 6  # tasks with a mistake of the other, answered by both and by two more workers
MIN_SHARED_MISTAKES = 5
MIN_EXCESS = 0.25  # shared mistakes beyond the expected ones, as a share of these tasks
HABIT_PSEUDOCOUNT = 2.0  # pseudo-answers of the crowd's habits on one task
MIN_AGREEING, AGREEMENT_SHARE = 5, 0.8  # other answers whose consensus stands for gold
CROWD_PSEUDOCOUNT = 10.0  # pseudo-answers of the crowd's habits beside a worker's own
MIN_PAIRS = 20  # pairs; with fewer no spread is estimated


def copying(crowd: Crowd, fdr: float = PAIR_FDR) -> list[Flag]:
    """Flag both workers of every pair with more shared mistakes than the tasks explain.

    Labels do not reveal the direction; if times are known, the evidence reports who answered later.
    """
    directed = {
        pair: _compare(chances, same) for pair, (chances, same) in _shared_mistakes(crowd).items()
    }
    spread, shift = _spread([one.above for one in directed.values()])
    tested, plain = [], set()
    for a, b in sorted({(min(pair), max(pair)) for pair in directed}):
        ways = [directed[pair] for pair in ((a, b), (b, a)) if pair in directed]
        p = max(_p_value(way, shift, spread) for way in ways)
        least = min(ways, key=lambda way: way.same - way.expected)
        tasks = least.chances.size
        names = crowd.answers.workers[a], crowd.answers.workers[b]
        if least.same >= MIN_SHARED_MISTAKES and least.same - least.expected >= MIN_EXCESS * tasks:
            plain.add(names)
        evidence = (
            f"the same wrong label on {least.same} of {tasks} tasks where one of the two is wrong "
            f"and others answered, expected {least.expected:.1f}; {p_value_text(p)}"
        )
        tested.append(Flag(names[0], "copying", tasks, p, evidence, names[1]))
    found = [flag for flag in significant_flags(tested, fdr) if (flag.worker, flag.other) in plain]
    return [flag for one in found for flag in _flag_both(crowd, one)]


def _shared_mistakes(crowd: Crowd) -> dict[tuple[int, int], tuple[Floats, NDArray[np.bool_]]]:
    """Return, for every (a, b), the probability that a repeats each mistake of b, and whether."""
    chances: dict[tuple[int, int], list[float]] = defaultdict(list)
    same: dict[tuple[int, int], list[bool]] = defaultdict(list)
    wrong_odds, typical, habits = _confusion_odds(crowd)
    for workers, labels, truth, counts in _tasks(crowd):
        for b, of_b in zip(workers, labels, strict=True):
            for a, of_a in zip(workers, labels, strict=True):
                if a == b:
                    continue
                others = counts.copy()
                others[of_a] -= 1.0
                others[of_b] -= 1.0
                reference = truth if truth != UNKNOWN else _consensus(others)
                if reference in (UNKNOWN, of_b):
                    continue
                n = others.sum()
                p = (others[of_b] + HABIT_PSEUDOCOUNT * typical * habits[reference, of_b]) / (
                    n + HABIT_PSEUDOCOUNT
                )
                odds = p / (1.0 - p) * wrong_odds[a, reference, of_b]
                chances[a, b].append(odds / (1.0 + odds))
                same[a, b].append(of_a == of_b)
    return {
        pair: (np.array(found), np.array(same[pair]))
        for pair, found in chances.items()
        if len(found) >= MIN_TASKS
    }


def _tasks(crowd: Crowd) -> Iterator[tuple[list[int], list[int], int, Floats]]:
    """Yield workers, labels, gold label and counts of every task with four answers or more."""
    a = crowd.answers
    order = np.argsort(a.task_of, kind="stable")
    for mine in np.split(order, np.cumsum(a.per_task)[:-1]):
        if mine.size >= 4:
            counts = crowd.counts[a.task_of[mine[0]]]
            who, said = a.worker_of[mine].tolist(), a.label_of[mine].tolist()
            yield who, said, int(crowd.truth[mine[0]]), counts


def _consensus(counts: Floats) -> int:
    """Return the label that nearly all of enough others gave; `UNKNOWN` without one."""
    top = int(counts.argmax())
    n = counts.sum()
    return top if n >= MIN_AGREEING and counts[top] >= AGREEMENT_SHARE * n else UNKNOWN


def _confusion_odds(crowd: Crowd) -> tuple[Floats, float, Floats]:
    """Return the rates of wrong labels by class, by gold, else by the majority.

    These are: for every worker, class and label the odds relative to all workers; the share of
    wrong answers; and for every class the shares of the wrong labels.
    """
    a, n_classes = crowd.answers, len(crowd.answers.classes)
    reference = crowd.counts.argmax(axis=1)[a.task_of]
    reference = np.where(crowd.is_gold, crowd.truth, reference)
    wrong = a.label_of != reference
    pooled = np.full((n_classes, n_classes), 1.0)
    np.add.at(pooled, (reference[wrong], a.label_of[wrong]), 1.0)
    np.fill_diagonal(pooled, 0.0)
    pooled /= pooled.sum(axis=1, keepdims=True)
    shape = (len(a.workers), n_classes, n_classes)
    own, could = np.zeros(shape), np.zeros(shape[:2])
    np.add.at(own, (a.worker_of[wrong], reference[wrong], a.label_of[wrong]), 1.0)
    np.add.at(could, (a.worker_of, reference), 1.0)
    usual = (own.sum(axis=0) + 1.0) / (could.sum(axis=0)[:, None] + n_classes)
    own = (own + CROWD_PSEUDOCOUNT * usual) / (could[:, :, None] + CROWD_PSEUDOCOUNT)
    odds = own / (1.0 - own) * (1.0 - usual) / usual
    return odds, float((wrong.sum() + 1.0) / (a.size + 2.0)), pooled


@dataclass(frozen=True)
class _Compared:
    """Shared mistakes of a pair: number, probabilities, expected number, excess in deviations."""

    same: int
    chances: Floats
    expected: float
    above: float


def _compare(chances: Floats, same: NDArray[np.bool_]) -> _Compared:
    expected = float(chances.sum())
    deviation = np.sqrt(max(float((chances * (1.0 - chances)).sum()), 1e-12))
    count = int(same.sum())
    return _Compared(count, chances, expected, (count - expected) / float(deviation))


def _spread(above: list[float]) -> tuple[float, float]:
    """Return deviation and centre of all pairs, at least those of chance."""
    if len(above) < MIN_PAIRS:
        return 1.0, 0.0
    low, middle, high = np.quantile(above, [0.25, 0.5, 0.75])
    return max(1.0, float(high - low) / 1.349), max(0.0, float(middle))


def _p_value(found: _Compared, shift: float, spread: float) -> float:
    from scipy.special import ndtr

    if found.same <= found.expected:
        return 1.0
    return max(
        prob_at_least(found.same, found.chances), float(ndtr(-(found.above - shift) / spread))
    )


def _flag_both(crowd: Crowd, flag: Flag) -> list[Flag]:
    """Return the flags of both workers, with the share of tasks on which each answered later."""
    order = count_later_answers(crowd, flag.worker, flag.other)
    out = []
    for name, other in ((flag.worker, flag.other), (flag.other, flag.worker)):
        after = order.get(name)
        told = (
            ""
            if after is None
            else f"; later than {unquoted(other)} on {after[0]} of {after[1]} tasks"
        )
        out.append(
            Flag(name, flag.kind, flag.answers, flag.p_value, flag.evidence + told, other,
                 flag.adjusted)
        )  # fmt: skip
    return out


def count_later_answers(crowd: Crowd, a: str, b: str) -> dict[str, tuple[int, int]]:
    """Return how often each answered after the other on shared tasks; empty without times."""
    answers = crowd.answers
    if answers.when is None:
        return {}
    when: list[dict[int, float]] = []
    for name in (a, b):
        mine: Integers = crowd.of_worker[answers.workers.index(name)]
        when.append(dict(zip(answers.task_of[mine].tolist(), answers.when[mine], strict=True)))
    both = [task for task in when[0] if task in when[1]]
    first = sum(bool(when[0][task] > when[1][task]) for task in both)
    last = sum(bool(when[1][task] > when[0][task]) for task in both)
    return {a: (first, len(both)), b: (last, len(both))} if first + last else {}
