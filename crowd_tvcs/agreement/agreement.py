"""Agreement of recorded answers: chance-corrected over all tasks, per task, per pair of workers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.agreement.bootstrap import Estimate, draw_tasks
from crowd_tvcs.agreement.chance_corrected import (
    Counts,
    Statistic,
    fleiss_kappa,
    nominal_alpha,
    ordinal_alpha,
)
from crowd_tvcs.agreement.pairs import Pairs, agreement_of_pairs
from crowd_tvcs.answers.answers import Answers
from tvcs_core.files.spreadsheet import shield
from tvcs_core.streams import seed_of, stream

DRAWS = 1000
INTERVAL = 0.95
LEAST_COMMON = 10
AT_ONCE = 4_000_000  # numbers of a bootstrap that are in memory

TASK_COLUMNS = ("task", "answers", "label", "agreement", "entropy")
PAIR_COLUMNS = ("worker_1", "worker_2", "tasks", "agreement", "kappa", "low", "high")

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far workers agree.

    Attributes
    ----------
    answers
        Who answered what.
    alpha, ordinal, fleiss
        Krippendorff's alpha where labels are the same or not, where they stand in order (None if
        they do not), and Fleiss' kappa.
    pairs
        Agreement and Cohen's kappa of pairs of workers.
    """

    answers: Answers
    alpha: Estimate
    ordinal: Estimate | None
    fleiss: Estimate
    pairs: Pairs

    @cached_property
    def per_task(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Of every task: share of equal pairs of answers, entropy in bits, the leading class.

        Agreement is nan with fewer than two answers, and the leading class -1 where classes tie.
        """
        with_answers = self.answers.per_task > 0
        counts = Counts.of(self.answers, with_answers)
        out = np.full((2, with_answers.size), np.nan)
        n = counts.per_task
        pairs = np.where(n > 1.0, n * (n - 1.0), np.nan)
        out[0, with_answers] = counts.sums(counts.count * (counts.count - 1.0)) / pairs
        share = counts.count / n[counts.task_of]
        out[1, with_answers] = np.abs(counts.sums(share * np.log2(share)))
        most = np.zeros(counts.n_tasks)
        np.maximum.at(most, counts.task_of, counts.count)
        leads = counts.count == most[counts.task_of]
        leading = np.zeros(counts.n_tasks, dtype=np.int64)
        leading[counts.task_of[leads]] = counts.class_of[leads]
        leading[counts.sums(leads.astype(float)) > 1.0] = -1
        label = np.full(with_answers.size, -1, dtype=np.int64)
        label[with_answers] = leading
        return out[0], out[1], label

    def task_rows(self) -> list[tuple[object, ...]]:
        """Return the rows of `TASK_COLUMNS` for a file; what is not defined is empty."""
        agreement, entropy, label = self.per_task
        names = [shield(name) for name in self.answers.classes]
        labels = ["" if k < 0 else names[k] for k in label.tolist()]
        numbers = (_cells(values) for values in (agreement, entropy))
        per_task = self.answers.per_task.tolist()
        return list(zip(map(shield, self.answers.tasks), per_task, labels, *numbers, strict=True))

    def pair_rows(self) -> list[tuple[object, ...]]:
        """Return the rows of `PAIR_COLUMNS` for a file; what is not defined is empty."""
        p, names = self.pairs, [shield(name) for name in self.answers.workers]
        who = ([names[i] for i in side.tolist()] for side in (p.first, p.second))
        numbers = (_cells(values) for values in (p.agreement, p.kappa, p.low, p.high))
        return list(zip(*who, p.common.tolist(), *numbers, strict=True))

    def summary(self) -> dict[str, Any]:
        """Return the figures over all tasks."""
        per_task = self.answers.per_task
        _, _, label = self.per_task
        return {
            "answers": self.answers.size,
            "workers": len(self.answers.workers),
            "classes": list(self.answers.classes),
            "tasks": int((per_task > 1).sum()),
            "tasks_of_one_answer": int((per_task == 1).sum()),
            "tasks_that_tie": int(((label < 0) & (per_task > 1)).sum()),
            "alpha_nominal": vars(self.alpha),
            "alpha_ordinal": None if self.ordinal is None else vars(self.ordinal),
            "fleiss_kappa": vars(self.fleiss),
            "cohen_kappa_mean": vars(self.pairs.mean),
            "pairs": int(self.pairs.first.size),
            "pairs_left_out": self.pairs.left_out,
            "pairs_without_kappa": int(np.isnan(self.pairs.kappa).sum()),
        }


def measure(
    answers: Answers,
    *,
    ordinal: bool = False,
    bootstrap: int = DRAWS,
    interval: float = INTERVAL,
    least_common: int = LEAST_COMMON,
    rng: int | np.random.Generator | None = None,
) -> Agreement:
    """Measure how far workers agree.

    Parameters
    ----------
    answers
        Who answered what; any may be missing.
    ordinal
        Whether the classes stand in the order of ``answers.classes``.
    bootstrap
        Draws of tasks, 0 for no intervals.
    interval
        Share of the draws, above 0 and below 1, that low to high hold.
    least_common
        Fewest tasks in common of the pairs of workers that are looked at, >= 1.
    rng
        Seed or generator.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"), ("t2", "bob", "a")]
    >>> measure(Answers.of(rows), bootstrap=0).alpha.value
    0.0
    """
    if bootstrap < 0:
        raise ValueError(f"bootstrap must be >= 0, found {bootstrap}")
    if least_common < 1:
        raise ValueError(f"least_common must be >= 1, found {least_common}")
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval must be above 0 and below 1, found {interval}")
    rng = stream(rng, "agreement")
    counts = Counts.of(answers, answers.per_task > 1)
    statistics = {"alpha": nominal_alpha(counts), "fleiss": fleiss_kappa(counts)}
    if ordinal:
        statistics["ordinal"] = ordinal_alpha(counts)
    found = _estimates(statistics, counts, bootstrap, interval, rng)
    pairs = agreement_of_pairs(
        answers, least=least_common, draws=bootstrap, interval=interval, seed=seed_of(rng)
    )
    return Agreement(answers, found["alpha"], found.get("ordinal"), found["fleiss"], pairs)


def _estimates(
    statistics: dict[str, Statistic], counts: Counts, draws: int, interval: float,
    rng: np.random.Generator,
) -> dict[str, Estimate]:  # fmt: skip
    """Compute statistics of all tasks, and of tasks drawn again as often as there are."""
    m = counts.n_tasks
    if m == 0:
        none = Estimate(None, why="no task has two answers")
        return dict.fromkeys(statistics, none)
    values = {name: float(one.value(np.ones(m))) for name, one in statistics.items()}
    n_used = np.unique(counts.class_of).size
    drawn: dict[str, list[Floats]] = {name: [] for name in statistics}
    widest = max(m, *(one.parts.shape[1] for one in statistics.values()))
    step = max(1, AT_ONCE // widest)
    for start in range(0, draws if m > 1 else 0, step):
        times = draw_tasks(min(step, draws - start), m, rng)
        for name, one in statistics.items():
            drawn[name].append(one.value(times))
    return {name: _estimate(value, drawn[name], n_used, interval) for name, value in values.items()}


def _estimate(value: float, drawn: list[Floats], n_used: int, interval: float) -> Estimate:
    if np.isnan(value):
        why = "all answers are the same" if n_used == 1 else "no disagreement can be expected"
        return Estimate(None, why=why)
    return Estimate.of(value, np.concatenate([np.empty(0), *drawn]), interval)


def _cells(values: Floats) -> list[object]:
    return ["" if np.isnan(value) else value for value in values.tolist()]
