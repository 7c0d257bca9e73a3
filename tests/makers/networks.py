"""Networks over few regulators and targets, and the same over all genes."""

import numpy as np

from grn_tvcs import Network
from grn_tvcs.network.pairs import KINDS, Pairs


def over_all_genes(network):
    """The same network, kept over genes x genes."""
    return Network.of(network.genes, **{name: getattr(network, name) for name in KINDS})


def random_network(seed, n=9):
    """Few regulators and targets, ties, pairs without a score, genes in no order."""
    rng = np.random.default_rng(seed)
    regulators, targets = (np.sort(rng.choice(n, k, replace=False)) for k in (4, 6))
    scores = rng.integers(0, 4, (4, 6)) / 3 * (regulators[:, None] != targets)
    pairs = Pairs.correlated(regulators, targets, rng.normal(size=(4, 6)), scores)
    return Network(tuple(f"G{i}" for i in rng.permutation(n)), pairs).select_top(5)


def random_reference(seed, n=9):
    """A few true edges with signs over the same genes, in another order."""
    rng = np.random.default_rng(100 + seed)
    places = [(i, j) for i, j in rng.integers(0, n, (12, 2)).tolist() if i != j]
    edges = sorted(set(places))
    ends = [i for i, _ in edges], [j for _, j in edges]
    known = {"scores": [1.0] * len(edges), "signs": rng.integers(-1, 2, len(edges))}
    return Network(tuple(f"G{i}" for i in rng.permutation(n)), Pairs.listed(ends, known))
