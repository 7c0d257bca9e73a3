"""Every part of evidence, their sums and the peers on all kinds of data, in one process.

    python -m benchmarks.networks.parts [FOLDER...] [--compendium FOLDER] [--simulate N]

A FOLDER holds one folder per network with timeseries.tsv, goldstandard_signed.tsv, knockouts.tsv,
knockdowns.tsv and wildtype.tsv. The folder of --compendium holds expression.tsv.gz,
gold_standard.tsv.gz and meta_data.tsv as they come with the Inferelator. --simulate N makes N
networks without hubs and N stars, of 10 and of 100 genes. A row per network and ranking goes to
FILE, and a table of means, the worst kind first, to the terminal.

Random forests of 100 genes take minutes: --forests-up-to says up to how many genes GENIE3 and
dynGENIE3 grow them; above, extremely randomised trees stand for both, as their authors' programs
offer too.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.networks.knockout_kinds import simulated
from grn_tvcs import (
    Expression,
    Rules,
    SteadyStates,
    infer,
    read_expression,
    read_reference,
    read_steady_states,
)
from grn_tvcs.evidence.correlation import correlation, rank_correlation
from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.hubs import HUB_GENES, HUB_POWER, hub_prior
from grn_tvcs.evidence.knockouts import (
    KNOCKDOWN_WEIGHT,
    KNOCKOUT_WEIGHT,
    LARGEST_EFFECT,
    knockout_evidence,
)
from grn_tvcs.evidence.lagged_correlation import lagged_correlation
from grn_tvcs.evidence.lagged_regression import SHORT_MEMORY, USUAL, lagged_regression
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.mutual_information import mutual_information, relatedness
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.rate_trees import rate_trees
from grn_tvcs.evidence.samples import levels_of_all, logs_of_all
from grn_tvcs.evidence.strongest import by_strongest
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.simulation.kinds import draw_topology
from tvcs_core.streams import stream

TREES = 100
TOP = 100
STEADY = ("knockouts", "knockdowns", "wildtype")
KINDS = {"flat": "without hubs", "star": "stars"}


@dataclass(frozen=True)
class Data:
    """One network: what was measured, which pairs may be edges and which are."""

    kind: str
    name: str
    expression: Expression
    steady: SteadyStates | None  # knock-outs and the like, given in rows that say so
    at_rest: SteadyStates | None  # samples at rest, given to whatever does without time
    regulators: frozenset[str] | None
    judged: np.ndarray
    is_edge: np.ndarray


@dataclass(frozen=True)
class Row:
    """One ranking on one network."""

    kind: str
    network: str
    ranking: str
    aupr: float
    chance: float
    top: float  # precision of the TOP surest, or of as many as there are edges
    seconds: float  # of the processor


def main() -> None:
    arguments = _arguments()
    rows = []
    with arguments.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(Row))
        for data in all_data(arguments):
            began = time.process_time()
            for row in judged(data, arguments):
                rows.append(row)
                writer.writerow(vars(row).values())
                file.flush()
            print(f"{data.kind} {data.name}: {time.process_time() - began:.0f} s", flush=True)
    print(table(rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER", type=Path)
    parser.add_argument("--compendium", type=Path, metavar="FOLDER")
    parser.add_argument("--simulate", type=int, default=0, metavar="N")
    parser.add_argument("--forests-up-to", type=int, default=10, metavar="GENES")
    parser.add_argument("--out", type=Path, default=Path("parts.csv"), metavar="FILE")
    parser.add_argument("--resamples", type=int, default=USUAL.resamples, metavar="HALVES")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def all_data(arguments: argparse.Namespace) -> Iterator[Data]:
    if arguments.compendium is not None:
        yield from compendium(arguments.compendium)
    for folder in arguments.folders:
        for path in sorted(folder.glob("*/timeseries.tsv")):
            yield read(folder.name, path.parent)
    if arguments.simulate:
        yield from made(arguments.simulate, arguments.seed)


def read(kind: str, folder: Path) -> Data:
    expression = read_expression(folder / "timeseries.tsv")
    steady = read_steady_states(**{name: folder / f"{name}.tsv" for name in STEADY})
    reference = read_reference(folder / "goldstandard_signed.tsv", expression.genes)
    return of_all_pairs(kind, folder.name, expression, steady, reference)


def made(n: int, seed: int) -> Iterator[Data]:
    """Networks of our simulator, from streams that nothing else uses."""
    for kind, name in KINDS.items():
        for n_genes in (10, 100):
            for number in range(n):
                rng = stream(seed, "parts of evidence", kind, str(n_genes), str(number))
                one = simulated(draw_topology(kind, n_genes, rng), 2 * number, rng, None)
                genes = one.expression.genes
                steady = SteadyStates(
                    np.concatenate([one.wild_type[None], one.knockouts, one.knockdowns]),
                    ("", *genes, *genes),
                    np.repeat([False, True, False], [1, n_genes, n_genes]),
                    genes,
                )
                yield of_all_pairs(
                    f"{name}, {n_genes} genes", str(number + 1), one.expression, steady, one.network
                )


def of_all_pairs(kind, name, expression, steady, reference) -> Data:
    """Genes and series in the order in which `infer` has them."""
    expression = on_scale(expression, "levels").in_name_order()
    place = {gene: i for i, gene in enumerate(reference.genes)}
    order = np.array([place[gene] for gene in expression.genes])
    is_edge = reference.selected[np.ix_(order, order)]
    judged = ~np.eye(len(order), dtype=bool)
    return Data(
        kind, name, expression, steady.of(expression.genes), None, None, judged, is_edge & judged
    )


def compendium(folder: Path) -> Iterator[Data]:
    """B. subtilis: its series alone, and with the samples at rest."""
    conditions, genes, values = _measured(folder / "expression.tsv.gz")
    known = _known_edges(folder / "gold_standard.tsv.gz")
    regulators = {regulator for regulator, _ in known}  # a column may have no edge
    inside = sorted(({gene for edge in known for gene in edge} | regulators) & set(genes))
    column = {gene: j for j, gene in enumerate(genes)}
    row = {name: i for i, name in enumerate(conditions)}
    values = values[:, [column[gene] for gene in inside]]
    place = {gene: i for i, gene in enumerate(inside)}
    is_edge = np.zeros((len(inside), len(inside)), dtype=bool)
    for regulator, target in known:
        if regulator in place and target in place:
            is_edge[place[regulator], place[target]] = True
    np.fill_diagonal(is_edge, False)
    judged = np.zeros_like(is_edge)
    judged[np.ix_([gene in regulators for gene in inside], is_edge.any(axis=0))] = True
    np.fill_diagonal(judged, False)
    samples, at_rest = _courses(folder / "meta_data.tsv")
    expression = Expression(
        values[[row[name] for name, _, _ in samples]],
        [at for _, at, _ in samples],
        tuple(series for _, _, series in samples),
        tuple(inside),
        scale="log",
    ).in_name_order()
    rest = values[[row[name] for name in at_rest]]
    steady = SteadyStates(rest, [""] * len(rest), [False] * len(rest), tuple(inside))
    for name, given in (("all samples", steady), ("series alone", None)):
        yield Data(
            f"B. subtilis, {name}", "1", expression, None, given,
            frozenset(regulators & set(inside)), judged, is_edge & judged,
        )  # fmt: skip


def _measured(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    with gzip.open(path, "rt", encoding="utf-8") as file:  # lines end with CR alone
        header, *lines = (line.split("\t") for line in file.read().splitlines())
    return header[1:], [cells[0] for cells in lines], np.array([c[1:] for c in lines], float).T


def _known_edges(path: Path) -> set[tuple[str, str]]:
    """Edges (regulator, target)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header, *lines = (line.replace('"', "").split("\t") for line in file.read().splitlines())
    return {
        (regulator, cells[0])
        for cells in lines
        for regulator, cell in zip(header, cells[1:], strict=True)
        if float(cell)
    }


