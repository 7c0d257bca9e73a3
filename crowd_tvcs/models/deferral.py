"""Tasks deferred from models to people: their priors, the people they need, and the summary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowd_tvcs.answers.answers import UNKNOWN
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.models.fit import Models
from crowd_tvcs.models.measured_people import MeasuredPeople
from crowd_tvcs.models.people import expected_with_people, people_needed
from crowd_tvcs.skills.dependence import CalibrationBin
from crowd_tvcs.skills.voting.random_gold import sample_doubt
from crowd_tvcs.skills.voting.right_share import RightShare, right_share
from tvcs_core.files.display import plural, unquoted

MODEL_COLUMNS = (
    "model", "family", "answers", "gold", "right", "quality", "low", "high", "confidence_shift",
    "confidence_slope",
)  # fmt: skip
FAMILY_COLUMNS = ("family", "models", "worth")
MAX_SENTENCES = 5  # of a summary
DISAGREEING = "where they do not all agree"


@dataclass(frozen=True, eq=False)
class TaskGroup:
    """Tasks on which the models answered alike.

    Attributes
    ----------
    where
        Description of the tasks.
    chosen
        Mask of them among the deferred tasks.
    held_out_gold
        Mean confidence and accuracy of such gold tasks; None without any.
    """

    where: str
    chosen: Bools
    held_out_gold: CalibrationBin | None

    @property
    def doubt(self) -> str:
        """The evidence against the confidence; empty without any."""
        return describe_miscalibration(self.held_out_gold)


@dataclass(frozen=True, eq=False)
class DeferredTasks:
    """Tasks without a known label that models leave to people.

    Attributes
    ----------
    models
        The fitted models.
    tasks
        Indices of these tasks.
    accuracy
        Accuracy of a person on each of all tasks; None if unknown.
    target
        Required confidence of a task.
    most
        Largest number of people on a task.
    measured
        Answers of people to gold; None for too few, then people are taken to err independently.
    """

    models: Models
    tasks: Integers
    accuracy: Floats | None
    target: float
    most: int
    measured: MeasuredPeople | None = None

    @property
    def chances(self) -> Floats:
        """Probability of every class of each of the tasks."""
        return self.models.posterior[self.tasks]

    @property
    def right_share(self) -> RightShare | None:
        """Share of right labels among those of the models, by gold; see `right_share`."""
        gold = self.models.held_out_gold
        answered = self.models.answers.per_task[self.tasks] > 0
        return right_share(gold.hit, gold.claim, self.chances[answered].max(axis=1, initial=0.0))

    @cached_property
    def sample_doubt(self) -> str:
        """The evidence that gold is no random sample of the tasks; empty without any."""
        return sample_doubt(self.models.answers, self.models.truth)

    @property
    def needed(self) -> Integers | None:
        """Number of people that each task needs, -1 for more than the most; None if unknown."""
        if self.accuracy is None:
            return None
        expected = expected_with_people(
            self.chances, self.accuracy[self.tasks], self.most, self.delivered
        )
        return people_needed(expected, self.target)

    @cached_property
    def delivered(self) -> float:
        """Share of the expected gain by people that gold shows; 1 if nothing is measured."""
        if self.measured is None or not self.most:
            return 1.0
        chances = self.models.held_out_gold.chances[self.measured.chosen]
        return self.measured.delivered(chances, self.most)

    @property
    def columns(self) -> tuple[str, ...]:
        """Header of the table of the tasks; a probability for every class comes last."""
        classes = (f"probability of {name}" for name in self.models.answers.classes)
        return ("task", "models", "label", "confidence", "people", "doubt", *classes)

    def rows(self) -> list[list[Any]]:
        """Return the rows of the table of the tasks; without answers a task has no label."""
        answers, needed = self.models.answers, self.needed
        shown = [""] * self.tasks.size if needed is None else needed.tolist()
        chances, groups = self.chances, self.groups()
        doubts = np.full(self.tasks.size, "", dtype=object)
        for one in groups:
            doubts[one.chosen] = one.doubt
        if self.doubt:
            doubts[answers.per_task[self.tasks] > 0] = self.doubt
        labels = [answers.classes[k] for k in chances.argmax(axis=1).tolist()]
        return [
            [
                answers.tasks[j], n, *((label, max(row)) if n else ("", "")),
                "" if people == -1 else people, doubt, *row,
            ]
            for j, n, label, people, doubt, row in zip(
                self.tasks.tolist(), answers.per_task[self.tasks].tolist(), labels, shown,
                doubts.tolist(), chances.tolist(), strict=True,
            )
        ]  # fmt: skip

    def priors(self) -> tuple[tuple[str, ...], list[list[Any]]]:
        """Return header and rows of a table for ``--tasks``; of two classes the second's prior."""
        chances, classes = self.chances.tolist(), self.models.answers.classes
        tasks = [self.models.answers.tasks[j] for j in self.tasks.tolist()]
        if len(classes) == 2:
            rows = zip(tasks, chances, strict=True)
            return ("task", "prior"), [[name, row[1]] for name, row in rows]
        header = ("task", *(f"prior={name}" for name in classes))
        return header, [[name, *row] for name, row in zip(tasks, chances, strict=True)]

    @property
    def doubt(self) -> str:
        """The evidence against all confidences: gold contradicts them or is too thin.

        Empty without any.
        """
        found = self.models.held_out_gold
        if not self.models.is_fitted:
            return (
                f"only {plural(found.truth.size, 'gold task validates', 'gold tasks validate')} it"
            )
        if np.unique(found.truth).size == 1:
            return "all gold has one class, so errors on other classes cannot be estimated"
        return describe_miscalibration(found.compared())

    @property
    def confident_on_gold(self) -> CalibrationBin | None:
        """Calibration of gold tasks whose confidence is at least the target; None without any."""
        return self.models.held_out_gold.confident(self.target)

    def groups(self) -> list[TaskGroup]:
        """Group the tasks that all models answered by the label they agree on, or by disagreement.

        The largest come first, and those without agreement last.
        """
        answers, n = self.models.answers, len(self.models.answers.workers)
        counts = answers.label_counts
        full = counts.sum(axis=1) == n
        of_gold = self.models.held_out_gold.tasks
        found = []
        for k, name in enumerate(answers.classes):
            where = f"after {n} models agree on {unquoted(name)}"
            if n == 1:
                where = f"after the model answers {unquoted(name)}"
            found.append((where, full & (counts[:, k] == n)))
        found.sort(key=lambda pair: -int(pair[1][self.tasks].sum()))
        found.append((DISAGREEING, full & (counts.max(axis=1) < n)))
        out = []
        for where, chosen in found:
            claimed = self.models.held_out_gold.compared(chosen[of_gold])
            if chosen[self.tasks].any():
                out.append(TaskGroup(where, chosen[self.tasks], claimed))
        return out

    def sentences(self) -> list[str]:
        """Describe the confidence of tasks and the people they need, by agreed label.

        Only tasks that all models answered count. If gold contradicts a confidence, the sentence
        reports it instead of stating that no people are needed.
        """
        groups = self.groups()
        agreed = [one for one in groups if one.where != DISAGREEING]
        shown = agreed[:MAX_SENTENCES] + [one for one in groups if one.where == DISAGREEING]
        return [self._sentence(one) for one in shown]

    def _sentence(self, group: TaskGroup) -> str:
        size, of_each = int(group.chosen.sum()), self.chances[group.chosen].max(axis=1)
        sure = two_digits(float(of_each.mean()))
        tasks = plural(size, "task")
        out = f"{group.where} ({tasks}) the confidence of a task is {sure}"
        if of_each.max() - of_each.min() > 0.005:
            out += " on average"
        doubt = self.doubt or group.doubt
        if doubt:
            out += f", but {doubt}"
        if self.needed is None:
            return out
        needed = self.needed[group.chosen]
        few = int(np.median(np.where(needed < 0, self.most + 1, needed)))
        target = f"{self.target:g}".removeprefix("0")
        if few > self.most:
            most = plural(self.most, "person does", "people do")
            return f"{out}, and {most} not raise it to {target}"
        if few == 0:
            if not doubt and (sure := describe_miscalibration(self.confident_on_gold)):
                out, doubt = f"{out}, but {sure}", sure
            if doubt:
                return f"{out}; the number of people needed to reach {target} is unknown"
            return f"{out}, and it needs no people to reach {target}"
        return f"{out}, and it needs {few} {'person' if few == 1 else 'people'} to reach {target}"


