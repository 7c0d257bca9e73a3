"""Gold tasks as they look to whoever does not know them: cut in folds, each judged by the others.

The accuracy of every worker, their confusion matrices, the crowd's and the class shares are counted
without the fold that a task is in, in closed form. Folds hold several tasks each: of workers who
are as good as each other, whoever is best without a single task tends to be who errs on it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.answers.class_shares import class_shares
from crowd_tvcs.skills.confusion import CROWD_STRENGTH, shrunk, strength_around, usual_matrices
from crowd_tvcs.skills.dependence import BEST_FIRST, Told, told
from crowd_tvcs.skills.skill import CAUTION, Skill
from tvcs_core.streams import stream

FOLDS = 5
MOST_NUMBERS = 2_000_000  # answers x classes x classes to look at; of more gold, a part
LEAST_TASKS = 5  # of which at least so many
ALMOST_ALL = 0.9  # of the answers to gold: whoever has so many did not choose
STEP = 0.5
ALIKE = 1e-9  # deviation of skills
ORDERS = 2  # random orders of the answers, where they do not come best first

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Seen:
    """Answers to gold tasks, each as it looks without the fold of its task.

    Attributes
    ----------
    rows, task_of
        The answers, and which of the gold tasks they are to.
    cautious
        Cautious skill of the worker of every answer.
    truth, prior
        Label and class shares of every gold task.
    fold
        Of every gold task.
    answer, task
        Which of all answers and of all tasks these are.
    """

    rows: Told
    task_of: Integers
    cautious: Floats
    truth: Integers
    prior: Floats
    fold: Integers
    answer: Integers
    task: Integers


def held_out(answers: Answers, gold: Gold, skill: Skill) -> Seen:
    """Leave the fold of every gold task out of what is known.

    `skill` was estimated from these; the mean and the strength of its prior stay.
    """
    truth = gold.codes(answers.tasks, answers.classes)
    k, n_workers = len(answers.classes), len(answers.workers)
    known = truth[answers.task_of] != UNKNOWN
    tasks = np.unique(answers.task_of[known])
    most = max(LEAST_TASKS, MOST_NUMBERS // (k * k) // max(1, int(known.sum()) // tasks.size))
    tasks = tasks[:: -(-tasks.size // most)]
    known &= np.isin(answers.task_of, tasks)
    task_of = np.searchsorted(tasks, answers.task_of[known])
    worker, label, of_task = answers.worker_of[known], answers.label_of[known], truth[tasks]
    fold = folds(task_of, _without_names(skill, worker, of_task[task_of], label), tasks.size)
    right, given = np.zeros((2, int(fold.max()) + 1, n_workers))
    np.add.at(right, (fold[task_of], worker), of_task[task_of] == label)
    np.add.at(given, (fold[task_of], worker), 1.0)
    # Every worker once for each fold that they answered: what is known of them without it.
    pair, pair_of = np.unique(fold[task_of] * n_workers + worker, return_inverse=True)
    at = pair // n_workers, pair % n_workers
    a, b = skill.beta
    a, b = a[at[1]] - right[at], b[at[1]] - (given - right)[at]
    accuracy = a / (a + b)
    deviation = np.sqrt(a * b / (a + b + 1.0)) / (a + b)
    classes = np.zeros((len(given), k), dtype=np.int64)
    np.add.at(classes, (fold, of_task), 1)
    prior = np.stack([class_shares(np.array(skill.gold_per_class) - n) for n in classes])[fold]
    cautious = np.clip(accuracy - CAUTION * deviation, 0.0, 1.0)[pair_of]
    own = None
    if skill.habits is not None:
        left_out = np.zeros((len(given), n_workers, k, k))
        np.add.at(left_out, (fold[task_of], worker, of_task[task_of], label), 1.0)
        own = _matrices(skill, accuracy, left_out, at)
    rows = told(label, accuracy, own, k, pair_of)
    return Seen(rows, task_of, cautious, of_task, prior, fold, np.flatnonzero(known), tasks)


def _matrices(
    skill: Skill, accuracy: Floats, left_out: Floats, at: tuple[Integers, Integers]
) -> Floats:
    """Confusion matrix of every worker without the counts of a fold."""
    counts = skill.all_counts
    pooled = counts.sum(axis=0)
    usual = usual_matrices(skill.mean, pooled, skill.prior.mean, CROWD_STRENGTH)
    strength = strength_around(counts, usual)
    rest = (pooled - left_out.sum(axis=1))[at[0]]
    usual = usual_matrices(accuracy, rest, skill.prior.mean, CROWD_STRENGTH)
    return shrunk(counts[at[1]] - left_out[at], usual, strength)


def _without_names(skill: Skill, worker: Integers, truth: Integers, label: Integers) -> Integers:
    """Say of every answer what does not depend on names: counts of its worker and its classes."""
    given = skill.counts.sum(axis=(0, 1))
    known = np.array(skill.gold_per_class)
    columns = skill.n_gold[worker], skill.n_right[worker], known[truth], given[label]
    return np.stack([*columns, truth == label], axis=1).astype(np.int64)


def folds(task_of: Integers, alike: Integers, n_tasks: int) -> Integers:
    """Draw a fold for every task, all as large as each other but for one task.

    The draw follows from what the answers to a task are like (`alike`, a row of integers for each)
    and not from names or the order of rows. Tasks that are answered alike fall apart as well.
    """
    of_answer = np.zeros(task_of.size, dtype=np.uint64)
    for column in alike.T:
        of_answer = _scrambled(of_answer + column.astype(np.uint64))
    of_task = np.zeros(n_tasks, dtype=np.uint64)
    np.add.at(of_task, task_of, of_answer)
    _, kind = np.unique(of_task, return_inverse=True)
    among_alike = ranks(kind.ravel(), np.arange(n_tasks, dtype=np.float64)).astype(np.uint64)
    order = np.argsort(_scrambled(_scrambled(of_task) + among_alike), kind="stable")
    out = np.empty(n_tasks, dtype=np.int64)
    out[order] = np.arange(n_tasks) % min(FOLDS, n_tasks)
    return out


def _scrambled(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Map integers to others that look drawn (SplitMix64, Steele and others, 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def ranks(group_of: Integers, keys: Floats) -> Integers:
    """Place of every member in its group by its key, from 0; of equals the first comes first."""
    order = np.lexsort((keys, group_of))
    per = np.bincount(group_of)
    first = np.cumsum(per) - per
    out = np.empty(group_of.size, dtype=np.int64)
    out[order] = np.arange(group_of.size) - first[group_of[order]]
    return out


def orders(task_of: Integers, cautious: Floats, choice: float) -> list[Integers]:
    """Place the answers among those to the same task as whoever chose their workers would.

    Answers win a place by an exponential race with rates exp(choice x skill), skill in standard
    deviations: all alike with 0, the best first with `BEST_FIRST`, where there is one such order
    and nothing is drawn. Times are looked at by their logarithms, as no rate is too large then.
    """
    if choice >= BEST_FIRST:
        return [ranks(task_of, -cautious)]
    ahead = choice * _standardised(cautious)
    rng = stream(0, "order of gold answers")
    tiny = np.finfo(np.float64).tiny  # who draws 0 wins
    drawn = (-np.log1p(-rng.random(ahead.size)) for _ in range(ORDERS))
    return [ranks(task_of, np.log(np.maximum(times, tiny)) - ahead) for times in drawn]


def choice_of(like: Answers, answers: Answers, gold: Gold, skill: Skill) -> float:
    """How far the workers of the open tasks in `like` were chosen by skill, see `orders`.

    It is the choice among the answers to gold whose first places are as skilled on the mean as
    those workers, to the nearest `STEP`. A place counts as often as open tasks have an answer of
    it: where some have many and most have few, more of the weaker ones were asked. Who is as
    skilled as the best but for two standard errors is taken for them. Where an open task has almost
    as many answers as a gold task nobody was chosen.
    """
    known = gold.codes(like.tasks, skill.classes)
    is_open = known[like.task_of] == UNKNOWN
    if not is_open.any():
        return BEST_FIRST
    cautious = dict(zip(skill.workers, skill.cautious().tolist(), strict=True))
    theirs = np.array([cautious[name] for name in like.workers])[like.worker_of[is_open]]
    per_task = np.bincount(like.task_of[is_open])
    per_task = per_task[per_task > 0]
    fewer = np.cumsum(np.bincount(per_task)) / per_task.size  # share of so many answers at most
    often = np.append(1.0 - fewer[:-1], 0.0)
    is_gold = gold.codes(answers.tasks, answers.classes)[answers.task_of] != UNKNOWN
    of_gold, task_of = skill.cautious()[answers.worker_of[is_gold]], answers.task_of[is_gold]

    def counted(rank: Integers) -> Floats:
        """How often the answers of these places count."""
        out: Floats = often[np.minimum(rank, often.size - 1)]
        return out

    first = counted(ranks(task_of, -of_gold))
    if first.mean() >= ALMOST_ALL or of_gold.std() <= ALIKE:
        return 0.0
    best, chosen = np.average(of_gold, weights=first), theirs.mean()
    deviation = np.sqrt(np.average((of_gold - best) ** 2, weights=first))
    error = deviation * np.sqrt(1.0 / np.unique(task_of).size + 1.0 / per_task.size)
    if chosen + 2.0 * error >= best:
        return BEST_FIRST

    def skilled(choice: float) -> float:
        """Mean skill of the first places, which grows with the choice."""
        drawn = orders(task_of, of_gold, choice)
        return float(np.mean([np.average(of_gold, weights=counted(rank)) for rank in drawn]))

    steps = np.arange(-BEST_FIRST, BEST_FIRST + STEP, STEP).tolist()
    at = bisect_left(steps[1:-1], chosen, key=skilled)
    nearest = min(steps[at : at + 2], key=lambda choice: abs(skilled(choice) - chosen))
    return float(nearest)


def _standardised(values: Floats) -> Floats:
    deviation = values.std()
    out: Floats = (values - values.mean()) / (deviation if deviation > ALIKE else 1.0)
    return out
