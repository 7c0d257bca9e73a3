"""From expression to a problem: what is regressed on what, and its loss.

The default model regresses the next level of a gene on the past of the others, on a log scale,
after its own level and an intercept are taken out: what a gene does by itself is no edge.
The paper's model is `paper_problem`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import guess_scale, log_levels
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.kernels import ADDED, DROPPED, WEIGHT, Inputs, fade, pursue
from tvcs_core import LeastSquares, Loss, Problem

RIDGE = 1e-6  # on the unit diagonal: keeps supports solvable that the samples cannot tell apart
FLAT = 1e-9  # a part of variance that counts as nothing left

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Transitions:
    """One row for each step from a sample to the next in its series.

    Attributes
    ----------
    levels
        Log levels of every sample; (samples, genes).
    pause
        Time since the sample before in the unit of the median step, infinite for the first
        sample of a series; (samples,).
    before
        The sample where each step starts; it ends at the next one; (steps,).
    series
        Number of the series of each step, from 0.
    perturbed
        Whether the perturbation is on when the step starts; None where nothing is known.
    """

    levels: Array
    pause: Array
    before: NDArray[np.int64]
    series: NDArray[np.int64]
    perturbed: Flags | None

    @property
    def own(self) -> Array:
        """Log level before each step; (steps, genes)."""
        return self.levels[self.before]

    @property
    def following(self) -> Array:
        """Log level after each step; (steps, genes)."""
        return self.levels[self.before + 1]

    def past(self, inputs: NDArray[np.int64], memory: float) -> Array:
        """Weighted mean of the log levels of `inputs` up to each step; (steps, inputs).

        A sample that is one median step older weighs `memory` times as much; 0 is the last
        level alone. The first sample of a series stands for all of its past.
        """
        mean = np.empty((len(self.levels), len(inputs)))
        fade(np.ascontiguousarray(self.levels[:, inputs]), memory**self.pause, mean)
        return mean[self.before]

    @property
    def segments(self) -> NDArray[np.int64]:
        """Number of the perturbed or relaxed part of the series that each step belongs to."""
        on = 0 if self.perturbed is None else self.perturbed
        return np.unique(2 * self.series + on, return_inverse=True)[1].astype(np.int64)

    @property
    def intercepts(self) -> NDArray[np.int64]:
        """Number of the intercept of each step: one for all relaxed ones, and one per series.

        A perturbation moves genes by itself, and which ones differs from series to series; an
        intercept for each perturbed part takes that out.
        """
        own = np.zeros_like(self.series) if self.perturbed is None else self.perturbed
        return np.unique(own * (1 + self.series), return_inverse=True)[1].astype(np.int64)


def transitions(expression: Expression, log_offset: float) -> Transitions:
    """Make the steps of every series.

    Levels and counts become ``log(x / max + log_offset)`` with the gene's own maximum, so units do
    not matter; logarithms stay as they are. A scale that is not said is guessed.
    """
    pieces = list(expression.pieces().values())
    first = np.array([rows.start for rows in pieces])
    last = np.array([rows.stop for rows in pieces]) - 1
    pause = np.diff(expression.times, prepend=np.inf)
    pause[first] = np.inf
    pause /= np.median(pause[np.isfinite(pause)])
    series = np.repeat(np.arange(len(pieces)), last - first)
    before = np.setdiff1d(np.arange(len(pause)), last)
    on = expression.perturbed
    scale = expression.scale or guess_scale(expression.values).scale
    return Transitions(
        log_levels(expression.values, log_offset, scale),
        pause,
        before,
        series,
        None if on is None else on[before],
    )


@dataclass(frozen=True)
class Explained:
    """What edges explain of the variance of their targets, [regulator, target].

    Attributes
    ----------
    dropped
        Part of the variance that is no longer explained when a chosen edge alone is dropped,
        ``w_j^2 / inv(G)_jj``; 0 for edges that are not chosen.
    added
        Part that an edge that is not chosen would explain if it alone were added.
    weights
        Coefficient of each chosen edge.
    left
        Part of each target's variance that all of its edges leave unexplained; (targets,).
    freedom
        Steps less what was fitted for each target; (targets,).
    """

    dropped: Array
    added: Array
    weights: Array
    left: Array
    freedom: Array

    @property
    def t_squared(self) -> Array:
        """Square of Student's t of each chosen edge, the others of its target being there."""
        beyond = self.dropped * np.maximum(self.freedom, 0.0)
        return np.where(beyond > 0, beyond / np.maximum(self.left, FLAT), 0.0)


