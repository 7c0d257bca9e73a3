"""Blend of rankings, for tables outside the domain of the learned combination.

Chances learned from simulated tables need not hold there, and no single source of evidence is best
on real tables. The blend adds weighted log ranks of several rankings, -log(1 - rank), with the rank
of a pair as a fraction of all pairs: high in any ranking counts more than low in another. Sources
without time use single cells, if samples are bins of cells.

Most rankings score both directions of a pair alike. In series that are no bins of cells, the lead
is added: by how much the lagged correlation of a pair exceeds that of its reverse.

The learned combination counts as far as it is sure of its strongest edges. It does not count far
from all simulated tables: there the sum also counts by its size, not by its rank alone.
`python -m benchmarks.real.weights` tries weights by leaving whole families of tables out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.evidence_scores import CLR, LAGGED, NEXT, RANK, RATES, EvidenceScores
from grn_tvcs.combine.platt_scaling import sigmoid
from grn_tvcs.evidence.correlation import RankCorrelations
from grn_tvcs.evidence.decomposition.partial_information import pidc_scores
from grn_tvcs.evidence.extra_trees import importances
from grn_tvcs.evidence.hubs import estimate_hub_priors
from grn_tvcs.evidence.level_trees import level_trees
from grn_tvcs.evidence.mutual_information import clr_scores
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.samples import all_levels, all_log_levels
from grn_tvcs.evidence.scaling import scale_by_top_mean, top_mean
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.execution import Execution

SUM, LEARNED, SIZE, PIDC, LEAD = "sum", "learned", "size of the sum", "pidc", "lead"
NO_RANKS = (SIZE, LEAD)  # counted by their values
# Of the learned combination the largest weight. It or the size of the sum counts, never both.
WEIGHTS = {
    SUM: 2.0, LEARNED: 2.0, SIZE: 4.0, RATES: 0.5, CLR: 0.5, RANK: 0.5, PIDC: 1.0, LEAD: 10.0,
}  # fmt: skip
SMALLEST = 1e-3  # score of the last pair, if leads make it negative
WEIGHT_PER_PROBABILITY = 5.0  # of the learned combination, by the mean of its strongest edges
TREES = 100  # per gene in the sum, as in learned evidence of small networks

Array = NDArray[np.float64]


def log_ranks(scores: Array) -> Array:
    """Return -log(1 - rank) of scores, with mid-ranks in (0, 1); equal scores share one."""
    rising = np.sort(scores)
    below, upto = (np.searchsorted(rising, scores, side) for side in ("left", "right"))
    return -np.log1p(-(below + upto) / (2.0 * max(scores.size, 1)))


def blend(
    rankings: Mapping[str, Array],
    allowed: NDArray[np.bool_],
    weights: Mapping[str, float] = WEIGHTS,
) -> Array:
    """Return the weighted sum of log ranks among the allowed pairs, 0 elsewhere; [input, gene].

    Rankings that are absent, as rates without series, do not count. Allowed pairs are above 0.
    """
    total = np.zeros(allowed.shape)
    for name, weight in weights.items():
        if name in rankings:
            values = rankings[name][allowed]
            total[allowed] += weight * (values if name in NO_RANKS else log_ranks(values))
    least = total[allowed].min(initial=np.inf)
    if least <= 0:
        total[allowed] += SMALLEST - least
    return total


def used_rankings(found: Collection[str], learned: float) -> dict[str, float]:
    """Return the weights of the rankings found on a table, given that of the learned one."""
    weights = WEIGHTS | {LEARNED: learned, SIZE: 0.0 if learned else WEIGHTS[SIZE]}
    return {name: weight for name, weight in weights.items() if weight and name in found}


def lead(lagged: Array, inputs: NDArray[np.int64], allowed: NDArray[np.bool_]) -> Array:
    """Return by how much a pair's lagged correlation exceeds its reverse's; [input, gene].

    Correlations are absolute. A pair of which one direction alone may be an edge has none.
    """
    among, both = lagged[:, inputs], allowed[:, inputs] & allowed[:, inputs].T
    found = np.zeros(lagged.shape)
    found[:, inputs] = np.where(both, among - among.T, 0.0)
    return found


def learned_weight(logits: Array, allowed: NDArray[np.bool_]) -> float:
    """Return the weight of the learned combination by its strongest edges, one per gene."""
    strongest = top_mean(np.where(allowed, sigmoid(logits), 0.0), allowed.shape[1])
    return min(WEIGHTS[LEARNED], WEIGHT_PER_PROBABILITY * strongest)


def rankings_of(
    evidence: EvidenceScores,
    logits: Array,
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    steady: SteadyStates | None,
    execution: Execution,
) -> dict[str, Array]:
    """Return the rankings that the samples allow; [input, gene].

    Parameters
    ----------
    evidence, logits
        Scores of all sources, and the log-odds of the learned combination.
    expression, rules, rng, steady
        As for every method.
    execution
        How trees are grown; their progress is not reported.
    """
    genes = expression.genes
    candidates = rules.inputs(genes, expression.constant_genes)
    inputs = candidates.regulators
    levels = all_levels(expression, steady, unbinned=True)
    logs = all_log_levels(expression, steady, unbinned=True)
    trees = level_trees(
        logs, genes, candidates, rng, partial(importances, trees=TREES),
        execution.reporting(None).within("more trees"),
    )  # fmt: skip
    rho = RankCorrelations(levels)
    added = _sum(evidence, trees, np.abs(partial_correlation(logs, inputs)))
    found = {
        SUM: added,
        LEARNED: logits,
        SIZE: scale_by_top_mean(added, len(genes)),
        CLR: clr_scores(rho, inputs),
        RANK: np.abs(rho.of(inputs)),
        PIDC: pidc_scores(levels, inputs),
    }
    if RATES in evidence.scores:
        found[RATES] = evidence.scores[RATES]
    if NEXT in evidence.scores and expression.unbinned is None:
        found[LEAD] = lead(evidence.scores[NEXT], inputs, evidence.allowed)
    return found


def _sum(evidence: EvidenceScores, trees: Array, direct: Array) -> Array:
    """Return the sum of lagged regression, trees and partial correlation; [input, gene].

    Each is divided by the mean of its strongest scores, one per gene, and the regression has the
    hub prior estimated from its scores.
    """
    n = evidence.allowed.shape[1]
    parts = (trees, np.where(evidence.allowed, direct, 0.0))
    added = [scale_by_top_mean(part, n) for part in parts]
    if LAGGED in evidence.scores:
        lagged = evidence.scores[LAGGED]
        hubs = estimate_hub_priors(lagged)
        added = [hubs.for_other_evidence * part for part in added]
        added.insert(0, scale_by_top_mean(hubs.for_scores * lagged, n))
    return np.sum(added, axis=0)
