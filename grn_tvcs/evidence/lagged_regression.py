"""Lagged regression under caps: variance of a gene's next level explained by each regulator.

It is solved on random halves of the series (`stability`), by gradient matching pursuit under caps
and by row-wise orthogonal matching pursuit, without a hub prior. The score is the mean of both,
each in units of its strongest edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.evidence.scaling import scale_by_top_mean
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.draws import SubsamplingPlan
from grn_tvcs.stability.execution import SERIAL, Execution
from grn_tvcs.stability.model import Array, transitions
from grn_tvcs.stability.stability import SOLVERS, Draws, why_no_stability
from grn_tvcs.stability.units import gather

# Chosen by `benchmarks.networks.defaults` on simulated networks of 10, 30 and 100 genes
# ("Every number, and why" in docs/studies/network-options.md).
DEFAULT_PLAN = SubsamplingPlan(
    solvers=SOLVERS,
    resamples=100,
    memory=(0.3, 0.7),
    column_weights=(0.6, 1.0),
    in_degrees=(1, 3),
    edges_per_gene=(1.0, 3.0),
    iterations=5,
)
SHORT_MEMORY = (0.0, 0.3)  # better if the last sample is the most informative
ADDED_SHARE = 0.5  # weight of the variance that an edge not chosen would explain (decision 12)


@dataclass(frozen=True)
class LaggedRegression:
    """Result of the lagged regression for every pair.

    Attributes
    ----------
    inputs, targets
        Indices of the genes that may regulate, and of the targets.
    scores
        Explained variance, >= 0, relative to the mean of the strongest edges, one per target;
        [input, target].
    gains
        Explained variance as a fraction of the target's, the mean of both solvers; [input, target].
    weights
        Sum of the coefficients over all halves and solvers; [input, target].
    stability
        Fraction of complementary pairs of halves in which an edge exceeded noise in both halves;
        NaN if the data are too few to be halved; [input, target].
    """

    inputs: NDArray[np.int64]
    targets: NDArray[np.int64]
    scores: Array
    gains: Array
    weights: Array
    stability: Array


def lagged_regression(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    plan: SubsamplingPlan = DEFAULT_PLAN,
    *,
    log_offset: float = LOG_OFFSET,
    added_share: float = ADDED_SHARE,
    targets_alone: bool = False,
    execution: Execution = SERIAL,
) -> LaggedRegression:
    """Solve on all halves of the plan; the degrees of `rules` bound the drawn ones.

    Parameters
    ----------
    expression, rules, rng
        As for every method. If `expression` has a perturbation column, each perturbed part of a
        series has its own intercept and is resampled separately.
    plan
        Distribution of the draws; `SHORT_MEMORY` makes the second of the two memories.
    log_offset, added_share
        As for the method ``tvcs``.
    targets_alone
        Restrict targets to those of `rules`, instead of all genes.
    execution
        As in `units.gather`.
    """
    genes = expression.genes
    asked, none = rules, list(expression.constant_genes)
    if not targets_alone:
        asked = replace(rules, targets=None)
        none += [gene for gene in genes if rules.targets is not None and gene not in rules.targets]
    regulators, targets, allowed = asked.candidates(genes, none)
    has_target = allowed.any(axis=1)
    inputs, allowed = regulators[has_target], allowed[has_target]
    steps = transitions(expression, log_offset)
    if targets_alone and rules.targets is not None:
        steps = replace(steps, targets=targets)
    draws = Draws(steps, inputs, allowed, rules, genes, plan)
    evidence = gather(draws, rng, execution)
    halves = plan.pairs * 2
    sums = [np.maximum(part.dropped + added_share * part.added, 0.0) for part in evidence]
    gains = [part / halves for part in sums]
    scores = np.mean([scale_by_top_mean(gain, targets.size) for gain in gains], axis=0)
    stability = np.sum([part.chosen for part in evidence], axis=0) / (len(evidence) * halves)
    if why_no_stability(expression) is not None:
        stability[:] = np.nan
    weights = np.sum([part.weights for part in evidence], axis=0)
    return LaggedRegression(inputs, targets, scores, np.mean(gains, axis=0), weights, stability)
