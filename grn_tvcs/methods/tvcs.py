"""Stability of gradient matching pursuit under TVCS caps: the default.

Half of the series is drawn, and the other half too; on either the next levels are regressed on
the past of the other genes (`grn_tvcs.model`) by GradMP under caps that are drawn as well. The
score of an edge is the variance of its target that it explains beyond the other edges, averaged
over all draws (0 where it was not chosen). Stability selection by complementary pairs: Shah and
Samworth 2013; by random column weights: Meinshausen and Buhlmann 2010; GradMP: Nguyen, Chin and
Tran 2012, with a least squares fit on every projected support. The numbers below were chosen on
simulated networks and are flat around their values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression import Expression
from grn_tvcs.model import StepLoss, Transitions, transitions
from grn_tvcs.network import Network
from grn_tvcs.rules import Rules
from tvcs_core import TVCS, Problem, solve

RESAMPLES = 60  # halves of the data; more only makes the scores smoother
LOWEST_WEIGHT = 0.6  # columns are multiplied by U(0.6, 1), so that one of two alike can win
IN_DEGREES = (2, 5)  # drawn cap on the regulators of a gene, both ends included
EDGES_PER_GENE = (1.0, 3.0)  # drawn cap on all edges
ITERATIONS = 5  # of GradMP; later ones go in circles, and 4 or 30 score alike
HUB_POWER = 0.25  # regulators with a few strong edges are lifted ...
HUB_GENES = 20  # ... above this number of genes; in smaller networks it hurts
FEWEST_SERIES = 4  # with fewer, series are cut into blocks ...
BLOCKS = 8  # ... of this number in all, where they are long enough ...
BLOCK_STEPS = 2  # ... for blocks of so many steps
FEWEST_STEPS = 6  # with fewer in a half, all steps are used: own level and mean take two


def tvcs(expression: Expression, rules: Rules, rng: np.random.Generator) -> Network:
    """Score edges by the variance they explain in resampled GradMP solutions.

    Caps of `rules` bound the drawn ones in every draw. Scores lie in [0, 1]; signs are those of
    the summed coefficients. Needs at least three samples.
    """
    genes = expression.genes
    steps = transitions(expression)
    allowed = rules.allowed(genes, expression.constant_genes)
    blocks = _blocks(steps)
    gains = np.zeros((len(genes), len(genes)))
    weights = np.zeros_like(gains)
    for stream in rng.spawn(RESAMPLES // 2):
        for rows in _halves(blocks, stream):
            loss = StepLoss(steps, rows, stream.uniform(LOWEST_WEIGHT, 1.0, len(genes)))
            constraint = _drawn_caps(rules, allowed, stream)
            solution = solve(Problem(loss, constraint), "gradmp", refit=True, max_iter=ITERATIONS)
            W, gain = loss.gains(solution.support)
            gains += gain / (RESAMPLES // 2 * 2)
            weights += W
    scores = np.clip(gains, 0.0, 1.0)
    if len(genes) > HUB_GENES:
        scores = scores * _hub_prior(scores)
    return Network(genes, scores, np.sign(weights).astype(np.int8))


def _drawn_caps(rules: Rules, allowed: NDArray[np.bool_], rng: np.random.Generator) -> TVCS:
    in_degree = int(rng.integers(IN_DEGREES[0], IN_DEGREES[1] + 1))
    total = int(np.rint(rng.uniform(*EDGES_PER_GENE) * len(allowed)))
    return TVCS.matrix(
        allowed.shape,
        row_caps=rules.max_out_degree,
        col_caps=in_degree if rules.max_in_degree is None else min(in_degree, rules.max_in_degree),
        total=total if rules.max_edges is None else min(total, rules.max_edges),
        allowed=allowed,
    )


def _blocks(steps: Transitions) -> NDArray[np.int64]:
    """Number what is drawn as one piece: whole series, or stretches of the few there are."""
    n_series = int(steps.series.max()) + 1
    if n_series >= FEWEST_SERIES:
        return steps.series
    per_series = -(-BLOCKS // n_series)
    pieces = []
    start = 0
    for number in range(n_series):
        length = int(np.count_nonzero(steps.series == number))
        n_blocks = max(1, min(per_series, length // BLOCK_STEPS))
        pieces.append(start + np.arange(length) * n_blocks // length)
        start += n_blocks
    return np.concatenate(pieces)


def _halves(
    blocks: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows of a random half of the blocks and of the others; all rows twice if there are few."""
    n_blocks = int(blocks.max()) + 1
    in_first = np.isin(blocks, rng.permutation(n_blocks)[: n_blocks // 2])
    if min(in_first.sum(), (~in_first).sum()) < FEWEST_STEPS:
        return np.ones_like(in_first), np.ones_like(in_first)
    return in_first, ~in_first


def _hub_prior(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factor of each regulator: the spread of its scores to the power .25, 1 for the largest."""
    spread = scores.var(axis=1, keepdims=True)
    largest = spread.max()
    return (spread / largest) ** HUB_POWER if largest > 0 else np.ones_like(spread)
