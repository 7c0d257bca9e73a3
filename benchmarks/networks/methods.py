"""The methods of the network study: ours, the paper's, its peers, and variants of ours."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.networks.cases import CUTS, Case, Data, cases, true_caps
from grn_tvcs import Network, infer
from grn_tvcs.stability.model import paper_problem
from tvcs_core import TVCS, Problem, solve

CAPS = tuple(CUTS)[:-1]
TREES = 300
NOTHING = "series"


@dataclass(frozen=True)
class Entry:
    """One line of the tables: a method of `infer`, or one of ours below, with its options.

    `caps` names caps of the truth that the method is given; `given` what it gets beside the
    series; `ways` how its answer is cut.
    """

    method: str = "tvcs"
    options: dict[str, Any] = field(default_factory=dict)
    given: str = NOTHING
    caps: str = ""
    ways: tuple[str, ...] = ("top-n",)


HARDLY = {"in_degrees": (10, 10), "edges_per_gene": (10.0, 10.0)}
ENTRIES = {
    "tvcs": Entry(ways=CAPS),
    "tvcs-plain": Entry("tvcs-plain", ways=CAPS),
    "pcc": Entry("pcc", ways=CAPS),
    "aracne": Entry("aracne", ways=(*CAPS, "own")),
    "clr": Entry("clr", ways=CAPS),
    "mrnet": Entry("mrnet", ways=CAPS),
    "tigress": Entry("tigress", ways=(*CAPS, "own")),
    "genie3": Entry("genie3", ways=CAPS),
    "dyngenie3": Entry("dyngenie3", ways=CAPS),
    "random": Entry("random", ways=CAPS),
    "TVCS alone": Entry(options={"parts": "tvcs"}),
    "TVCS alone, no hub prior": Entry(options={"parts": "tvcs", "hub_power": 0.0}),
    "OMP alone": Entry(options={"parts": "omp"}),
    "OMP alone, no hub prior": Entry(options={"parts": "omp", "hub_power": 0.0}),
    "mean, no hub prior": Entry(options={"hub_power": 0.0}),
    "TVCS alone, caps off": Entry(options={"parts": "tvcs", **HARDLY}),
    "mean + hub, caps off": Entry(options=HARDLY),
    "caps: true largest degrees": Entry(caps="largest degrees", ways=("top-n", "largest degrees")),
    "caps: true out-degrees": Entry(caps="out-degrees", ways=("top-n", "out-degrees")),
    "true list of regulators": Entry(caps="regulators"),
    "perturbation known": Entry(given="series, perturbation"),
    "knock-outs and -downs": Entry(given="series, knock-outs and -downs"),
    "all of these": Entry(given="series, perturbation, knock-outs and -downs"),
    "tvcs-plain, true largest degrees": Entry(
        "tvcs-plain", caps="largest degrees", ways=("top-n", "largest degrees")
    ),
    "tvcs-plain among linked pairs": Entry("among linked pairs", ways=("largest degrees",)),
}


def fit(found: Data, draw: int, name: str, seed: int, trees: int) -> Iterator[Case]:
    """The cases of one entry on one network."""
    entry = ENTRIES[name]
    began = time.perf_counter()
    network = answer(entry, found, seed + draw, trees)
    seconds = time.perf_counter() - began
    yield from cases(found, draw, name, entry.given, entry.ways, network, seconds)


def answer(entry: Entry, found: Data, seed: int, trees: int) -> Network:
    """Score all pairs."""
    if entry.method == "random":
        return at_random(found, seed)
    if entry.method == "among linked pairs":
        return plain_among_linked(found)
    options = dict(entry.options)
    if "genie3" in entry.method:
        options["trees"] = trees
    if "knock-outs" in entry.given:
        options["steady"] = found.steady
    if entry.caps == "regulators":
        out = found.reference.out_degrees
        options["regulators"] = [g for g, d in zip(found.reference.genes, out, strict=True) if d]
    elif entry.caps:
        rules = true_caps(entry.caps, found.reference)
        options |= {name: getattr(rules, name) for name in ("max_in_degree", "max_out_degree")}
        options["max_edges"] = rules.max_edges
    expression = found.perturbed if "perturbation" in entry.given else found.expression
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant genes and few steps
        return infer(expression, entry.method, rng=seed, **options)


def at_random(found: Data, seed: int) -> Network:
    """Scores that know nothing: what a cut by true caps gives by itself."""
    genes = found.expression.genes
    scores = np.random.default_rng(seed).uniform(0.5, 1.0, (len(genes), len(genes)))
    np.fill_diagonal(scores, 0.0)
    return Network.of(genes, scores)


def plain_among_linked(found: Data) -> Network:
    """The paper's model by IHT, given which pairs are linked and the true largest degrees."""
    place = {gene: i for i, gene in enumerate(found.reference.genes)}
    expression = found.expression.in_name_order()
    order = np.array([place[gene] for gene in expression.genes])
    is_edge = found.reference.selected[np.ix_(order, order)]
    rules = true_caps("largest degrees", found.reference)
    constraint = TVCS.matrix(
        is_edge.shape,
        row_caps=rules.max_out_degree,
        col_caps=rules.max_in_degree,
        total=rules.max_edges,
        allowed=is_edge | is_edge.T,
    )
    loss = paper_problem(expression, rules).loss
    W = solve(Problem(loss, constraint), "iht", max_iter=500).matrix
    return Network.of(expression.genes, np.abs(W), np.sign(W).astype(np.int8))
