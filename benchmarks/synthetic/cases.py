"""The cases of the synthetic study: how the paper draws a problem, and what is measured on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from tvcs_core import TVCS, LeastSquares, Loss, SquaredHinge, project

SIDE = 20  # p = 400 as 20 x 20
NOISE = 0.01
HINDSIGHT = " (hindsight)"  # ends the name of a method whose strength was chosen by the truth
FRESH = 10_000
SIZES = {2: (100, 150, 200, 250, 300, 350, 400, 500, 600), 3: (200, 300, 400, 500, 600, 700, 800)}


@dataclass(frozen=True, eq=False)
class Instance:
    """One problem of Figure 2 (regression) or Figure 3 (classification).

    The constraint and the truth depend on the seed and the repeat only, and a larger n adds
    samples to those of a smaller one, so that the curves over n compare like with like.
    """

    figure: int
    n: int
    repeat: int
    seed: int
    constraint: TVCS
    truth: np.ndarray
    X: np.ndarray
    y: np.ndarray

    @property
    def loss(self) -> Loss:
        return loss_of(self.figure, self.X, self.y)

    @property
    def support(self) -> np.ndarray:
        return self.truth != 0

    @cached_property
    def weakest(self) -> float:
        """Smallest true weight in standard errors of least squares on the true support."""
        active = self.X[:, self.support]
        if self.figure != 2 or active.shape[0] <= active.shape[1]:
            return 0.0
        errors = NOISE * np.sqrt(np.diag(np.linalg.inv(active.T @ active)))
        return float((np.abs(self.truth[self.support]) / errors).min())

    @cached_property
    def fresh(self) -> tuple[np.ndarray, np.ndarray]:
        """Samples to test a classifier on, flat, and on which side of the truth they lie."""
        X = stream(self.seed, self.repeat, 3).standard_normal((FRESH, SIDE * SIDE))
        return X, X @ self.truth.ravel() > 0

    def error(self, W: np.ndarray) -> float | None:
        """Share of fresh samples that W classifies wrongly (Figure 3)."""
        if self.figure != 3:
            return None
        X, is_positive = self.fresh
        return float(np.mean((X @ W.ravel() > 0) != is_positive))


@dataclass(frozen=True)
class Case:
    """What is measured on one answer of one method; a row of the CSV.

    `size` counts the nonzeros of the answer and `hits` those that are true; `projected_` says
    the same of the answer projected onto all caps, `refit_error` of the loss minimised on that
    support. `nonzeros` and `weakest` are facts of the instance.
    """

    n: int
    repeat: int
    method: str
    strength: float | None
    nonzeros: int
    weakest: float
    size: int
    hits: int
    projected_size: int
    projected_hits: int
    error: float | None
    projected_error: float | None
    refit_error: float | None
    seconds: float

    @property
    def key(self) -> tuple[int, int, str]:
        return self.n, self.repeat, self.method

    @property
    def recall(self) -> float:
        return self.hits / self.nonzeros

    @property
    def projected_recall(self) -> float:
        return self.projected_hits / self.nonzeros

    @property
    def is_recovered(self) -> bool:
        """Whether the projected answer has exactly the true support."""
        return self.projected_hits == self.projected_size == self.nonzeros


def stream(seed: int, repeat: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([seed, repeat, purpose])


def loss_of(figure: int, X: np.ndarray, y: np.ndarray, ridge: float = 0.0) -> Loss:
    return LeastSquares(X, y, ridge=ridge) if figure == 2 else SquaredHinge(X, y, ridge=ridge)


@lru_cache(maxsize=2)
def draw(figure: int, n: int, repeat: int, seed: int) -> Instance:
    """Draw a problem as the paper says ("Linear Regression and Classification ...")."""
    rng = stream(seed, repeat, 0)
    row_caps, col_caps = rng.integers(1, SIDE + 1, SIDE), rng.integers(1, SIDE + 1, SIDE)
    total = int(0.8 * min(row_caps.sum(), col_caps.sum()))
    constraint = TVCS.matrix((SIDE, SIDE), row_caps=row_caps, col_caps=col_caps, total=total)
    support = project(rng.standard_normal((SIDE, SIDE)), constraint).support
    truth = np.where(support, rng.standard_normal((SIDE, SIDE)), 0.0)
    X = stream(seed, repeat, 1).standard_normal((n, SIDE, SIDE))
    y = X.reshape(n, -1) @ truth.ravel()
    if figure == 2:
        y = y + NOISE * stream(seed, repeat, 2).standard_normal(n)
    else:
        y = np.where(y > 0, 1.0, -1.0)
    return Instance(figure, n, repeat, seed, constraint, truth, X, y)


def cases(
    instance: Instance, answers: Iterator[tuple[str, np.ndarray, float | None, float]]
) -> list[Case]:
    """Measure answers (method, coefficients, strength, seconds), raw and projected."""
    found = []
    for method, W, strength, seconds in answers:
        projected = project(W, instance.constraint)
        refit = None
        if instance.figure == 3:
            refit = instance.error(instance.loss.minimize_on(projected.support))
        found.append(
            Case(
                n=instance.n,
                repeat=instance.repeat,
                method=method,
                strength=strength,
                nonzeros=int(instance.support.sum()),
                weakest=instance.weakest,
                size=int(np.count_nonzero(W)),
                hits=int((instance.support & (W != 0)).sum()),
                projected_size=int(projected.support.sum()),
                projected_hits=int((instance.support & projected.support).sum()),
                error=instance.error(W),
                projected_error=instance.error(projected.matrix),
                refit_error=refit,
                seconds=seconds,
            )
        )
    return found
