"""Workers who copy: two who give the same wrong labels more often than the tasks explain.

Two good workers agree because both are right; only shared mistakes tell. For every task on which b
is wrong (by gold, else by most of everybody but the two) the chance that a gives the very label of
b is taken from the others on the same task, moved by how often a gives that label wrongly. So tasks
that mislead many explain themselves, and so do habits. What misleads a part of the crowd does not:
the spread of all pairs of this crowd therefore widens the law (an empirical null), so that a crowd
with schools of thought has no flags rather than many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import Flag, Floats, Integers, at_least, chance_text, judged
from tvcs_core.files.shown import plain

LEVEL = 0.01  # of a pair: copying is an accusation
LEAST_TASKS = 6  # on which the other is wrong, both have answered, and so have two more
LEAST_SAME = 5  # shared mistakes
LEAST_MORE = 0.25  # of the tasks: shared mistakes beyond those expected
TYPICAL = 2.0  # answers that habits count for on one task
ENOUGH, NEARLY_ALL = 5, 0.8  # others who know the label of a task without gold
OWN = 10.0  # answers that the crowd's habits count for beside a worker's own
FEW_PAIRS = 20  # below which no spread is estimated


def copying(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag both of every two workers who share more mistakes than the tasks explain.

    Who copied is not told by labels; where times are known it is said who answered later.
    """
    directed = {pair: _compare(chances, same) for pair, (chances, same) in _mistakes(crowd).items()}
    spread, shift = _spread([one.above for one in directed.values()])
    tested, plain = [], set()
    for a, b in sorted({(min(pair), max(pair)) for pair in directed}):
        ways = [directed[pair] for pair in ((a, b), (b, a)) if pair in directed]
        p = max(_p_value(way, shift, spread) for way in ways)
        least = min(ways, key=lambda way: way.same - way.expected)
        tasks = least.chances.size
        names = crowd.answers.workers[a], crowd.answers.workers[b]
        if least.same >= LEAST_SAME and least.same - least.expected >= LEAST_MORE * tasks:
            plain.add(names)
        evidence = (
            f"the same wrong label on {least.same} of {tasks} tasks where one of the two is wrong "
            f"and others answered, expected {least.expected:.1f}; {chance_text(p)}"
        )
        tested.append(Flag(names[0], "copying", tasks, p, evidence, names[1]))
    found = [flag for flag in judged(tested, level) if (flag.worker, flag.other) in plain]
    return [flag for one in found for flag in _both(crowd, one)]


def _mistakes(crowd: Crowd) -> dict[tuple[int, int], tuple[Floats, NDArray[np.bool_]]]:
    """Of every (a, b): for each mistake of b how likely a makes it too, and whether they do."""
    chances: dict[tuple[int, int], list[float]] = defaultdict(list)
    same: dict[tuple[int, int], list[bool]] = defaultdict(list)
    wrong_odds, typical, habits = _habits(crowd)
    for workers, labels, truth, counts in _tasks(crowd):
        for b, of_b in zip(workers, labels, strict=True):
            for a, of_a in zip(workers, labels, strict=True):
                if a == b:
                    continue
                others = counts.copy()
                others[of_a] -= 1.0
                others[of_b] -= 1.0
                reference = truth if truth != UNKNOWN else _agreed(others)
                if reference in (UNKNOWN, of_b):
                    continue
                n = others.sum()
                p = (others[of_b] + TYPICAL * typical * habits[reference, of_b]) / (n + TYPICAL)
                odds = p / (1.0 - p) * wrong_odds[a, reference, of_b]
                chances[a, b].append(odds / (1.0 + odds))
                same[a, b].append(of_a == of_b)
    return {
        pair: (np.array(found), np.array(same[pair]))
        for pair, found in chances.items()
        if len(found) >= LEAST_TASKS
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


def _agreed(counts: Floats) -> int:
    """The label that nearly all of enough others gave; `UNKNOWN` if there is none."""
    top = int(counts.argmax())
    n = counts.sum()
    return top if n >= ENOUGH and counts[top] >= NEARLY_ALL * n else UNKNOWN


def _habits(crowd: Crowd) -> tuple[Floats, float, Floats]:
    """How often workers give which wrong label to which class, by gold, else by most of all.

    Of every worker, class and label the odds over those of all; the share of wrong answers; and of
    every class the shares of the wrong labels.
    """
    a, n_classes = crowd.answers, len(crowd.answers.classes)
    reference = crowd.counts.argmax(axis=1)[a.task_of]
    reference = np.where(crowd.known, crowd.truth, reference)
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
    own = (own + OWN * usual) / (could[:, :, None] + OWN)
    odds = own / (1.0 - own) * (1.0 - usual) / usual
    return odds, float((wrong.sum() + 1.0) / (a.size + 2.0)), pooled


@dataclass(frozen=True)
class _Compared:
    """Mistakes of one that another shares, how many are expected, and deviations above that."""

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
    """Deviation and centre of all pairs, at least those of chance."""
    if len(above) < FEW_PAIRS:
        return 1.0, 0.0
    low, middle, high = np.quantile(above, [0.25, 0.5, 0.75])
    return max(1.0, float(high - low) / 1.349), max(0.0, float(middle))


def _p_value(found: _Compared, shift: float, spread: float) -> float:
    from scipy.special import ndtr

    if found.same <= found.expected:
        return 1.0
    return max(at_least(found.same, found.chances), float(ndtr(-(found.above - shift) / spread)))


def _both(crowd: Crowd, flag: Flag) -> list[Flag]:
    """The flag of either of the two, with who answered later."""
    order = later(crowd, flag.worker, flag.other)
    out = []
    for name, other in ((flag.worker, flag.other), (flag.other, flag.worker)):
        after = order.get(name)
        told = (
            ""
            if after is None
            else f"; later than {plain(other)} on {after[0]} of {after[1]} tasks"
        )
        out.append(
            Flag(name, flag.kind, flag.answers, flag.p_value, flag.evidence + told, other,
                 flag.adjusted)
        )  # fmt: skip
    return out


def later(crowd: Crowd, a: str, b: str) -> dict[str, tuple[int, int]]:
    """On how many of the tasks of both each answered after the other; empty without times."""
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
