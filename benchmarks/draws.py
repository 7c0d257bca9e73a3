"""How far the default depends on the halves and trees that are drawn, and on which of them.

    python -m benchmarks.draws [--genes 10 30 100] [--networks 2] [--draws 3]

A seed changes nothing in ``combined``: what it draws comes from fixed streams. Other streams (its
option `draws`) show how far the network stands on what happened to be drawn. Cells are the mean
share of the selected edges, 2 per gene, that other draws replace, over networks of each topology of
our simulator in designs whose calibration comes with the package; *supported* is the same for edges
of a confidence of one half and more. The last columns replace one part of the evidence alone.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.pages import table
from grn_tvcs.combine.evidence_scores import (
    LAGGED,
    LEVELS,
    RATES,
    SHORT,
    EvidenceScores,
    compute_evidence,
)
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.platt_scaling import sigmoid
from grn_tvcs.combine.pretrained import PretrainedModels, load_pretrained
from grn_tvcs.network.confidence import LIKELY
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.streams import stream

SERIES = {10: 5, 30: 10, 100: 10}  # of 21 points, by number of genes
GIVEN = {
    "series": {},
    "series + column + knock-outs": {
        "is_perturbation_known": True, "knocked_out": 1.0, "knocked_down": 1.0,
    },
}  # fmt: skip
EDGES_PER_GENE = 2  # of the network whose edges other draws may replace
DRAWN = (LAGGED, SHORT, RATES, LEVELS)  # the parts that anything is drawn for
COLUMNS = ("genes", "given", "networks", "supported", "all", *DRAWN)

Pairs = frozenset[int]


class Chosen(NamedTuple):
    """The pairs that are selected, and those that are supported."""

    selected: Pairs
    supported: Pairs


def main(words: list[str] | None = None) -> None:
    """Print a row for each size and what is given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--genes", type=int, nargs="+", choices=SERIES, default=list(SERIES))
    parser.add_argument("--networks", type=int, default=2, help="of each topology")
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args(words)
    warnings.simplefilter("ignore")
    rows = []
    with one_blas_thread():
        for genes, given in product(asked.genes, GIVEN):
            design = Design(genes, genes, SERIES[genes], 21, **GIVEN[given])
            found = []
            for kind, k in product(KINDS, range(asked.networks)):
                found.append(shares(design, kind, k, asked.draws))
                print(genes, given, kind, found[-1].tolist(), flush=True)
            means = (f"{x:.0%}" for x in np.mean(found, axis=0))
            rows.append([str(genes), given, str(len(found)), *means])
    print(table(COLUMNS, rows))


def shares(design: Design, kind: str, number: int, draws: int) -> np.ndarray:
    """Shares that change: of supported edges, and of selected ones by all parts and by each."""
    made = draw_example(design, kind, stream(number, "draws", design.key, kind))
    model = load_pretrained()
    parts = [
        compute_evidence(made.expression, made.rules, stream(k, "combined"), made.steady)
        for k in range(draws)
    ]
    first = chosen(parts[0], model, design)
    others = [chosen(other, model, design) for other in parts[1:]]
    out = [[share(first.supported, other.supported) for other in others]]
    out += [[share(first.selected, other.selected) for other in others]]
    for name in DRAWN:
        mixed = (chosen(with_part(parts[0], other, name), model, design) for other in parts[1:])
        out += [[share(first.selected, other.selected) for other in mixed]]
    return np.mean(out, axis=1).round(3)


def with_part(one: EvidenceScores, other: EvidenceScores, name: str) -> EvidenceScores:
    """The evidence of `one` with one part of `other`."""
    gain = f"{name} gain"
    return replace(
        one,
        scores=one.scores | {name: other.scores[name]},
        signed=one.signed | ({name: other.signed[name]} if name in one.signed else {}),
        facts=one.facts | ({gain: other.facts[gain]} if gain in one.facts else {}),
        stability=other.stability if name == LAGGED else one.stability,
    )


def chosen(parts: EvidenceScores, model: PretrainedModels, design: Design) -> Chosen:
    """What is chosen by these parts, in a design whose calibration comes with the package."""
    logits = model.combiner.logits(pair_features(parts), parts.inputs)
    confidence = np.where(parts.allowed, sigmoid(model.common[design.key].of(logits)), 0.0).ravel()
    best = np.argsort(-confidence, kind="stable")[: EDGES_PER_GENE * parts.allowed.shape[1]]
    sure = np.flatnonzero(confidence >= LIKELY)
    return Chosen(frozenset(best.tolist()), frozenset(sure.tolist()))


def share(one: Pairs, other: Pairs) -> float:
    """Part of the larger set that is not in the other; 0 where both are empty."""
    return 1.0 - len(one & other) / max(len(one), len(other), 1) if one or other else 0.0


if __name__ == "__main__":
    main()
