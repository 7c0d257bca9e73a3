"""Scales, pairs and several labels: `python -m benchmarks.answer_kinds.study [DATA]`.

Crowds of each kind of answers are simulated, differently from what the models assume. DATA is a
folder of recorded answers on ordered scales, one folder a set (`REAL`): label.csv (item, worker,
label) and truth.csv (item, truth). A fifth of the tasks is gold; figures are of the others. Peers
of crowd-kit are computed where it is installed. Cases go to cases.csv in --out as soon as they are
known. `--write-docs` fills the tables of docs/studies/crowd-kinds.md, `--only-docs` does so without
computing.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.answer_kinds import pairs, scales
from benchmarks.answer_kinds.cases import Case
from benchmarks.answer_kinds.crowds import PAIRS, SCALES, SETS, scale_crowd, set_crowd, sets_of
from benchmarks.answer_kinds.page import write_docs
from benchmarks.study import complete, first_answers, load, one_thread, options, run
from crowd_tvcs.answer_kinds.multilabel import vote_on_sets
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.arrays import sum_by
from crowd_tvcs.skills.held_out import ranks

GOLD = 0.2
SIZES = {"3 steps, 5 answers": (3, 5), "5 steps, 3 answers": (5, 3), "5 steps, 5 answers": (5, 5),
         "5 steps, 10 answers": (5, 10), "7 steps, 5 answers": (7, 5)}  # fmt: skip
REAL = ("adult", "web")
ANSWERS = {"3 answers": 3, "5 answers": 5, "all answers": 0}
LABELS = ("multilabel", "majority of each")

Task = tuple[str, str, str, int]  # part, crowd, size (or method), seed


def main() -> int:
    one_thread()
    parser = options(__doc__, results="answer_kinds", page="studies/crowd-kinds.md")
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers on scales")
    parser.add_argument("--seeds", type=int, default=2, help="crowds of each kind and size")
    parser.add_argument("--growing", type=int, default=8, help="crowds for the next pairs")
    return run(parser.parse_args(), compute, write_page)


def write_page(out: Path, docs: Path) -> None:
    write_docs(load(out / "cases.csv", Case), docs)


def compute(arguments: argparse.Namespace) -> None:
    """Compute what the file in --out does not hold yet."""
    tasks: dict[Task, set[tuple[str, str, str, int, str]]] = {}
    for seed in range(arguments.seeds):
        _add(tasks, "scale", SCALES, SIZES, seed, scales.METHODS)
        _add(tasks, "pairs", PAIRS, pairs.SIZES, seed, pairs.METHODS)
        if arguments.data is not None:
            _add(tasks, "real", REAL, ANSWERS, seed, scales.METHODS)
    for seed in range(3 * arguments.seeds):
        _add(tasks, "labels", SETS, ("6 labels, 4 answers",), seed, LABELS)
    for seed in range(arguments.growing):
        for crowd in ("honest", "spammers"):
            for method in (pairs.CHOSEN, pairs.DRAWN):
                keys = {("next", crowd, str(n), seed, method) for n in pairs.REPORTED}
                tasks["next", crowd, method, seed] = keys
    fit = partial(cases_of, data=arguments.data)
    path = arguments.out / "cases.csv"
    complete(path, Case, tasks, fit, jobs=1)


def _add(tasks, part, crowds, sizes, seed, methods) -> None:  # type: ignore[no-untyped-def]
    for crowd in crowds:
        for size in sizes:
            tasks[part, crowd, size, seed] = {(part, crowd, size, seed, m) for m in methods}


def cases_of(task: Task, data: Path | None) -> list[Case]:
    part, crowd, size, seed = task
    if part == "pairs":
        return pairs.judge(crowd, size, seed)
    if part == "next":
        return pairs.grow(crowd, size, seed)
    if part == "labels":
        return label_cases(crowd, size, seed)
    if part == "real":
        assert data is not None
        return real_cases(data, crowd, size, seed)
    rng = np.random.default_rng([seed, *SIZES[size], len(crowd), ord(crowd[0])])
    answers, right = scale_crowd(crowd, *SIZES[size], rng)
    return scales.cases(part, crowd, size, seed, scales.judge(answers, right, GOLD, rng))


def real_cases(data: Path, name: str, size: str, seed: int) -> list[Case]:
    """Return the cases of a recorded set, of all or of so many drawn answers of every task."""
    if not (data / name / "truth.csv").exists():
        sys.exit(f"{data} must have the folder {name} with label.csv and truth.csv")
    truth = read_gold(data / name / "truth.csv")
    answers = first_answers(data / name / "label.csv", truth)
    right = truth.codes(answers.tasks, answers.classes)
    rng = np.random.default_rng([seed, ANSWERS[size]])
    if ANSWERS[size]:
        answers = answers.select(ranks(answers.task_of, rng.random(answers.size)) < ANSWERS[size])
    return scales.cases("real", name, size, seed, scales.judge(answers, right, GOLD, rng))


def label_cases(crowd: str, size: str, seed: int) -> list[Case]:
    """Return the cases of a simulated crowd of several labels."""
    rng = np.random.default_rng([seed, len(crowd), ord(crowd[0])])
    data, truth = set_crowd(crowd, rng)
    known = rng.permutation(truth.shape[0])[: int(GOLD * truth.shape[0])]
    rest = np.ones(truth.shape[0], dtype=bool)
    rest[known] = False
    votes = vote_on_sets(data, sets_of(data, truth, known))
    share = sum_by(data.task_of, data.marks.astype(np.float64), truth.shape[0])
    share /= data.per_task[:, None]
    out = []
    claims = (votes.posterior, votes.set_confidence), (share, np.full(rest.size, np.nan))
    for method, (chances, of_set) in zip(LABELS, claims, strict=True):
        right = ((chances > 0.5) == truth)[rest]
        sure = np.maximum(chances, 1 - chances)[rest]
        whole = of_set[rest].mean() if method == LABELS[0] else sure.prod(axis=1).mean()
        out.append(
            Case(
                "labels", crowd, size, seed, method, right=float(right.mean()),
                claimed=float(sure.mean()), near=float(right.all(axis=1).mean()),
                claimed_near=float(whole),
            )
        )  # fmt: skip
    return out


if __name__ == "__main__":
    sys.exit(main())
