"""Series that are held out, and their prediction by the best edges of the others.

For each fold of whole series, edges are ranked with the other series. For every size k, the best k
edges under the caps are fitted to those series by least squares, and their predictions of the
held-out steps are compared with the data:

    gain(k) = mean over genes of (|r|^2 - |r - w z / 2|^2) / max(|r|^2, s^2)

r is the response of the held-out steps, adjusted for its own level and intercept, s^2 its variance
in the other series, and w z the prediction. Weights are halved, because fitted weights of selected
edges are too large (winner's curse): an edge counts if the held-out series show more than a quarter
of its effect. The maximum of the two variances keeps a series in which a gene was perturbed itself
from dominating.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules
from grn_tvcs.network.selection import select_each
from grn_tvcs.stability.model import Array, StepLoss, transitions
from tvcs_core.arguments import option_name

# Decision 18.
MAX_FOLDS = 10
MIN_SERIES = 4  # fewer series are cut into pieces ...
N_PIECES = 6  # ... of this total number ...
PIECE_POINTS = 4  # ... with at least this number of time points
SHRINK = 0.5  # factor of fitted weights


def split_for_folds(expression: Expression) -> Expression:
    """Return the samples with few long series cut into pieces."""
    pieces = expression.pieces
    if not pieces:
        raise ValueError(
            "the number of edges can only be chosen with time series, but all samples are "
            f"in steady state; give a number instead ({option_name('max_edges')})"
        )
    if len(pieces) >= MIN_SERIES:
        return expression
    wanted = -(-N_PIECES // len(pieces))
    names: list[str] = []
    for name, rows in pieces.items():
        size = rows.stop - rows.start
        n_parts = max(1, min(wanted, size // PIECE_POINTS))
        names += [f"{name}, part {1 + i * n_parts // size}" for i in range(size)]
    if len(set(names)) < 2:
        raise ValueError(
            "the number of edges can only be chosen with at least 2 series, or one of "
            f"{2 * PIECE_POINTS} time points, found one of {len(names)}"
        )
    return replace(expression, series=tuple(names))


def fold_numbers(expression: Expression) -> NDArray[np.int64]:
    """Return the fold, from 0, in which each sample is held out; series stay whole."""
    pieces = list(expression.pieces.values())
    number = np.empty(len(expression.times), dtype=np.int64)
    for k, rows in enumerate(pieces):
        number[rows] = k % MAX_FOLDS
    return number


def held_out_gains(
    expression: Expression,
    is_out: NDArray[np.bool_],
    network: Network,
    rules: Rules,
    sizes: Sequence[int],
    options: Mapping[str, Any],
) -> Array:
    """Return the gain of the best edges of `network` in the held-out samples, for each size.

    Parameters
    ----------
    expression
        All samples, with genes in the order of `network`.
    is_out
        Whether a sample is held out; whole series.
    network
        Inferred from the other samples.
    rules
        Caps for every size.
    sizes
        Numbers of edges.
    options
        Of the method; ``log_offset`` and ``memory`` are used, with the defaults of ``"tvcs"``.
    """
    known = METHODS["tvcs"].options | dict(options)
    steps = transitions(expression, known["log_offset"])
    regulators, targets, allowed = rules.candidates(expression.genes)
    inputs = regulators[allowed.any(axis=1)]
    steps = replace(steps, targets=targets)
    network = network.restrict_to(inputs, targets)
    past = steps.past(inputs, float(np.mean(known["memory"])))
    out = is_out[steps.before]
    intercepts = steps.intercepts
    loss = StepLoss(
        past[~out], steps.own[~out], steps.following[~out], intercepts[~out], np.ones(len(inputs))
    )
    response = loss.response(steps.own[out], steps.following[out], intercepts[out])
    unexplained = np.mean(response**2, axis=0)
    is_target = ~expression.is_constant[targets]
    gains = []
    for chosen in select_each(network.pairs, rules, network.genes, sizes):
        weights = SHRINK * loss.minimize_on(chosen)
        left = response - loss.predicted(weights, past[out], steps.own[out], intercepts[out])
        gain = (unexplained - np.mean(left**2, axis=0)) / np.maximum(unexplained, 1.0)
        gains.append(gain[is_target].sum() / max(int(is_target.sum()), 1))
    return np.array(gains)
