"""How far a choice among the sources of evidence would reach on networks without hubs.

    python -m benchmarks.choices [--genes 10 30 100] [--networks 4] [--seed 0]

On networks whose out-degrees have a concentration below 3, of our simulator: mean AUPR of `tvcs`,
of what was learned (`combined`), of the source and of the sum of sources that are best on the
mean of all, and of those that are best on each table by itself. Nobody can choose the last without
the truth: it bounds what any rule that takes one of the parts, or some with equal weights, can
reach. *Any* may take the other two rankings as well. Means are over kinds of network, each the mean
of its tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, combinations

import numpy as np

from benchmarks.pages import table
from benchmarks.peers.areas import average_precision
from grn_tvcs import infer
from grn_tvcs.combine.evidence_scores import (
    LAGGED,
    LEVELS,
    PARTIAL,
    RANKED_DOWN,
    RATES,
    SHORT,
    EvidenceScores,
    compute_evidence,
)
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.pretrained import load_pretrained
from grn_tvcs.evidence.hubs import concentration
from grn_tvcs.evidence.scaling import scale_by_top_mean
from grn_tvcs.simulation.designs import CELL_INTERVAL, RANDOM, Design
from grn_tvcs.simulation.examples import Example, draw_example
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.streams import stream

TOPOLOGIES, HUB_POOR = ("flat", "mid"), 3.0
SERIES = {10: 5, 30: 10, 100: 10}  # of 21 points, by number of genes
GIVEN = {
    "series": {},
    "relaxations": {"start": RANDOM},
    "series, hidden genes": {"hidden": 0.3},
    "cells in bins": {"n_series": 2, "n_points": 30, "interval": CELL_INTERVAL, "cells": 20},
    "series + knock-outs": {"knocked_out": 1.0, "knocked_down": 1.0},
}  # fmt: skip
ADDED = (LAGGED, SHORT, RATES, LEVELS, PARTIAL, RANKED_DOWN)  # of which sums are made
TVCS, LEARNED = "tvcs", "combined"
HEADS = (
    "given", "tables", "chance", TVCS, LEARNED, "best part of all", "best sum of all",
    "best part of each", "best sum of each", "any of each",
)  # fmt: skip

Found = dict[tuple[str, ...], float]  # AUPR by the parts that are added, or the method


def main(words: list[str] | None = None) -> None:
    """Print a row for each kind of experiment."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--genes", type=int, nargs="+", choices=SERIES, default=list(SERIES))
    parser.add_argument("--networks", type=int, default=4, help="of each topology and size")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    warnings.simplefilter("ignore")
    rows = []
    with one_blas_thread():
        for given, more in GIVEN.items():
            kinds = []
            for genes in asked.genes:
                design = replace(Design(genes, genes, SERIES[genes], 21), **more)
                kinds += [of_kind(design, kind, asked.networks, asked.seed) for kind in TOPOLOGIES]
            rows.append([given, *cells_of([kind for kind in kinds if kind])])
            print(*rows[-1], sep="  ", flush=True)
    print(table(HEADS, rows))


def of_kind(design: Design, kind: str, networks: int, seed: int) -> list[Found]:
    """What is found on the networks without hubs among so many."""
    drawn = (
        draw_example(design, kind, stream(seed, "choices", design.key, kind, str(k)))
        for k in range(networks)
    )
    return [rankings(made, design) for made in drawn if is_hub_poor(made)]


def is_hub_poor(made: Example) -> bool:
    return bool(concentration(made.is_edge.sum(axis=1).astype(float)) < HUB_POOR)


def rankings(made: Example, design: Design) -> Found:
    """AUPR of both methods, of every part and of every sum of parts."""
    model = load_pretrained()
    parts = compute_evidence(made.expression, made.rules, stream(0, "combined"), made.steady)
    logits = model.combiner.logits(pair_features(parts), parts.inputs)
    regulators = made.rules.regulators
    network = infer(made.expression, TVCS, steady=made.steady, regulators=regulators, rng=0)
    truth = made.is_edge[parts.inputs][parts.allowed]
    scores = {one: sum_of(parts, one) for one in sums(parts.scores)}
    scores |= {(LEARNED,): logits, (TVCS,): network.scores[parts.inputs]}
    found: Found = {
        one: float(average_precision(truth, of[parts.allowed])) for one, of in scores.items()
    }
    return found | {("chance",): float(truth.mean())}


def sums(there: Iterable[str]) -> list[tuple[str, ...]]:
    """Each part, and all sums of two parts and more."""
    there = list(there)
    added = [part for part in ADDED if part in there]
    many = chain.from_iterable(combinations(added, n) for n in range(2, len(added) + 1))
    return [*((part,) for part in there), *many]


def sum_of(parts: EvidenceScores, added: tuple[str, ...]) -> np.ndarray:
    """Parts in the unit of their strongest, added up; what is not known is 0."""
    n = parts.allowed.shape[1]
    return np.sum(
        [scale_by_top_mean(np.nan_to_num(parts.scores[part]), n) for part in added], axis=0
    )


def cells_of(kinds: list[list[Found]]) -> list[str]:
    """The number of tables, and means over kinds in the order of `HEADS`."""
    methods = {("chance",), (TVCS,), (LEARNED,)}
    there = [one for one in kinds[0][0] if one not in methods]
    one_part = [one for one in there if len(one) == 1]

    def mean_of_best(some: Iterable[tuple[str, ...]]) -> float:
        choices = list(some)
        return float(
            np.mean([np.mean([max(t[one] for one in choices) for t in kind]) for kind in kinds])
        )

    def best_mean(some: list[tuple[str, ...]]) -> float:
        return max(mean_of_best([one]) for one in some)

    chance, tvcs, learned = (mean_of_best([(name,)]) for name in ("chance", TVCS, LEARNED))
    reached = [
        learned, best_mean(one_part), best_mean(there), mean_of_best(one_part),
        mean_of_best(there), mean_of_best([*there, (TVCS,), (LEARNED,)]),
    ]  # fmt: skip
    cells = (f"{value:.3f} ({value / tvcs:.2f})" for value in reached)
    return [str(sum(map(len, kinds))), f"{chance:.3f}", f"{tvcs:.3f}", *cells]


if __name__ == "__main__":
    main()
