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

from grn_tvcs.evidence.correlation import rank_correlation
from grn_tvcs.evidence.mutual_information import mutual_information
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules


def aracne(
    expression: Expression, rules: Rules, rng: np.random.Generator, *, tolerance: float = 0.0
) -> Network:
    """Score pairs by mutual information, 0 where the inequality removes the edge; same both ways.

    The cut is the method's own: `selected` are the edges that stay. `tolerance` is eps, in nats;
    a larger one removes fewer edges.
    """
    rho = rank_correlation(expression.levels)
    information = mutual_information(rho)
    through = np.zeros_like(information)  # the best way from i to j over one other gene
    for k in range(len(information)):
        np.maximum(through, np.minimum(information[:, k, None], information[k]), out=through)
    scores = np.where(information >= through - tolerance, information, 0.0)
    np.fill_diagonal(scores, 0.0)
    return Network(expression.genes, scores, np.sign(rho).astype(np.int8))
