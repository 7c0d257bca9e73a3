"""Votes: one label per task from its answers, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import UNKNOWN, Answers
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.skills.crowd_kit import USABLE, aggregate, require_usable
from crowd_tvcs.skills.dependence import Dependence, Told, chances, told
from crowd_tvcs.skills.skill import Skill
from tvcs_core.arguments import array_of
from tvcs_core.files.spreadsheet import shield

if TYPE_CHECKING:
    import pandas as pd

SUREST = 1e-9  # no answer is taken to be surer, so that contradictions stay finite
METHODS = ("weighted", "majority", *USABLE)
COLUMNS = ("task", "label", "confidence", "answers")
SHARE = "share"  # one column more where no confidence is measured

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Votes:
    """The outcome of a vote.

    Attributes
    ----------
    tasks, classes
        Names, as in the answers.
    label_of
        Label of every task, counting `classes` from 0. Of equals the first class. `UNKNOWN` (-1)
        for a task that nobody answered.
    confidence
        How sure the label is: its posterior probability by the skills, of which gold was the
        measure. NaN where nobody answered, and for every method but ``weighted``: nothing says how
        often such labels are right.
    answers
        Number of answers of every task.
    method
        How it was voted.
    share
        Share of the answers that gave the label. It is no confidence: of one answer it is 1. NaN
        where nobody answered.
    """

    tasks: tuple[str, ...]
    classes: tuple[str, ...]
    label_of: NDArray[np.int64]
    confidence: Floats
    answers: NDArray[np.int64]
    method: str
    share: Floats

    def __repr__(self) -> str:
        return f"Votes({len(self.tasks)} tasks by {self.method})"

    @property
    def labels(self) -> dict[str, str]:
        """Label of each task that has answers, both by their names."""
        pairs = zip(self.tasks, self.label_of.tolist(), strict=True)
        return {task: self.classes[k] for task, k in pairs if k != UNKNOWN}

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Whether each task has a label, which somebody's answer gave it."""
        out: NDArray[np.bool_] = self.label_of != UNKNOWN
        return out

    @property
    def is_measured(self) -> bool:
        """Whether there are confidences at all."""
        return self.method == METHODS[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """Header of the table: a share in addition where no confidence is measured."""
        return COLUMNS if self.is_measured else (*COLUMNS, SHARE)

    def frame(self) -> pd.DataFrame:
        """Return a pandas table of `columns`; names as they are, None and NaN for what is not."""
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=list(self.columns))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the same for a file: names that look like formulas get an apostrophe.

        What is not there is an empty cell.
        """
        return [
            (
                shield(task),
                "" if label is None else shield(label),
                _cell(sure),
                n,
                *map(_cell, more),
            )
            for task, label, sure, n, *more in self._rows()
        ]

    def _rows(self) -> list[tuple[Any, ...]]:
        names = [None if k == UNKNOWN else self.classes[k] for k in self.label_of.tolist()]
        columns = [names, self.confidence.tolist(), self.answers.tolist()]
        columns += [] if self.is_measured else [self.share.tolist()]
        return list(zip(self.tasks, *columns, strict=True))


def _cell(number: float) -> float | str:
    return "" if np.isnan(number) else number


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
        Who answered what.
    method
        ``"weighted"``: the label of largest posterior probability, by `skill` and `prior` (Bayes'
        rule; the vote whose expected accuracy a plan states). ``"majority"``: the most frequent
        answer. Or one of crowd-kit's aggregators by its name there, such as ``"DawidSkene"``;
        they use the answers alone, and no confidence of theirs is measured.
    skill, prior, dependence
        As for `posterior`; only for ``"weighted"``.

    Returns
    -------
    Votes
        A task that nobody answered has no label, whatever the prior.

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
    require_usable(method)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    if method == "weighted":
        if skill is None:
            raise ValueError(
                "the weighted vote needs a skill: estimate it from gold tasks, or use majority"
            )
        return _largest(answers, posterior(answers, skill, prior, dependence), method)
    if skill is not None or prior is not None:
        raise ValueError(f"the method {method} uses the answers alone, but has a skill or a prior")
    weights = majority(answers) if method == "majority" else aggregate(method, answers)
    return _largest(answers, weights, method)


def posterior(
    answers: Answers,
    skill: Skill | Quality | ArrayLike,
    prior: ArrayLike | None = None,
    dependence: Dependence | None = None,
) -> Floats:
    """Probability of every label of every task, given its answers.

    Parameters
    ----------
    answers
        Who answered what.
    skill
        How the workers answer: a `Skill` or a `Quality` of the same workers (and tasks), the
        accuracy of every worker, that of every worker on every task, of shape (workers, tasks), or
        confusion matrices of shape (workers, classes, classes). Of a worker with one accuracy the
        mistakes are spread evenly over the other classes. An answer to a pair that a `Quality` does
        not allow tells nothing.
    prior
        Probability of every class, of shape (classes,), or for every task, of shape (tasks,
        classes). None for the class shares of the gold that a `Skill` was estimated from, and for
        equal ones without a `Skill`.
    dependence
        What several answers are worth together; None for what a `Skill` says of it, and for
        workers who err independently where it says nothing.

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
        prior = usual_prior(answers, skill)
    before = priors(prior, len(answers.tasks), len(answers.classes))
    if dependence is not None:
        weight = 1.0 if is_known else dependence.shares
        rows = _rows_told(answers, skill)
        return chances(dependence, rows, answers.task_of, len(answers.tasks), before, weight)
    return by_evidence(before, evidence(answers, skill), answers.task_of)


