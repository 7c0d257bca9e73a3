"""Agreement of recorded answers: chance-corrected over all tasks, per task, per pair of workers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd_tvcs.agreement.bootstrap import Estimate, draw_tasks
from crowd_tvcs.agreement.chance_corrected import (
    Counts,
    Statistic,
    fleiss_kappa,
    nominal_alpha,
    ordinal_alpha,
)
from crowd_tvcs.agreement.pairs import WorkerPairs, agreement_of_pairs
from crowd_tvcs.answers.answers import Answers, answers_of
from crowd_tvcs.arrays import Floats, Integers
from tvcs_core.arguments import check_number
from tvcs_core.streams import seed_of, stream

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_DRAWS = 1000  # of the bootstrap
INTERVAL = 0.95  # confidence level
MIN_COMMON_TASKS = 10
CHUNK_NUMBERS = 4_000_000  # numbers of a bootstrap in memory: 32 MB

TASK_COLUMNS = ("task", "answers", "label", "agreement", "entropy")
PAIR_COLUMNS = ("worker_1", "worker_2", "tasks", "agreement", "kappa", "low", "high")


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of workers.

    Attributes
    ----------
    answers
        Answers of workers to tasks.
    alpha, ordinal, fleiss
        Krippendorff's alpha for nominal labels, for ordered ones (None if they are not ordered),
        and Fleiss' kappa.
    pairs
        Agreement and Cohen's kappa of pairs of workers.
    """

    answers: Answers
    alpha: Estimate
    ordinal: Estimate | None
    fleiss: Estimate
    pairs: WorkerPairs

    @cached_property
    def per_task(self) -> tuple[Floats, Floats, Integers]:
        """Share of equal pairs of answers, entropy in bits, and leading class of every task.

        Agreement is nan with fewer than two answers, and the leading class -1 if classes tie.
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
        """Return the rows of `TASK_COLUMNS`; undefined values are NaN."""
        agreement, entropy, label = self.per_task
        labels = ["" if k < 0 else self.answers.classes[k] for k in label.tolist()]
        columns = self.answers.per_task.tolist(), labels, agreement.tolist(), entropy.tolist()
        return list(zip(self.answers.tasks, *columns, strict=True))

    def pair_rows(self) -> list[tuple[object, ...]]:
        """Return the rows of `PAIR_COLUMNS`; undefined values are NaN."""
        p, names = self.pairs, self.answers.workers
        who = ([names[i] for i in side.tolist()] for side in (p.first, p.second))
        numbers = (values.tolist() for values in (p.agreement, p.kappa, p.low, p.high))
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
    answers: Answers | str | Path | pd.DataFrame,
    *,
    ordinal: bool = False,
    bootstrap: int = DEFAULT_DRAWS,
    interval: float = INTERVAL,
    min_common_tasks: int = MIN_COMMON_TASKS,
    rng: int | np.random.Generator | None = None,
) -> Agreement:
    """Measure the agreement of workers.

    Parameters
    ----------
    answers
        Answers of workers to tasks, or a table of them, as for `crowd_tvcs.read_answers`; any may
        be missing.
    ordinal
        Whether ``answers.classes`` are ordered.
    bootstrap
        Number of bootstrap draws of tasks, 0 for no intervals.
    interval
        Confidence level of the intervals, above 0 and below 1.
    min_common_tasks
        Fewest common tasks of the reported pairs of workers, >= 1.
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
    check_number("bootstrap", bootstrap, whole=True, least=0)
    check_number("min_common_tasks", min_common_tasks, whole=True, least=1)
    check_number("interval", interval)
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval must be above 0 and below 1, found {interval}")
    rng = stream(rng, "agreement")
    answers = answers_of(answers)
    counts = Counts.of(answers, answers.per_task > 1)
    statistics = {"alpha": nominal_alpha(counts), "fleiss": fleiss_kappa(counts)}
    if ordinal:
        statistics["ordinal"] = ordinal_alpha(counts)
    found = _estimates(statistics, counts, bootstrap, interval, rng)
    pairs = agreement_of_pairs(
        answers, least=min_common_tasks, draws=bootstrap, interval=interval, seed=seed_of(rng)
    )
    return Agreement(answers, found["alpha"], found.get("ordinal"), found["fleiss"], pairs)


def _estimates(
    statistics: dict[str, Statistic], counts: Counts, draws: int, interval: float,
    rng: np.random.Generator,
) -> dict[str, Estimate]:  # fmt: skip
    """Compute statistics of all tasks, and of tasks resampled with replacement."""
    m = counts.n_tasks
    if m == 0:
        none = Estimate(None, why="no task has two answers")
        return dict.fromkeys(statistics, none)
    values = {name: float(one.value(np.ones(m))) for name, one in statistics.items()}
    n_used = np.unique(counts.class_of).size
    drawn: dict[str, list[Floats]] = {name: [] for name in statistics}
    widest = max(m, *(one.addends.shape[1] for one in statistics.values()))
    step = max(1, CHUNK_NUMBERS // widest)
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
