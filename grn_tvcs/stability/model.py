"""Regression problem of an expression table: responses, inputs and loss.

The default model regresses the next level of a gene on the past of the others, on a log scale,
after adjusting for its own level and an intercept: self-regulation is no edge. The paper's model is
`paper_problem`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import log_levels, scale_of
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.edges import Edges, Ints
from grn_tvcs.stability.kernels.covariances import (
    Inputs,
    Lists,
    explained_by,
    exponential_average,
    scale_inputs,
    slopes,
    steepest,
)
from grn_tvcs.stability.kernels.pursuit import Chosen, fit, pursue
from tvcs_core import TVCS, LeastSquares, Loss, Problem

# Both are far above rounding (1e-16) and far below any correlation of data.
RIDGE = 1e-6  # added to the unit diagonal, so that collinear inputs can be solved
MIN_VARIANCE_FRACTION = 1e-9  # fractions of variance below this count as 0

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
        Time since the sample before in units of the median step, infinite for the first sample of a
        series; (samples,).
    before
        Sample at the start of each step; the next sample is its end; (steps,).
    series
        Number of the series of each step, from 0.
    perturbed
        Whether the perturbation is on at the start of the step; None if unknown.
    targets
        Indices of the genes that are regressed on others; None for all.
    """

    levels: Array
    pause: Array
    before: NDArray[np.int64]
    series: NDArray[np.int64]
    perturbed: Flags | None
    targets: NDArray[np.int64] | None = None

    @property
    def own(self) -> Array:
        """Log level of each target before each step; (steps, targets)."""
        return self._of_targets(self.before)

    @property
    def following(self) -> Array:
        """Log level of each target after each step; (steps, targets)."""
        return self._of_targets(self.before + 1)

    def _of_targets(self, samples: NDArray[np.int64]) -> Array:
        levels = self.levels[samples]
        return levels if self.targets is None else levels[:, self.targets]

    def past(self, inputs: NDArray[np.int64], memory: float) -> Array:
        """Return the weighted mean of the log levels of `inputs` up to each step; (steps, inputs).

        A sample one median step older has `memory` times the weight; 0 uses the last level alone.
        The first sample of a series stands for its past.
        """
        mean = np.empty((len(self.levels), len(inputs)))
        exponential_average(np.ascontiguousarray(self.levels[:, inputs]), memory**self.pause, mean)
        return mean[self.before]

    def of(self, rows: Flags) -> Transitions:
        """Return some of the steps."""
        on = None if self.perturbed is None else self.perturbed[rows]
        return replace(self, before=self.before[rows], series=self.series[rows], perturbed=on)

    @cached_property
    def segments(self) -> NDArray[np.int64]:
        """Number of the perturbed or relaxed part of the series of each step."""
        on = 0 if self.perturbed is None else self.perturbed
        return np.unique(2 * self.series + on, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def intercepts(self) -> NDArray[np.int64]:
        """Number of the intercept of each step: one for all relaxed ones, one per perturbed series.

        A perturbation shifts genes directly, and other genes in every series; an intercept for each
        perturbed part removes this.
        """
        own = np.zeros_like(self.series) if self.perturbed is None else self.perturbed
        return np.unique(own * (1 + self.series), return_inverse=True)[1].astype(np.int64)


def transitions(expression: Expression, log_offset: float) -> Transitions:
    """Make the steps of every series.

    Levels and counts become ``log(x / max + log_offset)`` with the gene's own maximum, so units do
    not matter; log values stay. An unknown scale is guessed.
    """
    pieces = list(expression.pieces.values())
    first = np.array([rows.start for rows in pieces])
    last = np.array([rows.stop for rows in pieces]) - 1
    pause = np.diff(expression.times, prepend=np.inf)
    pause[first] = np.inf
    pause /= np.median(pause[np.isfinite(pause)])
    series = np.repeat(np.arange(len(pieces)), last - first)
    before = np.setdiff1d(np.arange(len(pause)), last)
    on = expression.perturbed
    return Transitions(
        log_levels(expression.values, log_offset, scale_of(expression)),
        pause,
        before,
        series,
        None if on is None else on[before],
    )


@dataclass(frozen=True)
class Explained:
    """Variance of the targets explained by the chosen edges.

    Attributes
    ----------
    edges
        Chosen edges with non-zero coefficients.
    dropped
        Fraction of variance lost if one edge alone is dropped, ``w_j^2 / inv(G)_jj``; one per edge.
    left
        Fraction of each target's variance that its edges leave unexplained; (targets,).
    freedom
        Degrees of freedom of each target: steps less fitted parameters; (targets,).
    """

    edges: Edges
    dropped: Array
    left: Array
    freedom: Array

    @property
    def t_squared(self) -> Array:
        """Square of Student's t of each edge, given the other edges of its target."""
        target = self.edges.targets
        beyond = self.dropped * np.maximum(self.freedom, 0.0)[target]
        return np.where(
            beyond > 0, beyond / np.maximum(self.left, MIN_VARIANCE_FRACTION)[target], 0.0
        )


class StepLoss(Loss):
    """Unexplained variance of the next level of every gene, summed over genes and halved.

    Own level and intercepts of each target are projected out of its response and of all inputs,
    then response and inputs have unit variance, and input j is multiplied by ``weights[j]``. Only
    covariances are stored: for target i the inputs have the covariance of all inputs less a matrix
    of rank one, ``S - c_i c_i'``, so no array of size genes^3 is needed. A target has few edges, so
    value and gradient only use the corresponding rows of S.

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
    allowed
        Whether a pair may be an edge, [input, target]; all by default. Other pairs explain nothing
        and have gradient 0.

    Raises
    ------
    ValueError
        If the levels are too large to be squared.
    """

    shape: tuple[int, int]

    def __init__(
        self,
        past: Array,
        own: Array,
        following: Array,
        intercepts: NDArray[np.int64],
        weights: Array,
        allowed: Flags | None = None,
    ) -> None:
        z, u, y = (_centred(part, intercepts) for part in (past, own, following))
        own_variance = np.mean(u * u, axis=0)
        own_scale = _inverse_root(own_variance, own_variance.max(initial=0.0))
        self.shape = (z.shape[1], y.shape[1])
        self.freedom = len(z) - np.unique(intercepts).size - 1  # the weight of the own level
        self._own_scale = own_scale
        self._own_response = own_response = np.mean(u * y, axis=0) * own_scale
        response_variance = np.mean(y * y, axis=0)
        self._y = _inverse_root(response_variance - own_response**2, response_variance)
        S = z.T @ z
        S /= len(z)
        variance = S.diagonal().copy()
        if not (np.isfinite(variance).all() and np.isfinite(response_variance).all()):
            raise ValueError("levels are too large: their sum of squares is not finite")
        # Rows are targets: the inner loops of the kernels run over the inputs of a target.
        c = (u * (own_scale / len(z))).T @ z
        b = y.T @ z
        b /= len(z)
        d = np.ones(b.shape) if allowed is None else np.ascontiguousarray(allowed.T, np.float64)
        self._inputs = Inputs(S, variance, c, d, b)
        scale_inputs(self._inputs, weights, own_response, self._y, MIN_VARIANCE_FRACTION)

    def value(self, W: Array) -> float:
        """Return half the unexplained fraction of variance, summed; n_genes / 2 at 0."""
        return self.value_of(Edges.of(W))

    def gradient(self, W: Array) -> Array:
        """Return the gradient at W; [regulator, target]."""
        return self.gradient_at(Edges.of(W))

    def minimize_on(self, support: Flags) -> Array:
        """Return the least squares fit of every target on its regulators in `support`."""
        return self.fitted(np.flatnonzero(np.ascontiguousarray(support.T))).dense

    def value_of(self, edges: Edges) -> float:
        """Return `value` of sparse edges, from products among each target's own inputs."""
        explained = explained_by(self._inputs, edges.lists)
        return 0.5 * float(np.count_nonzero(self._y) - explained)

    def gradient_at(self, edges: Edges) -> Array:
        """Return `gradient` at sparse edges, as a sum of one row of S per edge."""
        by_target = np.empty(self._inputs.b.shape)
        slopes(self._inputs, edges.lists, by_target)
        return by_target.T

    def steepest(self, edges: Edges, size: int) -> Edges:
        """Return the `size` >= 1 largest gradient entries of each target, with ties of the last.

        Under a cap of `size` on every target and on all, a projection can keep no other entry.
        """
        start = np.empty(self.shape[1] + 1, np.int64)
        room = min(size, self.shape[0]) * self.shape[1]
        while True:
            at, slope = np.empty(room, np.int64), np.empty(room)
            needed = int(steepest(self._inputs, edges.lists, size, start, at, slope))
            if needed <= room:
                break
            room = needed  # many ties
        targets = np.repeat(np.arange(self.shape[1]), np.diff(start))
        return Edges(self.shape, targets * self.shape[0] + at[:needed], slope[:needed])

    def fitted(self, places: Ints) -> Edges:
        """Return the least squares fit of every target on its inputs at `places`, as in `Edges`."""
        edges = Edges(self.shape, places, np.empty(places.size))
        lists = edges.lists
        fit(self._inputs, lists, RIDGE)
        return Edges(self.shape, places, lists.weight).nonzero()

    def explained(self, places: Ints, added: Ints) -> Explained:
        """Fit the inputs at `places` and return the variance that they explain.

        Adds to `added`, [target, input], the variance that each edge not chosen would explain if it
        alone were added, in units of ``1 / SHARE_STEPS``.
        """
        edges = Edges(self.shape, places, np.empty(places.size))
        return self._pursued(edges.lists, edges.largest_number(), added)

    def pursued(self, size: int, added: Ints) -> Explained:
        """Select up to `size` regulators of every target by orthogonal matching pursuit.

        `added` is as for `explained`.
        """
        anything = Lists(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        return self._pursued(anything, min(size, self.shape[0]), added)

    def _pursued(self, members: Lists, size: int, added: Ints) -> Explained:
        n_inputs, n_targets = self.shape
        room = n_targets, size
        chosen = Chosen(
            np.empty(n_targets, np.int64), np.empty(room, np.int64), np.empty(room), np.empty(room)
        )
        if pursue(self._inputs, members, RIDGE, chosen, added):
            raise ValueError("levels are too large: the variance that edges explain is not finite")
        targets, k = np.nonzero(np.arange(size) < chosen.size[:, None])
        places, weights = targets * n_inputs + chosen.at[targets, k], chosen.weight[targets, k]
        is_there = weights != 0
        edges = Edges(self.shape, places[is_there], weights[is_there])
        along = edges.weights * self._inputs.b.ravel()[edges.places]
        return Explained(
            edges,
            chosen.dropped[targets, k][is_there],
            1.0 - edges.per_target(along),
            self.freedom - np.bincount(edges.targets, minlength=n_targets).astype(np.float64),
        )

    @property
    def alone(self) -> Array:
        """Square of Student's t of each pair if its edge is the only one; [regulator, target]."""
        explained = np.minimum(self._inputs.b**2, 1.0)
        return (
            explained * (self.freedom - 1) / np.maximum(1.0 - explained, MIN_VARIANCE_FRACTION)
        ).T

    def response(self, own: Array, following: Array, intercepts: NDArray[np.int64]) -> Array:
        """Return the responses of other steps in the same units; (steps, targets).

        Intercepts are those of the other steps; the weight of the own level is that of this loss.
        """
        u, y = (_centred(part, intercepts) for part in (own, following))
        return (y - u * (self._own_scale * self._own_response)) * self._y

    def predicted(self, W: Array, past: Array, own: Array, intercepts: NDArray[np.int64]) -> Array:
        """Return the responses of other steps that `W` predicts; (steps, targets)."""
        z, u = (_centred(part, intercepts) for part in (past, own))
        edges = Edges.of(W)
        weights = edges.weights * self._inputs.d.ravel()[edges.places]
        along = edges.per_target(weights * self._inputs.c.ravel()[edges.places])
        unscaled = Edges(self.shape, edges.places, weights).matrix
        return (unscaled.T @ z.T).T - u * (self._own_scale * along)


def _centred(x: Array, intercepts: NDArray[np.int64]) -> Array:
    """Subtract the mean of the rows with the same intercept."""
    is_in = (np.arange(intercepts.max() + 1)[:, None] == intercepts).astype(np.float64)
    size = is_in.sum(axis=1, keepdims=True)
    return x - (is_in @ x / np.where(size > 0, size, 1.0))[intercepts]


def _inverse_root(variance: Array, scale: Array | float) -> Array:
    """Return ``1 / sqrt(variance)``, and 0 if `variance` is negligible relative to `scale`."""
    is_there = variance > MIN_VARIANCE_FRACTION * np.asarray(scale)
    return np.where(is_there, 1.0 / np.sqrt(np.where(is_there, variance, 1.0)), 0.0)


def paper_problem(expression: Expression, rules: Rules) -> Problem:
    """Make the problem of the paper: ``x[t+1] - x[t] = W x[t]`` on raw values, no self-edges.

    The paper writes ``W[target, regulator]`` with samples in columns; here samples are rows, so
    that ``Y = X W`` with ``W[regulator, target]``, of the pairs of `Rules.candidates`.
    """
    regulators, targets, allowed = rules.candidates(expression.genes)
    x, out = expression.values, rules.out_caps(expression.genes)
    pieces = expression.pieces.values()
    X = np.concatenate([x[rows][:-1] for rows in pieces])[:, regulators]
    Y = np.concatenate([np.diff(x[rows], axis=0) for rows in pieces])[:, targets]
    constraint = TVCS.matrix(
        allowed.shape,
        row_caps=out[regulators] if isinstance(out, np.ndarray) else out,
        col_caps=rules.max_in_degree,
        total=rules.max_edges,
        allowed=allowed,
    )
    return Problem(LeastSquares(np.ascontiguousarray(X), np.ascontiguousarray(Y)), constraint)
