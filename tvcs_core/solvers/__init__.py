"""Solvers of cardinality-constrained problems, and `solve`, which runs them.

A solver is a generator: given a problem and a feasible start it yields feasible iterates without
end. Starting, stopping, timing and the best iterate belong to `solve`; losses to `loss`, caps to
`constraint`.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import array_of, check_choice, check_number, check_type, describe_value
from tvcs_core.files.display import summary
from tvcs_core.problem import Problem
from tvcs_core.solvers.cosamp import cosamp
from tvcs_core.solvers.gradmp import gradmp
from tvcs_core.solvers.htp import htp
from tvcs_core.solvers.iht import iht
from tvcs_core.solvers.polish import check_polish, polished
from tvcs_core.solvers.stogradmp import stogradmp
from tvcs_core.solvers.stoiht import stoiht
from tvcs_core.streams import stream

Array = NDArray[np.float64]
Solver = Callable[..., Iterator[Array]]

METHODS: dict[str, Solver] = {
    "iht": iht,
    "htp": htp,
    "cosamp": cosamp,
    "gradmp": gradmp,
    "stoiht": stoiht,
    "stogradmp": stogradmp,
}


@dataclass(frozen=True, eq=False)
class Solution:
    """The best iterate of a run, and the history of the run.

    Attributes
    ----------
    matrix
        The iterate with the smallest objective.
    support
        Mask of its nonzero entries.
    objective
        Its loss.
    history
        The loss at the start and after every iteration, and after polishing if that lowered it.
    iterations
        Number of iterations.
    times
        Seconds from the call of `solve` to each entry of `history`.
    reason
        Reason to stop: ``"converged"`` (the iterate stopped moving), ``"stalled"`` (no iterate
        improved on the best for a while), ``"max_iter"`` or ``"callback"``.
    problem
        The problem.
    """

    matrix: Array = field(repr=False)
    support: NDArray[np.bool_] = field(repr=False)
    objective: float
    history: Array = field(repr=False)
    iterations: int
    times: Array = field(repr=False)
    reason: str
    problem: Problem = field(repr=False)

    __repr__ = summary

    @property
    def converged(self) -> bool:
        """Whether the iterates stopped moving before the limit."""
        return self.reason == "converged"

    @cached_property
    def residual(self) -> float:
        """Relative distance of `matrix` from a fixed point of the projected gradient.

        ``|W - P(W - gradient / L)| / |W|`` with the projection P and the Lipschitz constant L of
        the gradient, in Frobenius norms: the same measure for all solvers, whatever their steps.
        It is 0 exactly at the L-stationary points (Beck and Eldar 2013), which include every
        minimiser. Computed at the first access, by one gradient and one projection; infinite if W
        is 0 but not a fixed point.
        """
        W, loss = self.matrix, self.problem.loss
        stepped = self.problem.project(
            W - self.problem.gradient(W) / (loss.lipschitz() or 1.0)
        ).matrix
        return _relative_change(W, stepped)


def solve(
    problem: Problem,
    method: str = "iht",
    *,
    rng: int | np.random.Generator | None = None,
    start: Any = None,
    max_iter: int = 500,
    tol: float = 1e-6,
    patience: int = 5,
    polish: bool = False,
    shakes: int = 0,
    callback: Callable[[int, Array, float], bool | None] | None = None,
    **options: Any,
) -> Solution:
    """Minimise the loss of `problem` under its constraint.

    Parameters
    ----------
    problem
        Loss and constraint.
    method
        One of `METHODS`.
    rng
        Seed or generator of the stochastic methods; the same one gives the same answer.
    start
        Starting point, dense or sparse, projected onto the constraint first; zero by default.
    max_iter
        Limit on the number of iterations.
    tol
        Stop when the iterate changes by at most this much, relative to its size (Frobenius norms).
    patience
        Stop after so many iterations without improvement on the best iterate. GradMP often ends in
        a short cycle instead of a fixed point.
    polish
        Whether to end with swaps within the caps: entries enter and leave the support, singly, by
        exchanges or in chains, until none of these lowers the loss. Needs the loss of a linear
        model. The result has the smallest loss more often, which is the better estimate where the
        noise is small.
    shakes
        With `polish`, the number of times to drop two fifths of the support at random and to swap
        again. Each takes about the time of the first swaps.
    callback
        Called as ``callback(iteration, W, objective)``, with W read-only; the run stops if it
        returns True.
    **options
        Options of the method, such as ``step`` for ``"iht"``.

    Returns
    -------
    Solution
        The best iterate, never worse than the start, and the history.

    Raises
    ------
    ValueError, TypeError
        If the method is unknown, does not take an option, or needs terms that the loss does not
        have; if an argument is out of range.

    Examples
    --------
    >>> from tvcs_core import TVCS, LeastSquares, Problem, solve
    >>> loss = LeastSquares([[2, 0], [0, 1]], [4, 3])
    >>> solution = solve(Problem(loss, TVCS.groups([0, 0], None, total=1)), "htp")
    >>> solution.matrix.tolist(), solution.objective, solution.reason
    ([2.0, 0.0], 4.5, 'converged')
    """
    began = time.perf_counter()
    _check_problem(problem, method, polish=polish)
    _check_stopping(max_iter, tol, patience, callback)
    check_number("shakes", shakes, whole=True)
    if shakes < 0 or (shakes and not polish):
        raise ValueError(f"shakes must be >= 0, and 0 without polish, found {shakes}")
    solver = _solver(problem, method, options, stream(rng, "solve", method))
    problem = replace(problem)  # with its own cache of projections
    W = np.zeros(problem.constraint.shape)
    if start is not None:
        if sparse.issparse(start):
            start = start.toarray()
        start = array_of("start", start, np.float64, copy=False)
        if start.shape != W.shape:
            raise ValueError(
                f"start must have the constraint's shape {W.shape}, found {start.shape}"
            )
        if not np.isfinite(start).all():
            raise ValueError("start must be finite, found NaN or infinity in it")
        W = problem.project(start).matrix
    best, objective = W, problem.loss.value(W)
    if not np.isrealobj(objective) or np.ndim(objective) or objective is None:
        name = f"the value of {type(problem.loss).__name__}"
        raise TypeError(f"{name} must be a number, found {describe_value(objective)}")
    if math.isnan(objective):
        raise ValueError(f"{type(problem.loss).__name__} must have a value at the start, found NaN")
    objective = float(objective)
    history, times, reason = [objective], [time.perf_counter() - began], "max_iter"
    since = 0  # iterations since the last improvement
    iterates = solver(problem, W)
    for iteration in range(1, max_iter + 1):
        last, W = W, next(iterates)
        history.append(float(problem.loss.value(W)))
        times.append(time.perf_counter() - began)
        since += 1
        if history[-1] < objective:
            best, objective, since = W, history[-1], 0
        if callback is not None and callback(iteration, _read_only(W), history[-1]):
            reason = "callback"
        elif _relative_change(W, last) <= tol:
            reason = "converged"
        elif since >= patience:
            reason = "stalled"
        else:
            continue
        break
    iterations = len(history) - 1
    if polish:
        best = polished(problem, best, shakes, stream(rng, "polish"))
        if (value := problem.loss.value(best)) < objective:
            objective = value
            history.append(value)
            times.append(time.perf_counter() - began)
    found = best, best != 0, objective, np.array(history), iterations, np.array(times)
    return Solution(*found, reason, problem)


def _check_problem(problem: Problem, method: str, *, polish: bool) -> None:
    check_type("problem", problem, Problem)
    check_choice("method", method, METHODS)
    check_type("polish", polish, bool)
    if polish:
        check_polish(problem)


def _check_stopping(max_iter: int, tol: float, patience: int, callback: object) -> None:
    for name, value in {"max_iter": max_iter, "patience": patience}.items():
        check_number(name, value, whole=True)
    check_number("tol", tol)
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be a function, found {callback!r}")
    if max_iter < 0 or not tol >= 0 or patience < 1:
        raise ValueError(
            "max_iter and tol must be >= 0 and patience >= 1, "
            f"found {max_iter}, {tol} and {patience}"
        )


def _read_only(W: Array) -> Array:
    shown = W.view()
    shown.setflags(write=False)
    return shown


def _relative_change(W: Array, last: Array) -> float:
    change, size = float(np.linalg.norm(W - last)), float(np.linalg.norm(W))
    return change / size if size else math.inf if change else 0.0


def _solver(
    problem: Problem, method: str, options: dict[str, Any], rng: np.random.Generator
) -> Solver:
    """Return the generator function of `method` with its options (and `rng` if it draws) set."""
    function = METHODS[method]
    accepted = _options(function)
    unknown = [name for name in options if name not in accepted or name == "rng"]
    if unknown:
        known = ", ".join(name for name in accepted if name != "rng") or "none"
        shared = ", ".join(name for name in _options(solve) if name != "options")
        raise TypeError(
            f"{method} does not take {unknown[0]!r}; its options: {known}; of all methods: {shared}"
        )
    if "rng" not in accepted:
        return lambda problem, W: function(problem, W, **options)
    if problem.loss.n_terms is None:
        others = ", ".join(name for name, other in METHODS.items() if "rng" not in _options(other))
        raise ValueError(
            f"{method} needs a loss with terms, but {type(problem.loss).__name__} has none; "
            f"methods for it: {others}"
        )
    return lambda problem, W: function(problem, W, rng=rng, **options)


def _options(solver: Callable[..., Any]) -> list[str]:
    """Return the keyword-only arguments of a solver: its options, and `rng` if it draws."""
    parameters = inspect.signature(solver).parameters.values()
    return [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
