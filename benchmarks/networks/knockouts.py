"""Do knock-outs ever make a network worse? Kinds of networks x what is given -> tables.

    python -m benchmarks.networks.knockouts [FOLDER...] [--keep DIR] [--write-docs]

Networks of our simulator from without hubs to stars, of 10, 30 and 100 genes; and, if given,
FOLDERs of networks with timeseries.tsv, goldstandard_signed.tsv, knockouts.tsv, knockdowns.tsv and
wildtype.tsv. One row per network and what was given is kept in networks.csv of --out, where a run
that is stopped goes on; --keep holds what was simulated, most of the time, for the next time.
`before` is the rule of the first version.
"""

from __future__ import annotations

import argparse
import copy
import sys
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.networks.cases import Data, data, names, number, steady
from benchmarks.networks.knockout_kinds import simulated
from benchmarks.pages import fill, table
from benchmarks.study import complete, load, options, run
from grn_tvcs import Network, SteadyStates, infer, score
from grn_tvcs.evidence.hubs import concentration, hub_prior
from grn_tvcs.simulation.kinds import KINDS, draw_topology

NAME = "networks.csv"
PAGE = "studies/knockout-study.md"
SIZES = {10: 24, 30: 12, 100: 7}  # genes: networks of each kind
SEED = 0
ALL, DOWNS, THIRD, TENTH = "all", "knock-downs", "30 % of the genes", "10 % of the genes"
SHARES = {ALL: 1.0, DOWNS: 1.0, THIRD: 0.3, TENTH: 0.1}
SERIES, BEFORE, NOW = "series", "before", "now"


@dataclass(frozen=True)
class Case:
    """One network inferred once; `found` of the `selected` surest edges are true."""

    kind: str
    genes: int
    number: int
    outside: str
    concentration: float
    given: str
    rule: str
    selected: int
    found: int
    aupr: float

    @property
    def key(self) -> tuple[str, int, int, str, str]:
        return self.kind, self.genes, self.number, self.given, self.rule


def is_outside(kind: str, genes: int, at: int) -> bool:
    """Whether nothing was chosen on this network."""
    if kind in KINDS:
        return at > 4 if genes == 100 else at % 2 == 0
    return kind.startswith("yeast") or at % 2 == 0


def cases(kind: str, at: int, found: Data) -> list[Case]:
    """Infer from the series, and with every part of the steady states by both rules."""
    expression, reference = found.expression, found.reference
    genes = expression.genes
    degrees = reference.out_degrees.astype(float)
    outside = "yes" if is_outside(kind, len(genes), at) else "no"

    def case(given: str, rule: str, network: Network) -> Case:
        judged = score(network.select_top(2 * len(genes)), reference)
        return Case(
            kind, len(genes), at, outside, concentration(degrees),
            given, rule, judged.n_selected, judged.n_found, judged.aupr,
        )  # fmt: skip

    series = infer(expression, "tvcs", rng=np.random.default_rng(SEED))
    rows = [case(SERIES, NOW, series)]
    for given, share in SHARES.items():
        changed = np.random.default_rng([at, len(genes)]).permutation(len(genes))
        changed = changed[: max(1, round(share * len(genes)))]
        states = part(found.steady, {genes[k] for k in changed}, knockouts=given != DOWNS)
        rows.append(case(given, BEFORE, with_old_rule(series, expression, states)))
        rows.append(
            case(
                given,
                NOW,
                infer(expression, "tvcs", steady=states, rng=np.random.default_rng(SEED)),
            )
        )
    return rows


def solve_halves_once() -> None:
    """Keep the halves of the series, which are the same whatever is given beside it."""
    method = import_module("grn_tvcs.evidence.lagged_regression")
    gather, known = method.gather, []

    def once(draws, rng, execution):
        key = draws.with_pairs(copy.deepcopy(rng)).facts
        if not known or known[0] != key:
            known[:] = key, gather(draws, rng, execution)
        return known[1]

    method.gather = once


def part(states: SteadyStates, genes: set[str], *, knockouts: bool) -> SteadyStates:
    """The wild type, and the experiments on `genes`, of both kinds or without knock-outs."""
    kept = [
        k
        for k, gene in enumerate(states.changed)
        if not gene or (gene in genes and (knockouts or not states.is_knockout[k]))
    ]
    changed = tuple(states.changed[k] for k in kept)
    return SteadyStates(states.levels[kept], changed, states.is_knockout[kept], states.genes)


def with_old_rule(series: Network, expression, states: SteadyStates) -> Network:
    """Add effects as the first version did.

    They were z-scores of the levels themselves by the median absolute deviation, direct and
    indirect ones alike, with weight 2 and the hub prior of the series.
    """
    genes, states, expression = series.genes, states.of(series.genes), expression.in_name_order()
    first = [rows.start for rows in expression.pieces.values()]
    known = np.concatenate([states.levels, expression.values[first]])
    rest = np.median(known, axis=0)
    spread = 1.4826 * np.median(np.abs(known - rest), axis=0)
    spread = np.maximum(spread, np.median(spread) / 2)
    z = np.where(spread > 0, (rest - states.levels) / np.where(spread > 0, spread, 1.0), 0.0)
    effects = np.zeros((len(genes), len(genes)))
    place = {gene: j for j, gene in enumerate(genes)}
    for k, gene in enumerate(states.changed):
        if gene:
            effects[place[gene]] += (1.0 if states.is_knockout[k] else 0.5) * z[k]
    effects[:, list(expression.is_constant)] = 0.0
    np.fill_diagonal(effects, 0.0)
    sizes = np.minimum(np.abs(effects), 20.0)
    largest = np.sort(sizes, axis=None)[::-1][: len(genes)].mean()
    sizes = sizes / largest if largest > 0 else sizes
    scores = series.scores + 2.0 * sizes * hub_prior(sizes, 0.5 if len(genes) > 20 else 0.0)
    return Network.of(genes, scores)


