"""Simulate models and people: families of models with shared errors, and stated confidence.

With K classes and a truth y:

1. a class z is y with probability 1 - e, else any class equally: the apparent truth of all models;
2. every family f has a class z_f, which is z with probability 1 - e_f, else any class equally;
3. given z_f its members answer independently: z_f with probability r_i, else another class.

A model is right with its quality q_i whatever the errors are: shared errors are a part of its
mistakes. A family shares the fraction `shared_within` of the mistakes of its best member, so 1 -
E_f = (1 - e)(1 - e_f) with E_f = shared_within K / (K - 1) (1 - max q_i), and r_i = (q_i - E_f / K)
/ (1 - E_f). All families share the fraction `shared_across` of the smallest E_f of a task. No
fitted model has this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold, write_answers
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.simulation import numbered
from tvcs_core.files.spreadsheet import write_csv
from tvcs_core.streams import stream

FAMILIES = (3, 2)  # members of each
WITHIN, BETWEEN = 0.6, 0.3  # fractions of shared mistakes
MODEL_QUALITY, PERSON_QUALITY = (0.7, 0.9), (0.65, 0.9)  # ranges
MODEL_COST, PERSON_COST = 0.01, 0.1  # of an answer
BOAST, NOISE = 2.0, 0.7  # logit of a stated confidence: mean overconfidence, and deviation


@dataclass(frozen=True, eq=False)
class MixedCrowd:
    """Simulated crowd of models and people.

    Attributes
    ----------
    answers
        Answers of all to every task, gold and others, named ``m1``, ``p01`` and ``gold1``,
        ``t001``.
    confidence
        Stated confidence of every answer; nan for people.
    truth
        True label of every task, by name.
    gold
        Names of the gold tasks.
    family_of
        Family of every model, by name.
    quality
        Accuracy of each model and each person, by name.
    """

    answers: Answers
    confidence: Floats
    truth: dict[str, str]
    gold: tuple[str, ...]
    family_of: dict[str, str]
    quality: dict[str, float]

    @property
    def gold_labels(self) -> Gold:
        """Known labels."""
        return Gold({task: self.truth[task] for task in self.gold}, self.answers.classes)

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people."""
        return tuple(name for name in self.answers.workers if name not in self.family_of)

    @property
    def open_tasks(self) -> tuple[str, ...]:
        """Tasks without a known label."""
        known = set(self.gold)
        return tuple(name for name in self.answers.tasks if name not in known)

    def of(self, *, models: bool, tasks: Sequence[str]) -> Bools:
        """Return the mask of the answers of models, or of people, to some tasks."""
        names, wanted = self.answers.workers, set(tasks)
        by_model = np.array([name in self.family_of for name in names])[self.answers.worker_of]
        there = np.array([name in wanted for name in self.answers.tasks])[self.answers.task_of]
        return there & (by_model == models)


def simulate_models(
    n_people: int = 20,
    n_tasks: int = 200,
    *,
    families: Sequence[int] = FAMILIES,
    shared_within: float = WITHIN,
    shared_across: float = BETWEEN,
    classes: Sequence[str] = ("0", "1"),
    shares: Sequence[float] | None = None,
    difficulty_spread: float = 0.0,
    n_gold: int = 100,
    rng: int | np.random.Generator | None = None,
) -> MixedCrowd:
    """Simulate models with errors shared by families, and people who err independently.

    Members of a family share the fraction `shared_within` of the mistakes of its best member; all
    models share the fraction `shared_across` of the smallest of these. The models' stated
    confidence is too high, and slightly informative.

    Parameters
    ----------
    n_people, n_tasks, n_gold
        Size; all answer every task, gold or not.
    families
        Number of models of every family.
    shared_within, shared_across
        Fractions of shared mistakes, in [0, 1].
    classes, shares
        Labels and their prevalences; None for equal ones.
    difficulty_spread
        Deviation of the difficulty of tasks, in the logit of the quality of models and people:
        above 0 they err on the same tasks.
    rng
        Seed or generator.

    Examples
    --------
    >>> crowd = simulate_models(3, 5, n_gold=2, rng=0)
    >>> crowd.answers, sorted(crowd.family_of.items())[0]
    (Answers(56 answers of 8 workers to 7 tasks, 2 classes), ('m1', 'f1'))
    """
    sizes = {"n_people": n_people, "n_tasks": n_tasks, "families": min(families, default=0)}
    for name, value, least in [*((name, size, 1) for name, size in sizes.items()),
                               ("n_gold", n_gold, 0)]:  # fmt: skip
        if value < least:
            raise ValueError(f"{name} must be >= {least}, found {value}")
    for name, share in (("shared_within", shared_within), ("shared_across", shared_across)):
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"{name} must be in [0, 1], found {share}")
    if not difficulty_spread >= 0.0:
        raise ValueError(f"difficulty_spread must be >= 0, found {difficulty_spread}")
    rng = stream(rng, "models")
    k, m = len(classes), n_tasks + n_gold
    truth = rng.choice(k, size=m, p=shares)
    hard = difficulty_spread * rng.standard_normal(m)
    n_models = sum(families)
    usual = np.concatenate(
        [rng.uniform(*MODEL_QUALITY, n_models), rng.uniform(*PERSON_QUALITY, n_people)]
    ).round(4)
    quality = _harder(usual, hard)
    family = np.repeat(np.arange(len(families)), families)
    labels = np.empty((n_models + n_people, m), dtype=np.int64)
    labels[:n_models] = _with_common_errors(
        truth, quality[:n_models], family, (shared_within, shared_across), k, rng
    )
    is_right = rng.random((n_people, m)) < quality[n_models:]
    labels[n_models:] = np.where(is_right, truth, _other(truth, k, rng, (n_people, m)))
    stated = _stated(labels[:n_models] == truth, rng)
    return _named(labels, stated, truth, usual, family, classes, n_gold)


