"""MRNET: regulators of maximum relevance and minimum redundancy, the method of minet.

For every target i, genes are selected one by one. Each step adds the gene j with the largest

    s_j = I(j; i) - mean of I(j; k) over k in S       (relevance less redundancy; the mean over an
                                                       empty S is 0)

to the set S, until no s_j is above 0. The score of a pair is the larger of s_j with target i and
s_i with target j. Mutual information is that of `evidence.mutual_information`. Meyer, Kontos,
Lafitte and Bontempi, EURASIP Journal on Bioinformatics and Systems Biology 2007, 79879; minet:
Meyer, Lafitte and Bontempi, BMC Bioinformatics 9, 461 (2008).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.mutual_information import MutualInformation
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules

DESCRIPTION = (
    "Pairs were scored by MRNET (Meyer et al., 2007): relevance less redundancy in forward "
    "selection, by the mutual information of Gaussian variables with the measured rank "
    "correlation (Meyer et al., 2008); time was not used."
)

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def mrnet(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score pairs by relevance less redundancy, when one gene was selected for the other.

    Symmetric; 0 if neither was selected. Ties go to the first gene by name.
    """
    regulators, targets, _ = rules.candidates(expression.genes)
    rho = RankCorrelations(expression.unbinned_levels)
    information = MutualInformation(rho)
    scores = np.zeros((regulators.size, targets.size))
    row_of, column_of = (_place_in(some, rho.n_genes) for some in (regulators, targets))
    for genes in rho.in_blocks(np.union1d(regulators, targets)):
        for gene, chosen, value in forward_selection(information, genes):
            for one, other in ((chosen, gene), (gene, chosen)):
                rows, columns = row_of[one], column_of[other]
                counts = (rows >= 0) & (columns >= 0)
                at = rows[counts], columns[counts]
                scores[at] = np.maximum(scores[at], value[counts])
    r = rho.of(regulators, targets)
    return Network(expression.genes, Pairs.correlated(regulators, targets, r, scores))


def forward_selection(
    information: MutualInformation, genes: Indices
) -> Iterator[tuple[Indices, Indices, Array]]:
    """Yield for each step: the remaining `genes`, the gene selected for each, and its score.

    All genes take their steps together.
    """
    relevance = information.of(genes)
    redundancy = np.zeros_like(relevance)  # [i, j]: sum of I(j; k) over k chosen for i
    is_open = genes[:, None] != np.arange(relevance.shape[1])
    places = np.arange(genes.size)
    for n_chosen in range(relevance.shape[1] - 1):
        gain = relevance[places] - redundancy[places] / max(n_chosen, 1)
        gain = np.where(is_open[places], gain, -np.inf)
        best = gain.argmax(axis=1)
        value = gain[np.arange(places.size), best]
        goes_on = value > 0
        places, best = places[goes_on], best[goes_on]
        if not places.size:
            break
        yield genes[places], best, value[goes_on]
        is_open[places, best] = False
        redundancy[places] += information.of(best)


def _place_in(some: Indices, n_genes: int) -> Indices:
    """Return the index of each gene in `some`; -1 if absent."""
    places = np.full(n_genes, -1)
    places[some] = np.arange(some.size)
    return places
