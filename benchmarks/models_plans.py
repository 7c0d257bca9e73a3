"""Intervals of the plans of `crowd-tvcs models`, and targets that gold confirms.

    python -m benchmarks.models --data DATA --plans 6

Three kinds of crowds: the simulated ones of `simulate --family models`, with easy and hard tasks;
the language models of `benchmarks.models`, with people who err where all models do; and the
workers of the public crowds in DATA, half of whose answers to a task are taken for models' and
half for people's. Gold is a random sample. For every plan of plans.csv the labels are made as it
says, with the people's own answers, and their share of right ones is compared with its interval.
A target is confirmed wrongly if the plan that is named reaches less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.answers import Answers, Gold, read_answers, read_gold
from crowd_tvcs.models.deferral import DeferredTasks, open_tasks
from crowd_tvcs.models.fit import fit_models
from crowd_tvcs.models.measured_people import MeasuredPeople
from crowd_tvcs.models.people import fit_people
from crowd_tvcs.models.plans import ModelPlan, confirmed, model_plans, more_gold
from crowd_tvcs.models.simulation import simulate_models

GOLD = (150, 50, 20)
SHARES = (0.7, 0.8, 0.85, 0.9, 0.95, 0.97)
TARGET = 0.95  # of the confidence of a task

Integers = NDArray[np.int64]


class Case(NamedTuple):
    """Truth; answers of models and of people, (annotators, tasks); families; classes."""

    name: str
    truth: Integers
    models: Integers
    people: Integers
    families: list[str]
    classes: int


def workers(folder: Path, seed: int, n: int) -> Case:
    """Take half of the answers of workers to a task for models', half for people's."""
    known = read_gold(folder / "truth.csv")
    answers = read_answers(folder / "label.csv", also=known.classes, duplicates="first")
    rng = np.random.default_rng([seed, 11])
    truth = known.codes(answers.tasks, answers.classes)
    tasks = rng.permutation(np.flatnonzero((truth >= 0) & (answers.per_task >= n)))[:800]
    start = np.concatenate([[0], np.cumsum(answers.per_task)])
    columns = [rng.permutation(answers.label_of[start[j] : start[j + 1]])[:n] for j in tasks]
    labels, half = np.array(columns).T, (n + 1) // 2
    families = [f"f{i}" for i in range(half)]
    return Case(
        folder.name, truth[tasks], labels[:half], labels[half:], families, len(answers.classes)
    )


def simulated(seed: int) -> Case:
    """Simulate models and people, who err more on hard tasks."""
    rng = np.random.default_rng([seed, 12])
    k = int(rng.integers(2, 5))
    crowd = simulate_models(
        5, 600, classes=[str(c) for c in range(k)], difficulty_spread=float(rng.uniform(0, 1.5)),
        n_gold=0, rng=rng,
    )  # fmt: skip
    grid = np.empty((len(crowd.answers.workers), 600), dtype=np.int64)
    grid[crowd.answers.worker_of, crowd.answers.task_of] = crowd.answers.label_of
    truth = np.array([int(crowd.truth[name]) for name in crowd.answers.tasks])
    is_model = np.array([name in crowd.family_of for name in crowd.answers.workers])
    return Case("simulated", truth, grid[is_model], grid[~is_model],
                list(crowd.family_of.values()), k)  # fmt: skip


def language(case: Any, seed: int) -> Case:
    """Simulate language models, and people who share a part of what is hard."""
    rng = np.random.default_rng([seed, 13])
    hard = np.exp(0.7 * rng.standard_normal(case.truth.size))
    all_wrong = (case.labels != case.truth).all(axis=0)
    quality = rng.uniform(0.7, 0.95, 5)[:, None] ** (hard * np.where(all_wrong, 2.0, 1.0))
    other = (case.truth + rng.integers(1, case.classes, (5, case.truth.size))) % case.classes
    people = np.where(rng.random(quality.shape) < quality, case.truth, other)
    families = [str(f) for f in case.families.tolist()]
    return Case("language", case.truth, case.labels, people, families, case.classes)


def planned(
    case: Case, n_gold: int, seed: int, *, drawn: int | None = None
) -> tuple[list[ModelPlan], list[float]]:
    """Return the plans by so many gold tasks, and the share of right labels that each reaches.

    The first gold tasks are those that are `drawn` alone, by default all.
    """
    m, k = case.truth.size, case.classes
    labels = np.concatenate([case.models, case.people])
    names = [f"m{i:02d}" for i in range(len(case.models))]
    names += [f"p{i:02d}" for i in range(len(case.people))]
    task, who = np.divmod(np.arange(labels.size), len(names))
    tasks = [f"t{j:05d}" for j in range(m)]
    answers = Answers(tasks, names, [str(c) for c in range(k)], task, who, labels[who, task])
    known = np.random.default_rng([seed, drawn or n_gold, m]).permutation(m)[:n_gold]
    gold = Gold({tasks[j]: str(case.truth[j]) for j in known}, answers.classes)
    fitted = fit_models(answers, gold, dict(zip(names, case.families, strict=False)))
    people = fit_people(fitted, answers, gold, names[len(case.models) :])
    most = len(case.people)
    measured = MeasuredPeople.of(fitted, people, people.mean_quality)
    open_now = open_tasks(fitted)
    handed = DeferredTasks(fitted, open_now, people.mean_quality, TARGET, most, measured)
    plans = model_plans(handed)
    accuracy, needed = people.mean_quality[handed.tasks].round(2), handed.needed
    assert needed is not None
    count = np.maximum(np.where(needed < 0, most, needed), 1)
    given = case.people[:, handed.tasks]
    odds = np.log(accuracy / ((1 - accuracy) / (k - 1)))
    logs = np.log(np.maximum(handed.chances, 1e-12))
    for i in range(most):
        at = np.arange(count.size)
        logs[at, given[i]] += np.where(i < count, odds, 0.0)
    truth, claim = case.truth[handed.tasks], handed.chances.max(axis=1)
    alone, joint = handed.chances.argmax(axis=1) == truth, logs.argmax(axis=1) == truth
    shares = [float(np.where(claim > plan.above, alone, joint).mean()) for plan in plans]
    return plans, shares


def reached(case: Case, n_gold: int, seed: int) -> Iterator[tuple[bool, float, list[int]]]:
    """Yield whether each plan's interval holds, its width, and for every share the verdict.

    A verdict is 0 for not confirmed, 1 for confirmed and reached, 2 for confirmed wrongly.
    """
    plans, shares = planned(case, n_gold, seed)
    verdicts = []
    for wanted in SHARES:
        last = confirmed(plans, wanted)
        verdicts.append(0 if not last else (1 if shares[last - 1] >= wanted else 2))
    for plan, share in zip(plans, shares, strict=True):
        low, high = plan.right.low, plan.right.high
        yield low <= share <= high, high - low, verdicts


def with_more(case: Case, n_gold: int, seed: int) -> list[bool]:
    """Return whether the further gold tasks that are named confirm the shares that gold did not.

    Of the shares for which half of the tasks are enough gold; drawn besides that at hand.
    """
    plans, _ = planned(case, n_gold, seed)
    out = []
    for wanted in SHARES:
        is_open = not confirmed(plans, wanted) and plans[0].right.share >= wanted
        more = more_gold(plans, wanted) if is_open else None
        if more is not None and n_gold + more <= case.truth.size // 2:
            again, _ = planned(case, n_gold + more, seed, drawn=n_gold)
            out.append(confirmed(again, wanted) > 0)
    return out


def report(
    data: Path, seeds: Sequence[int], sets: Mapping[str, int], models: Callable[[int], Any]
) -> None:
    """Print coverage and wrong confirmations, by kind and number of gold tasks."""
    kinds = {name: [workers(data / name, s, n) for s in seeds] for name, n in sets.items()}
    kinds["simulated"] = [simulated(s) for s in seeds]
    kinds["language models"] = [language(models(100 + s), 100 + s) for s in seeds]
    confirmed_by_more = []
    for name, cases in kinds.items():
        for n_gold in GOLD:
            if n_gold > cases[0].truth.size // 3:
                continue
            found = [list(reached(case, n_gold, s)) for s, case in zip(seeds, cases, strict=True)]
            holds = np.array([np.mean([row[0] for row in one]) for one in found])
            all_kept = np.mean([one[-1][0] for one in found])
            width = np.mean([row[1] for one in found for row in one])
            verdicts = np.array([one[0][2] for one in found])
            more = [
                x for s, case in zip(seeds, cases, strict=True) for x in with_more(case, n_gold, s)
            ]
            confirmed_by_more += more
            print(
                f"{name:>16} {n_gold:>4} gold: {holds.mean():.3f} of the intervals hold "
                f"(models alone {all_kept:.3f}), width {width:.3f}; of {verdicts.size} targets "
                f"{np.mean(verdicts > 0):.2f} are confirmed, {np.mean(verdicts == 2):.3f} wrongly; "
                f"so many more confirm {sum(more)} of {len(more)}",
                flush=True,
            )
    print(f"so many more confirm {sum(confirmed_by_more)} of {len(confirmed_by_more)} in all")
