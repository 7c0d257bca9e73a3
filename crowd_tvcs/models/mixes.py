"""The cheapest mix of models and people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.models.fit import Models
from crowd_tvcs.models.measured_people import MeasuredPeople
from crowd_tvcs.models.people import expected_with_people, people_needed

MAX_SUBSET_MODELS = 10  # of which all 1,024 subsets are priced
SUBSET_COLUMNS = (
    "models", "models_cost", "people", "cost", "expected_accuracy", "short",
)  # fmt: skip


@dataclass(frozen=True)
class AnnotatorMix:
    """Cost of a set of models followed by people.

    Attributes
    ----------
    models
        Names of the models.
    models_cost, people, cost
        Per task: cost of the models, mean number of people, cost of both.
    expected_accuracy
        Mean over the tasks.
    short
        Share of the tasks that do not reach the target with the most people.
    """

    models: tuple[str, ...]
    models_cost: float
    people: float
    cost: float
    expected_accuracy: float
    short: float


def annotator_mixes(
    models: Models, costs: Sequence[float], person_cost: float, accuracy: ArrayLike,
    *, target: float, most: int, measured: MeasuredPeople | None = None,
) -> list[AnnotatorMix]:  # fmt: skip
    """Price every subset of models with the people that the tasks then need, cheapest first.

    It uses the tasks that all models answered, without gold if there are others: there the answers
    of every subset are known. `accuracy` is that of a person on every task. People are equal, and a
    task gets as many as `target` needs, at most `most`. They add to each subset what `measured`
    shows; without it they err independently. With more than `MAX_SUBSET_MODELS` models only these
    subsets are priced: none, each alone, all but one, and all.
    """
    n = len(models.answers.workers)
    complete = np.flatnonzero(models.answers.per_task == n)
    open_tasks = complete[models.truth[complete] < 0]
    tasks = open_tasks if open_tasks.size else complete
    if not tasks.size:
        return []
    of_people = np.broadcast_to(np.asarray(accuracy), models.truth.size)[tasks]
    out = []
    for subset in _subsets(n):
        chosen = np.isin(models.answers.worker_of, subset)
        everywhere = models.posteriors(chosen)
        chances, delivered = everywhere[tasks], 1.0
        if measured is not None:
            delivered = measured.delivered(everywhere[measured.tasks], most)
        expected = expected_with_people(chances, of_people, most, delivered)
        needed = people_needed(expected, target)
        people = np.where(needed < 0, most, needed)
        reached = expected[np.arange(tasks.size), people]
        price = float(sum(costs[i] for i in subset))
        mean = float(people.mean())
        out.append(
            AnnotatorMix(
                tuple(models.answers.workers[i] for i in subset), price, mean,
                price + mean * person_cost, float(reached.mean()), float((needed < 0).mean()),
            )
        )  # fmt: skip
    return sorted(out, key=lambda one: (one.cost, one.models))


def cheapest(found: Sequence[AnnotatorMix], target: float) -> AnnotatorMix:
    """Choose the cheapest mix that expects `target`; without one, the mix of largest accuracy."""
    enough = [one for one in found if one.expected_accuracy >= target]
    if enough:
        return min(enough, key=lambda one: one.cost)
    return max(found, key=lambda one: (one.expected_accuracy, -one.cost))


def _subsets(n: int) -> Iterator[tuple[int, ...]]:
    sizes = range(n + 1) if n <= MAX_SUBSET_MODELS else (0, 1, n - 1, n)
    for size in sizes:
        yield from combinations(range(n), size)
