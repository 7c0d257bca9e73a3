"""Two conditions whose one difference is known, as tables and as expressions."""

import numpy as np
import pytest

from grn_tvcs import Expression, write_expression

GENES = tuple(f"G{j + 1}" for j in range(8))


def series(weights, n_series, seed, n_points=16):
    """Logarithms that follow `weights` [regulator, target] from one point to the next."""
    rng = np.random.default_rng(seed)
    n = len(weights)
    rows = []
    for _ in range(n_series):
        level = rng.normal(size=n)
        for _ in range(n_points):
            rows.append(level)
            level = 0.3 * level + level @ weights + 0.5 * rng.normal(size=n)
    names = tuple(f"{s + 1:02d}" for s in range(n_series) for _ in range(n_points))
    times = np.tile(np.arange(float(n_points)), n_series)
    return Expression(np.array(rows), times, names, GENES, scale="log")


def network(*edges):
    """Weights of edges (regulator, target, weight)."""
    weights = np.zeros((len(GENES), len(GENES)))
    for source, target, weight in edges:
        weights[GENES.index(source), GENES.index(target)] = weight
    return weights


COMMON = (("G1", "G2", 0.6), ("G3", "G4", -0.6), ("G5", "G6", 0.5))
MORE = ("G1", "G7", -1.5)  # the edge that the second condition alone has


@pytest.fixture(scope="session")
def conditions():
    """Ten series of each; the second has one edge more."""
    return series(network(*COMMON), 10, 39, 41), series(network(*COMMON, MORE), 10, 40, 41)


@pytest.fixture
def files(conditions, tmp_path):
    """The same as two tables."""
    for name, part in zip(("wild", "mutant"), conditions, strict=True):
        write_expression(part, tmp_path / f"{name}.tsv")
    return tmp_path