def _courses(path: Path) -> tuple[list[tuple[str, float, str]], list[str]]:
    """Sample, minutes and series of all courses, and the samples at rest."""
    with path.open(encoding="utf-8", newline="") as file:
        told = {line["condName"]: line for line in csv.DictReader(file, delimiter="\t")}
    courses, at_rest = [], [name for name, line in told.items() if line["isTs"] != "TRUE"]
    for last in (name for name, line in told.items() if line["is1stLast"] == "l"):
        course, ages, age = [last], [0.0], 0.0
        while (before := told[course[-1]]["prevCol"]) != "NA":
            age += float(told[course[-1]]["del.t"])
            course.append(before)
            ages.append(age)
        steps = zip(reversed(course), reversed(ages), strict=True)
        courses += [(name, age - past, last) for name, past in steps]
    return courses, at_rest


def judged(data: Data, arguments: argparse.Namespace) -> Iterator[Row]:
    """Rows of all rankings of one network."""
    truth = data.is_edge[data.judged]
    n_top = min(TOP, int(truth.sum()))
    for name, scores, seconds in rankings(data, arguments):
        ranked = scores[data.judged]
        yield Row(
            data.kind, data.name, name, average_precision(truth, ranked), float(truth.mean()),
            float(truth[np.argsort(-ranked, kind="stable")[:n_top]].mean()), seconds,
        )  # fmt: skip


