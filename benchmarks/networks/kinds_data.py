"""The tables and the cases of the study of kinds.

Tables are of folders of networks, a real compendium, our simulator, and nulls; a case is what is
measured on one answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.compendium import read_compendium
from benchmarks.networks.cases import names, read, read_steady
from benchmarks.study import ROOT
from grn_tvcs import Expression, Network, SteadyStates, read_reference
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.simulation.designs import CELL_INTERVAL, RANDOM, Design
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

# What is given to the methods.
SERIES, COLUMN = "series", "series + column"
OUT, BOTH = "series + knock-outs", "series + column + knock-outs"
REST, WITH_REST = "steady state", "series + steady state"
CELLS, RELAX, HIDDEN = "cells in bins", "relaxations", "series, hidden genes"
GIVEN = (SERIES, COLUMN, OUT, BOTH, WITH_REST, REST, CELLS, RELAX, HIDDEN)

COMPENDIUM = "B. subtilis"
CARRIED = ROOT / "data" / "bsubtilis"  # a part of it that comes along
PART_GENES, PART_SERIES = 100, 10  # of a part of the compendium
SIZES = {10: (5, 21), 30: (10, 21), 100: (10, 21)}  # genes: series and points
N_STEADY, N_CELLS, LINEAGES, BINS, HIDDEN_PART = 100, 20, 2, 30, 0.3
ABOVE = 0.1  # of confidences that are compared with the truth
SURE = 0.3  # no pair of a null should have more confidence
NULL_DESIGNS = ((10, 1, 12), (10, 5, 21), (30, 1, 12), (30, 10, 21), (100, 10, 21))


class Place(NamedTuple):
    """Where a table comes from.

    `kind` is the row of the page, `network` which of its kind; `folder` holds it, and is empty
    for what is simulated: the `topology`, so many `genes`, and the experiments, `given` at most.
    """

    kind: str
    network: str
    given: tuple[str, ...]
    folder: str = ""
    topology: str = ""
    genes: int = 0


@dataclass(frozen=True, eq=False)
class Table:
    """What was measured on one network, genes sorted by name, and which pairs are edges.

    `judged` says which pairs count, [regulator, target]. The expression has all that is known,
    the column and the steady-state samples too.
    """

    expression: Expression
    steady: SteadyStates | None
    regulators: frozenset[str] | None
    judged: np.ndarray
    is_edge: np.ndarray

    def only(self, given: str) -> tuple[Expression, SteadyStates | None]:
        """What a method is given."""
        expression = self.expression
        if given not in (COLUMN, BOTH):
            expression = replace(expression, perturbed=None)
        if given not in (REST, WITH_REST):
            expression = expression.of_series()
        return expression, self.steady if given in (OUT, BOTH) else None


@dataclass(frozen=True)
class Case:
    """One method on one network, given one thing; a row of kinds.csv.

    Attributes
    ----------
    how
        How it differs from the method's default.
    concentration
        Of the out-degrees: 1 where all genes have the same, the number of genes where one has all.
    top, n_top
        Precision of the so many surest pairs.
    seconds
        Of the processor; for what a method cannot use, those of what it can.
    confidence
        "yes" where there is one, "no" where the method has one and gave none; else empty.
    error
        Calibration error over confidences above .1.
    supported, expected, found
        Pairs of a confidence of at least one half; how many of them should be true, and are.
    bins
        The reliability of each bin: place, number of pairs, mean probability, share of true edges.
    """

    kind: str
    network: str
    given: str
    method: str
    how: str
    genes: int
    concentration: float
    edges: int
    pairs: int
    aupr: float
    chance: float
    top: float
    n_top: int
    auroc: float
    seconds: float
    confidence: str
    error: float | None
    supported: int
    expected: float
    found: int
    bins: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.kind, self.network, self.given, self.method


@dataclass(frozen=True)
class Null:
    """One method on one table without edges; `above` pairs have more confidence than `SURE`."""

    kind: str
    size: str
    number: int
    method: str
    confidence: str
    largest: float | None
    above: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.kind, self.size, self.number, self.method


def places(
    folders: list[str], compendium: str, parts: int, simulate: int, carried: bool = False
) -> Iterator[Place]:
    """All tables of a run, in the order of the page."""
    given = (SERIES, WITH_REST)
    if carried:
        yield Place(f"{COMPENDIUM}, data/bsubtilis", "carried", given, str(CARRIED))
    if compendium:
        yield Place(COMPENDIUM, "whole", given, compendium)
        for k in range(parts):
            yield Place(f"{COMPENDIUM}, {PART_GENES} genes", f"part {k + 1}", given, compendium)
    for folder in folders:
        for name, _ in names(folder, 0):
            yield Place(Path(folder).name, name, (SERIES, COLUMN, OUT, BOTH), folder)
    for genes in SIZES:
        for topology in KINDS:
            for k in range(simulate):
                for known in ((SERIES, COLUMN, OUT, BOTH), (REST,), (CELLS,), (RELAX,), (HIDDEN,)):
                    kind = f"{topology}, {genes} genes"
                    yield Place(kind, f"network{k + 1}", known, "", topology, genes)


@lru_cache(maxsize=2)
def table_of(place: Place, seed: int) -> Table:
    """Read or simulate."""
    if place.network == "carried":
        return carried_part(Path(place.folder))
    if place.kind.startswith(COMPENDIUM):
        whole = compendium(place.folder)
        if place.network == "whole":
            return whole
        return part_of(whole, stream(seed, "kinds of data", COMPENDIUM, place.network))
    if place.folder:
        return of_folder(Path(place.folder) / place.network)
    words = (place.topology, str(place.genes), place.given[0], place.network)
    rng = stream(seed, "kinds of data", *words)
    made = draw_example(design(place.genes, place.given), place.topology, rng)
    counts = made.rules.allowed(made.expression.genes)
    return Table(made.expression, made.steady, made.rules.regulators, counts, made.is_edge)


def design(genes: int, given: tuple[str, ...]) -> Design:
    """The experiments on a simulated network of so many genes."""
    n_series, n_points = SIZES[genes]
    usual = Design(genes, genes, n_series, n_points)
    if REST in given:
        return replace(usual, n_series=0, n_steady=N_STEADY)
    if CELLS in given:
        return replace(
            usual, n_series=LINEAGES, n_points=BINS, interval=CELL_INTERVAL, cells=N_CELLS
        )
    if RELAX in given:
        return replace(usual, start=RANDOM)
    if HIDDEN in given:
        return replace(usual, hidden=HIDDEN_PART)
    return replace(usual, is_perturbation_known=True, knocked_out=1.0, knocked_down=1.0)


def of_folder(folder: Path) -> Table:
    """A network of a folder; perturbations end at half-time."""
    expression, reference = read(folder)
    half = float(expression.times.max()) / 2
    expression = on_scale(expression, "levels").with_perturbation_until(half).in_name_order()
    judged = ~np.eye(len(expression.genes), dtype=bool)
    is_edge = _edges_among(reference, expression.genes) & judged
    return Table(expression, read_steady(folder).of(expression.genes), None, judged, is_edge)


def null(kind: str, size: tuple[int, int, int], number: int, seed: int) -> Expression:
    """Series of a table without any edge."""
    genes, n_series, n_points = size
    words = (kind, "x".join(map(str, size)), str(number))
    rng = stream(seed, "kinds of data", "null", *words)
    return draw_null(Design(genes, genes, n_series, n_points), kind, rng).expression


def nulls(number: int) -> list[tuple[str, tuple[int, int, int], int]]:
    """Kind, sizes and number of all nulls of a run."""
    return [(kind, size, k + 1) for kind in NULLS for size in NULL_DESIGNS for k in range(number)]


@lru_cache(maxsize=1)
def compendium(folder: str) -> Table:
    """B. subtilis: series, steady-state samples, and the known edges of 154 regulators."""
    expression, known = read_compendium(Path(folder))
    genes = list(expression.genes)
    is_edge = known.reindex(index=genes, columns=genes, fill_value=False).to_numpy().T
    return _of_candidates(expression, {*known.columns[known.any()]}, is_edge)


def _of_candidates(expression: Expression, regulators: set[str], is_edge: np.ndarray) -> Table:
    """Pairs of a candidate and a gene with a known regulator count."""
    genes = expression.genes
    is_edge = is_edge & ~np.eye(len(genes), dtype=bool)
    judged = np.zeros_like(is_edge)
    judged[np.ix_([gene in regulators for gene in genes], is_edge.any(axis=0))] = True
    np.fill_diagonal(judged, False)
    return Table(expression, None, frozenset(regulators & set(genes)), judged, is_edge & judged)


def carried_part(folder: Path) -> Table:
    """The part of the compendium that comes with the project."""
    samples = folder / "samples.tsv"
    expression = Expression.of(folder / "expression.tsv", samples=samples, genes_in_rows=True)
    expression = replace(expression, scale="log").in_name_order()
    reference = read_reference(folder / "known_edges.tsv", expression.genes)
    regulators = set((folder / "regulators.tsv").read_text(encoding="utf-8").split()[1:])
    return _of_candidates(expression, regulators, _edges_among(reference, expression.genes))


def _edges_among(reference: Network, genes: tuple[str, ...]) -> np.ndarray:
    """The true edges, over genes in this order."""
    place = {gene: i for i, gene in enumerate(reference.genes)}
    order = np.array([place[gene] for gene in genes])
    return np.asarray(reference.selected)[np.ix_(order, order)]


def part_of(whole: Table, rng: np.random.Generator) -> Table:
    """Some genes of a compendium with their regulators, some of its series, all in steady state."""
    has_regulator = np.flatnonzero(whole.is_edge.any(axis=0))
    chosen: set[int] = set()
    for target in rng.permutation(has_regulator):
        more = {int(target), *np.flatnonzero(whole.is_edge[:, target]).tolist()}
        if len(chosen | more) <= PART_GENES:
            chosen |= more
        if len(chosen) == PART_GENES:
            break
    kept = np.array(sorted(chosen))
    expression = whole.expression
    pieces = list(expression.pieces)
    taken = {pieces[k] for k in rng.permutation(len(pieces))[:PART_SERIES]}
    expression = expression.part(np.array([name in taken for name in expression.series]))
    expression = replace(
        expression,
        values=expression.values[:, kept],
        steady_values=None
        if expression.steady_values is None
        else expression.steady_values[:, kept],
        genes=tuple(expression.genes[j] for j in kept),
    ).in_name_order()
    assert whole.regulators is not None
    return _of_candidates(expression, set(whole.regulators), whole.is_edge[np.ix_(kept, kept)])
