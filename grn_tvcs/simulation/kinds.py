"""Kinds of topologies, from networks without hubs to stars."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from grn_tvcs.network.network import Network

MAX_IN_DEGREE = 6
ACTIVATING = 0.55
EDGES_PER_GENE = (1.0, 2.6)
# How many genes regulate, of n, and how far a regulator with more targets draws the next ones.
KINDS: dict[str, Callable[[int, np.random.Generator], tuple[float, float]]] = {
    "flat": lambda n, rng: (rng.uniform(0.6, 1) * n, 0.0),
    "mid": lambda n, rng: (rng.uniform(0.25, 0.7) * n, rng.uniform(0.3, 1)),
    "hub": lambda n, rng: (rng.uniform(1, 2.5) * n**0.5, rng.uniform(0.6, 1.3)),
    "star": lambda n, rng: (int(rng.integers(1, 4)), rng.uniform(0.6, 1.3)),
}
NULLS = ("noise", "walk", "autoregression")  # tables without any network
# ... and those of a common stimulus: only the trees that tell tables without edges learn from them
DRIVEN = "driven"


def draw_topology(
    kind: str, n_genes: int, rng: np.random.Generator, candidates: ArrayLike | None = None
) -> Network:
    """Draw 1 to 2.6 edges per gene, each target from all genes alike.

    An edge takes its regulator by the targets that it has, to the power of the kind, and its
    target from those that are left to it: at most 6 edges come to a gene.

    Parameters
    ----------
    kind
        One of `KINDS`.
    n_genes
        At least 2; they are called G1, G2, ...
    rng
        Where the numbers come from.
    candidates
        Places of the genes that may regulate; all by default. Shares of the genes that do
        regulate are shares of these.

    Raises
    ------
    ValueError
        If the kind is unknown.
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
        # One number says the regulator, and by what is left of it the target.
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