def by_evidence(before: Floats, of_answers: Floats, task_of: NDArray[np.int64]) -> Floats:
    """Probability of every class of every task by its prior and what its answers say."""
    logs = np.log(before)
    for k in range(logs.shape[1]):
        logs[:, k] += np.bincount(task_of, of_answers[:, k], minlength=logs.shape[0])
    logs -= logs.max(axis=1, keepdims=True)
    out: Floats = np.exp(logs)
    out /= out.sum(axis=1, keepdims=True)
    return out


def usual_prior(answers: Answers, skill: Skill | Quality | ArrayLike) -> Floats | None:
    """Return the class shares of the gold behind a skill in the order of the classes, or None."""
    if not isinstance(skill, Skill):
        return None
    shares = skill.class_shares[_places("class", answers.classes, skill.classes)]
    return shares / shares.sum()


def priors(prior: ArrayLike | None, n_tasks: int, n_classes: int) -> Floats:
    """Check a prior and give it for every task, of shape (tasks, classes); see `posterior`."""
    if prior is None:
        return np.full((n_tasks, n_classes), 1.0 / n_classes)
    given = array_of("prior", prior, np.float64)
    if given.shape not in ((n_classes,), (n_tasks, n_classes)):
        raise ValueError(
            f"prior must have shape ({n_classes},) or ({n_tasks}, {n_classes}), found {given.shape}"
        )
    if not (given >= 0.0).all() or not np.allclose(given.sum(axis=-1), 1.0, rtol=0.0, atol=1e-6):
        raise ValueError("prior must hold probabilities that add up to 1 over the classes")
    inside = np.maximum(given, SUREST)
    out: Floats = np.array(np.broadcast_to(inside, (n_tasks, n_classes)))
    out /= out.sum(axis=1, keepdims=True)
    return out


def evidence(answers: Answers, skill: Skill | Quality | ArrayLike) -> Floats:
    """Logarithm of the probability of each answer under each label, of shape (answers, classes)."""
    n, m, k = len(answers.workers), len(answers.tasks), len(answers.classes)
    given = _values(answers, skill)
    rows, columns = answers.worker_of, answers.task_of
    if given.shape == (n, k, k):
        _require_probabilities(given)
        if not np.allclose(given.sum(axis=2), 1.0, rtol=0.0, atol=1e-6):
            raise ValueError("the rows of every confusion matrix must add up to 1")
        return _logs(given[rows, :, answers.label_of])
    if given.shape in ((n,), (n, m)):
        _require_probabilities(given)
        accuracy = given[rows] if given.ndim == 1 else given[rows, columns]
        return evidence_of(accuracy, answers.label_of, k)
    raise ValueError(
        f"skill must have shape ({n},), ({n}, {m}) or ({n}, {k}, {k}), found {given.shape}"
    )


