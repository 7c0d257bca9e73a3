"""What prior edges bring, and what wrong ones cost: lists of 0 to 100 % wrong edges.

    python -m benchmarks.networks.priors [--method NAME] [--networks N N N]

Networks of our simulator, without hubs to with hubs, of 10, 30 and 100 genes. A list holds half of
the true edges and so many wrong ones that 0, 25, 50 or 75 % of it are wrong; at 100 % it holds as
many wrong ones as half of the true edges and no true one. Wrong edges are drawn from all pairs that
are none ("anywhere"), or are true ones turned around, which the data believe more readily. A row
per network and list goes to FILE, and a table of means, the worst first, to the terminal.
"""

from __future__ import annotations

import argparse
import csv
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.networks.knockout_kinds import simulated
from grn_tvcs import Expression, Network, Prior, infer, score
from grn_tvcs.methods.table import METHODS
from grn_tvcs.simulation.kinds import draw_topology
from tvcs_core.streams import stream

KINDS = ("flat", "mid", "hub")
SIZES = (10, 30, 100)
# What wrong edges are, and how many: there are not enough to turn around for three in four.
FAULTS = {"anywhere": (1.0, 0.75, 0.5, 0.25, 0.0), "turned around": (1.0, 0.5)}
TIMES = re.compile(r"has ([\d.]+) times")  # in the notes of a network


@dataclass(frozen=True)
class Row:
    """One list on one network."""

    genes: int
    kind: str
    network: int
    fault: str
    wrong: float
    listed: int
    without: float  # AUPR
    aupr: float
    odds_ratio: float


def main() -> None:
    given = _arguments()
    rows = []
    with given.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(Row))
        for row in all_rows(given.method, given.networks, given.seed, given.resamples):
            rows.append(row)
            writer.writerow(vars(row).values())
            file.flush()
    print(table(rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--method", default="combined", metavar="NAME")
    parser.add_argument(
        "--networks", type=int, nargs=len(SIZES), default=(4, 2, 1), metavar="N",
        help="Networks of each kind with 10, 30 and 100 genes.",
    )  # fmt: skip
    parser.add_argument("--resamples", type=int, default=30, metavar="HALVES")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("priors.csv"), metavar="FILE")
    return parser.parse_args()


def all_rows(method: str, networks: tuple[int, ...], seed: int, resamples: int) -> Iterator[Row]:
    options = {"resamples": resamples} if "resamples" in METHODS[method].options else {}
    for n_genes, n_networks in zip(SIZES, networks, strict=True):
        for kind in KINDS:
            for number in range(n_networks):
                rng = stream(seed, "prior edges", kind, str(n_genes), str(number))
                one = simulated(draw_topology(kind, n_genes, rng), 2 * number, rng, None)
                yield from judged(one.network, one.expression, kind, number, method, options, rng)


def judged(
    truth: Network,
    expression: Expression,
    kind: str,
    number: int,
    method: str,
    options: dict[str, Any],
    rng: np.random.Generator,
) -> Iterator[Row]:
    """Rows of all lists of one network."""

    def inferred(prior: Prior | None) -> tuple[float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant genes
            network = infer(expression, method, prior=prior, scale="levels", rng=0, **options)
        found = TIMES.search(" ".join(network.notes))
        return score(network, truth).aupr, float(found[1]) if found else 1.0

    without, _ = inferred(None)
    for fault, shares in FAULTS.items():
        for wrong in shares:
            prior = draw_prior(truth, wrong, fault, rng)
            aupr, ratio = inferred(prior)
            yield Row(
                len(truth.genes),
                kind,
                number + 1,
                fault,
                wrong,
                prior.n_edges,
                without,
                aupr,
                ratio,
            )


def draw_prior(truth: Network, wrong: float, fault: str, rng: np.random.Generator) -> Prior:
    """A list of half of the true edges of which, with the wrong ones, `wrong` are wrong."""
    is_edge = truth.selected
    is_wrong = ~is_edge & ~np.eye(len(is_edge), dtype=bool)
    if fault == "turned around":
        is_wrong &= is_edge.T
    half = int(is_edge.sum()) // 2
    n_right, n_wrong = (0, half) if wrong == 1 else (half, round(half * wrong / (1 - wrong)))
    weights = np.zeros(is_edge.shape)
    for pairs, n in ((is_edge, n_right), (is_wrong, n_wrong)):
        places = rng.permutation(np.flatnonzero(pairs))[:n]
        weights.flat[places] = 1.0
    return Prior(truth.genes, weights)


def table(rows: list[Row]) -> str:
    """Means over networks, the list that costs most first."""
    found: dict[tuple[int, str, str, float], list[Row]] = {}
    for row in rows:
        found.setdefault((row.genes, row.kind, row.fault, row.wrong), []).append(row)
    lines = [
        (
            float(np.mean([row.aupr - row.without for row in group])),
            f"| {genes} | {kind} | {fault} | {100 * wrong:.0f} % "
            f"| {np.mean([row.without for row in group]):.3f} "
            f"| {np.mean([row.aupr for row in group]):.3f} "
            f"| {np.mean([row.aupr - row.without for row in group]):+.3f} "
            f"| {np.exp(np.mean([np.log(row.odds_ratio) for row in group])):.1f} |",
        )
        for (genes, kind, fault, wrong), group in found.items()
    ]
    head = "| genes | kind | wrong edges | wrong | without | with | gain | odds ratio |"
    return "\n".join(
        [head, "|---|---|---|---|---|---|---|---|", *(line for _, line in sorted(lines))]
    )


if __name__ == "__main__":
    main()
