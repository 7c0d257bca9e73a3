"""All methods on real sets with known edges, in one run.

    python -m benchmarks.real.study FOLDER [--methods a,b] [--again a,b] [--write-docs]

FOLDER holds the sets (`benchmarks.real.sets`). One row per table, gold standard and method goes to
cases.csv in --out; a run that was stopped goes on there. GENIE3 and dynGENIE3 have 300 trees, and
of more than 10 genes 100 extremely randomised trees. On tables of few genes, methods that draw
random numbers are run with several seeds, and a row is their mean.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.study import complete, forget, load, one_thread, options, run

one_thread()

import numpy as np  # noqa: E402

from benchmarks.peers.areas import average_precision  # noqa: E402
from benchmarks.peers.forests import forests, precision_of_top  # noqa: E402
from benchmarks.real.cases import BOOST, STUDIED, Case  # noqa: E402
from benchmarks.real.page import page_of  # noqa: E402
from benchmarks.real.peers import grnboost2  # noqa: E402
from benchmarks.real.sets import Gold, Table, real_table, real_tables  # noqa: E402
from grn_tvcs import METHODS, infer  # noqa: E402
from grn_tvcs.network.confidence import LIKELY  # noqa: E402

NAME, PAGE = "cases.csv", "studies/real-sets.md"
TOO_LONG = {("tigress", "mESC"), ("tigress", "spellman"), ("tigress", "bsubtilis")}  # hours
TOP = 100
# One seed decides little on large tables; GRNBoost2 on SOS had AUPR .27 to .68 with eight of them.
DRAWN = ("combined", "tvcs", "genie3", "dyngenie3", BOOST)
FEW_GENES, N_SEEDS = 20, 5


class Task(NamedTuple):
    """One method on one table."""

    folder: str
    table: str
    method: str


def main() -> int:
    parser = options(__doc__, results="real", page=PAGE, jobs=1)
    parser.add_argument("folder", nargs="?", default="", metavar="FOLDER", help="of the sets")
    parser.add_argument("--methods", type=known, default=list(STUDIED), metavar="a,b")
    parser.add_argument("--again", type=known, default=[], metavar="a,b", help="anew")
    given = parser.parse_args()
    if not given.only_docs and not real_tables(Path(given.folder)):
        parser.error(
            f"FOLDER must hold real sets, such as irma or sos, found none in {given.folder!r}"
        )
    return run(given, compute, write_page)


def known(text: str) -> list[str]:
    """Return the methods of a list.

    Raises
    ------
    ArgumentTypeError
        If one is not of this study.
    """
    if unknown := [word for word in text.split(",") if word not in STUDIED]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(STUDIED)}")
    return text.split(",")


def compute(given: argparse.Namespace) -> None:
    """Infer what cases.csv does not hold yet."""
    folder = Path(given.folder)
    tasks = {}
    for name in real_tables(folder):
        golds = [gold.name for gold in real_table(folder, name).golds]
        for method in given.methods:
            if (method, name) not in TOO_LONG:
                keys = {(name, gold, method) for gold in golds}
                tasks[Task(given.folder, name, method)] = keys
    path = given.out / NAME
    again = [keys for task, keys in tasks.items() if task.method in given.again]
    forget(path, Case, set().union(*again))
    complete(path, Case, tasks, solve, jobs=given.jobs, order=order)


def order(case: Case) -> tuple[object, ...]:
    return case.family, case.table, case.gold, STUDIED.index(case.method)


def solve(task: Task) -> list[Case]:
    """Judge a method on all gold standards of a table."""
    made = real_table(Path(task.folder), task.table)
    is_drawn = task.method in DRAWN and len(made.expression.genes) <= FEW_GENES
    found = []
    for seed in range(N_SEEDS if is_drawn else 1):
        began = time.process_time()
        scores, confidence = answer(made, task.method, seed)
        seconds = time.process_time() - began
        found.append(
            [case_of(task, made, gold, scores, confidence, seconds) for gold in made.golds]
        )
    return [mean_of(cases) for cases in zip(*found, strict=True)]


def mean_of(cases: Sequence[Case]) -> Case:
    """Return the first case with the means of all seeds."""
    means = {
        name: float(np.mean([getattr(case, name) for case in cases]))
        for name in ("aupr", "top", "seconds")
    }
    return replace(cases[0], **means)


def answer(made: Table, method: str, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the scores of all pairs, [regulator, target], and the confidence, if there is one."""
    expression, genes = made.expression, made.expression.genes
    if method == BOOST:
        candidates = made.rules.inputs(genes, expression.constant_genes)
        scores = np.zeros((len(genes), len(genes)))
        scores[candidates.regulators] = grnboost2(expression.unbinned_levels, candidates, seed)
        return scores, None
    with warnings.catch_warnings(), forests(method, len(genes)) as chosen:
        warnings.simplefilter("ignore")  # of constant genes and few steps
        if method == "combined":
            chosen["draws"] = seed  # a seed changes nothing there
        network = infer(expression, method, regulators=made.rules.regulators, rng=seed, **chosen)
    return network.scores, network.confidence


def case_of(
    task: Task,
    made: Table,
    gold: Gold,
    scores: np.ndarray,
    confidence: np.ndarray | None,
    seconds: float,
) -> Case:
    """Judge scores over the pairs that count."""
    truth, found = gold.is_edge[gold.judged], scores[gold.judged]
    n_edges = int(truth.sum())
    n_top = min(TOP, n_edges)
    method = METHODS.get(task.method)
    claims = "no" if method is not None and method.has_confidence else ""
    return Case(
        made.family, task.table, gold.name, task.method, len(made.expression.genes), n_edges,
        truth.size, n_edges / truth.size, average_precision(truth, found),
        precision_of_top(truth, found, n_top), n_top, claims if confidence is None else "yes",
        0 if confidence is None else int((confidence[gold.judged] >= LIKELY).sum()), seconds,
    )  # fmt: skip


def write_page(out: Path, docs: Path) -> None:
    text = (docs / PAGE).read_text(encoding="utf-8")
    (docs / PAGE).write_text(page_of(load(out / NAME, Case), text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