class StepLoss(Loss):
    """Unexplained variance of the next level of every gene, summed over genes and halved.

    Own level and intercepts of each target are projected out of its response and of all inputs,
    then response and inputs have unit variance, and input j is multiplied by ``weights[j]``.
    Everything is kept as covariances: for target i the inputs have the covariance of all inputs
    less one rank, ``S - c_i c_i'``, so nothing of size genes^3 is ever stored.

    Parameters
    ----------
    past
        Inputs; (steps, inputs).
    own, following
        Levels of every target before and after the step; (steps, targets).
    intercepts
        Number of the intercept of each step.
    weights
        One factor above 0 per input.
    """

    def __init__(
        self,
        past: Array,
        own: Array,
        following: Array,
        intercepts: NDArray[np.int64],
        weights: Array,
    ) -> None:
        z, u, y = (_centred(part, intercepts) for part in (past, own, following))
        own_variance = np.mean(u * u, axis=0)
        own_scale = _inverse_root(own_variance, own_variance.max(initial=0.0))
        self.shape = (z.shape[1], y.shape[1])
        self.freedom = len(z) - np.unique(intercepts).size - 1  # the weight of the own level
        self._own_scale = own_scale
        self._S = z.T @ z / len(z)
        self._c = z.T @ (u * (own_scale / len(z)))
        self._own_response = own_response = np.mean(u * y, axis=0) * own_scale
        input_variance = self._S.diagonal()[:, None]
        self._d = _inverse_root(input_variance - self._c**2, input_variance) * weights[:, None]
        response_variance = np.mean(y * y, axis=0)
        self._y = _inverse_root(response_variance - own_response**2, response_variance)
        self._b = self._d * (z.T @ y / len(z) - self._c * own_response) * self._y
        # The kernels walk along the inputs of a target.
        by_target = (np.ascontiguousarray(part.T) for part in (self._c, self._d, self._b))
        self._inputs = Inputs(self._S, *by_target)

    def value(self, W: Array) -> float:
        """Half the unexplained part of each response's variance, summed; n_genes / 2 at 0."""
        explained = 2.0 * self._b - self._curvature(W)
        return 0.5 * float(np.count_nonzero(self._y) - np.vdot(W, explained))

    def gradient(self, W: Array) -> Array:
        """Gradient at W, [regulator, target]."""
        return self._curvature(W) - self._b

    def minimize_on(self, support: Flags) -> Array:
        """Least squares of every target on its regulators in `support`."""
        return self.explained(support, np.zeros_like(support)).weights

    def explained(self, support: Flags, others: Flags) -> Explained:
        """Least squares on `support`; what each of its edges, or one of `others`, explains."""
        return self.pursue(support, int(support.sum(axis=0).max(initial=0)), others)

    def pursue(self, allowed: Flags, size: int, others: Flags | None = None) -> Explained:
        """Orthogonal matching pursuit: up to `size` regulators of every target, one by one.

        Of the edges that are not chosen, those in `others` (all allowed ones by default) get
        what they would add.
        """
        n_inputs, n_targets = self.shape
        effects = np.zeros((3, n_targets, n_inputs))
        pursue(
            self._inputs,
            np.ascontiguousarray(allowed.T),
            np.ascontiguousarray(allowed.T if others is None else others.T),
            RIDGE,
            size,
            effects,
        )
        found = effects[WEIGHT].T
        return Explained(
            effects[DROPPED].T,
            effects[ADDED].T,
            found,
            1.0 - (found * self._b).sum(axis=0),
            self.freedom - np.count_nonzero(found, axis=0).astype(np.float64),
        )

    @property
    def alone(self) -> Array:
        """Square of Student's t of each pair when its edge is the only one, [regulator, target]."""
        explained = np.minimum(self._b**2, 1.0)
        return explained * (self.freedom - 1) / np.maximum(1.0 - explained, FLAT)

    def response(self, own: Array, following: Array, intercepts: NDArray[np.int64]) -> Array:
        """Responses of other steps in the same units; (steps, targets).

        Intercepts are those of the other steps, the weight of the own level is the known one.
        """
        u, y = (_centred(part, intercepts) for part in (own, following))
        return (y - u * (self._own_scale * self._own_response)) * self._y

    def predicted(self, W: Array, past: Array, own: Array, intercepts: NDArray[np.int64]) -> Array:
        """What `W` says of the responses of other steps; (steps, targets)."""
        z, u = (_centred(part, intercepts) for part in (past, own))
        V = self._d * W
        return z @ V - u * (self._own_scale * (self._c * V).sum(axis=0))

    def _curvature(self, W: Array) -> Array:
        V = self._d * W
        return self._d * (self._S @ V - self._c * (self._c * V).sum(axis=0))


def _centred(x: Array, intercepts: NDArray[np.int64]) -> Array:
    """Less the mean of the rows with the same intercept."""
    is_in = (np.arange(intercepts.max() + 1)[:, None] == intercepts).astype(np.float64)
    size = is_in.sum(axis=1, keepdims=True)
    return x - (is_in @ x / np.where(size > 0, size, 1.0))[intercepts]


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
