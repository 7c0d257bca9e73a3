"""dynGENIE3: a random forest per target gene on its rate of change and decay.

The model is dx_i/dt = -alpha_i x_i + f_i(x). For every gene i a random forest predicts

    (x_i(t+1) - x_i(t)) / dt + alpha_i x_i(t)   from   x(t), the gene's own level included,

over neighbouring samples of every series, dt apart. The score of j -> i is the importance of x_j
(`shared.random_forest`), the own one dropped and the rest divided by their sum. Between the largest
and the smallest level of a series x_i is taken to decay as C + A exp(-alpha t), with C the least
value of all genes and samples, so

    alpha_i = max over series of (log(x_max - C) - log(x_min - C)) / |t_max - t_min|,

where differences below 1e-6 count as 1e-6. 1000 trees and the square root of the number of inputs
per node, as in the authors' program, which this follows. It cannot use a perturbation column.
Huynh-Thu and Geurts, Scientific Reports 8, 3384 (2018).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.methods.shared.random_forest import TREES, importances
from grn_tvcs.methods.shared.random_streams import streams_by_name
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules

LEAST_LEVEL = 1e-6  # above C, under the logarithm


def dyngenie3(
    expression: Expression,
    rules: Rules,
    rng: np.random.Generator,
    *,
    trees: int = TREES,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Network:
    """Score edges by the importance of the regulator for the target's rate of change and decay.

    The scores of one target add up to 1. Genes that may not regulate, or are constant, are no
    inputs. `threads` threads grow the trees.
    """
    genes = expression.genes
    level, rate = _steps(expression)
    response = rate + decay_rates(expression) * level
    is_flat = (response == response[:1]).all(axis=0)
    is_input = rules.allowed(genes).any(axis=1) & ~expression.is_constant
    scores = np.zeros((len(genes), len(genes)))
    for i, stream in enumerate(streams_by_name(genes, rng)):
        if not (is_flat[i] or expression.is_constant[i]):
            found = importances(level[:, is_input], response[:, i], stream, trees, threads)
            scores[is_input, i] = np.maximum(found, 0.0)
            scores[i, i] = 0.0
            total = scores[:, i].sum()
            scores[:, i] /= total if total > 0 else 1.0
        if progress is not None:
            progress(i + 1, len(genes))
    return Network(genes, scores)


def decay_rates(expression: Expression) -> NDArray[np.float64]:
    """Rate alpha of each gene, per unit of time; 0 for one that is constant in every series."""
    least = expression.values.min()
    rates = np.zeros(len(expression.genes))
    for rows in expression.pieces().values():
        levels, times = expression.values[rows], expression.times[rows]
        fall = np.log(np.maximum(levels.max(axis=0) - least, LEAST_LEVEL))
        fall -= np.log(np.maximum(levels.min(axis=0) - least, LEAST_LEVEL))
        time = np.abs(times[levels.argmax(axis=0)] - times[levels.argmin(axis=0)])
        rates = np.maximum(rates, fall / np.where(time > 0, time, np.inf))
    return rates


def _steps(expression: Expression) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Levels before each step of each series, and how fast they change in it."""
    levels, rates = [], []
    for rows in expression.pieces().values():
        x, t = expression.values[rows], expression.times[rows]
        levels.append(x[:-1])
        rates.append(np.diff(x, axis=0) / np.diff(t)[:, None])
    return np.concatenate(levels), np.concatenate(rates)