def evidence_of(accuracy: Floats, label_of: NDArray[np.int64], n_classes: int) -> Floats:
    """The same of answers whose workers have some accuracy each, mistakes spread evenly."""
    return _logs(even_matrices(accuracy, n_classes)[np.arange(label_of.size), :, label_of])


def _logs(chances: Floats) -> Floats:
    out: Floats = np.log(np.clip(chances, SUREST, 1.0 - SUREST))
    return out


def _rows_told(answers: Answers, skill: Skill | Quality | ArrayLike) -> Told:
    """Return the answers as the model of dependence looks at them."""
    label_of, at, k = answers.label_of, answers.worker_of, len(answers.classes)
    if isinstance(skill, Skill):
        rows = _places("worker", answers.workers, skill.workers)
        habits = skill.habits
        if habits is not None:
            classes = _places("class", answers.classes, skill.classes)
            habits = habits[np.ix_(rows, classes, classes)]
        return told(label_of, skill.mean[rows], habits, k, at)
    given = _values(answers, skill)
    if given.ndim == 3:
        accuracy = np.trace(given, axis1=1, axis2=2) / k
        return replace(told(label_of, accuracy, None, k, at), even=given)
    if given.ndim == 1:
        return told(label_of, given, None, k, at)
    return told(label_of, given[at, answers.task_of], None, k)


def _values(answers: Answers, skill: Skill | Quality | ArrayLike) -> Floats:
    """Return the numbers of a skill in the order of the workers and tasks of `answers`."""
    if not isinstance(skill, Skill | Quality):
        return array_of("skill", skill, np.float64, copy=False)
    rows = _places("worker", answers.workers, skill.workers)
    if isinstance(skill, Quality):
        at = np.ix_(rows, _places("task", answers.tasks, skill.tasks))
        if skill.allowed is None:
            return skill.values[at]
        return np.where(skill.allowed[at], skill.values[at], 1.0 / len(answers.classes))
    if not skill.per_class:
        return skill.mean[rows]
    classes = _places("class", answers.classes, skill.classes)
    return skill.matrices[np.ix_(rows, classes, classes)]


def _places(kind: str, names: Sequence[str], known: Sequence[str]) -> NDArray[np.intp]:
    place_of = {name: i for i, name in enumerate(known)}
    for name in names:
        if name not in place_of:
            raise ValueError(f"nothing is known of the skill of {kind} {name!r}")
    return np.array([place_of[name] for name in names], dtype=np.intp)


def _require_probabilities(values: Floats) -> None:
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("skill must hold probabilities in [0, 1]")


def _largest(answers: Answers, weights: Floats, method: str) -> Votes:
    best, at, n = weights.argmax(axis=1), np.arange(len(answers.tasks)), answers.per_task
    confidence = weights[at, best] if method == METHODS[0] else np.full(at.size, np.nan)
    confidence, share = (
        np.where(n > 0, x, np.nan) for x in (confidence, majority(answers)[at, best])
    )
    label_of = np.where(n > 0, best, UNKNOWN)
    return Votes(answers.tasks, answers.classes, label_of, confidence, n, method, share)


def majority(answers: Answers) -> Floats:
    """Share of every class in the answers of a task; equal shares where there are none."""
    m, k = len(answers.tasks), len(answers.classes)
    counts = np.zeros((m, k))
    np.add.at(counts, (answers.task_of, answers.label_of), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, counts / np.maximum(total, 1.0), 1.0 / k)
