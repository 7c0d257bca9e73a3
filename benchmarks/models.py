"""Claims of `crowd-tvcs models` and what is reached: language models and workers as models.

    python -m benchmarks.models --first 20 --crowds 16 --data DATA

Language models are simulated by utilities, which no fitted model knows: every model answers the
class of the largest of skill at the truth, plus noise of the task that all share (hard tasks on
which all are wrong together), that its family shares, and of its own, plus what a family takes for
what (confusions of classes). Two to six classes, uneven shares, one to four families of one to five
prompts, one family in five weak. DATA is a folder of crowds as in `benchmarks.crowd.confidence`,
whose workers are taken for models: the i-th model says what the i-th worker of a task says.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.models_plans import report
from crowd_tvcs.answers.answers import Answers, Gold, read_answers, read_gold
from crowd_tvcs.models.fit import fit_models

TASKS = 755
SETS = {"rte": 8, "dog": 6, "face": 7, "adult": 6, "d_sentiment": 7, "web": 4}  # answers of a task
GOLD = (0, 50, 20, 10)  # gold tasks; 0 for a fifth
SURE = 0.95


class Case(NamedTuple):
    """The truth, what models say (models, tasks), their families, and how many classes."""

    name: str
    truth: NDArray[np.int64]
    labels: NDArray[np.int64]
    families: NDArray[np.int64]
    classes: int


def language_models(seed: int) -> Case:
    """Simulate the models of a seed."""
    rng = np.random.default_rng([seed, 77])
    k = int(rng.integers(2, 7))
    sizes = [int(rng.integers(1, 6)) for _ in range(int(rng.integers(1, 5)))]
    shares = np.maximum(rng.dirichlet(np.full(k, rng.choice([2.0, 5.0, 30.0]))), 0.03)
    truth = rng.choice(k, TASKS, p=shares / shares.sum())
    of_truth = np.eye(k)[truth]
    of_all, of_family, own = (rng.uniform(*x) for x in ((0.4, 1.3), (0.2, 0.9), (0.3, 0.8)))
    common = of_all * rng.standard_normal((TASKS, k))
    common += rng.uniform(0, 1) * rng.standard_normal((TASKS, 1)) * of_truth  # hard and easy tasks
    common += 0.35 * rng.standard_normal((k, k))[truth]  # classes that look alike to all
    labels, families = [], []
    for family, size in enumerate(sizes):
        shared = common + of_family * rng.standard_normal((TASKS, k))
        shared += rng.uniform(0.1, 0.7) * rng.standard_normal((k, k))[truth]
        level = rng.uniform(1.0, 3.2) if rng.random() < 0.8 else rng.uniform(0.2, 1.0)
        for _ in range(size):
            utility = (level + 0.25 * rng.standard_normal()) * of_truth + shared
            utility += 0.15 * rng.standard_normal((k, k))[truth]
            utility += own * rng.standard_normal((TASKS, k))
            labels.append(utility.argmax(axis=1))
            families.append(family)
    return Case(f"s{seed}", truth, np.array(labels), np.array(families), k)


def workers_as_models(folder: Path, seed: int) -> Case:
    """Take the workers of a public crowd for models, two to a family."""
    known = read_gold(folder / "truth.csv")
    answers = read_answers(folder / "label.csv", also=known.classes, duplicates="first")
    rng, n = np.random.default_rng([seed, 5]), SETS[folder.name]
    truth = known.codes(answers.tasks, answers.classes)
    tasks = rng.permutation(np.flatnonzero((truth >= 0) & (answers.per_task >= n)))[:800]
    start = np.concatenate([[0], np.cumsum(answers.per_task)])
    columns = [rng.permutation(answers.label_of[start[j] : start[j + 1]])[:n] for j in tasks]
    labels, families = np.array(columns).T, np.arange(n) // 2
    return Case(folder.name, truth[tasks], labels, families, len(answers.classes))


def judged(case: Case, n_gold: int) -> dict[str, float]:
    """Fit on some gold, and compare claims with what is reached on the other tasks."""
    name, truth, labels, families, k = case
    n, m = labels.shape
    task, model = np.divmod(np.arange(n * m), n)
    names = [f"t{j:05d}" for j in range(m)], [f"m{i:02d}" for i in range(n)]
    answers = Answers(*names, [str(c) for c in range(k)], task, model, labels[model, task])
    rng = np.random.default_rng([len(name), n_gold, m])
    known = rng.permutation(m)[: n_gold or m // 5]
    gold = Gold({answers.tasks[j]: str(truth[j]) for j in known}, answers.classes)
    found = fit_models(answers, gold, dict(zip(answers.workers, map(str, families), strict=True)))
    rest = np.setdiff1d(np.arange(m), known)
    chances = found.posterior[rest]
    claim, hit = chances.max(axis=1), chances.argmax(axis=1) == truth[rest]
    whole = found.held_out_gold.compared()
    return {
        "claimed": claim.mean(), "reached": hit.mean(),
        "score": np.log(chances[np.arange(rest.size), truth[rest]]).mean(),
        "sure": (claim >= SURE).mean(), "sure and right": (hit & (claim >= SURE)).mean(),
        "contradicted": float(whole is not None and whole.is_miscalibrated),
    }  # fmt: skip


def rows(cases: list[Case]) -> Iterator[str]:
    """Yield a line per number of gold tasks: means over the cases, and the largest gap."""
    for n_gold in GOLD:
        found = [judged(case, n_gold) for case in cases]
        gap = np.array([one["claimed"] - one["reached"] for one in found])
        mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
        right = mean["sure and right"] / max(mean["sure"], 1e-9)
        yield (
            f"{n_gold or 'a fifth':>8} gold: claimed {mean['claimed']:.3f} reached "
            f"{mean['reached']:.3f} |gap| {np.abs(gap).mean():.3f} largest {np.abs(gap).max():.3f} "
            f"log score {mean['score']:.3f}, {mean['sure']:.3f} are {SURE} sure and {right:.3f} of "
            f"these right, contradicted by gold {mean['contradicted']:.2f}"
        )


def main() -> None:
    """Print both tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=20, help="first seed; .4 was chosen on 7-13")
    parser.add_argument("--crowds", type=int, default=16)
    parser.add_argument("--data", type=Path, help="folder of public crowds")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--plans", type=int, help="only the plans, with so many draws of each set")
    given = parser.parse_args()
    if given.plans is not None:
        if given.data is None:
            parser.error("--plans needs --data")
        sets = {name: SETS[name] for name in given.sets}
        seeds = range(given.first, given.first + given.plans)
        report(given.data, seeds, sets, language_models)
        return
    seeds = range(given.first, given.first + given.crowds)
    print("language models, simulated")
    print("\n".join(rows([language_models(s) for s in seeds])))
    if given.data is not None:
        print("workers as models")
        folders = [given.data / name for name in SETS]
        cases = [workers_as_models(f, seed) for f in folders for seed in (1, 2, 3)]
        print("\n".join(rows(cases)))


if __name__ == "__main__":
    main()
