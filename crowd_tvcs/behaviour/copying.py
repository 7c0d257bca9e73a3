"""Flag workers who copy: pairs that agree more often than skills, habits and tasks explain.

For every task that two workers share with at least two others, the probability that a gives b's
label follows from the posterior of the task without both (its label if that is gold), a's and b's
confusion matrices without the task, and the other answers to the task: a label that these others
give more often than the crowd's habits let expect is that much likelier for a too, in log odds.
So good workers, habits and misleading tasks explain themselves. Agreement beyond that counts, the
less likely the more, by its log-likelihood ratio if half of the answers were copied. Errors shared
by a part of the crowd are not explained: the spread of all pairs widens the null distribution (an
empirical null; Efron, 2004), so that such a crowd has no flags rather than many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowd_tvcs.answers.answers import UNKNOWN, Answers
from crowd_tvcs.arrays import Floats, Integers, logit, softmax, sum_by
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import Flag, p_value_text, significant_flags
from crowd_tvcs.skills.voting.unsupervised import (
    USUAL,
    Skills,
    fitted_skills,
    log_evidence,
    matrices_without,
)
from tvcs_core.files.display import plural, unquoted

PAIR_FDR = 0.01  # false discovery rate: strict, because copying is an accusation
MIN_ANSWERS = 4  # to a task: those of the pair and two more
MIN_TASKS = 8  # such tasks of a pair
# Chosen on three public sets; four pseudo-answers or eight, and .3 to .4, find as many copies.
HABIT_PSEUDOCOUNT = 4.0  # pseudo-answers of the crowd's habits on one task
LEAST_SHARE = 0.35  # of the answers that are copied, at the lower end of its interval
ONE_SIDED = 1.645  # standard deviations of that interval: 95 %
COPIED = 0.5  # share of copied answers for which the weights are best
LEAST_CHANCE = 0.005
MIN_PAIRS = 20  # pairs; with fewer no spread is estimated
PART = 1_000_000  # numbers of the matrices of some pairs, to bound memory


def copying(crowd: Crowd, fdr: float = PAIR_FDR) -> list[Flag]:
    """Flag both workers of every pair that agrees more often than the tasks and both explain.

    Labels do not reveal the direction; if times are known, the evidence reports who answered later.
    """
    found = _compared(crowd)
    if found is None:
        return []
    p_values, names, tested = found.p_values(), crowd.answers.workers, []
    for a, b, n, same, expected, p in zip(
        *found.pair, found.tasks, found.same, found.expected, p_values.tolist(), strict=True
    ):
        evidence = (
            f"the same label on {same:.0f} of {n} tasks that two others answered, "
            f"expected {expected:.1f}; {p_value_text(p)}"
        )
        tested.append(Flag(names[a], "copying", int(n), p, evidence, names[b]))
    copied = {(names[a], names[b]) for a, b in found.pair[:, found.share >= LEAST_SHARE].T}
    flags = significant_flags(tested, fdr)
    return [f for one in flags if (one.worker, one.other) in copied for f in _flag_both(crowd, one)]


@dataclass(frozen=True)
class _Compared:
    """Pairs of workers with enough shared tasks, the one of lower number first.

    Attributes
    ----------
    pair
        Both workers of every pair, of shape (2, pairs).
    tasks, same, expected
        Number of shared tasks, of those with the same label, and the number expected.
    share
        Lower end of the share of answers that are copied.
    above
        Excess of agreement in standard deviations.
    """

    pair: Integers
    tasks: Integers
    same: Floats
    expected: Floats
    share: Floats
    above: Floats

    def p_values(self) -> Floats:
        """Return the probability of as much agreement by chance, in this crowd."""
        from scipy.special import ndtr

        spread, shift = 1.0, 0.0
        if self.above.size >= MIN_PAIRS:
            low, middle, high = np.quantile(self.above, [0.25, 0.5, 0.75])
            spread, shift = max(1.0, float(high - low) / 1.349), max(0.0, float(middle))
        return np.asarray(ndtr(-(self.above - shift) / spread))


def _compared(crowd: Crowd) -> _Compared | None:
    """Compare all pairs of workers; None if none shares enough tasks."""
    n, sums = len(crowd.answers.workers), [np.empty((0, 11))]
    for first, second, same, chances in _shared(crowd):
        columns = [np.ones(same.size), same]
        for p in chances:  # of a giving b's label, and the other way round
            weight = np.log((COPIED + (1.0 - COPIED) * p) / ((1.0 - COPIED) * p))
            columns += [p, 1.0 - p, weight * (same - p), weight**2 * p * (1.0 - p)]
        sums.append(_by_pair(first * n + second, np.stack(columns, axis=1)))
    joined = np.concatenate(sums)
    table = _by_pair(joined[:, 0].astype(np.int64), joined[:, 1:])
    table = table[table[:, 1] >= MIN_TASKS]
    if not table.size:
        return None
    key, tasks, same = table[:, 0].astype(np.int64), table[:, 1], table[:, 2]
    ways = table[:, 3:].reshape(-1, 2, 4).transpose(2, 1, 0)
    expected, missing, excess, variance = ways
    above = (excess / np.sqrt(np.maximum(variance, 1e-9))).min(axis=0)
    copied = ((same - expected) / np.maximum(missing, 1e-9)).min(axis=0)
    low = copied - ONE_SIDED * np.abs(copied) / np.maximum(np.abs(above), 1e-9)
    pair = np.stack([key // n, key % n])
    return _Compared(pair, tasks.astype(np.int64), same, expected.max(axis=0), low, above)


def _by_pair(key: Integers, values: Floats) -> Floats:
    """Add up the rows of every key; return it before its sums."""
    keys, place = np.unique(key, return_inverse=True)
    out = np.zeros((keys.size, values.shape[1]))
    np.add.at(out, place.reshape(-1), values)
    return np.column_stack([keys.astype(np.float64), out])


def _shared(crowd: Crowd) -> Iterator[tuple[Integers, Integers, Floats, tuple[Floats, Floats]]]:
    """Yield pairs of answers to one task in parts: workers, whether they are the same, chances.

    These are the probability that the first gives the label of the second, and the other way round.
    """
    a = crowd.answers
    known = np.full(len(a.tasks), UNKNOWN)
    known[a.task_of] = crowd.truth
    a = a.select(np.lexsort((a.worker_of, a.task_of)))  # sums do not depend on the order of rows
    skills, prior = fitted_skills(a, known)
    accuracy = skills.accuracy_without(a)
    evidence = log_evidence(a, skills, accuracy)
    of_task = sum_by(a.task_of, evidence, len(a.tasks))
    for left, right in _pairs_of_answers(a):
        is_first = a.worker_of[left] < a.worker_of[right]
        x, y = np.where(is_first, left, right), np.where(is_first, right, left)
        task = a.task_of[x]
        logs = of_task[task] - evidence[x] - evidence[y]
        factor = USUAL.factor(a.per_task[task] - 2)[:, None]
        chances = softmax(USUAL.shares * np.log(prior) + factor * logs)
        chances = (1.0 - USUAL.common) * chances + USUAL.common * prior
        is_gold = known[task] != UNKNOWN
        chances[is_gold] = np.eye(prior.size)[known[task][is_gold]]
        matrices = [matrices_without(a, skills, accuracy[at], at) for at in (x, y)]
        others = crowd.counts[task].copy()
        for at in (x, y):
            others[np.arange(task.size), a.label_of[at]] -= 1.0
        both = [
            _chance(chances, matrices[way], matrices[1 - way], a.label_of[at], others, skills)
            for way, at in ((0, y), (1, x))
        ]
        same = (a.label_of[x] == a.label_of[y]).astype(np.float64)
        yield a.worker_of[x], a.worker_of[y], same, (both[0], both[1])


def _pairs_of_answers(answers: Answers) -> Iterator[tuple[Integers, Integers]]:
    """Yield all pairs of answers to a task with enough of them, in parts."""
    order = np.argsort(answers.task_of, kind="stable")
    begin = np.cumsum(answers.per_task) - answers.per_task
    for size in np.unique(answers.per_task[answers.per_task >= MIN_ANSWERS]).tolist():
        i, j = np.triu_indices(size, 1)
        tasks = begin[answers.per_task == size]
        step = max(1, PART // (i.size * len(answers.classes) ** 2))
        for start in range(0, tasks.size, step):
            rows = order[tasks[start : start + step, None] + np.arange(size)]
            yield rows[:, i].reshape(-1), rows[:, j].reshape(-1)


def _chance(
    chances: Floats, own: Floats, of_other: Floats, label: Integers, others: Floats, skills: Skills
) -> Floats:
    """Return the probability that workers give the label of the other one.

    Parameters
    ----------
    chances
        Posterior of every task without both.
    own, of_other
        Their confusion matrices, and those of the other workers.
    label
        The answers of the other worker.
    others
        Number of times that the others gave each label to the task.
    skills
        Skills of the crowd.
    """
    at = np.arange(label.size)
    chances = chances * of_other[at, :, label]
    chances /= chances.sum(axis=1, keepdims=True)
    model = (chances * own[at, :, label]).sum(axis=1)
    usual = (chances * _usual(skills, chances.shape[1])[:, label].T).sum(axis=1)
    on_task = (others[at, label] + HABIT_PSEUDOCOUNT * usual) / (
        others.sum(axis=1) + HABIT_PSEUDOCOUNT
    )
    model, on_task, usual = (logit(p, LEAST_CHANCE) for p in (model, on_task, usual))
    odds = model + on_task - usual
    return np.clip(1.0 / (1.0 + np.exp(-odds)), LEAST_CHANCE, 1.0 - LEAST_CHANCE)


def _usual(skills: Skills, k: int) -> Floats:
    """Return the confusion matrix of the whole crowd."""
    if skills.counts is None:
        each = np.array([skills.accuracy])
        wrong = (1.0 - each) / (k - 1)
        return np.where(np.eye(k, dtype=bool), each, wrong)
    pooled = skills.counts.sum(axis=0) + 1.0
    return pooled / pooled.sum(axis=1, keepdims=True)


def _flag_both(crowd: Crowd, flag: Flag) -> list[Flag]:
    """Return the flags of both workers, with the share of tasks on which each answered later."""
    order = count_later_answers(crowd, flag.worker, flag.other)
    out = []
    for name, other in ((flag.worker, flag.other), (flag.other, flag.worker)):
        after = order.get(name)
        which_copies = (
            ""
            if after is None
            else f"; later than {unquoted(other)} on {after[0]} of {plural(after[1], 'task')}"
        )
        out.append(
            Flag(name, flag.kind, flag.answers, flag.p_value, flag.evidence + which_copies, other,
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
