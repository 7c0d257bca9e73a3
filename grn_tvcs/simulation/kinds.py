"""Kinds of topologies, from networks without hubs to stars."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from grn_tvcs.network.network import Network
from grn_tvcs.simulation.topology import ACTIVATING, MAX_IN_DEGREE

EDGES_PER_GENE = (1.0, 2.6)  # range around that of bacteria and yeast, 1.6 (`topology`)
# Number of regulators among n candidates, and exponent of preferential attachment.
KINDS: dict[str, Callable[[int, np.random.Generator], tuple[float, float]]] = {
    "flat": lambda n, rng: (rng.uniform(0.6, 1) * n, 0.0),
    "mid": lambda n, rng: (rng.uniform(0.25, 0.7) * n, rng.uniform(0.3, 1)),
    "hub": lambda n, rng: (rng.uniform(1, 2.5) * n**0.5, rng.uniform(0.6, 1.3)),
    "star": lambda n, rng: (int(rng.integers(1, 4)), rng.uniform(0.6, 1.3)),
}
NULLS = ("noise", "walk", "autoregression")  # tables without any network


def draw_topology(
    kind: str, n_genes: int, rng: np.random.Generator, candidates: ArrayLike | None = None
) -> Network:
    """Draw 1 to 2.6 edges per gene, with targets drawn uniformly.

    The regulator of an edge is drawn in proportion to a power of its number of targets, by kind. At
    most 6 edges lead to a gene.

    Parameters
    ----------
    kind
        One of `KINDS`.
    n_genes
        At least 2; named G1, G2, ...
    rng
        Random generator.
    candidates
        Indices of the genes that may regulate; all by default. Fractions of regulators are
        fractions of these.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, found {kind!r}")
    pool = np.arange(n_genes) if candidates is None else np.asarray(candidates)
    n_regulators, pull = KINDS[kind](pool.size, rng)
    regulators = np.sort(rng.permutation(pool)[: max(1, min(pool.size, round(n_regulators)))])
    edges = np.zeros((n_genes, n_genes), dtype=bool)
    free = np.zeros_like(edges)
    free[regulators] = True
    np.fill_diagonal(free, False)
    for _ in range(round(rng.uniform(*EDGES_PER_GENE) * n_genes)):
        n_free = free[regulators].sum(axis=1)
        if not n_free.any():
            break
        wish = (edges[regulators].sum(axis=1) + 1.0) ** pull * (n_free > 0)
        upto = np.cumsum(wish)
        # One random number determines the regulator, and its remainder the target.
        drawn = rng.random() * upto[-1]
        k = int(np.searchsorted(upto, drawn, side="right"))
        among = int((drawn - (upto[k] - wish[k])) / wish[k] * n_free[k])
        targets = np.flatnonzero(free[regulators[k]])
        target = targets[min(among, n_free[k] - 1)]
        edges[regulators[k], target] = True
        free[regulators[k], target] = False
        if edges[:, target].sum() >= MAX_IN_DEGREE:
            free[:, target] = False
    signs = np.where(rng.random(edges.shape) < ACTIVATING, 1, -1) * edges
    genes = tuple(f"G{i + 1}" for i in range(n_genes))
    return Network.of(genes, edges.astype(float), signs.astype(np.int8))