def average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(truth, scores))


def rankings(data: Data, arguments: argparse.Namespace) -> Iterator[tuple[str, np.ndarray, float]]:
    """Name, scores of [regulator, target] and seconds of every part, sum and peer."""
    began = time.process_time()
    parts = {}
    for name, scores in parts_of(data, arguments.seed, arguments.resamples):
        parts[name] = scores
        yield name, scores, time.process_time() - began
        began = time.process_time()
    for name, scores in sums_of(parts, data):
        yield name, scores, 0.0
    if data.steady is not None:
        for name, scores in with_knockouts(parts, data, arguments.seed):
            yield name, scores, 0.0
    began = time.process_time()
    for name, scores in peers_of(data, arguments):
        yield name, scores, time.process_time() - began
        began = time.process_time()


def parts_of(data: Data, seed: int, resamples: int) -> Iterator[tuple[str, np.ndarray]]:
    """Every part alone, of what it can use of the samples."""
    expression = data.expression
    rules = Rules(regulators=data.regulators)
    allowed = rules.allowed(expression.genes, expression.constant_genes)
    yield from series_parts(expression, rules, seed, resamples)
    forest = partial(importances, trees=TREES)
    is_input = np.asarray(allowed.any(axis=1))
    found, variance = rate_trees(expression, is_input, stream(seed, "rates"), forest)
    yield "trees, rates", found / np.where(variance > 0, variance, 1.0)
    logs = logs_of_all(expression, data.at_rest)
    yield "trees, levels", _trees(data.at_rest, expression, allowed, seed)
    yield "CLR", _related(data.at_rest, expression, allowed)
    levels = levels_of_all(expression, data.at_rest)
    yield "Spearman", np.where(allowed, np.abs(rank_correlation(levels)), 0.0)
    yield "Pearson", np.where(allowed, np.abs(correlation(levels)), 0.0)
    partial_r = np.zeros(allowed.shape)
    inputs = np.flatnonzero(is_input)
    partial_r[inputs] = np.abs(partial_correlation(logs, inputs))
    yield "partial correlation", np.where(allowed, partial_r, 0.0)
    for response in ("level", "change"):
        r = np.abs(lagged_correlation(expression, response))
        yield f"lagged correlation, {response}", np.where(allowed, r, 0.0)


def series_parts(expression: Expression, rules: Rules, seed: int, resamples: int):
    """Lagged regression with both memories; the first with the numbers that ``tvcs`` draws."""
    usual = replace(USUAL, resamples=resamples)
    short = replace(usual, memory=SHORT_MEMORY)
    for name, plan in (("lagged regression", usual), ("lagged regression, short memory", short)):
        found = lagged_regression(expression, rules, stream(seed, "infer", "tvcs"), plan)
        yield name, found.over_genes(found.scores)


def _trees(at_rest, expression, allowed, seed) -> np.ndarray:
    logs = logs_of_all(expression, at_rest)
    forest = partial(importances, trees=TREES)
    return level_trees(logs, expression.genes, allowed, stream(seed, "levels"), forest)


def _related(at_rest, expression, allowed) -> np.ndarray:
    rho = rank_correlation(levels_of_all(expression, at_rest))
    return np.where(allowed, relatedness(mutual_information(rho)), 0.0)


