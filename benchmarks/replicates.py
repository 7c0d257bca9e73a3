"""Replicates without identity: series of their own, or their mean? -> a table on standard output.

    python -m benchmarks.replicates [--networks N] [--genes N] [--conditions N] [--times N]
                                    [--replicates N] [--noise SD] [--seed N]

Time courses of which every sample is another individual. Each simulated level is measured in so
many individuals, which differ by log-normal noise. The default method without probabilities ranks
edges by the k-th individuals of each time as series (``--replicates unpaired``), in two labellings
at random, and by the means (``--replicates average``). Cells are means of AUPR; *alike* is the
share of the first edges, one per gene, that both labellings have.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np

from benchmarks.pages import table
from benchmarks.peers.areas import average_precision
from grn_tvcs import Expression, Network, infer
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import Example, draw_example
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

LABELLINGS = 2
COLUMNS = ("networks", "chance", "averaged", "unpaired", "unpaired better", "alike")


def unpaired(data: Expression, n: int, sd: float, rng: np.random.Generator) -> Expression:
    """Return n individuals for each sample, the k-th of each time as a series."""
    noise = np.exp(rng.normal(0.0, sd, (n, *data.values.shape)))
    values = np.concatenate([data.values * one for one in noise])
    names = tuple(f"{name}.{k}" for k in range(n) for name in data.series)
    return replace(data, values=values, times=np.tile(data.times, n), series=names)


def relabelled(data: Expression, n: int, rng: np.random.Generator) -> Expression:
    """Return the same with the individuals of each time in another order."""
    size = len(data.times) // n
    order = np.array([rng.permutation(n) for _ in range(size)]).T * size + np.arange(size)
    return replace(data, values=data.values[order.ravel()])


def averaged(data: Expression, n: int) -> Expression:
    """Return the means of the individuals."""
    size = len(data.times) // n
    means = data.values.reshape(n, size, -1).mean(axis=0)
    names = tuple(name.rpartition(".")[0] for name in data.series[:size])
    return replace(data, values=means, times=data.times[:size], series=names)


def ranked(data: Expression) -> Network:
    """Rank edges by the default method, without networks of the design."""
    return infer(data, calibrate=0, rng=0, max_edges=len(data.genes))


def aupr(network: Network, made: Example) -> float:
    """Return the area under the precision-recall curve."""
    pairs = ~np.eye(len(network.genes), dtype=bool)  # both are in the order of names
    return average_precision(made.is_edge[pairs], network.scores[pairs])


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("--genes", type=int, default=15)
    parser.add_argument("--conditions", type=int, default=2)
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--replicates", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds = [kind for kind in KINDS if kind not in NULLS]
    design = Design(given.genes, given.genes, given.conditions, given.times)
    rows = []
    for k in range(given.networks):
        rng = stream(given.seed, "replicates", str(k))
        made = draw_example(design, kinds[k % len(kinds)], rng)
        data = unpaired(made.expression, given.replicates, given.noise, rng)
        means = aupr(ranked(averaged(data, given.replicates)), made)
        found = [ranked(relabelled(data, given.replicates, rng)) for _ in range(LABELLINGS)]
        first = np.mean([aupr(network, made) for network in found])
        both = np.logical_and.reduce([network.selected for network in found]).sum()
        chance = made.is_edge.sum() / (given.genes * (given.genes - 1))
        rows.append([chance, means, first, first > means, both / found[0].n_selected])
    cells = [f"{mean:.3f}" for mean in np.mean(rows, axis=0)]
    print(table(COLUMNS, [[str(given.networks), *cells]]))


if __name__ == "__main__":
    main()
