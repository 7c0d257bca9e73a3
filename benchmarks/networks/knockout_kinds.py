"""Networks from without hubs to stars, and their experiments, for the study of knock-outs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grn_tvcs import Expression, Network, simulate
from grn_tvcs.simulation.simulation import TIME_STEP

N_POINTS = 21
N_SERIES = {10: 5}  # 10 for all other sizes
NOISES = (("normal", 0.03), ("normal", 0.1), ("lognormal", 0.1), ("microarray", 1.0))
MAX_IN_DEGREE = 6
ACTIVATING = 0.55
# How many genes regulate, of n, and how far a regulator with more targets draws the next ones.
KINDS = {
    "flat": lambda n, rng: (rng.uniform(0.6, 1) * n, 0.0),
    "mid": lambda n, rng: (rng.uniform(0.25, 0.7) * n, rng.uniform(0.3, 1)),
    "hub": lambda n, rng: (rng.uniform(1, 2.5) * n**0.5, rng.uniform(0.6, 1.3)),
    "star": lambda n, rng: (int(rng.integers(1, 4)), rng.uniform(0.6, 1.3)),
}


@dataclass(frozen=True)
class Made:
    """What the study needs of a simulation."""

    network: Network
    expression: Expression
    wild_type: np.ndarray
    knockouts: np.ndarray
    knockdowns: np.ndarray


def draw_topology(kind: str, n_genes: int, rng: np.random.Generator) -> Network:
    """Draw 1 to 2.6 edges per gene, each target from all genes alike."""
    n_regulators, pull = KINDS[kind](n_genes, rng)
    regulators = rng.permutation(n_genes)[: max(1, min(n_genes, round(n_regulators)))]
    edges = np.zeros((n_genes, n_genes), dtype=bool)
    for _ in range(round(rng.uniform(1, 2.6) * n_genes)):
        free = np.zeros_like(edges)
        free[regulators] = True
        np.fill_diagonal(free, False)
        free &= ~edges
        free[:, edges.sum(axis=0) >= MAX_IN_DEGREE] = False
        weight = free * ((edges.sum(axis=1) + 1.0) ** pull)[:, None]
        weight /= np.maximum(free.sum(axis=1), 1)[:, None]
        if not weight.any():
            break
        edges.flat[rng.choice(edges.size, p=weight.ravel() / weight.sum())] = True
    signs = np.where(rng.random(edges.shape) < ACTIVATING, 1, -1) * edges
    genes = tuple(f"G{i + 1}" for i in range(n_genes))
    return Network(genes, edges.astype(float), signs.astype(np.int8))


def simulated(topology: Network, number: int, rng: np.random.Generator, path: Path | None) -> Made:
    """All experiments on a network; noises change with every second `number`.

    If `path` is given, they are taken from there, or left there.
    """
    if path is not None and path.exists():
        return _loaded(topology, path)
    noise, level = NOISES[number // 2 % len(NOISES)]
    n_series = N_SERIES.get(len(topology.genes), 10)
    made = simulate(
        n_series=n_series, n_points=N_POINTS, topology=topology,
        noise=noise, noise_level=level, rng=rng,
    )  # fmt: skip
    if path is not None:
        levels = {name: getattr(made, name) for name in ("wild_type", "knockouts", "knockdowns")}
        np.savez_compressed(path, series=made.expression.values, **levels)
    return Made(made.network, made.expression, made.wild_type, made.knockouts, made.knockdowns)


def _loaded(topology: Network, path: Path) -> Made:
    with np.load(path) as file:
        levels = {name: file[name] for name in file.files}
    values = levels.pop("series")
    n_series = len(values) // N_POINTS
    times = np.tile(np.arange(N_POINTS) * TIME_STEP, n_series)
    series = tuple(str(s + 1) for s in range(n_series) for _ in range(N_POINTS))
    return Made(topology, Expression(values, times, series, topology.genes), **levels)