def sums_of(parts: dict[str, np.ndarray], data: Data) -> Iterator[tuple[str, np.ndarray]]:
    """``tvcs``, and sums of parts that are each divided by the mean of their strongest."""
    n = len(data.expression.genes)
    lagged = parts["lagged regression"]
    usual = HUB_POWER if n > HUB_GENES else 0.0
    lifted = lagged * hub_prior(lagged, usual)
    still = [by_strongest(parts[name], n) for name in ("trees, levels", "CLR")]
    plain = by_strongest(lagged, n) + sum(still)
    yield "tvcs", lifted
    yield "ensemble", plain
    yield "ensemble, hub prior", by_strongest(lifted, n) + sum(still)
    rest = ("trees, rates", "lagged regression, short memory")
    yield "ensemble of five", plain + sum(by_strongest(parts[name], n) for name in rest)


def with_knockouts(parts, data: Data, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """The knock-outs alone, and ``tvcs`` and the ensemble with them."""
    expression, n = data.expression, len(data.expression.genes)
    allowed = Rules(regulators=data.regulators).allowed(expression.genes, expression.constant_genes)
    words = {"knockdown_weight": KNOCKDOWN_WEIGHT, "largest_effect": LARGEST_EFFECT}
    alone = knockout_evidence(data.steady, expression, allowed, weight=1.0, hub_power=0.0, **words)
    yield "knock-outs", alone.knockouts + alone.knockdowns
    told = knockout_evidence(
        data.steady, expression, allowed, weight=KNOCKOUT_WEIGHT, hub_power=HUB_POWER, **words
    )
    effects = told.knockouts + told.knockdowns
    lagged = parts["lagged regression"]
    usual = HUB_POWER if n > HUB_GENES else 0.0
    yield (
        "tvcs + knock-outs",
        lagged * hub_prior(lagged, told.power_for_series(usual)) + effects,
    )
    lifted = lagged * hub_prior(lagged, told.power_for_series(0.0))
    still = (
        _trees(data.steady, expression, allowed, seed),
        _related(data.steady, expression, allowed),
    )
    total = sum(by_strongest(part, n) for part in (lifted, *still))
    yield "ensemble + knock-outs", total + effects


def peers_of(data: Data, arguments: argparse.Namespace) -> Iterator[tuple[str, np.ndarray]]:
    """Peers by `infer`; what does without time gets the samples at rest too."""
    given = {"regulators": data.regulators, "rng": arguments.seed, "scale": data.expression.scale}
    timeless = data.expression
    if data.at_rest is not None:
        values = levels_of_all(timeless, data.at_rest)
        names = ("all",) * len(values)
        timeless = Expression(values, np.arange(len(values)), names, timeless.genes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant genes and few steps
        yield "TIGRESS", infer(timeless, "tigress", **given).scores
        if len(timeless.genes) <= arguments.forests_up_to:
            yield "GENIE3", infer(timeless, "genie3", trees=TREES, **given).scores
            yield (
                "dynGENIE3",
                infer(data.expression, "dyngenie3", trees=TREES, **given).scores,
            )


def table(rows: list[Row]) -> str:
    """Mean AUPR of every ranking and kind; kinds where the ensemble is worst beside the best first.

    In brackets the precision of the surest.
    """
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row.kind, row.ranking), []).append(row)
    mean = {
        key: np.mean([(r.aupr, r.top, r.chance) for r in of], axis=0) for key, of in cells.items()
    }
    kinds, names = (list(dict.fromkeys(key[k] for key in cells)) for k in (0, 1))

    def lost(kind: str) -> float:
        others = [value[0] for key, value in mean.items() if key[0] == kind and "+" not in key[1]]
        return float(mean[kind, "ensemble"][0] / max(others))

    kinds.sort(key=lost)
    lines = [["ranking", *kinds], ["---", *["---"] * len(kinds)]]
    for name in names:
        found = [mean.get((kind, name)) for kind in kinds]
        lines.append([name, *("" if f is None else f"{f[0]:.3f} ({f[1]:.2f})" for f in found)])
    lines.append(["chance", *(f"{mean[kind, 'ensemble'][2]:.3f}" for kind in kinds)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
