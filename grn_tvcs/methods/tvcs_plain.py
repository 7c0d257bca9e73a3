"""The paper's model as printed: ``x[t+1] - x[t] = W x[t]`` by IHT under fixed caps.

On noisy series of 30 genes it is no better than chance, even with the true caps: the response
includes the gene's own decay, and raw levels share their mean. It is a baseline.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.model import paper_problem
from tvcs_core import solve

DESCRIPTION = (
    "The change of all levels from sample to sample was regressed on the levels before by "
    "iterative hard thresholding (Blumensath and Davies, 2009) under caps on regulators, "
    "targets and edges (Yang et al., 2017); an edge was scored by the size of its weight."
)

ITERATIONS = 500
EDGES_PER_GENE = 2  # cap of the model if none is given; known networks have 1 to 3


def tvcs_plain(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score edges by the size of their weight in the paper's sparse solution.

    Only edges inside the caps of `rules` (2 per gene if none is given) have a score, in level
    change per level. Here the number of edges is part of the problem solved, as in the paper, so
    another number gives other scores.
    """
    genes = expression.genes
    regulators, targets, _ = rules.candidates(genes)
    if rules.max_in_degree is rules.max_out_degree is rules.max_edges is None:
        rules = replace(rules, max_edges=EDGES_PER_GENE * len(genes))
    problem = paper_problem(expression, rules)
    W = solve(problem, "iht", rng=rng, max_iter=ITERATIONS).matrix
    return Network(genes, Pairs.correlated(regulators, targets, W))