def describe_miscalibration(found: CalibrationBin | None) -> str:
    """Describe the evidence of gold against the confidence of such tasks; empty without any."""
    if found is None:
        return "there is no such gold task"
    if not found.is_miscalibrated:
        return ""
    return (
        f"gold contradicts it: on {found.tasks} such tasks mean confidence is "
        f"{found.mean_confidence:.3f} but accuracy is {found.accuracy:.3f} ({found.low:.3f} to "
        f"{found.high:.3f})"
    )


def two_digits(chance: float) -> str:
    """Format a probability as ``.93``, and never as 1."""
    text = f"{chance:.2f}"
    return "more than .99" if text == "1.00" else text.removeprefix("0")


def model_rows(models: Models) -> list[list[Any]]:
    """Return the rows of `MODEL_COLUMNS` for a file."""
    skill, moved = models.calibrated.skill, models.calibrated.coefficients
    per_model = models.answers.per_worker.tolist()
    return [
        [
            name, models.families[models.family_of[i]], per_model[i],
            int(skill.n_gold[i]), int(skill.n_right[i]), float(skill.mean[i]),
            float(skill.low[i]), float(skill.high[i]), *moved.get(i, ("", "")),
        ]
        for i, name in enumerate(models.answers.workers)
    ]  # fmt: skip


def family_rows(models: Models) -> list[list[Any]]:
    """Return the rows of `FAMILY_COLUMNS` for a file: the effective number of models per family."""
    sizes = np.bincount(models.family_of, minlength=len(models.families)).tolist()
    within = models.dependence.within
    return [
        [name, size, size / (1.0 + within * (size - 1.0))]
        for name, size in zip(models.families, sizes, strict=True)
    ]


def open_tasks(models: Models) -> Integers:
    """Return the indices of the tasks without a known label."""
    return np.flatnonzero(models.truth == UNKNOWN)
