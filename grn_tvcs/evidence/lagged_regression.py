"""Lagged regression under caps: the variance of a gene's next level that a regulator explains.

On random halves of the series (`stability`), by gradient matching pursuit under caps and by
orthogonal matching pursuit row by row; without a hub prior. The mean of both, each in the unit of
its strongest edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.evidence.strongest import by_strongest
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.draws import Plan
from grn_tvcs.stability.model import Array, transitions
from grn_tvcs.stability.stability import PARTS, Draws, untold
from grn_tvcs.stability.sums import Evidence
from grn_tvcs.stability.units import gather
from tvcs_core.engines import Engine

# Chosen on simulated networks of 10, 30 and 100 genes; docs/networks.md has what each is worth.
USUAL = Plan(
    parts=PARTS,
    resamples=100,
    memory=(0.3, 0.7),
    column_weights=(0.6, 1.0),
    in_degrees=(1, 3),
    edges_per_gene=(1.0, 3.0),
    iterations=5,
)
SHORT_MEMORY = (0.0, 0.3)  # the other memory: better where the last sample says most
ADDED_SHARE = 0.5  # what an edge would add counts this much where it was not chosen


@dataclass(frozen=True)
class LaggedRegression:
    """What lagged regression says of every pair.

    Attributes
    ----------
    inputs, targets
        Places of the genes that may regulate, and of those whose regulators are sought.
    scores
        Explained variance, >= 0; 1 is the mean of the strongest edges, one per target;
        [input, target].
    gains
        The same in the unit of a target's variance, the mean of both solvers; [input, target].
    weights
        Sum of the coefficients over all halves and solvers; [input, target].
    stability
        In which part of all pairs of halves an edge stood out of noise; NaN where the data are
        too few to be halved; [input, target].
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
    plan: Plan = USUAL,
    *,
    log_offset: float = LOG_OFFSET,
    added_share: float = ADDED_SHARE,
    targets_alone: bool = False,
    threads: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
) -> LaggedRegression:
    """Solve on all halves of the plan; caps of `rules` bound the drawn ones.

    Parameters
    ----------
    expression, rules, rng
        As for every method. Where `expression` says when a perturbation was on, each perturbed
        part of a series has an intercept of its own and is resampled by itself.
    plan
        What is drawn; a plan with `SHORT_MEMORY` is the second of the two memories.
    log_offset, added_share
        As for the method ``tvcs``.
    targets_alone
        Whether the targets are those of `rules`, and not all genes.
    threads, engine, progress, keep
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
    evidence = gather(draws, rng, threads=threads, engine=engine, progress=progress, keep=keep)
    halves = plan.pairs * 2
    gains = [_gains(part, added_share) / halves for part in evidence]
    scores = np.mean([by_strongest(gain, targets.size) for gain in gains], axis=0)
    stability = np.sum([part.chosen for part in evidence], axis=0) / (len(evidence) * halves)
    if untold(expression) is not None:
        stability[:] = np.nan
    weights = np.sum([part.weights for part in evidence], axis=0)
    return LaggedRegression(inputs, targets, scores, np.mean(gains, axis=0), weights, stability)


def _gains(evidence: Evidence, added_share: float) -> Array:
    return np.maximum(evidence.dropped + added_share * evidence.added, 0.0)
