"""Real sets with their known edges, and simulated tables with traits of real ones.

A folder of real sets holds ``irma``, ``sos``, ``GSD-1`` to ``VSC-3``, ``mESC``, ``spellman`` and
``bsubtilis``, each with its measurements and gold standard; absent ones are left out. Networks of
one model, and gold standards of one table, are one family.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.compendium import read_compendium
from grn_tvcs import Expression, Rules, average_in_bins
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.simulation.designs import CELL_INTERVAL, Design
from grn_tvcs.simulation.examples import draw_example
from tvcs_core.streams import stream

REAL = (
    "irma", "sos", "GSD-1", "GSD-2", "GSD-3", "VSC-1", "VSC-2", "VSC-3", "mESC", "spellman",
    "bsubtilis",
)  # fmt: skip
GOLDS = ("STRING", "NonSpecific", "ChIP-Seq")  # of mESC
MOST_MISSING = 0.1  # fraction of the samples of a gene of the yeast cell cycle
SIMULATED = ("growth", "operons", "hidden", "cells")
GENES, SERIES, POINTS, CELLS = 30, 5, 10, 400
GROWTH, LOADING = 0.7, (0.5, 0.5)  # sd of the shared log factor; mean and sd of its effect on genes
OPERON_NOISE, HIDDEN = 0.15, 0.5

Flags = NDArray[np.bool_]
Edges = set[tuple[str, str]]


@dataclass(frozen=True)
class Gold:
    """Known edges, and the pairs that they judge; [regulator, target]."""

    name: str
    is_edge: Flags
    judged: Flags

    @property
    def chance(self) -> float:
        return float(self.is_edge[self.judged].mean())


@dataclass(frozen=True)
class Table:
    """A table with its gold standards; genes in the order of their names."""

    family: str
    name: str
    expression: Expression
    rules: Rules
    golds: tuple[Gold, ...]


def real_tables(folder: Path) -> list[str]:
    """Return the names of the sets of a folder."""
    return [name for name in REAL if (folder / name).is_dir()]


def real_table(folder: Path, name: str) -> Table:
    """Read one set; cells along pseudotime are averaged in bins, as by the command."""
    path = folder / name
    if name == "bsubtilis":
        return _compendium(path)
    if name == "spellman":
        return _cell_cycle(path)
    if (path / "PseudoTime.csv").exists():
        cells = Expression.of(path / "ExpressionData.csv.gz", pseudotime=path / "PseudoTime.csv")
        expression = average_in_bins(on_scale(cells)).in_name_order()
    else:
        expression = on_scale(Expression.of(path / "series.csv")).in_name_order()
    family = name.split("-")[0]
    if name != "mESC":
        gold = _gold("", expression.genes, _edges(path / "gold.csv"))
        return Table(family, name, expression, Rules(), (gold,))
    golds = []
    for kind in GOLDS:
        edges = {
            pair for pair in _edges(path / f"gold-{kind}.csv.gz") if {*pair} <= {*expression.genes}
        }
        regulators = {regulator for regulator, _ in edges}
        targets = regulators | {target for _, target in edges}
        golds.append(_gold(kind, expression.genes, edges, regulators, targets))
    return Table(family, name, expression, Rules(), tuple(golds))


def _edges(path: Path) -> Edges:
    return {(one, two) for one, two, *_ in pd.read_csv(path).values.tolist()}


def _gold(
    name: str,
    genes: tuple[str, ...],
    edges: Edges,
    regulators: set[str] | None = None,
    targets: set[str] | None = None,
) -> Gold:
    """Return the edges among genes, judged over regulators x targets; over all pairs by default."""
    place = {gene: i for i, gene in enumerate(genes)}
    is_edge = np.zeros((len(genes), len(genes)), dtype=bool)
    for regulator, target in edges:
        if regulator in place and target in place:
            is_edge[place[regulator], place[target]] = True
    rows, columns = (
        [some is None or gene in some for gene in genes] for some in (regulators, targets)
    )
    judged = np.outer(rows, columns) & ~np.eye(len(genes), dtype=bool)
    return Gold(name, is_edge & judged, judged)


def _cell_cycle(path: Path) -> Table:
    """Read three series of log ratios; gaps are filled along time."""
    known = pd.read_csv(path / "gold_matrix.tsv.gz", sep="\t", index_col=0) != 0
    parts = {
        name: pd.read_csv(path / f"{name}.csv.gz", index_col=0)
        for name in ("alpha", "cdc15", "cdc28")
    }
    genes = {*known.index, *known.columns}.intersection(*(part.index for part in parts.values()))
    whole = pd.concat([part.loc[sorted(genes)] for part in parts.values()], axis=1)
    kept = whole.index[whole.isna().mean(axis=1) <= MOST_MISSING]
    values, times, series = [], [], []
    for name, part in parts.items():
        filled = part.loc[kept].T.interpolate(limit_direction="both").fillna(0.0)
        at = [float(column[re.search(r"\d+$", column).start() :]) for column in filled.index]
        order = np.argsort(at)
        values.append(filled.to_numpy()[order])
        times += sorted(at)
        series += [name] * len(at)
    expression = Expression(
        np.concatenate(values), np.array(times), tuple(series), tuple(kept), scale="log"
    ).in_name_order()
    return _with_regulators("spellman", expression, known, {*known.index} & {*kept})


def _compendium(path: Path) -> Table:
    expression, known = read_compendium(path)
    targets = {*known.index[known.any(axis=1)]} & {*expression.genes}
    return _with_regulators("bsubtilis", expression, known, targets)


def _with_regulators(
    name: str, expression: Expression, known: pd.DataFrame, targets: set[str]
) -> Table:
    """Return a table whose candidate regulators are the columns of a matrix of known edges."""
    pairs = known.rename_axis("target").rename_axis("regulator", axis=1).stack()
    edges = {(regulator, target) for target, regulator in pairs.index[pairs]}
    regulators = {*known.columns[known.any()]} & {*expression.genes}
    gold = _gold("", expression.genes, edges, regulators, targets)
    return Table(name, name, expression, Rules(regulators=frozenset(regulators)), (gold,))


def simulated_table(family: str, k: int) -> Table:
    """Draw the k-th table with a trait of real ones.

    ``growth``: a factor shared by all genes, which respond to it differently; ``operons``: every
    gene has a second one on its transcript; ``hidden``: half of the genes of the network are not
    measured; ``cells``: single cells along pseudotime, in bins.
    """
    rng = stream(7, "real life", family, str(k))
    design = {
        "growth": Design(GENES, GENES, SERIES, POINTS),
        "operons": Design(GENES // 2, GENES // 2, SERIES, POINTS),
        "hidden": Design(GENES, GENES, SERIES, POINTS, hidden=HIDDEN),
        "cells": Design(GENES, GENES, 2, CELLS, CELL_INTERVAL * GENES / CELLS, cells=1),
    }[family]
    made = draw_example(design, ("flat", "mid", "hub")[k % 3], rng)
    expression, is_edge = made.expression, made.is_edge
    if family == "growth":
        course = rng.normal(size=(SERIES, POINTS)).cumsum(axis=1).ravel()
        effect = np.outer(course / course.std(), rng.normal(*LOADING, GENES))
        expression = replace(expression, values=expression.values * np.exp(GROWTH * effect))
    elif family == "operons":
        noise = np.exp(OPERON_NOISE * rng.standard_normal(expression.values.shape))
        second = expression.values * rng.uniform(0.3, 2, len(expression.genes)) * noise
        genes = tuple(f"{gene}{part}" for gene in expression.genes for part in "ab")
        values = np.stack([expression.values, second], axis=2).reshape(len(second), -1)
        expression = replace(expression, values=values, genes=genes)
        is_edge = np.zeros((GENES, GENES), dtype=bool)
        is_edge[::2] = np.repeat(made.is_edge, 2, axis=1)
    elif family == "cells":
        expression = average_in_bins(replace(expression, cells=None)).in_name_order()
    judged = ~np.eye(len(expression.genes), dtype=bool)
    return Table(family, f"{family} {k}", expression, made.rules, (Gold("", is_edge, judged),))
