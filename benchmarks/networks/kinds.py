"""All methods on all kinds of data in one run: real, of others' simulators, of ours, of nothing.

    python -m benchmarks.networks.kinds [FOLDER...] [--compendium FOLDER] [--parts K]
        [--simulate N] [--only WORDS] [--methods a,b] [--again a,b] [--out DIR] [--write-docs]

A FOLDER holds one folder per network with timeseries.tsv, goldstandard.tsv or
goldstandard_signed.tsv, knockouts.tsv, knockdowns.tsv and wildtype.tsv. The folder of --compendium
holds expression.tsv.gz, gold_standard.tsv.gz and meta_data.tsv as they come with the Inferelator.
--simulate N makes N networks of each size, topology and experiment, and N tables without any edge
of each null and design; --only takes of all tables those whose kind and what is given hold the
words, such as "flat, 10 genes" or "30 genes, relaxations". One row per answer goes to kinds.csv and
nulls.csv in --out; what is there is skipped, so a run that was killed goes on where it stopped.
`--write-docs` fills docs/studies/network-kinds.md from all rows that are known.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.study import claim, complete, forget, load, one_thread, options, run

one_thread()

import numpy as np  # noqa: E402

from benchmarks.networks.cases import names, number  # noqa: E402
from benchmarks.networks.kinds_data import (  # noqa: E402
    ABOVE,
    BOTH,
    COMPENDIUM,
    GIVEN,
    OUT,
    REST,
    SURE,
    Case,
    Null,
    Place,
    Table,
    null,
    nulls,
    places,
    table_of,
)
from benchmarks.peers.areas import area_under_roc, average_precision  # noqa: E402
from benchmarks.peers.forests import describe_forests, forests, precision_of_top  # noqa: E402
from grn_tvcs import METHODS, Expression, Network, SteadyStates, infer  # noqa: E402
from grn_tvcs.evidence.hubs import concentration  # noqa: E402
from grn_tvcs.methods.table import Method  # noqa: E402
from grn_tvcs.network.confidence import BINS, LIKELY, calibration_error  # noqa: E402
from grn_tvcs.simulation.kinds import KINDS, NULLS  # noqa: E402

NAME, NULL_NAME, PAGE = "kinds.csv", "nulls.csv", "studies/network-kinds.md"
STUDIED = (
    "combined", "tvcs", "genie3", "dyngenie3", "clr", "tigress", "pcc",
)  # fmt: skip
TOP = 100
PARTS = 5


class Task(NamedTuple):
    """One method on one table, given all that there is to give, one after the other."""

    place: Place
    method: str
    seed: int


class NullTask(NamedTuple):
    """One method on one table without edges."""

    kind: str
    size: tuple[int, int, int]
    number: int
    method: str
    seed: int


def main() -> int:
    parser = options(__doc__, results="kinds", page=PAGE, jobs=1, seed=0)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="of networks")
    parser.add_argument("--compendium", default="", metavar="FOLDER", help="of B. subtilis")
    parser.add_argument("--carried", action="store_true", help="the part of it in data/bsubtilis")
    parser.add_argument("--parts", type=int, default=PARTS, metavar="K", help="of the compendium")
    parser.add_argument("--simulate", type=int, default=0, metavar="N", help="networks of a kind")
    parser.add_argument("--only", default="", metavar="WORDS", help="of a kind and what is given")
    parser.add_argument("--methods", type=known, default=methods_there_are(), metavar="a,b")
    parser.add_argument(
        "--again", type=known, default=[], metavar="a,b", help="anew on these tables"
    )
    arguments = parser.parse_args()
    try:
        check(arguments)
    except ValueError as problem:
        parser.error(str(problem))
    return run(arguments, compute, write_page)


def known(words: str) -> list[str]:
    """The methods of a list.

    Raises
    ------
    ArgumentTypeError
        If one is not of this study.
    """
    there_are = methods_there_are()
    if unknown := [word for word in words.split(",") if word not in there_are]:
        raise argparse.ArgumentTypeError(
            f"methods must be of {', '.join(there_are)}, found {unknown[0]!r}"
        )
    return words.split(",")


def methods_there_are() -> list[str]:
    return [method for method in STUDIED if method in METHODS]


def check(arguments: argparse.Namespace) -> None:
    """Refuse folders without networks, two folders of one name, and numbers below 0.

    Raises
    ------
    ValueError
    """
    kinds = [Path(folder).name for folder in arguments.folders]
    for folder in arguments.folders:
        names(folder, 0)
    if twice := [kind for kind in kinds if kinds.count(kind) > 1]:
        raise ValueError(f"folders must have different names, found twice: {twice[0]}")
    if arguments.compendium and not (Path(arguments.compendium) / "meta_data.tsv").exists():
        raise ValueError(f"--compendium must hold meta_data.tsv, {arguments.compendium} has none")
    if min(arguments.parts, arguments.simulate) < 0:
        raise ValueError("--parts and --simulate must be >= 0")


def compute(arguments: argparse.Namespace) -> None:
    """Infer what the two files do not hold yet."""
    seed, methods = arguments.seed, arguments.methods
    claim(arguments.out / "seed.txt", seed)
    given = arguments.folders, arguments.compendium, arguments.parts, arguments.simulate
    tables = places(*given, carried=arguments.carried)
    tasks = {
        Task(place, method, seed): {(*place[:2], what, method) for what in place.given}
        for place in tables
        if arguments.only in ", ".join((place.kind, *place.given))
        for method in methods
        if not (METHODS[method].needs_series and REST in place.given)
    }
    empty = {
        NullTask(*table, method, seed): {(table[0], shown(table[1]), table[2], method)}
        for table in nulls(arguments.simulate)
        if arguments.only in f"{table[0]}, {shown(table[1])}"
        for method in methods
        if METHODS[method].has_confidence
    }
    for name, row, wanted, fit, by in (
        (NAME, Case, tasks, solve, order),
        (NULL_NAME, Null, empty, solve_null, null_order),
    ):
        path = arguments.out / name
        old = [keys for task, keys in wanted.items() if task.method in arguments.again]
        forget(path, row, set().union(*old))
        complete(path, row, wanted, fit, jobs=arguments.jobs, order=by)


def write_page(out: Path, docs: Path) -> None:
    from benchmarks.networks.kinds_page import page_of

    text = (docs / PAGE).read_text(encoding="utf-8")
    text = page_of(load(out / NAME, Case), load(out / NULL_NAME, Null), text)
    (docs / PAGE).write_text(text, encoding="utf-8")


def order(case: Case) -> tuple[object, ...]:
    topology = case.kind.split(",")[0]
    is_ours = topology in KINDS
    source = 0 if topology == COMPENDIUM else 2 if is_ours else 1
    at = (case.genes, list(KINDS).index(topology)) if is_ours else (0, 0)
    table = case.kind, number(case.network), case.network
    return source, *at, *table, GIVEN.index(case.given), STUDIED.index(case.method)


def null_order(case: Null) -> tuple[object, ...]:
    sizes = [shown(size) for _, size, _ in nulls(1)]
    return (
        NULLS.index(case.kind), sizes.index(case.size), case.number, STUDIED.index(case.method)
    )  # fmt: skip


def shown(size: tuple[int, int, int]) -> str:
    return "{} genes, {} x {}".format(*size)


def solve(task: Task) -> list[Case]:
    """Everything that a table has to give, the same input once."""
    table = table_of(task.place, task.seed)
    answers: dict[str, tuple[Network, float]] = {}
    cases = []
    for given in task.place.given:
        words, expression, steady = used(table, METHODS[task.method], given)
        if words not in answers:
            answers[words] = answer(expression, task.method, task.seed, steady, table.regulators)
        network, seconds = answers[words]
        cases.append(case_of(task, given, table, network, seconds))
    return cases


def used(table: Table, method: Method, given: str) -> tuple[str, Expression, SteadyStates | None]:
    """What of `given` a method can use, in a word and as it takes it.

    To a method that does not ask which gene was knocked out, these are steady-state samples.
    """
    expression, steady = table.only(given)
    if not method.perturbation:
        expression = replace(expression, perturbed=None)
    if not method.uses_steady_samples:
        expression = expression.of_series()
    if given in (OUT, BOTH) and not method.takes_steady_states:
        if method.uses_steady_samples and steady is not None:
            expression = replace(expression, steady_values=steady.levels)
        steady = None
    words = expression.perturbed is not None, expression.n_steady, steady is not None
    return str(words), expression, steady


def answer(
    expression: Expression,
    method: str,
    seed: int,
    steady: SteadyStates | None = None,
    regulators: frozenset[str] | None = None,
) -> tuple[Network, float]:
    """Score all pairs; seconds of the processor."""
    given = {"regulators": regulators, "rng": seed} | ({"steady": steady} if steady else {})
    began = time.process_time()
    with warnings.catch_warnings(), forests(method, len(expression.genes)) as chosen:
        warnings.simplefilter("ignore")  # of constant genes and few steps
        network = infer(expression, method, **given, **chosen)
    return network, time.process_time() - began


def case_of(task: Task, given: str, table: Table, network: Network, seconds: float) -> Case:
    """Judge an answer over the pairs that count."""
    truth, scores = table.is_edge[table.judged], network.scores[table.judged]
    n_edges, n_genes = int(truth.sum()), len(network.genes)
    n_top = min(TOP, n_edges)
    return Case(
        task.place.kind, task.place.network, given, task.method,
        describe_forests(task.method, n_genes),
        n_genes, concentration(table.is_edge.sum(axis=1).astype(float)), n_edges, truth.size,
        average_precision(truth, scores), n_edges / truth.size,
        precision_of_top(truth, scores, n_top), n_top, area_under_roc(truth, scores), seconds,
        *confidence_of(task.method, network, table),
    )  # fmt: skip


class Confidence(NamedTuple):
    """The last fields of a `Case`."""

    confidence: str
    error: float | None = None
    supported: int = 0
    expected: float = 0.0
    found: int = 0
    bins: str = ""


def confidence_of(method: str, network: Network, table: Table) -> Confidence:
    """What a confidence says of the pairs that count, beside what is true of them."""
    if network.confidence is None:
        return Confidence("no" if METHODS[method].has_confidence else "")
    probability, truth = network.confidence[table.judged], table.is_edge[table.judged]
    found = calibration_error(probability, truth, above=ABOVE)
    inner = np.linspace(ABOVE, 1.0, BINS + 1)[1:-1]
    place = np.searchsorted(inner, found.claimed, side="left")
    bins = zip(place, found.n, found.claimed, found.true, strict=True)
    sure = probability >= LIKELY
    return Confidence(
        "yes",
        found.error if found.n.size else None,
        int(sure.sum()),
        float(probability[sure].sum()),
        int(truth[sure].sum()),
        " ".join(f"{k}:{n}:{p:.6f}:{t:.6f}" for k, n, p, t in bins),
    )


def solve_null(task: NullTask) -> list[Null]:
    """The largest confidence where nothing is true."""
    expression = null(task.kind, task.size, task.number, task.seed)
    network, seconds = answer(expression, task.method, task.seed)
    probability = network.confidence
    return [
        Null(
            task.kind, shown(task.size), task.number, task.method,
            "no" if probability is None else "yes",
            None if probability is None else float(probability.max()),
            0 if probability is None else int((probability > SURE).sum()), seconds,
        )
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
