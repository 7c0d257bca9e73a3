"""Judge gold tasks without their own labels: folds of gold, each judged by the other folds.

The accuracies and confusion matrices of workers, those of the crowd and the class prevalence are
counted without the fold of a task, in closed form. Folds hold several tasks each. With one task
left out, the best of equally good workers would tend to be those who err on it: leaving out their
mistake raises their accuracy.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.answers.class_prevalence import class_prevalence
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.belief.dependent import AnswerLikelihoods, answer_likelihoods
from crowd_tvcs.skills.confusion import CROWD_STRENGTH, expected_matrices, fit_strength, shrink
from crowd_tvcs.skills.dependence import BEST_FIRST
from crowd_tvcs.skills.skill import CAUTION, Skill
from tvcs_core.streams import stream

# One label's accuracy on 100 gold tasks varies by .05 with five folds, .06 with ten, .09 without
# (60 simulated crowds; docs/decisions, 65).
FOLDS = 5
MAX_NUMBERS = 2_000_000  # answers x classes x classes, to bound memory; a part of larger gold
MIN_GOLD_TASKS = 5  # gold tasks of that part, at least: one per fold
ALMOST_ALL = 0.9  # share of the answers to gold beyond which workers count as not chosen
CHOICE_STEP = 0.5  # of the exponent of `orders`
SKILL_TOLERANCE = 1e-9  # deviation of skills that counts as none
ORDERS = 2  # random orders of the answers, if they do not come best first


@dataclass(frozen=True, eq=False)
class HeldOutAnswers:
    """Answers to gold tasks, with skills that leave out the fold of the task.

    Attributes
    ----------
    rows, task_of
        The answers, and the index of their gold task.
    lower_bound
        Lower confidence bound of the skill of the worker of every answer.
    truth, prior
        Label and class prevalence of every gold task.
    fold
        Fold of every gold task.
    answer, task
        Indices among all answers and all tasks.
    """

    rows: AnswerLikelihoods
    task_of: Integers
    lower_bound: Floats
    truth: Integers
    prior: Floats
    fold: Integers
    answer: Integers
    task: Integers


def held_out(answers: Answers, gold: Gold, skill: Skill) -> HeldOutAnswers:
    """Leave the fold of every gold task out of the skills.

    `skill` was estimated from these answers; the mean and the strength of its prior stay.
    """
    truth = gold.codes(answers.tasks, answers.classes)
    k, n_workers = len(answers.classes), len(answers.workers)
    known = truth[answers.task_of] != UNKNOWN
    tasks = np.unique(answers.task_of[known])
    most = max(MIN_GOLD_TASKS, MAX_NUMBERS // (k * k) // max(1, int(known.sum()) // tasks.size))
    tasks = tasks[:: -(-tasks.size // most)]
    known &= np.isin(answers.task_of, tasks)
    task_of = np.searchsorted(tasks, answers.task_of[known])
    worker, label, of_task = answers.worker_of[known], answers.label_of[known], truth[tasks]
    fold = folds(
        task_of, _features_without_names(skill, worker, of_task[task_of], label), tasks.size
    )
    right, given = np.zeros((2, int(fold.max()) + 1, n_workers))
    np.add.at(right, (fold[task_of], worker), of_task[task_of] == label)
    np.add.at(given, (fold[task_of], worker), 1.0)
    # One row for every worker and fold with an answer of theirs: their skill without that fold.
    pair, pair_of = np.unique(fold[task_of] * n_workers + worker, return_inverse=True)
    at = pair // n_workers, pair % n_workers
    a, b = skill.beta
    a, b = a[at[1]] - right[at], b[at[1]] - (given - right)[at]
    accuracy = a / (a + b)
    deviation = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
    classes = np.zeros((len(given), k), dtype=np.int64)
    np.add.at(classes, (fold, of_task), 1)
    prior = np.stack([class_prevalence(np.array(skill.gold_per_class) - n) for n in classes])[fold]
    lower_bound = np.clip(accuracy - CAUTION * deviation, 0.0, 1.0)[pair_of]
    own = None
    if skill.habits is not None:
        left_out = np.zeros((len(given), n_workers, k, k))
        np.add.at(left_out, (fold[task_of], worker, of_task[task_of], label), 1.0)
        own = _matrices(skill, accuracy, left_out, at)
    rows = answer_likelihoods(label, accuracy, own, k, pair_of)
    return HeldOutAnswers(
        rows, task_of, lower_bound, of_task, prior, fold, np.flatnonzero(known), tasks
    )


def _matrices(
    skill: Skill, accuracy: Floats, left_out: Floats, at: tuple[Integers, Integers]
) -> Floats:
    """Return the confusion matrix of every worker without the counts of a fold."""
    counts = skill.all_counts
    pooled = counts.sum(axis=0)
    usual = expected_matrices(skill.mean, pooled, skill.prior.mean, CROWD_STRENGTH)
    strength = fit_strength(counts, usual)
    rest = (pooled - left_out.sum(axis=1))[at[0]]
    usual = expected_matrices(accuracy, rest, skill.prior.mean, CROWD_STRENGTH)
    return shrink(counts[at[1]] - left_out[at], usual, strength)


def _features_without_names(
    skill: Skill, worker: Integers, truth: Integers, label: Integers
) -> Integers:
    """Return counts of the worker and the classes of every answer, which no names enter."""
    given = skill.counts.sum(axis=(0, 1))
    known = np.array(skill.gold_per_class)
    columns = skill.n_gold[worker], skill.n_right[worker], known[truth], given[label]
    return np.stack([*columns, truth == label], axis=1).astype(np.int64)


def folds(task_of: Integers, alike: Integers, n_tasks: int) -> Integers:
    """Draw a fold for every task; fold sizes differ by at most one task.

    The draw is a hash of the features of a task's answers (`alike`, a row of integers for each),
    not of names or the order of rows. Tasks with equal features are spread over the folds.
    """
    of_answer = np.zeros(task_of.size, dtype=np.uint64)
    for column in alike.T:
        of_answer = _scrambled(of_answer + column.astype(np.uint64))
    of_task = np.zeros(n_tasks, dtype=np.uint64)
    np.add.at(of_task, task_of, of_answer)
    _, kind = np.unique(of_task, return_inverse=True)
    rank_among_equal = ranks(kind.ravel(), np.arange(n_tasks, dtype=np.float64)).astype(np.uint64)
    order = np.argsort(_scrambled(_scrambled(of_task) + rank_among_equal), kind="stable")
    out = np.empty(n_tasks, dtype=np.int64)
    out[order] = np.arange(n_tasks) % min(FOLDS, n_tasks)
    return out


def _scrambled(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash integers to pseudo-random ones (SplitMix64, Steele and others, 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def ranks(group_of: Integers, keys: Floats) -> Integers:
    """Return the rank of every member in its group by its key, from 0; ties keep their order."""
    order = np.lexsort((keys, group_of))
    per = np.bincount(group_of)
    first = np.cumsum(per) - per
    out = np.empty(group_of.size, dtype=np.int64)
    out[order] = np.arange(group_of.size) - first[group_of[order]]
    return out


def orders(
    task_of: Integers, lower_bound: Floats, choice: float, draws: int = ORDERS
) -> list[Integers]:
    """Order the answers to each task as a selection of workers by skill would have.

    Answers are ordered by an exponential race with rates exp(choice x skill), skill in standard
    deviations: at random with 0, the best first with `BEST_FIRST`, for which there is one order
    without draws, else so many `draws`. Times are compared by their logarithms, so that no rate
    overflows.
    """
    if choice >= BEST_FIRST:
        return [ranks(task_of, -lower_bound)]
    deviation = lower_bound.std()
    unit = deviation if deviation > SKILL_TOLERANCE else 1.0
    ahead = choice * ((lower_bound - lower_bound.mean()) / unit)
    rng = stream(0, "order of gold answers")
    tiny = np.finfo(np.float64).tiny  # a draw of 0 comes first
    drawn = (-np.log1p(-rng.random(ahead.size)) for _ in range(draws))
    return [ranks(task_of, np.log(np.maximum(times, tiny)) - ahead) for times in drawn]


def estimate_choice(like: Answers, answers: Answers, gold: Gold, skill: Skill) -> float:
    """Estimate how strongly the workers of open tasks in `like` were chosen by skill.

    The result is the `choice` of `orders` for which the first answers to gold have the mean skill
    of those workers, to the nearest `CHOICE_STEP`. A rank counts as often as open tasks have an
    answer of that rank: if a few tasks have many answers, more of the weaker workers were asked.
    Workers within two standard errors of the best count as the best. If open tasks have almost as
    many answers as gold tasks, no workers were chosen.
    """
    known = gold.codes(like.tasks, skill.classes)
    is_open = known[like.task_of] == UNKNOWN
    if not is_open.any():
        return BEST_FIRST
    lower_bound = dict(zip(skill.workers, skill.lower_confidence_bound().tolist(), strict=True))
    theirs = np.array([lower_bound[name] for name in like.workers])[like.worker_of[is_open]]
    per_task = np.bincount(like.task_of[is_open])
    per_task = per_task[per_task > 0]
    fewer = np.cumsum(np.bincount(per_task)) / per_task.size  # share of tasks with <= n answers
    often = np.append(1.0 - fewer[:-1], 0.0)
    is_gold = gold.codes(answers.tasks, answers.classes)[answers.task_of] != UNKNOWN
    of_gold, task_of = (
        skill.lower_confidence_bound()[answers.worker_of[is_gold]],
        answers.task_of[is_gold],
    )

    def counted(rank: Integers) -> Floats:
        """Return the weight of answers of these ranks."""
        return often[np.minimum(rank, often.size - 1)]

    first = counted(ranks(task_of, -of_gold))
    if first.mean() >= ALMOST_ALL or of_gold.std() <= SKILL_TOLERANCE:
        return 0.0
    best, chosen = np.average(of_gold, weights=first), theirs.mean()
    deviation = np.sqrt(np.average((of_gold - best) ** 2, weights=first))
    error = deviation * np.sqrt(1.0 / np.unique(task_of).size + 1.0 / per_task.size)
    if chosen + 2.0 * error >= best:
        return BEST_FIRST

    def skilled(choice: float) -> float:
        """Return the mean skill of the first answers, which increases with the choice."""
        drawn = orders(task_of, of_gold, choice)
        return float(np.mean([np.average(of_gold, weights=counted(rank)) for rank in drawn]))

    steps = np.arange(-BEST_FIRST, BEST_FIRST + CHOICE_STEP, CHOICE_STEP).tolist()
    at = bisect_left(steps[1:-1], chosen, key=skilled)
    nearest = min(steps[at : at + 2], key=lambda choice: abs(skilled(choice) - chosen))
    return float(nearest)
