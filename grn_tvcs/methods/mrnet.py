"""MRNET: regulators of maximum relevance and minimum redundancy, the method of minet.

For every target i genes are taken one by one. In each step the gene j is added to the set S that
has the largest

    s_j = I(j; i) - mean of I(j; k) over k in S       (relevance less redundancy; the mean of
                                                       nothing is 0)

until no s_j is above 0. The score of a pair is the larger of s_j with target i and s_i with target
j. The mutual information is that of `evidence.mutual_information`. Meyer, Kontos, Lafitte and
Bontempi, EURASIP Journal on Bioinformatics and Systems Biology 2007, 79879; minet: Meyer, Lafitte
and Bontempi, BMC Bioinformatics 9, 461 (2008).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import rank_correlation
from grn_tvcs.evidence.mutual_information import mutual_information
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules


def mrnet(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by relevance less redundancy when the one was chosen for the other.

    The same both ways, 0 where neither was chosen; of equal genes the first by name is chosen.
    """
    rho = rank_correlation(expression.levels)
    chosen = forward_selection(mutual_information(rho))
    return Network(expression.genes, np.maximum(chosen, chosen.T), np.sign(rho).astype(np.int8))


def forward_selection(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score with which each gene (column) was chosen for each target (row), 0 if it was not.

    All targets take their steps together.
    """
    scores = np.zeros_like(information)
    redundancy = np.zeros_like(information)  # [i, j]: sum of I(j; k) over k chosen for i
    open_to = ~np.eye(len(information), dtype=bool)
    targets = np.arange(len(information))
    for n_chosen in range(len(information) - 1):
        gain = information[targets] - redundancy[targets] / max(n_chosen, 1)
        gain = np.where(open_to[targets], gain, -np.inf)
        best = gain.argmax(axis=1)
        value = gain[np.arange(targets.size), best]
        goes_on = value > 0
        targets, best = targets[goes_on], best[goes_on]
        if not targets.size:
            break
        scores[targets, best] = value[goes_on]
        open_to[targets, best] = False
        redundancy[targets] += information[best]
    return scores
