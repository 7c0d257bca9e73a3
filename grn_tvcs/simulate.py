"""Simulated networks and their time series: a sparse, stable, linear system with noise.

``x[t+1] = x[t] + STEP * (B x[t] + drive - x[t]) + noise``: every gene decays towards what its
regulators and its own drive ask for. In every series each gene's drive is changed with
probability one third for the first half of the time, then released, as in the DREAM challenge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression import Expression
from grn_tvcs.network import Network

STEP = 0.5  # part of the way to its aim that a gene goes in one time step
STRENGTH = (0.4, 1.0)  # range of an effect before the whole is made stable
LARGEST_GAIN = 0.8  # spectral radius of the effects' sizes, below 1: the system is stable
MAX_IN_DEGREE = 4  # regulators of a gene at most
HUBS = 0.3  # part of the genes that regulate; a few of them have most targets
PERTURBED = 1 / 3  # chance that a gene's drive is changed in a series
TIME_STEP = 50.0


@dataclass(frozen=True)
class Simulation:
    """A network and series measured on it.

    Attributes
    ----------
    expression
        Measured levels, >= 0, the largest being 1.
    network
        The true edges, with their signs.
    """

    expression: Expression
    network: Network


def simulate(
    n_genes: int = 30,
    n_series: int = 10,
    n_points: int = 21,
    *,
    n_edges: int | None = None,
    noise: float = 0.05,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Grow a network with hubs and measure it over time.

    Parameters
    ----------
    n_genes
        At least 2; they are called G1, G2, ...
    n_series, n_points
        Number of series, >= 1, and time points of each, >= 2; all start at rest.
    n_edges
        Edges of the network, 1.5 per gene by default; at most 4 per gene can be placed.
    noise
        Standard deviation of the measurement as a part of the largest level; half as much again
        moves the levels themselves at every step.
    rng
        Seed or generator; the same one gives the same simulation.

    Raises
    ------
    ValueError
        If a size is too small, the noise is not in [0, 1], or the edges do not fit.
    """
    for name, value, least in (
        ("n_genes", n_genes, 2), ("n_series", n_series, 1), ("n_points", n_points, 2)
    ):  # fmt: skip
        if value < least:
            raise ValueError(f"{name} must be >= {least}, found {value}")
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be in [0, 1], found {noise}")
    rng = np.random.default_rng(rng)
    n_edges = round(1.5 * n_genes) if n_edges is None else n_edges
    effects = _effects(_grown(n_genes, n_edges, rng), rng)
    drive = rng.uniform(0.5, 1.5, n_genes)
    series = [_series(effects, drive, n_points, noise, rng) for _ in range(n_series)]
    levels = np.concatenate(series)
    scale = levels.max()
    measured = np.maximum(levels + rng.normal(0.0, noise * scale, levels.shape), 0.0)
    genes = tuple(f"G{i + 1}" for i in range(n_genes))
    expression = Expression(
        measured / measured.max(),
        np.tile(np.arange(n_points) * TIME_STEP, n_series),
        tuple(str(s + 1) for s in range(n_series) for _ in range(n_points)),
        genes,
    )
    return Simulation(
        expression, Network(genes, (effects != 0).astype(float), np.sign(effects).astype(np.int8))
    )


def _grown(n_genes: int, n_edges: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Place edges one by one; regulators with more targets get more, as hubs do."""
    regulators = rng.permutation(n_genes)[: max(2, round(HUBS * n_genes))]
    most = sum(min(MAX_IN_DEGREE, regulators.size - (j in regulators)) for j in range(n_genes))
    if not 1 <= n_edges <= most:
        raise ValueError(
            f"n_edges must be in [1, {most}] for {n_genes} genes of which {regulators.size} "
            f"regulate and none has more than {MAX_IN_DEGREE} regulators, found {n_edges}"
        )
    edges = np.zeros((n_genes, n_genes), dtype=bool)
    may_be = np.zeros_like(edges)
    may_be[regulators] = True
    np.fill_diagonal(may_be, False)
    for _ in range(n_edges):
        free = may_be & ~edges & (edges.sum(axis=0) < MAX_IN_DEGREE)
        # A gene without regulators is three times as likely to get the next edge.
        wish = free * (1.0 + edges.sum(axis=1))[:, None] * np.where(edges.any(axis=0), 1.0, 3.0)
        chosen = rng.choice(edges.size, p=(wish / wish.sum()).ravel())
        edges.flat[chosen] = True
    return edges


def _effects(edges: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.float64]:
    """Sizes and signs, ``[regulator, target]``, two thirds activating, scaled to be stable."""
    size = rng.uniform(*STRENGTH, edges.shape) * edges
    radius = np.abs(np.linalg.eigvals(size)).max()
    size *= min(1.0, LARGEST_GAIN / radius) if radius > 0 else 1.0
    return size * np.where(rng.uniform(size=edges.shape) < 2 / 3, 1.0, -1.0)


def _series(
    effects: NDArray[np.float64],
    drive: NDArray[np.float64],
    n_points: int,
    noise: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    n_genes = drive.size
    rest = np.linalg.solve(np.eye(n_genes) - effects.T, drive)
    # Levels move around `base`, which keeps repressed genes above zero.
    base = np.maximum(rest, 0.5)
    is_changed = rng.uniform(size=n_genes) < PERTURBED
    push = np.where(is_changed, rng.uniform(-1.0, 1.0, n_genes), 0.0)
    change = np.zeros((n_points, n_genes))
    for t in range(1, n_points):
        aim = change[t - 1] @ effects + (push if t <= n_points // 2 else 0.0)
        change[t] = change[t - 1] + STEP * (aim - change[t - 1])
        change[t] += rng.normal(0.0, noise / 2, n_genes)
        change[t] = np.maximum(change[t], -base)
    return base + change
