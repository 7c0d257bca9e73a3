"""Predictions of held-out series by the selected edges.

In each fold the next log level of a gene is regressed on its own level, an intercept and the levels
of its selected regulators, in the other series. Weights are halved, because fitted weights of
selected edges are too large (winner's curse). The edges themselves were selected with all series.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.network import Network
from grn_tvcs.stability.model import RIDGE, transitions

MAX_FOLDS = 10
MIN_SERIES = 4  # fewer series are cut into pieces ...
N_PIECES = 6  # ... of this total number ...
PIECE_POINTS = 4  # ... with at least this number of time points
SHRINK = 0.5  # factor of fitted weights
MAX_WORK = 100_000_000  # steps x genes x folds; larger reports would take minutes
CHUNK_SIZE = 2_000_000  # steps x targets x regulators per chunk, which bounds the memory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeldOut:
    """Predictions of held-out steps.

    Attributes
    ----------
    levels
        Predicted level of every sample in the units of the expression; NaN at the start of series
        and for genes without a selected regulator; (samples, genes).
    gain
        Fraction of the squared error of own level and intercept that the regulators remove;
        negative if they add to it, NaN without a prediction; (genes,).
    n_folds
        Number of folds.
    """

    levels: Array
    gain: Array
    n_folds: int


def predicted(expression: Expression, network: Network, columns: Sequence[int]) -> HeldOut | None:
    """Predict every step of the targets among these columns of `expression`.

    None if series are too few to hold one out, or too many for the time of a report. Direct effects
    of a perturbation are not predicted: while it is on, the mean of the held-out steps of its
    series is subtracted.
    """
    with warnings.catch_warnings():  # they were given when the network was inferred
        warnings.simplefilter("ignore")
        data = _in_pieces(on_scale(expression))
    if len(data.pieces) < 2:  # one short series, or none
        return None
    options = METHODS["tvcs"].options
    steps = transitions(data, options["log_offset"])
    fold_index = _fold_numbers(data)
    n_folds = int(fold_index.max()) + 1
    regulators = _regulators(network, data.genes)
    is_constant = data.is_constant
    targets = [gene for gene in columns if gene in regulators and not is_constant[gene]]
    if not targets or len(steps.before) * len(targets) * n_folds > MAX_WORK:
        return None
    inputs = sorted({gene for target in targets for gene in regulators[target]})
    past = steps.past(np.array(inputs), float(np.mean(options["memory"])))
    place = {gene: k for k, gene in enumerate(inputs)}
    chosen = [[place[gene] for gene in regulators[target]] for target in targets]
    own, following = (steps.levels[rows][:, targets] for rows in (steps.before, steps.before + 1))
    expected, alone = np.empty(own.shape), np.empty(own.shape)
    for fold in range(n_folds):
        out = fold_index[steps.before] == fold
        u, y, z = (_centred(part, steps.intercepts, out) for part in (own, following, past))
        for some, mine in _batches(chosen, len(out)):
            usual, more = _fitted(u[:, some], y[:, some], z[:, mine], out)
            alone[np.ix_(out, some)] = (following - y)[np.ix_(out, some)] + usual
            expected[np.ix_(out, some)] = alone[np.ix_(out, some)] + SHRINK * more
    levels = np.full(data.values.shape, np.nan)
    levels[np.ix_(steps.before + 1, np.array(targets))] = expected
    gain = np.full(len(data.genes), np.nan)
    usual, left = (np.sum((following - part) ** 2, axis=0) for part in (alone, expected))
    gain[targets] = 1.0 - left / np.where(usual > 0, usual, np.nan)
    return HeldOut(_in_units(data, levels, options["log_offset"]), gain, n_folds)


def _in_pieces(expression: Expression) -> Expression:
    """Return the samples with few long series cut into pieces."""
    pieces = expression.pieces
    if not 0 < len(pieces) < MIN_SERIES:
        return expression
    wanted = -(-N_PIECES // len(pieces))
    names: list[str] = []
    for name, rows in pieces.items():
        size = rows.stop - rows.start
        n_parts = max(1, min(wanted, size // PIECE_POINTS))
        names += [f"{name}, part {1 + i * n_parts // size}" for i in range(size)]
    return replace(expression, series=tuple(names))


def _fold_numbers(expression: Expression) -> NDArray[np.int64]:
    """Return the fold, from 0, in which each sample is held out; series stay whole."""
    number = np.empty(len(expression.times), dtype=np.int64)
    for k, rows in enumerate(expression.pieces.values()):
        number[rows] = k % MAX_FOLDS
    return number


def _regulators(network: Network, measured: Sequence[str]) -> dict[int, list[int]]:
    """Return the columns of the selected regulators of each target, by the target's column."""
    column = {gene: j for j, gene in enumerate(measured)}
    found: dict[int, list[int]] = {}
    pairs, genes = network.pairs, network.genes
    for row, col in zip(*(places.tolist() for places in np.nonzero(pairs.selected)), strict=True):
        regulator, target = genes[pairs.regulators[row]], genes[pairs.targets[col]]
        if regulator in column and target in column:
            found.setdefault(column[target], []).append(column[regulator])
    return found


def _centred(x: Array, groups: NDArray[np.int64], out: NDArray[np.bool_]) -> Array:
    """Subtract the mean of the training rows with the same intercept, or of all its rows."""
    centred = np.empty(x.shape)
    for group in np.unique(groups).tolist():
        mine = groups == group
        known = mine & ~out if (mine & ~out).any() else mine
        centred[mine] = x[mine] - x[known].mean(axis=0)
    return centred


def _batches(
    chosen: Sequence[list[int]], n_steps: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield chunks of targets with equally many regulators, and these; (targets, regulators)."""
    sizes = np.array([len(mine) for mine in chosen])
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        for some in np.array_split(alike, -(-alike.size * size * n_steps // CHUNK_SIZE)):
            yield some, np.array([chosen[k] for k in some])


def _fitted(own: Array, y: Array, inputs: Array, out: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return predictions of held-out steps by the own level, and the contribution of the inputs.

    `own` and `y` are (steps, targets), `inputs` (steps, targets, regulators).
    """
    u, known = own[~out], y[~out]
    size = np.sum(u * u, axis=0)
    size[size == 0] = 1.0
    slope = np.sum(u * known, axis=0) / size
    common = np.einsum("st,str->tr", u, inputs[~out]) / size[:, None]
    z = inputs - own[:, :, None] * common  # the own level is projected out
    products = np.einsum("str,stq->trq", z[~out], z[~out], optimize=True)
    trace = np.trace(products, axis1=1, axis2=2)
    ridge = RIDGE * np.where(trace > 0, trace, 1.0)
    products += ridge[:, None, None] * np.eye(inputs.shape[2])
    along = np.einsum("str,st->tr", z[~out], known - slope * u)
    weights = np.linalg.solve(products, along[:, :, None])[:, :, 0]
    return slope * own[out], np.einsum("str,tr->st", z[out], weights)


def _in_units(data: Expression, expected: Array, log_offset: float) -> Array:
    """Convert log levels back to the units of the table, the inverse of `log_levels`."""
    if data.scale == "log":
        return expected
    largest = data.values.max(axis=0)
    return np.maximum(np.exp(expected) - log_offset, 0.0) * np.where(largest > 0, largest, 1.0)
