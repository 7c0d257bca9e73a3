"""Votes: one label per task from its answers, with a confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.answers import UNKNOWN, Answers
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.belief.dependent import (
    AnswerLikelihoods,
    answer_likelihoods,
    dependent_posterior,
)
from crowd_tvcs.belief.independent import (
    even_log_likelihood,
    independent_posterior,
    log_likelihood,
    priors,
)
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.skill import Skill
from crowd_tvcs.skills.voting.crowd_kit import USABLE, aggregate, check_usable
from crowd_tvcs.skills.voting.unsupervised import (
    MAX_CONFIDENCE,
    has_agreement,
    unsupervised_posterior,
    vote_shares,
)
from tvcs_core.arguments import array_of
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("weighted", "unsupervised", "majority", *USABLE)
COLUMNS = ("task", "label", "confidence", "answers")
SHARE_COLUMN = "share"  # added if the method has no confidence

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Votes:
    """Outcome of a vote.

    Attributes
    ----------
    tasks, classes
        Names, as in the answers.
    label_of
        Class index of the label of every task; ties go to the first class. `UNKNOWN` (-1) for a
        task without answers.
    confidence
        Posterior probability of the label: for ``weighted`` by the given skills, for
        ``unsupervised`` by the agreement of the workers, and then `MAX_CONFIDENCE` at most. NaN for
        a task without answers, for the other methods, and for ``unsupervised`` if no task has two
        answers.
    answers
        Number of answers of every task.
    method
        Voting method.
    share
        Share of the answers that gave the label. It is not a confidence: with one answer it is 1.
        NaN for a task without answers.
    """

    tasks: tuple[str, ...]
    classes: tuple[str, ...]
    label_of: NDArray[np.int64]
    confidence: Floats
    answers: NDArray[np.int64]
    method: str
    share: Floats

    def __repr__(self) -> str:
        return f"Votes({plural(len(self.tasks), 'task')} by {self.method})"

    @property
    def labels(self) -> dict[str, str]:
        """Label of each task that has answers, by name."""
        pairs = zip(self.tasks, self.label_of.tolist(), strict=True)
        return {task: self.classes[k] for task, k in pairs if k != UNKNOWN}

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Whether each task has a label."""
        out: NDArray[np.bool_] = self.label_of != UNKNOWN
        return out

    @property
    def is_measured(self) -> bool:
        """Whether the votes have confidences."""
        if self.method == "unsupervised":
            return bool((self.answers > 1).any())
        return self.method == "weighted"

    @property
    def columns(self) -> tuple[str, ...]:
        """Header of the table: a share in addition if there are no confidences."""
        return COLUMNS if self.is_measured else (*COLUMNS, SHARE_COLUMN)

    def frame(self) -> pd.DataFrame:
        """Return a pandas table of `columns`."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(self.columns))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of `columns`; missing values are None and NaN."""
        names = [None if k == UNKNOWN else self.classes[k] for k in self.label_of.tolist()]
        columns = [names, self.confidence.tolist(), self.answers.tolist()]
        columns += [] if self.is_measured else [self.share.tolist()]
        return list(zip(self.tasks, *columns, strict=True))


def vote(
    answers: Answers,
    method: str = "weighted",
    *,
    skill: Skill | Quality | ArrayLike | None = None,
    prior: ArrayLike | None = None,
    dependence: Dependence | None = None,
) -> Votes:
    """Vote on the label of every task.

    Parameters
    ----------
    answers
        Answers of workers to tasks.
    method
        ``"weighted"``: the label of largest posterior probability, by `skill` and `prior` (Bayes'
        rule; the vote whose expected accuracy a plan states). ``"unsupervised"``: without gold, by
        the agreement of the workers, see `crowd_tvcs.skills.voting.unsupervised`. ``"majority"``:
        the most frequent answer. Or one of crowd-kit's aggregators by its name there, such as
        ``"DawidSkene"``; these and the majority have no confidence.
    skill, dependence
        As for `posterior`; only for ``"weighted"``.
    prior
        As for `posterior`; only for ``"weighted"`` and ``"unsupervised"``.

    Returns
    -------
    Votes
        A task without answers has no label, whatever the prior.

    Raises
    ------
    ValueError
        If the method is unknown, cannot be used, or needs crowd-kit, which is not installed; if it
        needs a skill and gets none, or the other way round.

    Examples
    --------
    >>> answers = Answers.of([("t1", "ann", "1"), ("t1", "bob", "0"), ("t1", "cy", "0")])
    >>> vote(answers, "majority").labels, vote(answers, skill=[.95, .6, .6]).labels
    ({'t1': '0'}, {'t1': '1'})
    """
    check_usable(method)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    if method == "weighted":
        if skill is None:
            raise ValueError(
                "the weighted vote needs a skill: estimate it from gold tasks, or use unsupervised"
            )
        return most_probable(answers, posterior(answers, skill, prior, dependence), method)
    if skill is not None:
        raise ValueError(f"the method {method} uses the answers alone, but has a skill")
    if method == "unsupervised":
        return most_probable(answers, unsupervised_posterior(answers, prior=prior), method)
    if prior is not None:
        raise ValueError(f"the method {method} uses the answers alone, but has a prior")
    weights = vote_shares(answers) if method == "majority" else aggregate(method, answers)
    return most_probable(answers, weights, method)


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
        accuracy of every worker; that of every worker on every task, of shape (workers, tasks); or
        confusion matrices of shape (workers, classes, classes). With one accuracy, mistakes are
        spread evenly over the other classes. An answer to a pair that a `Quality` does not allow is
        uninformative.
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
        at = np.ix_(rows, _positions("task", answers.tasks, skill.tasks))
        if skill.allowed is None:
            return skill.values[at]
        return np.where(skill.allowed[at], skill.values[at], 1.0 / len(answers.classes))
    if not skill.per_class:
        return skill.mean[rows]
    classes = _positions("class", answers.classes, skill.classes)
    return skill.matrices[np.ix_(rows, classes, classes)]


def _positions(kind: str, names: Sequence[str], known: Sequence[str]) -> NDArray[np.intp]:
    position_of = {name: i for i, name in enumerate(known)}
    for name in names:
        if name not in position_of:
            raise ValueError(f"the skill of {kind} {name!r} is missing; estimate it from gold")
    return np.array([position_of[name] for name in names], dtype=np.intp)


def _check_probabilities(values: Floats) -> None:
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("skill must hold probabilities in [0, 1]")


def most_probable(answers: Answers, weights: Floats, method: str) -> Votes:
    """Return the votes of the largest weights, of shape (tasks, classes)."""
    best, at, n = weights.argmax(axis=1), np.arange(len(answers.tasks)), answers.per_task
    confidence = np.full(at.size, np.nan)
    if method == "weighted":
        confidence = weights[at, best]
    elif method == "unsupervised" and has_agreement(answers):
        confidence = np.minimum(weights[at, best], MAX_CONFIDENCE)
    confidence, share = (
        np.where(n > 0, x, np.nan) for x in (confidence, vote_shares(answers)[at, best])
    )
    label_of = np.where(n > 0, best, UNKNOWN)
    return Votes(answers.tasks, answers.classes, label_of, confidence, n, method, share)
