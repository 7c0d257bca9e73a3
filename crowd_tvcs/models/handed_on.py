"""What is handed on to plans and campaigns of people, and said of what models leave to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import UNKNOWN
from crowd_tvcs.models.fit import Models
from crowd_tvcs.models.people import expected_with_people, people_needed
from tvcs_core.files.shown import plain
from tvcs_core.files.spreadsheet import shield

MODEL_COLUMNS = (
    "model", "family", "answers", "gold", "right", "quality", "low", "high", "confidence_shift",
    "confidence_slope",
)  # fmt: skip
FAMILY_COLUMNS = ("family", "models", "shared")
MOST_SENTENCES = 5

Floats = NDArray[np.float64]


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
        return ("task", "models", "label", "confidence", "people", *classes)

    def rows(self) -> list[list[Any]]:
        """Rows of the table of the tasks."""
        answers, needed = self.models.answers, self.needed
        shown = [""] * self.tasks.size if needed is None else needed.tolist()
        chances = self.chances
        labels = [shield(answers.classes[k]) for k in chances.argmax(axis=1).tolist()]
        return [
            [shield(answers.tasks[j]), n, label, max(row), "" if people == -1 else people, *row]
            for j, n, label, people, row in zip(
                self.tasks.tolist(), answers.per_task[self.tasks].tolist(), labels, shown,
                chances.tolist(), strict=True,
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

    def sentences(self) -> list[str]:
        """How sure tasks are, and what they need: where all models agree, by label, and where not.

        Of the tasks that all models have answered.
        """
        answers, n = self.models.answers, len(self.models.answers.workers)
        counts = np.zeros((len(answers.tasks), len(answers.classes)), dtype=np.int64)
        np.add.at(counts, (answers.task_of, answers.label_of), 1)
        counts = counts[self.tasks]
        full = counts.sum(axis=1) == n
        agreed = full & (counts.max(axis=1) == n)
        told = [(int((agreed & (counts[:, k] == n)).sum()), k) for k in range(len(answers.classes))]
        told.sort(key=lambda pair: (-pair[0], pair[1]))
        out = []
        whole = f"{n} models agree" if n > 1 else "the model says"
        for size, k in told[:MOST_SENTENCES]:
            if size:
                on = " on" if n > 1 else ""
                where = f"after {whole}{on} {plain(answers.classes[k])}"
                out.append(self._sentence(where, agreed & (counts[:, k] == n)))
        if (full & ~agreed).any():
            out.append(self._sentence("where they do not all agree", full & ~agreed))
        return out

    def _sentence(self, where: str, chosen: NDArray[np.bool_]) -> str:
        size, of_each = int(chosen.sum()), self.chances[chosen].max(axis=1)
        sure = two_digits(float(of_each.mean()))
        tasks = f"{size} tasks" if size > 1 else "1 task"
        out = f"{where} ({tasks}) a task is {sure} sure"
        if of_each.max() - of_each.min() > 0.005:
            out += " on average"
        if self.needed is None:
            return out
        needed = self.needed[chosen]
        few = int(np.median(np.where(needed < 0, self.most + 1, needed)))
        target = f"{self.target:g}".removeprefix("0")
        if few > self.most:
            most = "1 person does" if self.most == 1 else f"{self.most} people do"
            return f"{out} and {most} not bring it to {target}"
        if few == 0:
            return f"{out} and needs nobody to reach {target}"
        return f"{out} and needs {few} {'person' if few == 1 else 'people'} to reach {target}"


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
    """Rows of `FAMILY_COLUMNS` for a file; what a model alone shares with itself stays empty."""
    sizes = np.bincount(models.family_of, minlength=len(models.families)).tolist()
    shares = models.shares.within.tolist()
    return [
        [shield(name), size, share if size > 1 else ""]
        for name, size, share in zip(models.families, sizes, shares, strict=True)
    ]


def open_tasks(models: Models) -> NDArray[np.int64]:
    """Numbers of the tasks whose label is not known."""
    return np.flatnonzero(models.truth == UNKNOWN)