def fit(task: tuple[str, int, str, str]) -> list[Case]:
    """One network: of a folder, or simulated or taken from what was kept."""
    kind, genes, name, place = task
    if kind not in KINDS:
        return cases(kind, number(name), data(place, name, 1, SEED))
    at = int(name)
    rng = np.random.default_rng([SEED, genes, list(KINDS).index(kind), at])
    path = Path(place) / f"{kind}{genes}-{at}.npz" if place else None
    made = simulated(draw_topology(kind, genes, rng), at, rng, path)
    return cases(kind, at, Data(name, made.expression, made.network, steady(made)))


def tasks_of(folders: list[str], keep: str) -> dict[tuple[str, int, str, str], frozenset]:
    """Every network, and the keys of its cases."""
    tasks = {}
    for genes, n in SIZES.items():
        for kind in KINDS:
            for at in range(n):
                tasks[kind, genes, str(at), keep] = keys(kind, genes, at)
    for folder in folders:
        for name, _ in names(folder, 0):
            kind = Path(folder).name
            genes = number(kind)
            tasks[kind, genes, name, folder] = keys(kind, genes, number(name))
    return tasks


def keys(kind: str, genes: int, at: int) -> frozenset:
    """Keys of the cases of a network."""
    both = {(kind, genes, at, given, rule) for given in SHARES for rule in (BEFORE, NOW)}
    return frozenset(both | {(kind, genes, at, SERIES, NOW)})


def rows_of(found: list[Case], given: str, *, outside: bool = False) -> list[list[str]]:
    """A row for each kind: AUPR and true edges by the series alone, before and now."""
    rows = []
    for kind, genes in sorted({(c.kind, c.genes) for c in found}, key=_by_kind):
        mine = [
            c
            for c in found
            if (c.kind, c.genes) == (kind, genes) and (not outside or c.outside == "yes")
        ]
        sets = [
            [c for c in mine if (c.given, c.rule) == way]
            for way in ((SERIES, NOW), (given, BEFORE), (given, NOW))
        ]
        if not sets[0]:
            continue
        cells = [
            f"{np.mean([c.aupr for c in s]):.3f} / {np.mean([c.found for c in s]):.1f}".lstrip("0")
            for s in sets
        ]
        lost = [now.aupr - alone.aupr for alone, now in zip(sets[0], sets[2], strict=True)]
        spread = np.mean([c.concentration for c in sets[0]])
        label = f"{kind}, {genes} genes" if kind in KINDS else kind
        rows.append([label, f"{spread:.1f}", str(len(lost)), *cells, f"{min(lost):+.3f}"])
    return rows


def _by_kind(kind: tuple[str, int]) -> tuple[bool, int, int, str]:
    name, genes = kind
    is_ours = name in KINDS
    return not is_ours, genes, list(KINDS).index(name) if is_ours else 0, name


def page_of(found: list[Case], page: str) -> str:
    """The page with its tables."""
    heads = [
        "networks",
        "concentration",
        "number",
        "series alone",
        "before",
        "now",
        "worst network",
    ]
    page = fill(page, "outside", table(heads, rows_of(found, ALL, outside=True)))
    less = {"knock-downs alone": DOWNS, "30 % of the genes": THIRD, "10 %": TENTH}
    by = [{row[0]: row for row in rows_of(found, given)} for given in less.values()]
    lines = [
        [name, row[2], row[3], *(cell for of in by for cell in (of[name][5], of[name][6]))]
        for name, row in by[0].items()
    ]
    heads = [
        heads[0],
        heads[2],
        heads[3],
        *(f"{name}{end}" for name in less for end in ("", ": worst")),
    ]
    return fill(page, "less", table(heads, lines))


def compute(arguments: argparse.Namespace) -> None:
    """Infer what networks.csv does not hold yet."""
    warnings.simplefilter("ignore")
    if arguments.keep:
        Path(arguments.keep).mkdir(parents=True, exist_ok=True)
    solve_halves_once()
    tasks = tasks_of(arguments.folders, arguments.keep)
    complete(arguments.out / NAME, Case, tasks, fit, jobs=1, order=order)


def order(case: Case) -> tuple[object, ...]:
    return *_by_kind((case.kind, case.genes)), case.number


def write_page(out: Path, docs: Path) -> None:
    text = (docs / PAGE).read_text(encoding="utf-8")
    (docs / PAGE).write_text(page_of(load(out / NAME, Case), text), encoding="utf-8")


def main() -> int:
    parser = options(__doc__, results="knockouts", page=PAGE)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="of networks, beside ours")
    parser.add_argument("--keep", default="", help="a folder for what was simulated")
    return run(parser.parse_args(), compute, write_page)


if __name__ == "__main__":
    sys.exit(main())
