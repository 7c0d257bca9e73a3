"""Solvers of cardinality-constrained problems, and `solve`, which runs them.

A solver is a generator: given a problem and a feasible start it yields feasible iterates for
ever. `solve` owns everything else.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvcs_core.problem import Problem
from tvcs_core.solvers.gradmp import gradmp
from tvcs_core.solvers.iht import iht

METHODS: dict[str, Callable[..., Iterator[NDArray[np.float64]]]] = {"iht": iht, "gradmp": gradmp}


@dataclass(frozen=True, eq=False)
class Solution:
    """The best iterate of a run, and how the run went.

    Attributes
    ----------
    matrix
        The iterate of least objective.
    support
        Where it is not zero.
    objective
        The loss there.
    history
        The loss at the start and after every iteration.
    residual
        Size of the last change of the iterate, relative to the iterate.
    reason
        Why the run stopped: ``"converged"``, ``"max_iter"`` or ``"callback"``.
    """

    matrix: NDArray[np.float64] = field(repr=False)
    support: NDArray[np.bool_] = field(repr=False)
    objective: float
    history: NDArray[np.float64] = field(repr=False)
    residual: float
    reason: str

    @property
    def converged(self) -> bool:
        """Whether the iterates came to rest before the limit."""
        return self.reason == "converged"

    @property
    def iterations(self) -> int:
        """Number of iterations made."""
        return len(self.history) - 1


def solve(
    problem: Problem,
    method: str = "iht",
    *,
    rng: int | np.random.Generator | None = None,
    start: ArrayLike | None = None,
    max_iter: int = 500,
    tol: float = 1e-6,
    callback: Callable[[int, NDArray[np.float64], float], bool | None] | None = None,
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
        Seed or generator for the methods that draw; the same one gives the same answer.
    start
        Where to start; projected onto the constraint first. Zero by default.
    max_iter
        Most iterations to make.
    tol
        Stop when the iterate changes by at most this, relative to its size (Frobenius norms).
    callback
        Called as ``callback(iteration, W, objective)``; the run stops if it returns True.
    **options
        Options of the method, such as ``step`` for ``"iht"``.

    Returns
    -------
    Solution
        With the best iterate, never worse than the start.

    Raises
    ------
    ValueError, TypeError
        If the method is unknown, does not take an option, or an argument is out of range.
    """
    solver = _solver(method, options, np.random.default_rng(rng))
    if max_iter < 0 or not tol >= 0:
        raise ValueError(f"max_iter and tol must be >= 0, found {max_iter} and {tol}")
    problem = replace(problem)  # with a memory of projections of its own
    W = np.zeros(problem.constraint.shape)
    if start is not None:
        W = problem.project(start).matrix
    best, objective = W, problem.loss.value(W)
    history, residual, reason = [objective], math.inf, "max_iter"
    iterates = solver(problem, W)
    for iteration in range(1, max_iter + 1):
        last, W = W, next(iterates)
        history.append(problem.loss.value(W))
        if history[-1] < objective:
            best, objective = W, history[-1]
        change, size = np.linalg.norm(W - last), np.linalg.norm(W)
        residual = float(change / size) if size else math.inf if change else 0.0
        if callback is not None and callback(iteration, W, history[-1]):
            reason = "callback"
            break
        if residual <= tol:
            reason = "converged"
            break
    return Solution(best, best != 0, objective, np.array(history), residual, reason)


def _solver(
    method: str, options: dict[str, Any], rng: np.random.Generator
) -> Callable[..., Iterator[NDArray[np.float64]]]:
    """The generator function of `method` with its options (and `rng`, if it draws) filled in."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, found {method!r}")
    function = METHODS[method]
    taken = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    unknown = [name for name in options if name not in taken or name == "rng"]
    if unknown:
        known = ", ".join(name for name in taken if name != "rng") or "none"
        raise TypeError(f"{method} does not take {unknown[0]!r}; its options: {known}")
    if "rng" in taken:
        options = options | {"rng": rng}
    return lambda problem, W: function(problem, W, **options)
