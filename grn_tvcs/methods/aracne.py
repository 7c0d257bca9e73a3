"""ARACNE: mutual information, pruned by the data processing inequality.

If gene k lies between i and j, then I(i; j) <= min(I(i; k), I(k; j)). In every triple, the pair
with the least mutual information therefore counts as indirect, and its edge is removed:

    i - j stays  if  I(i; j) >= min(I(i; k), I(k; j)) - eps  for every other gene k.

All triples use the full matrix. eps = 0 as in minet; mutual information is that of
`evidence.mutual_information`. Margolin, Nemenman, Basso et al., BMC Bioinformatics 7 (Suppl 1), S7
(2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.mutual_information import mutual_information
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Pairs were scored by ARACNE (Margolin et al., 2006): their mutual information, that of "
    "Gaussian variables with the measured rank correlation (Meyer et al., 2008), less the "
    "pairs that the data processing inequality marks as indirect; time was not used."
)

TILE = 30_000  # pairs whose float64 values fit into the L2 cache

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def aracne(
    expression: Expression, rules: Rules, rng: np.random.Generator, *, tolerance: float = 0.0
) -> Network:
    """Score pairs by mutual information, 0 for edges that the inequality removes; symmetric.

    `selected` holds the edges that stay, the method's own selection. `tolerance` is eps, in nats; a
    larger value removes fewer edges.
    """
    regulators, targets, _ = rules.candidates(expression.genes)
    rho = RankCorrelations(expression.unbinned_levels)
    r = rho.of(regulators, targets)
    scores = mutual_information(r)
    scores[scores < strongest_indirect_path(rho, regulators, targets) - tolerance] = 0.0
    pairs = Pairs.correlated(regulators, targets, r, scores)
    return Network(expression.genes, pairs)


def strongest_indirect_path(rho: RankCorrelations, regulators: Indices, targets: Indices) -> Array:
    """Return max over genes k of min(I(i; k), I(k; j)) for each regulator i and target j."""
    best = np.zeros((regulators.size, targets.size))
    step = max(1, TILE // max(targets.size, 1))
    for _, block in rho.blocks():
        information = mutual_information(block)
        for start in range(0, regulators.size, step):
            # One tile stays in the cache during the loop over the genes of the chunk.
            through, rows = best[start : start + step], regulators[start : start + step]
            either = np.empty_like(through)
            for one in information:
                np.minimum(one[rows, None], one[targets], out=either)
                np.maximum(through, either, out=through)
    return best
