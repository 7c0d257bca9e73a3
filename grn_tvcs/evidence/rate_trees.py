"""Trees for series, as in dynGENIE3: importance of a regulator for its target's change and decay.

The model is dx_i/dt = -alpha_i x_i + f_i(x). For every gene i a forest predicts

    (x_i(t+1) - x_i(t)) / dt + alpha_i x_i(t)   from   x(t), the gene's own level included,

over neighbouring samples of every series, dt apart. Between the largest and the smallest level of a
series, x_i is assumed to decay as C + A exp(-alpha t), with C the least value of all genes and
samples, so

    alpha_i = max over series of (log(x_max - C) - log(x_min - C)) / |t_max - t_min|,

with differences clipped to at least 1e-6. A steady-state sample has no change, so its response is
alpha_i x_i; alpha is estimated from the series. Huynh-Thu and Geurts, Scientific Reports 8, 3384
(2018).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.forests import Forest, Progress, grow_forests
from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Candidates
from tvcs_core.engines import Engine

MIN_LEVEL = 1e-6  # smallest x - C under the logarithm, as in dynGENIE3

Array = NDArray[np.float64]


def rate_trees(
    expression: Expression,
    candidates: Candidates,
    rng: np.random.Generator,
    forest: Forest,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    checkpoint_dir: Path | None = None,
) -> tuple[Array, Array]:
    """Return the importance of every regulator for every target, and the response variances.

    Importances, ``[input, gene]``, are in units of that variance. The target's own level is an
    input if it may regulate; its importance is dropped.

    Parameters
    ----------
    expression
        Series; not on a log scale, as in dynGENIE3.
    candidates
        From `Rules.inputs`; targets without candidate regulators get no forest.
    rng, forest, progress, engine, checkpoint_dir
        As in `level_trees`.
    """
    level, rate = _steps(expression)
    response = rate + decay_rates(expression) * level
    is_flat = (response == response[:1]).all(axis=0) | expression.is_constant
    inputs = candidates.regulators
    is_target = candidates.allowed.any(axis=0) & ~is_flat
    is_input = ~expression.is_constant[inputs, None] & is_target
    scores = grow_forests(
        level[:, inputs], response, is_input, expression.genes, rng, forest, engine=engine,
        progress=progress, checkpoint_dir=checkpoint_dir,
    )  # fmt: skip
    scores = np.maximum(scores, 0.0)
    scores[np.arange(len(inputs)), inputs] = 0.0
    return scores, np.where(is_flat, 0.0, response.var(axis=0))


def decay_rates(expression: Expression) -> Array:
    """Return the rate alpha of each gene per unit of time; 0 for genes constant in every series."""
    least = expression.values.min()
    rates = np.zeros(len(expression.genes))
    for rows in expression.pieces.values():
        levels, times = expression.values[rows], expression.times[rows]
        fall = np.log(np.maximum(levels.max(axis=0) - least, MIN_LEVEL))
        fall -= np.log(np.maximum(levels.min(axis=0) - least, MIN_LEVEL))
        time = np.abs(times[levels.argmax(axis=0)] - times[levels.argmin(axis=0)])
        rates = np.maximum(rates, fall / np.where(time > 0, time, np.inf))
    return rates


def _steps(expression: Expression) -> tuple[Array, Array]:
    """Return the levels in steady state and before each step, and their rates of change."""
    levels, rates = [], []
    if expression.steady_values is not None:
        levels.append(expression.steady_values)
        rates.append(np.zeros_like(expression.steady_values))
    for rows in expression.pieces.values():
        x, t = expression.values[rows], expression.times[rows]
        levels.append(x[:-1])
        rates.append(np.diff(x, axis=0) / np.diff(t)[:, None])
    return np.concatenate(levels), np.concatenate(rates)
