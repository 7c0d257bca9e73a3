"""ARACNE: mutual information, cut by the data processing inequality.

If gene k lies between i and j, then I(i; j) <= min(I(i; k), I(k; j)). So of every three genes the
pair with the least mutual information is taken for an indirect one and its edge is removed:

    i - j stays  if  I(i; j) >= min(I(i; k), I(k; j)) - eps  for every other gene k.

All triples are judged on the full matrix. eps = 0 as in minet; the mutual information is that of
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

DESCRIBED = (
    "Pairs were scored by ARACNE (Margolin et al., 2006): their mutual information, that of "
    "Gaussian variables with the measured rank correlation (Meyer et al., 2008), less the "
    "pairs that the data processing inequality marks as indirect; time was not used."
)

TILE = 30_000  # pairs that fit into the cache of a processor

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def aracne(
    expression: Expression, rules: Rules, rng: np.random.Generator, *, tolerance: float = 0.0
) -> Network:
    """Score pairs by mutual information, 0 where the inequality removes the edge; same both ways.

    The cut is the method's own: `selected` are the edges that stay. `tolerance` is eps, in nats;
    a larger one removes fewer edges.
    """
    regulators, targets, _ = rules.candidates(expression.genes)
    rho = RankCorrelations(expression.levels)
    r = rho.of(regulators, targets)
    scores = mutual_information(r)
    scores[scores < best_way(rho, regulators, targets) - tolerance] = 0.0
    pairs = Pairs.correlated(regulators, targets, r, scores)
    return Network(expression.genes, pairs)


def best_way(rho: RankCorrelations, regulators: Places, targets: Places) -> Array:
    """Mutual information of the best way from each regulator to each target over one other gene."""
    best = np.zeros((regulators.size, targets.size))
    step = max(1, TILE // max(targets.size, 1))
    for _, block in rho.blocks():
        information = mutual_information(block)
        for start in range(0, regulators.size, step):
            # A tile stays at hand while all genes of the block have their turn.
            through, rows = best[start : start + step], regulators[start : start + step]
            either = np.empty_like(through)
            for one in information:
                np.minimum(one[rows, None], one[targets], out=either)
                np.maximum(through, either, out=through)
    return best
