"""What is handed on to plans and campaigns of people, and said of what models leave to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN
from crowd_tvcs.models.fit import Models
from crowd_tvcs.models.people import expected_with_people, people_needed
from crowd_tvcs.skills.dependence import Claimed
from tvcs_core.files.shown import plain
from tvcs_core.files.spreadsheet import shield

MODEL_COLUMNS = (
    "model", "family", "answers", "gold", "right", "quality", "low", "high", "confidence_shift",
    "confidence_slope",
)  # fmt: skip
FAMILY_COLUMNS = ("family", "models", "worth")
MOST_SENTENCES = 5
UNLIKE = "where they do not all agree"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Group:
    """Tasks that are alike in what the models say.

    Attributes
    ----------
    where
        Which tasks, in words.
    chosen
        Whether each of the tasks that are handed on is one.
    on_gold
        Claimed and reached of the gold tasks that are alike; None without any.
    """

    where: str
    chosen: NDArray[np.bool_]
    on_gold: Claimed | None

    @property
    def doubt(self) -> str:
        """Say what is against the claim; empty if nothing is."""
        return doubt_of(self.on_gold)


@dataclass(frozen=True, eq=False)
class HandedOn:
    """What tasks whose label is not known still need from people.

    Attributes
    ----------
    models
        What the models said.
    tasks
        Numbers of these tasks.
    accuracy
        Of each of the people, on each of all tasks; None if nothing is known of them.
    target
        How sure a task shall be.
    most
        Most people on a task.
    """

    models: Models
    tasks: NDArray[np.int64]
    accuracy: Floats | None
    target: float
    most: int

    @property
    def chances(self) -> Floats:
        """Chance of every class of each of the tasks."""
        return self.models.posterior[self.tasks]

    @property
    def needed(self) -> NDArray[np.int64] | None:
        """People that each of the tasks needs, -1 for more than the most; None if unknown."""
        if self.accuracy is None:
            return None
        expected = expected_with_people(self.chances, self.accuracy[self.tasks], self.most)
        return people_needed(expected, self.target)

    @property
    def columns(self) -> tuple[str, ...]:
        """Header of the table of the tasks: a chance for every class comes last."""
        classes = (f"chance of {name}" for name in self.models.answers.classes)
        return ("task", "models", "label", "confidence", "people", "doubt", *classes)

    def rows(self) -> list[list[Any]]:
        """Rows of the table of the tasks; what no model has answered has no label."""
        answers, needed = self.models.answers, self.needed
        shown = [""] * self.tasks.size if needed is None else needed.tolist()
        chances, groups = self.chances, self.groups()
        doubts = np.full(self.tasks.size, "", dtype=object)
        for one in groups:
            doubts[one.chosen] = one.doubt
        if self.doubt:
            doubts[answers.per_task[self.tasks] > 0] = self.doubt
        labels = [shield(answers.classes[k]) for k in chances.argmax(axis=1).tolist()]
        return [
            [
                shield(answers.tasks[j]), n, *((label, max(row)) if n else ("", "")),
                "" if people == -1 else people, doubt, *row,
            ]
            for j, n, label, people, doubt, row in zip(
                self.tasks.tolist(), answers.per_task[self.tasks].tolist(), labels, shown,
                doubts.tolist(), chances.tolist(), strict=True,
            )
        ]  # fmt: skip

    def priors(self) -> tuple[tuple[str, ...], list[list[Any]]]:
        """Header and rows of what plans read as ``--tasks``: of two classes that of the second."""
        chances, classes = self.chances.tolist(), self.models.answers.classes
        tasks = [shield(self.models.answers.tasks[j]) for j in self.tasks.tolist()]
        if len(classes) == 2:
            rows = zip(tasks, chances, strict=True)
            return ("task", "prior"), [[name, row[1]] for name, row in rows]
        header = ("task", *(f"prior={name}" for name in classes))
        return header, [[name, *row] for name, row in zip(tasks, chances, strict=True)]

    @property
    def doubt(self) -> str:
        """Say why all claims are in doubt: gold is against them, or too thin; empty if nothing."""
        found = self.models.on_gold
        if not self.models.is_fitted:
            return f"no more than {found.truth.size} gold tasks measure that"
        if np.unique(found.truth).size == 1:
            return "all gold is of one class, which says nothing of mistakes on others"
        return doubt_of(found.compared())

    @property
    def sure_on_gold(self) -> Claimed | None:
        """Compare claims with what is reached of gold tasks that are as sure as the target."""
        return self.models.on_gold.surely(self.target)

    def groups(self) -> list[Group]:
        """Group the tasks that all models have answered: by the label they agree on, or in none.

        The largest come first, and those on which they do not agree last.
        """
        answers, n = self.models.answers, len(self.models.answers.workers)
        counts = np.zeros((len(answers.tasks), len(answers.classes)), dtype=np.int64)
        np.add.at(counts, (answers.task_of, answers.label_of), 1)
        full = counts.sum(axis=1) == n
        of_gold = self.models.on_gold.tasks
        found = []
        for k, name in enumerate(answers.classes):
            where = f"after {n} models agree on {plain(name)}"
            if n == 1:
                where = f"after the model says {plain(name)}"
            found.append((where, full & (counts[:, k] == n)))
        found.sort(key=lambda pair: -int(pair[1][self.tasks].sum()))
        found.append((UNLIKE, full & (counts.max(axis=1) < n)))
        out = []
        for where, chosen in found:
            claimed = self.models.on_gold.compared(chosen[of_gold])
            if chosen[self.tasks].any():
                out.append(Group(where, chosen[self.tasks], claimed))
        return out

    def sentences(self) -> list[str]:
        """How sure tasks are, and what they need: where all models agree, by label, and where not.

        Of the tasks that all models have answered. Where gold is against a claim it is said, and
        nobody is told that no people are needed.
        """
        groups = self.groups()
        agreed = [one for one in groups if one.where != UNLIKE]
        shown = agreed[:MOST_SENTENCES] + [one for one in groups if one.where == UNLIKE]
        return [self._sentence(one) for one in shown]

    def _sentence(self, group: Group) -> str:
        size, of_each = int(group.chosen.sum()), self.chances[group.chosen].max(axis=1)
        sure = two_digits(float(of_each.mean()))
        tasks = f"{size} tasks" if size > 1 else "1 task"
        out = f"{group.where} ({tasks}) a task is {sure} sure"
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
            most = "1 person does" if self.most == 1 else f"{self.most} people do"
            return f"{out} and {most} not bring it to {target}"
        if few == 0:
            if not doubt and (sure := doubt_of(self.sure_on_gold)):
                out, doubt = f"{out}, but {sure}", sure
            if doubt:
                return f"{out}: how many people it needs to reach {target} is not known"
            return f"{out} and needs nobody to reach {target}"
        return f"{out} and needs {few} {'person' if few == 1 else 'people'} to reach {target}"


def doubt_of(found: Claimed | None) -> str:
    """Say why a claim about such tasks is in doubt: gold is against it or has none; or nothing."""
    if found is None:
        return "no gold task is like it"
    if not found.parts:
        return ""
    return (
        f"gold says otherwise: of {found.tasks} such tasks {found.claimed:.3f} is claimed and "
        f"{found.reached:.3f} reached ({found.low:.3f} to {found.high:.3f})"
    )


def two_digits(chance: float) -> str:
    """Write how sure something is as ``.93``, and never as 1."""
    text = f"{chance:.2f}"
    return "more than .99" if text == "1.00" else text.removeprefix("0")


def model_rows(models: Models) -> list[list[Any]]:
    """Rows of `MODEL_COLUMNS` for a file."""
    skill, moved = models.calibrated.skill, models.calibrated.moved
    per_model = models.answers.per_worker.tolist()
    return [
        [
            shield(name), shield(models.families[models.family_of[i]]), per_model[i],
            int(skill.n_gold[i]), int(skill.n_right[i]), float(skill.mean[i]),
            float(skill.low[i]), float(skill.high[i]), *moved.get(i, ("", "")),
        ]
        for i, name in enumerate(models.answers.workers)
    ]  # fmt: skip


def family_rows(models: Models) -> list[list[Any]]:
    """Rows of `FAMILY_COLUMNS` for a file: of each family how many answers its own are worth."""
    sizes = np.bincount(models.family_of, minlength=len(models.families)).tolist()
    within = models.dependence.within
    return [
        [shield(name), size, size / (1.0 + within * (size - 1.0))]
        for name, size in zip(models.families, sizes, strict=True)
    ]


def open_tasks(models: Models) -> NDArray[np.int64]:
    """Numbers of the tasks whose label is not known."""
    return np.flatnonzero(models.truth == UNKNOWN)
