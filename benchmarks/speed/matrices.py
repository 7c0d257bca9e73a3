"""Matrices and caps on which the projection is measured."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.study import ROOT
from tvcs_core import TVCS, project

CASES = (("uniform", 0.8), ("uniform", None), ("varied", 0.8), ("varied", None))
SEEDS = (1, 2, 3, 4, 5)
CROWD = ROOT / "data" / "crowd40" / "quality.csv"
KINDS = 5  # of rows and of columns, in a table of blocks
SAMPLES, STEPS = 200, 4  # of the regression whose gradients are projected


def blocks(rng, n, m):
    """A mean for every kind of row and kind of column, and noise of a tenth of it."""
    of_row, of_col = rng.integers(0, KINDS, n), rng.integers(0, KINDS, m)
    means = rng.normal(size=(KINDS, KINDS))[of_row[:, None], of_col]
    return means + 0.1 * rng.normal(size=(n, m))


def nearly_sorted(rng, n, m):
    """Gaussian values that fall from entry to entry, row after row, but for a little noise."""
    falling = -np.sort(-rng.normal(size=n * m)).reshape(n, m)
    return falling + 0.01 * rng.normal(size=(n, m))


def gradients(rng, n, m):
    """What the fifth step of IHT projects: m targets on n inputs that vary together."""
    caps = {"row_caps": max(1, m // 20), "col_caps": max(1, n // 20)}
    constraint = TVCS.matrix((n, m), **caps)
    X = rng.normal(size=(SAMPLES, 5)) @ rng.normal(size=(5, n)) + rng.normal(size=(SAMPLES, n))
    truth = project(rng.normal(size=(n, m)), constraint).matrix
    Y = X @ truth + rng.normal(size=(SAMPLES, m))
    step, W = np.linalg.norm(X, 2) ** -2.0, np.zeros((n, m))
    for _ in range(STEPS):
        W = project(W - step * (X.T @ (X @ W - Y)), constraint).matrix
    return W - step * (X.T @ (X @ W - Y))


def qualities(rng, n, m, file=CROWD):
    """Workers and tasks of a crowd, drawn again where there are too few: 2 q - 1."""
    table = read_qualities(file)
    rows, cols = (
        rng.permutation(have)[:want] if want <= have else rng.integers(0, have, want)
        for have, want in zip(table.shape, (n, m), strict=True)
    )
    return 2.0 * table[np.ix_(rows, cols)] - 1.0


@cache
def read_qualities(file: Path):
    """A table as `crowd-tvcs quality` writes it: a row per worker, a column per task."""
    lines = file.read_text(encoding="utf-8").splitlines()[1:]
    return np.array([line.split(",")[1:] for line in lines], dtype=float)


FAMILIES = {
    "products": lambda rng, n, m: rng.normal(size=(n, 1)) * rng.normal(size=(1, m)),
    "logistic": lambda rng, n, m: 1 / (1 + np.exp(-FAMILIES["sums"](rng, n, m))),
    "sums": lambda rng, n, m: rng.normal(size=(n, 1)) + rng.normal(size=(1, m)),
    "noisy products": lambda rng, n, m: (
        FAMILIES["products"](rng, n, m) * (1 + 0.05 * rng.normal(size=(n, m)))
    ),
    "gauss": lambda rng, n, m: rng.normal(size=(n, m)),
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "low rank": lambda rng, n, m: rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)),
    "constant rows": lambda rng, n, m: np.repeat(rng.normal(size=(n, 1)), m, axis=1),
    "constant columns": lambda rng, n, m: np.repeat(rng.normal(size=(1, m)), n, axis=0),
    "blocks": blocks,
    "nearly sorted": nearly_sorted,
    "heavy tails": lambda rng, n, m: np.exp(3 * rng.normal(size=(n, m))),
    "ties": lambda rng, n, m: rng.integers(-3, 4, (n, m)).astype(float),
    "integers": lambda rng, n, m: rng.integers(1, 11, (n, m)).astype(float),
    "zeros": lambda rng, n, m: rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.1),
    "gradients": gradients,
    "qualities": qualities,
    "rounded": lambda rng, n, m: np.round(rng.normal(size=(n, m)), 2),
    "percentages": lambda rng, n, m: np.round(FAMILIES["logistic"](rng, n, m), 2),
    "minima": lambda rng, n, m: np.minimum(rng.random((n, 1)), rng.random((1, m))),
    "near ties": lambda rng, n, m: 1 + 1e-13 * rng.normal(size=(n, m)),
    "row scales": lambda rng, n, m: (
        rng.normal(size=(n, m)) * np.exp(6 * rng.normal(size=n))[:, np.newaxis]
    ),
}


def scaled(values):
    return np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))


def draw_caps(rng, n, m, per_row, per_col, kind, total):
    """Caps of a ratio of the groups' sizes, and a total of a share of what they allow."""
    if kind == "uniform":
        a, b = np.full(n, max(1, round(per_row))), np.full(m, max(1, round(per_col)))
    else:
        a = rng.integers(1, max(2, int(2 * per_row)), n)
        b = rng.integers(1, max(2, int(2 * per_col)), m)
    total = n * m if total is None else int(total * min(a.sum(), b.sum()))
    return a.astype(np.int64), b.astype(np.int64), total


def named(kind, total):
    """A case of `CASES` in words."""
    return f"{kind}, {'loose' if total is None else total}"


# Rows of `benchmarks.speed.families`.
TOTALS = {0.8: "binding", None: "loose"}
HUGE = 5_000_000  # entries: from here on one ratio and uniform caps only
ONES = "ones"  # caps of 1, whatever the ratio


@dataclass(frozen=True)
class What:
    """The table that a row is about: its cell and its seed."""

    family: str
    rows: int
    cols: int
    caps: str
    total: str
    ratio: float
    seed: int

    @property
    def key(self) -> tuple[str | int | float, ...]:
        """What is measured, apart from the code that measured it."""
        return tuple(getattr(self, field.name) for field in fields(What))


@dataclass(frozen=True)
class Cell(What):
    """A row: seconds of every method; None where one does not take part."""

    code: str
    ours: float
    ortools: float
    build: float
    scipy: float | None
    highs: float | None

    @property
    def entries(self) -> int:
        """How large the table is."""
        return self.rows * self.cols