def _harder(usual: Floats, hard: Floats) -> Floats:
    """Return the quality of all on every task, of shape (workers, tasks)."""
    return 1.0 / (1.0 + np.exp(-(np.log(usual / (1.0 - usual))[:, None] - hard)))


def _other(truth: Integers, k: int, rng: np.random.Generator, shape: tuple[int, int]) -> Integers:
    """Draw one of the other classes for each task."""
    return (truth + rng.integers(1, k, size=shape)) % k


def _with_common_errors(
    truth: Integers, quality: Floats, family: Integers, shares: tuple[float, float], k: int,
    rng: np.random.Generator,
) -> Integers:  # fmt: skip
    """Draw the answers of models by the three steps above."""
    shared_within, shared_across = shares
    n_families, m = int(family.max()) + 1, truth.size
    best = np.array([quality[family == f].max(axis=0) for f in range(n_families)])
    common = np.minimum(shared_within * np.minimum(1.0, k / (k - 1.0) * (1.0 - best)), 1.0 - 1e-9)
    of_all = shared_across * common.min(axis=0)
    own = 1.0 - (1.0 - common) / (1.0 - of_all)
    top = np.where(rng.random(m) < of_all, rng.integers(0, k, m), truth)
    lost = rng.random((n_families, m)) < own
    seen = np.where(lost, rng.integers(0, k, (n_families, m)), top)[family]
    inside = (quality - common[family] / k) / (1.0 - common[family])
    is_kept = rng.random(quality.shape) < inside
    return np.where(is_kept, seen, _other(seen, k, rng, quality.shape))


def _stated(is_right: Bools, rng: np.random.Generator) -> Floats:
    """Draw stated confidences: higher for right answers, and too high for all."""
    logit = BOAST + 0.8 * is_right + NOISE * rng.standard_normal(is_right.shape)
    return (1.0 / (1.0 + np.exp(-logit))).round(3)


def _named(
    labels: Integers, stated: Floats, truth: Integers, quality: Floats, family: Integers,
    classes: Sequence[str], n_gold: int,
) -> MixedCrowd:  # fmt: skip
    n_models, m = stated.shape
    gold = numbered("gold", n_gold)
    tasks = (*gold, *numbered("t", m - n_gold))
    models, people = numbered("m", n_models), numbered("p", len(labels) - n_models)
    j, i = np.divmod(np.arange(labels.size), len(labels))
    confidence = np.full(labels.size, np.nan)
    confidence[i < n_models] = stated[i[i < n_models], j[i < n_models]]
    workers = (*models, *people)
    return MixedCrowd(
        Answers(tasks, workers, classes, j, i, labels[i, j]),
        confidence,
        {name: classes[y] for name, y in zip(tasks, truth.tolist(), strict=True)},
        gold,
        {name: f"f{f + 1}" for name, f in zip(models, family.tolist(), strict=True)},
        dict(zip(workers, quality.tolist(), strict=True)),
    )


def write_models(crowd: MixedCrowd, folder: Path, *, full_answers: bool = False) -> None:
    """Write `crowd` into a folder as `crowd-tvcs models` reads it.

    The files are workers.csv (worker, kind, family, cost), answers.csv (task, worker, label,
    confidence) of the models to all tasks and of the people to gold, gold.csv, and quality.csv with
    the people's accuracy on the open tasks. With `full_answers`, labels.csv has the labels of
    these, and recorded.csv the people's answers.
    """
    rows: list[list[Any]] = [
        [w, "model", crowd.family_of[w], MODEL_COST]
        if w in crowd.family_of
        else [w, "person", "", PERSON_COST]
        for w in crowd.answers.workers
    ]
    write_csv(folder / "workers.csv", ["worker", "kind", "family", "cost"], rows)
    tasks = crowd.open_tasks
    given = crowd.of(models=True, tasks=crowd.answers.tasks) | crowd.of(
        models=False, tasks=crowd.gold
    )
    pairs = zip(crowd.answers.select(given).rows(), crowd.confidence[given].tolist(), strict=True)
    stated = [[*row, c] for row, c in pairs]
    write_csv(folder / "answers.csv", ["task", "worker", "label", "confidence"], stated)
    if crowd.gold:
        known = [(task, crowd.truth[task]) for task in crowd.gold]
        write_csv(folder / "gold.csv", ["task", "label"], known)
    good = [[name, *[crowd.quality[name]] * len(tasks)] for name in crowd.people]
    write_csv(folder / "quality.csv", ["worker", *tasks], good)
    if full_answers:
        labels = [(task, crowd.truth[task]) for task in tasks]
        write_csv(folder / "labels.csv", ["task", "label"], labels)
        chosen = crowd.of(models=False, tasks=tasks)
        write_answers(folder / "recorded.csv", crowd.answers.select(chosen))
