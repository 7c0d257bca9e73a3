"""Vote without gold: the skills of workers from their agreement, and the labels that follow (EM).

The expectation-maximisation of Dawid and Skene (1979), begun at the majority, with four changes.
Confusion matrices are shrunk to those expected from a worker's accuracy and the crowd's habits, as
with gold (`confusion`): few answers cannot invent a habit. The last posterior is that of the model
of dependent errors, with parameters that public crowds share. And every task is judged by skills
that leave out the task itself (its cavity): otherwise an answer confirms the worker who gave it.
The habits of the whole crowd and the prevalence of the classes keep it, one of very many. The
prevalence is that of the majority's labels, since rounds of EM move it away with the matrices.

Agreement cannot detect errors that all workers share, so no confidence is validated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import UNKNOWN, Answers
from crowd_tvcs.arrays import Bools, Floats, Integers, softmax, sum_by
from crowd_tvcs.belief.constants import MIN_ANSWER_PROBABILITY, MIN_LOG_ODDS, MIN_PROBABILITY
from crowd_tvcs.belief.dependent import (
    AnswerLikelihoods,
    answer_likelihoods,
    contrasts,
    dependent_posterior,
    log_odds,
)
from crowd_tvcs.belief.independent import priors
from crowd_tvcs.skills.confusion import CROWD_STRENGTH, expected_matrices
from crowd_tvcs.skills.dependence import MOST_CLASSES, Dependence
from crowd_tvcs.skills.held_out import HeldOutAnswers

# Rounds of EM; from 3 to 10 the share of right labels of six public sets changes by .002.
ROUNDS = 5
# Pseudo-answers of the crowd in a worker's accuracy, and in each row of a confusion matrix; halves
# and doubles change the share of right labels of these sets by .003.
ACCURACY_STRENGTH = 10.0
ROW_STRENGTH = 5.0
CLASS_STRENGTH = 100.0  # pseudo-tasks of equal classes in the prevalence
# Chosen on public sets; docs/studies/crowd-without-gold.md judges six, also by the others' numbers.
USUAL = Dependence(overlap=0.15, shares=0.3, blend=1.0, common=0.06, contrast=0.27)
# Of labels with this confidence or more .77 to 1.00 were right, by public set
# (docs/studies/crowd-without-gold.md): a higher one is not known to be higher.
MAX_CONFIDENCE = 0.9
LARGEST_GAP = 0.2  # of mean confidence and accuracy on these sets
PART = 4_000_000  # numbers of the matrices of some answers, to bound memory


def has_agreement(answers: Answers) -> bool:
    """Whether some task has two answers, without which agreement measures nothing."""
    return bool((answers.per_task > 1).any())


def unsupervised_posterior(
    answers: Answers, known: Integers | None = None, prior: ArrayLike | None = None
) -> Floats:
    """Return the probability of every label of every task, by the agreement of the workers.

    Parameters
    ----------
    answers
        Answers of workers to tasks.
    known
        Class index of the label of every task; `UNKNOWN` (-1) where it is not known. Such labels
        count in the skills as if all agreed on them; their own tasks are judged without them.
    prior
        Probability of every class, of shape (classes,), or for every task, of shape (tasks,
        classes); None for the prevalence that the answers show.

    Returns
    -------
    ndarray
        Of shape (tasks, classes); rows add up to 1.
    """
    m, k = len(answers.tasks), len(answers.classes)
    if known is None:
        known = np.full(m, UNKNOWN)
    if not _informative(answers, known)[answers.task_of].any():
        return vote_shares(answers)  # nobody is compared with anybody
    skills, shares = fitted_skills(answers, known, None if prior is None else priors(prior, m, k))
    return _posterior(answers, skills, np.broadcast_to(shares, (m, k)), _usual_numbers(prior))


def fitted_skills(
    answers: Answers, known: Integers, prior: Floats | None = None
) -> tuple[Skills, Floats]:
    """Return the skills of the workers after all rounds, and the prior or the prevalence.

    Arguments as of `unsupervised_posterior`, the prior of shape (tasks, classes).
    """
    informative, chances = _informative(answers, known), vote_shares(answers)
    _set_known(chances, known)
    shares = _prevalence(chances, answers.per_task) if prior is None else prior
    everywhere = np.broadcast_to(shares, chances.shape)
    for left in range(ROUNDS, -1, -1):
        _set_known(chances, known)
        skills = _skills(answers, chances * informative[:, None])
        if left:
            chances = _posterior(answers, skills, everywhere, Dependence(blend=1.0))
    return skills, shares


class AgreementHeldOut(NamedTuple):
    """Answers to gold tasks, with skills by agreement and by other gold.

    Attributes
    ----------
    rows, task_of
        The answers, and the index of their gold task.
    prior
        Probability of every class for every gold task, of shape (tasks, classes).
    model
        The usual numbers.
    """

    rows: AnswerLikelihoods
    task_of: Integers
    prior: Floats
    model: Dependence

    def judge(self, part: Integers) -> Floats:
        """Return the probability of every label of the gold tasks, by some of their answers."""
        rows, task_of, model = self.rows.take(part), self.task_of[part], self.model
        return dependent_posterior(
            model, rows, task_of, self.prior.shape[0], self.prior, model.shares
        )


def agreement_held_out(
    answers: Answers, known: Integers, seen: HeldOutAnswers, prior: ArrayLike | None = None
) -> AgreementHeldOut:
    """Leave the fold of every gold task out of what is known to the agreement.

    Arguments as of `unsupervised_posterior`, and the gold tasks in their folds.
    """
    m, k = len(answers.tasks), len(answers.classes)
    given = None if prior is None else priors(prior, m, k)
    accuracy, matrices = np.empty(seen.answer.size), np.empty((seen.answer.size, k, k))
    before = np.empty((seen.task.size, k))
    for fold in range(int(seen.fold.max()) + 1):
        of_fold = seen.fold == fold
        others = known.copy()
        others[seen.task[of_fold]] = UNKNOWN
        skills, shares = fitted_skills(answers, others, given)
        before[of_fold] = np.broadcast_to(shares, (m, k))[seen.task[of_fold]]
        at = np.flatnonzero(of_fold[seen.task_of])
        accuracy[at] = skills.accuracy_without(answers)[seen.answer[at]]
        matrices[at] = matrices_without(answers, skills, accuracy[at], seen.answer[at])
    rows = answer_likelihoods(seen.rows.label_of, accuracy, matrices, k)
    return AgreementHeldOut(rows, seen.task_of, before, _usual_numbers(prior))


def _usual_numbers(prior: ArrayLike | None) -> Dependence:
    """Return the usual numbers; a prior that is given counts in full."""
    return USUAL if prior is None else replace(USUAL, shares=1.0)


def _informative(answers: Answers, known: Integers) -> Bools:
    """Mask of tasks that say something on their workers, as a single answer alone does not."""
    return (answers.per_task > 1) | (known != UNKNOWN)


class Skills(NamedTuple):
    """Skills of the workers by expected counts, and what each answer adds to them.

    Attributes
    ----------
    counts
        Expected counts of (worker, label, answer); with many classes (see `MOST_CLASSES`) None.
    right, total
        Expected right answers and answers of every worker.
    own
        Probability of every label of the task of every answer, as it was counted.
    accuracy
        Accuracy of the crowd.
    """

    counts: Floats | None
    right: Floats
    total: Floats
    own: Floats
    accuracy: float

    def accuracy_without(self, answers: Answers) -> Floats:
        """Return the accuracy of the worker of every answer, without the task of the answer."""
        at, worker = np.arange(answers.size), answers.worker_of
        right = self.right[worker] - self.own[at, answers.label_of]
        total = self.total[worker] - self.own.sum(axis=1)
        s = ACCURACY_STRENGTH
        return (np.maximum(right, 0.0) + s * self.accuracy) / (np.maximum(total, 0.0) + s)


def expected_counts(answers: Answers, chances: Floats) -> Floats:
    """Return expected counts of (worker, label, answer), given the posterior of every task."""
    k = len(answers.classes)
    cell = answers.worker_of * k + answers.label_of
    size = len(answers.workers) * k
    columns = [np.bincount(cell, chances[answers.task_of, y], minlength=size) for y in range(k)]
    table = np.stack(columns, axis=1).astype(np.float64)
    return np.ascontiguousarray(table.reshape(-1, k, k).transpose(0, 2, 1))


def vote_shares(answers: Answers) -> Floats:
    """Return the share of every class in the answers of a task; equal shares without answers."""
    counts = answers.label_counts
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), 1.0 / counts.shape[1])


def _set_known(chances: Floats, known: Integers) -> None:
    at = np.flatnonzero(known != UNKNOWN)
    chances[at] = 0.0
    chances[at, known[at]] = 1.0


def _prevalence(chances: Floats, n: Integers) -> Floats:
    """Return the prevalence of the likeliest class of every task with answers."""
    likeliest = chances >= chances.max(axis=1, keepdims=True) - MIN_PROBABILITY
    labels = likeliest / likeliest.sum(axis=1, keepdims=True)
    counts: Floats = labels[n > 0].sum(axis=0) + CLASS_STRENGTH / chances.shape[1]
    return counts / counts.sum()


def _skills(answers: Answers, chances: Floats) -> Skills:
    """Return the skills of the workers by the posteriors of their tasks."""
    own, worker = chances[answers.task_of], answers.worker_of
    hit, n = own[np.arange(answers.size), answers.label_of], len(answers.workers)
    right, total = (
        np.bincount(worker, x, minlength=n).astype(np.float64) for x in (hit, own.sum(axis=1))
    )
    counts = None
    if len(answers.classes) <= MOST_CLASSES:
        counts = expected_counts(answers, chances)
    accuracy = float((right.sum() + 1.0) / (total.sum() + 2.0))
    return Skills(counts, right, total, own, accuracy)


def _posterior(answers: Answers, skills: Skills, prior: Floats, model: Dependence) -> Floats:
    """Judge every task by skills without its own part."""
    accuracy, n = skills.accuracy_without(answers), answers.per_task
    evidence = log_evidence(answers, skills, accuracy)
    if model.contrast:
        odds = np.maximum(log_odds(accuracy, prior.shape[1]), MIN_LOG_ODDS)
        discount = 1.0 - model.contrast * contrasts(odds, answers.task_of, n)
        evidence *= np.maximum(discount, 0.0)[:, None]
    logs = sum_by(answers.task_of, evidence, n.size)
    inner = softmax(model.shares * np.log(prior) + model.factor(n)[:, None] * logs)
    return (1.0 - model.common) * inner + model.common * prior


def log_evidence(answers: Answers, skills: Skills, accuracy: Floats) -> Floats:
    """Return the log-likelihood of every answer, of shape (answers, classes)."""
    out = np.empty((answers.size, len(answers.classes)))
    if skills.counts is None:
        right, wrong = (
            np.log(np.maximum(x, MIN_ANSWER_PROBABILITY))
            for x in (accuracy, (1.0 - accuracy) / (out.shape[1] - 1))
        )
        out[:] = wrong[:, None]
        out[np.arange(answers.size), answers.label_of] = right
        return out
    for part in _parts(answers):
        label = answers.label_of[part]
        matrices = matrices_without(answers, skills, accuracy[part], part)
        chances = matrices[np.arange(label.size), :, label]
        out[part] = np.log(np.maximum(chances, MIN_ANSWER_PROBABILITY))
    return out


def _parts(answers: Answers) -> Iterator[slice]:
    step = max(1, PART // len(answers.classes) ** 2)
    for start in range(0, answers.size, step):
        yield slice(start, min(start + step, answers.size))


def matrices_without(
    answers: Answers, skills: Skills, accuracy: Floats, part: slice | Integers
) -> Floats:
    """Return the confusion matrix of the worker of some answers, without the task of the answer.

    `accuracy` is that of these workers.
    """
    if skills.counts is None:
        return even_matrices(accuracy, len(answers.classes))
    pooled = skills.counts.sum(axis=0)
    usual = expected_matrices(accuracy, pooled, skills.accuracy, CROWD_STRENGTH)
    label = answers.label_of[part]
    counts = skills.counts[answers.worker_of[part]]
    counts[np.arange(label.size), :, label] -= skills.own[part]
    np.maximum(counts, 0.0, out=counts)  # of what rounding leaves
    total = counts.sum(axis=2, keepdims=True) + ROW_STRENGTH
    counts += ROW_STRENGTH * usual
    counts /= total
    return counts
