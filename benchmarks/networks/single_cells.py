"""Cells along pseudotime: what bins are worth, and dynGENIE3 on the same bins.

Every cell is a run of its own of the kinetic model under noise, measured once, at its own time:
from the wild type, shifts of basal activations lead it through the stages of its lineage. To levels
comes lognormal noise (sd .1 of log10); half of those below the median of their gene are dropouts,
0; pseudotime is the time plus normal noise of 5 % of the longest. Lineages share the cells of their
common stages, as slingshot's do. Every table has a network of its own; every other one has few
hubs. `combined` simulates no networks here (calibrate 0), which changes no ranking.

    python -m benchmarks.networks.single_cells [--networks 2] [--cells 2000] [--ways A B ...]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from grn_tvcs import Expression, infer
from grn_tvcs.expression import average_in_bins
from grn_tvcs.expression.options import AUTO, OFF
from grn_tvcs.network.scores import score
from grn_tvcs.simulation.kernels import integrate_sde
from grn_tvcs.simulation.kinetics import draw_kinetics
from grn_tvcs.simulation.simulation import SDE, _Laboratory
from grn_tvcs.simulation.topology import grow
from tvcs_core.streams import stream

STAGE = 120  # units of time, two or three half-lives
# Lineages as stages one after the other; a stage is a shift of activations, 0 is the wild type.
TOPOLOGIES = {
    "linear": [(1,)],
    "long linear": [(1, 2, 3, 4)],
    "loop": [(1, 0)],
    "bifurcating": [(1, 2), (1, 3)],
    "trifurcating": [(1, 2), (1, 3), (1, 4)],
    "converging": [(1, 2, 4), (1, 3, 4)],
}
DROPPED, NOISE, BLUR = 0.5, 0.1, 0.05
PEER = "auto, dynGENIE3"
WAYS: dict[str, tuple[int | str, str]] = {
    "cells": (OFF, "tvcs"),
    "auto": (AUTO, "tvcs"),
    "20 bins": (20, "tvcs"),
    "50 bins": (50, "tvcs"),
    "auto, combined": (AUTO, "combined"),
    PEER: (AUTO, "dyngenie3"),
    "auto, GENIE3": (AUTO, "genie3"),
}


def cells_of(
    lineages: list[tuple[int, ...]], n_genes: int, regulators: int | None, n_cells: int, seed: int
) -> tuple[Expression, object]:
    """Simulate cells of some lineages; the true network beside them."""
    kinetics = draw_kinetics(grow(n_genes, min_regulators=regulators, rng=seed), seed)
    laboratory = _Laboratory(kinetics, SDE, seed)
    rng = stream(seed, "cells")
    shifts = {0: np.zeros(n_genes)} | {s: laboratory.perturbation(s) for s in (1, 2, 3, 4)}
    longest = STAGE * max(map(len, lineages))
    where = rng.integers(len(lineages), size=n_cells)
    when = np.array([rng.uniform(0, STAGE * len(lineages[k])) for k in where])
    levels = np.empty((n_cells, n_genes))
    for c in range(n_cells):
        state = laboratory.wild_type.copy()
        for place, stage in enumerate(lineages[where[c]]):
            steps = int(np.clip(when[c] - STAGE * place, 0, STAGE))
            if steps:
                normals = rng.standard_normal((steps, 2, n_genes))
                alphas = kinetics.shifted(shifts[stage])
                integrate_sde(state, alphas, np.ones(n_genes), kinetics.arrays(), SDE, normals)
        levels[c] = state[0]
    levels *= 10 ** (NOISE * rng.standard_normal(levels.shape))
    low = levels < np.median(levels, axis=0)
    levels[low & (rng.random(levels.shape) < DROPPED)] = 0.0
    guessed = when + BLUR * longest * rng.standard_normal(n_cells)
    parts, times, names = [], [], []
    for k, stages in enumerate(lineages):
        n_common = [
            next((i for i, (a, b) in enumerate(zip(stages, other, strict=False)) if a != b), 0)
            for other in lineages
        ]
        is_in = np.array(
            [w == k or when[c] < STAGE * n_common[w] for c, w in enumerate(where)], dtype=bool
        )
        order = np.flatnonzero(is_in)[np.argsort(guessed[is_in])]
        parts.append(levels[order])
        times.append(guessed[order])
        names += [f"lineage {k + 1}"] * order.size
    found = Expression(np.concatenate(parts), np.concatenate(times), tuple(names), kinetics.names)
    return found, kinetics.network


def main() -> None:
    """Print the AUPR of every way on every topology."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=2, help="of each topology")
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--genes", type=int, default=20)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), metavar="WAY")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table: dict[str, dict[str, list[float]]] = {}
    for place, (kind, lineages) in enumerate(TOPOLOGIES.items()):
        row = table.setdefault(kind, {})
        for k in range(given.networks):
            seed = k * len(TOPOLOGIES) + place
            many = round(0.8 * given.genes) if k % 2 else None
            data, true = cells_of(lineages, given.genes, many, given.cells, seed)
            for way in given.ways:
                bins, method = WAYS[way]
                measured = data if bins == OFF else average_in_bins(data, bins)
                options = {"combined": {"calibrate": 0}, "tvcs": {}}.get(
                    method, {"trees": given.trees}
                )
                network = infer(measured, method, scale="levels", rng=0, **options)
                row.setdefault(way, []).append(score(network, true).aupr)
            row.setdefault("chance", []).append(score(network, true).aupr_by_chance)
            clock = time.strftime("%H:%M:%S")
            last = {way: round(found[-1], 3) for way, found in row.items()}
            print(f"{clock} {kind}, network {seed}: {last}", flush=True)
    ways = list(next(iter(table.values())))
    print("| topology |", " | ".join(ways), "|")
    print("|---|" + "---|" * len(ways))
    for kind, row in table.items():
        print(f"| {kind} |", " | ".join(f"{np.mean(row[way]):.3f}" for way in ways), "|")
    found = {way: np.concatenate([row[way] for row in table.values()]) for way in ways}
    print("| mean |", " | ".join(f"{found[way].mean():.3f}" for way in ways), "|")
    if PEER in found:
        more = (
            f"{way} {describe_differences(found[way] - found[PEER])}" for way in ways if way != PEER
        )
        print(f"less {PEER}, with the standard error over tables: {', '.join(more)}")


def describe_differences(differences: np.ndarray) -> str:
    """Mean and standard error."""
    error = differences.std(ddof=1) / len(differences) ** 0.5 if len(differences) > 1 else np.nan
    return f"{differences.mean():+.3f} ({error:.3f})"


if __name__ == "__main__":
    main()
