"""Posterior of the label of every task, given its answers and the skills of the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.answers.names import in_order
from crowd_tvcs.answers.quality import Quality, as_quality
from crowd_tvcs.arrays import Floats
from crowd_tvcs.belief.dependent import AnswerLikelihoods, answer_likelihoods, dependent_posterior
from crowd_tvcs.belief.independent import (
    even_log_likelihood,
    independent_posterior,
    log_likelihood,
    priors,
)
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.skill import Skill
from tvcs_core.arguments import array_of
from tvcs_core.files.frames import is_frame


def posterior(
    answers: Answers,
    skill: Skill | Quality | ArrayLike,
    prior: ArrayLike | None = None,
    dependence: Dependence | None = None,
) -> Floats:
    """Return the probability of every label of every task, given its answers.

    Parameters
    ----------
    answers
        Answers of workers to tasks.
    skill
        Response model of the workers: a `Skill` or a `Quality` of the same workers (and tasks); the
        accuracy of every worker, in their order or by name; that of every worker on every task, of
        shape (workers, tasks); or confusion matrices of shape (workers, classes, classes). With one
        accuracy, mistakes are spread evenly over the other classes. An answer to a pair that a
        `Quality` does not allow is uninformative.
    prior
        Probability of every class, of shape (classes,), or for every task, of shape (tasks,
        classes). None for the class prevalence of the gold behind a `Skill`, and for equal
        probabilities without one.
    dependence
        Model of dependent errors; None for that of a `Skill`, and for independent workers if there
        is none.

    Returns
    -------
    ndarray
        Of shape (tasks, classes); rows add up to 1.

    Raises
    ------
    ValueError
        If names, shapes or probabilities do not fit the answers.
    """
    if not isinstance(skill, Skill | Quality):
        skill = as_quality(skill) if is_frame(skill) else in_order("skill", skill, answers.workers)
    if dependence is None and isinstance(skill, Skill):
        dependence = skill.dependence
    is_known = prior is not None
    if prior is None:
        prior = default_prior(answers, skill)
    before = priors(prior, len(answers.tasks), len(answers.classes))
    if dependence is not None:
        weight = 1.0 if is_known else dependence.shares
        rows = _likelihoods(answers, skill)
        return dependent_posterior(
            dependence, rows, answers.task_of, len(answers.tasks), before, weight
        )
    return independent_posterior(before, _log_likelihood(answers, skill), answers.task_of)


def default_prior(answers: Answers, skill: Skill | Quality | ArrayLike) -> Floats | None:
    """Return the class prevalence of the gold behind a skill, by class, or None."""
    if not isinstance(skill, Skill):
        return None
    shares = skill.class_prevalence[_positions("class", answers.classes, skill.classes)]
    return shares / shares.sum()


def _log_likelihood(answers: Answers, skill: Skill | Quality | ArrayLike) -> Floats:
    """Return the log probability of each answer under each label, of shape (answers, classes)."""
    n, m, k = len(answers.workers), len(answers.tasks), len(answers.classes)
    numbers = _values(answers, skill)
    rows, columns = answers.worker_of, answers.task_of
    if numbers.shape == (n, k, k):
        _check_probabilities(numbers)
        if not np.allclose(numbers.sum(axis=2), 1.0, rtol=0.0, atol=1e-6):
            raise ValueError("the rows of every confusion matrix must add up to 1")
        return log_likelihood(numbers[rows, :, answers.label_of])
    if numbers.shape in ((n,), (n, m)):
        _check_probabilities(numbers)
        accuracy = numbers[rows] if numbers.ndim == 1 else numbers[rows, columns]
        return even_log_likelihood(accuracy, answers.label_of, k)
    raise ValueError(
        f"skill must have shape ({n},), ({n}, {m}) or ({n}, {k}, {k}), found {numbers.shape}"
    )


def _likelihoods(answers: Answers, skill: Skill | Quality | ArrayLike) -> AnswerLikelihoods:
    """Return the answers for the model of dependent errors."""
    label_of, at, k = answers.label_of, answers.worker_of, len(answers.classes)
    if isinstance(skill, Skill):
        rows = _positions("worker", answers.workers, skill.workers)
        habits = skill.habits
        if habits is not None:
            classes = _positions("class", answers.classes, skill.classes)
            habits = habits[np.ix_(rows, classes, classes)]
        return answer_likelihoods(label_of, skill.mean[rows], habits, k, at)
    numbers = _values(answers, skill)
    if numbers.ndim == 3:
        accuracy = np.trace(numbers, axis1=1, axis2=2) / k
        return replace(answer_likelihoods(label_of, accuracy, None, k, at), even=numbers)
    if numbers.ndim == 1:
        return answer_likelihoods(label_of, numbers, None, k, at)
    return answer_likelihoods(label_of, numbers[at, answers.task_of], None, k)


def _values(answers: Answers, skill: Skill | Quality | ArrayLike) -> Floats:
    """Return the numbers of a skill in the order of the workers and tasks of `answers`."""
    if not isinstance(skill, Skill | Quality):
        return array_of("skill", skill, np.float64, copy=False)
    rows = _positions("worker", answers.workers, skill.workers)
    if isinstance(skill, Quality):
        columns = _positions("task", answers.tasks, skill.tasks, "; or give a quality per worker")
        at = np.ix_(rows, columns)
        if skill.allowed is None:
            return skill.values[at]
        return np.where(skill.allowed[at], skill.values[at], 1.0 / len(answers.classes))
    if not skill.per_class:
        return skill.mean[rows]
    classes = _positions("class", answers.classes, skill.classes)
    return skill.matrices[np.ix_(rows, classes, classes)]


def _positions(
    kind: str, names: Sequence[str], known: Sequence[str], hint: str = ""
) -> NDArray[np.intp]:
    position_of = {name: i for i, name in enumerate(known)}
    for name in names:
        if name not in position_of:
            raise ValueError(
                f"the skill of {kind} {name!r} is missing; estimate it from gold{hint}"
            )
    return np.array([position_of[name] for name in names], dtype=np.intp)


def _check_probabilities(values: Floats) -> None:
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("skill must hold probabilities in [0, 1]")
