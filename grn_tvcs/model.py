"""From expression to a problem: what is regressed on what, and its loss.

The default model regresses the next level of a gene on the past of the others, on a log scale,
after its own level and an intercept are taken out: what a gene does by itself is no edge.
The paper's model is `paper_problem`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression import Expression
from grn_tvcs.rules import Rules
from tvcs_core import LeastSquares, Loss, Problem

# Numbers of the measured design: chosen on simulated networks, flat around these values.
LOG_OFFSET = 0.1  # part of a gene's largest level that is added before the logarithm
MEMORY = 0.5  # weight of the past in the mean of the past; 0 is the last level alone
RIDGE = 1e-6  # on the unit diagonal: keeps supports solvable that the samples cannot tell apart
FLAT = 1e-9  # a part of variance that counts as nothing left

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Transitions:
    """One row for each step from a sample to the next in its series.

    Attributes
    ----------
    past
        Weighted mean of each gene's log levels up to the step; (steps, genes).
    own
        Log level before the step; (steps, genes).
    following
        Log level after the step; (steps, genes).
    series
        Number of the series of each step, from 0.
    """

    past: Array
    own: Array
    following: Array
    series: NDArray[np.int64]


def transitions(expression: Expression) -> Transitions:
    """Make the steps of every series; steps count as equal whatever the times between samples.

    Levels become ``log(x / max + 0.1)`` with the gene's own maximum, so units do not matter.
    With a negative value anywhere the levels are taken as logarithms already and stay as they are.
    """
    levels = log_levels(expression.values)
    past, own, following, series = [], [], [], []
    for number, rows in enumerate(expression.pieces().values()):
        x = levels[rows]
        past.append(mean_of_past(x)[:-1])
        own.append(x[:-1])
        following.append(x[1:])
        series.append(np.full(len(x) - 1, number))
    return Transitions(
        np.concatenate(past), np.concatenate(own), np.concatenate(following), np.concatenate(series)
    )


def log_levels(values: Array) -> Array:
    """``log(x / max + 0.1)`` gene by gene, or the values themselves if one of them is negative."""
    if (values < 0).any():
        return values
    largest = values.max(axis=0)
    return np.log(values / np.where(largest > 0, largest, 1.0) + LOG_OFFSET)


def mean_of_past(x: Array) -> Array:
    """Exponentially weighted mean of the rows up to each row, the first one being its own past."""
    mean = np.array(x)
    for t in range(1, len(x)):
        mean[t] = MEMORY * mean[t - 1] + (1 - MEMORY) * x[t]
    return mean


class StepLoss(Loss):
    """Unexplained variance of the next level of every gene, summed over genes and halved.

    Own level and intercept of each target are projected out of its response and of all inputs,
    then response and inputs have unit variance, and input j is multiplied by ``weights[j]``.
    Everything is kept as covariances: for target i the inputs have the covariance of all genes
    less one rank, ``S - c_i c_i'``, so nothing of size genes^3 is ever stored.

    Parameters
    ----------
    steps
        The transitions.
    rows
        Which of them to use.
    weights
        One factor above 0 per input.
    """

    def __init__(self, steps: Transitions, rows: NDArray[np.bool_], weights: Array) -> None:
        z, u, y = (
            part[rows] - part[rows].mean(axis=0)
            for part in (steps.past, steps.own, steps.following)
        )
        own_variance = np.mean(u * u, axis=0)
        own_scale = _inverse_root(own_variance, own_variance.max(initial=0.0))
        self.shape = (z.shape[1], z.shape[1])
        self._S = z.T @ z / len(z)
        self._c = z.T @ u / len(z) * own_scale
        own_response = np.mean(u * y, axis=0) * own_scale
        input_variance = self._S.diagonal()[:, None]
        self._d = _inverse_root(input_variance - self._c**2, input_variance) * weights[:, None]
        response_variance = np.mean(y * y, axis=0)
        self._y = _inverse_root(response_variance - own_response**2, response_variance)
        self._b = self._d * (z.T @ y / len(z) - self._c * own_response) * self._y

    def value(self, W: Array) -> float:
        """Half the unexplained part of each response's variance, summed; n_genes / 2 at 0."""
        explained = 2.0 * self._b - self._curvature(W)
        return 0.5 * float(np.count_nonzero(self._y) - np.vdot(W, explained))

    def gradient(self, W: Array) -> Array:
        """Gradient at W, [regulator, target]."""
        return self._curvature(W) - self._b

    def minimize_on(self, support: NDArray[np.bool_]) -> Array:
        """Least squares of every target on its regulators in `support`."""
        places, is_used, grams, sides = self._systems(support)
        W = np.zeros(self.shape)
        solved = np.linalg.solve(grams, sides[:, :, None])[:, :, 0]
        W[places, np.arange(len(places))[:, None]] = np.where(is_used, solved, 0.0)
        return W

    def gains(self, support: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Least squares on `support`, and what each edge adds to the explained variance.

        The gain of an edge is the part of the response's variance that is no longer explained
        when the edge alone is dropped, ``w_j^2 / inv(G)_jj``; weights do not change it.
        """
        places, is_used, grams, sides = self._systems(support)
        inverse = np.linalg.inv(grams)
        solved = (inverse @ sides[:, :, None])[:, :, 0]
        gain = solved**2 / np.diagonal(inverse, axis1=1, axis2=2)
        W, gains = np.zeros(self.shape), np.zeros(self.shape)
        at = (places, np.arange(len(places))[:, None])
        W[at] = np.where(is_used, solved, 0.0)
        gains[at] = np.where(is_used, gain, 0.0)
        return W, gains

    def _curvature(self, W: Array) -> Array:
        V = self._d * W
        return self._d * (self._S @ V - self._c * (self._c * V).sum(axis=0))

    def _systems(
        self, support: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_], Array, Array]:
        """Normal equations of all targets, padded to the largest support with unit rows."""
        size = max(1, int(support.sum(axis=0).max()))
        places = np.argsort(~support, axis=0, kind="stable")[:size].T
        target = np.arange(len(places))[:, None]
        is_used = support[places, target]
        d, c = self._d[places, target] * is_used, self._c[places, target]
        grams = self._S[places[:, :, None], places[:, None, :]] - c[:, :, None] * c[:, None, :]
        grams *= d[:, :, None] * d[:, None, :]
        diagonal = np.arange(size)
        grams[:, diagonal, diagonal] += np.where(is_used & (d > 0), RIDGE, 1.0)
        return places, is_used, grams, self._b[places, target] * is_used


def _inverse_root(variance: Array, scale: Array | float) -> Array:
    """``1 / sqrt(variance)``, and 0 where `variance` is nothing beside `scale`."""
    is_there = variance > FLAT * np.asarray(scale)
    return np.where(is_there, 1.0 / np.sqrt(np.where(is_there, variance, 1.0)), 0.0)


def paper_problem(expression: Expression, rules: Rules) -> Problem:
    """Make the problem of the paper: ``x[t+1] - x[t] = W x[t]`` on raw values, no self-edges.

    The paper writes ``W[target, regulator]`` with samples in columns; here samples are rows, so
    that ``Y = X W`` with ``W[regulator, target]``.
    """
    x = expression.values
    pieces = expression.pieces().values()
    X = np.concatenate([x[rows][:-1] for rows in pieces])
    Y = np.concatenate([np.diff(x[rows], axis=0) for rows in pieces])
    return Problem(LeastSquares(X, Y), rules.constraint(expression.genes))
