"""People after models: their accuracy on every task, and the number that a task still needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.accuracy.many_classes import count_chances
from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.models.calibration import MIN_STATED_CONFIDENCES, fit_shift_and_slope, logit
from crowd_tvcs.models.fit import Models
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.skill import Skill

DECIMALS = 4  # of a quality in a table
CHUNK_SIZE = 2_000_000  # numbers in memory: 16 MB


@dataclass(frozen=True, eq=False)
class People:
    """Accuracy of people on every task, given the confidence after the models.

    Attributes
    ----------
    skill
        Skill of the people, from their gold answers.
    model_confidence
        Logit of the models' confidence of every task, less its mean over people's gold answers.
    shift, slope
        logit P(right) = logit of their mean + shift + slope * model_confidence. On tasks of which
        models are unsure people err more often, too; the slope is fitted to gold, with a normal
        prior at 0.
    answers
        Their answers to gold tasks.
    """

    skill: Skill
    model_confidence: Floats
    shift: float
    slope: float
    answers: Answers

    def quality(self, mean: Floats) -> Floats:
        """Return the accuracy of people with these means on every task: (people, tasks)."""
        moved = logit(mean)[:, None] + self.shift + self.slope * self.model_confidence
        return (1.0 / (1.0 + np.exp(-moved))).round(DECIMALS)

    @property
    def mean_quality(self) -> Floats:
        """Accuracy on every task of a person with the mean accuracy of those with gold."""
        known = self.skill.mean[self.skill.n_gold > 0]
        return self.quality(known.mean(keepdims=True))[0]


def fit_people(models: Models, answers: Answers, gold: Gold, people: Sequence[str]) -> People:
    """Fit the accuracy of people, and its decrease on tasks of which the models are unsure.

    Parameters
    ----------
    models
        The fitted models, of all tasks.
    answers, gold
        Answers of people to gold tasks of the models; others are not used.
    people
        Names of the people.
    """
    names = set(people)
    place = {name: j for j, name in enumerate(models.answers.tasks)}
    known = gold.labels.keys() & place.keys()
    rows = [row for row in answers.rows() if row[1] in names and row[0] in known]
    if not rows:
        raise ValueError("no gold task is answered by a person")
    own = Answers.of(rows, workers=sorted(names), classes=models.answers.classes)
    skill = estimate_quality(own, gold, model="independent")
    truth = gold.codes(own.tasks, own.classes)[own.task_of]
    task = np.array([place[name] for name in own.tasks])[own.task_of]
    model_confidence = logit(models.posterior.max(axis=1))
    model_confidence = model_confidence - model_confidence[task].mean()
    is_right = own.label_of == truth
    if is_right.size < MIN_STATED_CONFIDENCES:
        return People(skill, model_confidence, 0.0, 0.0, own)
    base = logit(skill.mean[own.worker_of])
    shift, slope = fit_shift_and_slope(base, model_confidence[task], is_right, np.zeros(2)).tolist()
    if slope <= 0.0:
        shift = slope = 0.0
    return People(skill, model_confidence, shift, slope, own)


def expected_with_people(
    chances: Floats, accuracy: ArrayLike, most: int, delivered: float = 1.0
) -> Floats:
    """Return the expected accuracy of every task with 0 to `most` more people: (tasks, most + 1).

    Parameters
    ----------
    chances
        Probability of every class of every task so far, of shape (tasks, classes).
    accuracy
        Accuracy of a person, who errs independently and evenly over the classes: one number, or one
        per task; rounded to hundredths.
    most
        Largest number of people, >= 0.
    delivered
        Share of the gain by people that counts, see
        `crowd_tvcs.models.measured_people.MeasuredPeople.delivered`.
    """
    of_task = np.broadcast_to(np.asarray(accuracy, dtype=np.float64).round(2), len(chances))
    out = np.empty((len(chances), most + 1))
    for one in np.unique(of_task):
        chosen = of_task == one
        rows, back = np.unique(chances[chosen].round(6), axis=0, return_inverse=True)
        out[chosen] = _expected(rows, even_matrices(one, chances.shape[1]), most)[back.ravel()]
    before = out[:, :1]
    return before + delivered * (out - before)


def _expected(chances: Floats, matrix: Floats, most: int) -> Floats:
    """Return the expected accuracy with 0 to `most` people who all have one matrix."""
    out = np.empty((len(chances), most + 1))
    out[:, 0] = chances.max(axis=1)
    for n in range(1, most + 1):
        answers = count_chances(matrix, n)
        step = max(1, CHUNK_SIZE // answers.size)
        for u in range(0, len(chances), step):
            joint = chances[u : u + step, :, None] * answers
            out[u : u + step, n] = joint.max(axis=1).sum(axis=1)
    return np.maximum.accumulate(np.minimum(out, 1.0), axis=1)


def right_with_people(
    chances: Floats, truth: Integers, accuracy: ArrayLike, people: Integers
) -> Floats:
    """Return the probability that the label of every task is its known one after some people.

    Parameters
    ----------
    chances, accuracy
        As for `expected_with_people`.
    truth
        Class index of the known label of every task.
    people
        Number of people on each task.
    """
    of_task = np.broadcast_to(np.asarray(accuracy, dtype=np.float64).round(2), len(chances))
    out = (chances.argmax(axis=1) == truth).astype(np.float64)
    cases = np.stack([of_task, people], axis=1)
    for one, n in np.unique(cases[people > 0], axis=0).tolist():
        chosen = np.flatnonzero((cases == (one, n)).all(axis=1))
        answers = count_chances(even_matrices(np.asarray(one), chances.shape[1]), int(n))
        step = max(1, CHUNK_SIZE // answers.size)
        for start in range(0, chosen.size, step):
            part = chosen[start : start + step]
            joint = chances[part, :, None].round(6) * answers
            is_right = joint.argmax(axis=1) == truth[part, None]
            out[part] = (answers[truth[part]] * is_right).sum(axis=1)
    return np.minimum(out, 1.0)


def people_needed(expected: Floats, target: float) -> Integers:
    """Return the fewest people with whom each task reaches `target`; -1 if the most do not."""
    reached = expected >= target
    return np.where(reached.any(axis=1), reached.argmax(axis=1), -1)
