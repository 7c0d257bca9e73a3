"""Matrices and caps on which the projection is measured."""

from __future__ import annotations

import numpy as np

CASES = (("uniform", 0.8), ("uniform", None), ("varied", 0.8), ("varied", None))
SEEDS = (1, 2, 3, 4, 5)
FAMILIES = {
    "products": lambda rng, n, m: rng.normal(size=(n, 1)) * rng.normal(size=(1, m)),
    "logistic": lambda rng, n, m: 1 / (1 + np.exp(-FAMILIES["sums"](rng, n, m))),
    "sums": lambda rng, n, m: rng.normal(size=(n, 1)) + rng.normal(size=(1, m)),
    "noisy products": lambda rng, n, m: (
        FAMILIES["products"](rng, n, m) * (1 + 0.05 * rng.normal(size=(n, m)))
    ),
    "gauss": lambda rng, n, m: rng.normal(size=(n, m)),
    "low rank": lambda rng, n, m: rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)),
    "constant rows": lambda rng, n, m: np.repeat(rng.normal(size=(n, 1)), m, axis=1),
    "heavy tails": lambda rng, n, m: np.exp(3 * rng.normal(size=(n, m))),
    "ties": lambda rng, n, m: rng.integers(-3, 4, (n, m)).astype(float),
    "zeros": lambda rng, n, m: rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.1),
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
