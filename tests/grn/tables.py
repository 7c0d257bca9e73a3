"""Tables of levels that tests of readers write, and what a refusal offers."""

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.readable_options import readable_options

NAMES = ("Fos", "Jun", "Egr1", "Myc", "Atf3", "Klf4", "Rela", "Stat1", "Irf1", "Il6", "Tnf", "T")
TIMES = (0, 1, 2, 4, 8, 24)


def levels(rng, n_series=3, names=NAMES):
    """Levels of genes in so many series of the same times."""
    rows = n_series * len(TIMES)
    return pd.DataFrame(np.round(np.exp(rng.normal(4, 1, (rows, len(names)))), 3), columns=names)


def course(rng, n_series=3):
    table = levels(rng, n_series)
    table.insert(0, "Time", [*TIMES] * n_series)
    return table


def turned(table, samples):
    """Genes in rows, in samples of these names."""
    made = table.T
    made.columns = samples
    return made.rename_axis("gene").reset_index()


def refused(path, **given):
    with pytest.raises(ValueError, match=r".") as why:
        Expression.of(path, **given)
    ways = ways_out(path, why.value, **given)
    return str(why.value), [{k: v for k, v in way.items() if given.get(k) != v} for way in ways]


def ways_out(path, error, **given):
    """Options with which a file is read that was refused with some."""
    return [way.options.given() for way in readable_options([path], error, Options.of(**given))]


def of_another_nature(n_genes=40, n_series=8, n_points=6, seed=0):
    """Series that begin anywhere, each with a trend, and two things common to all genes."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(2, n_genes))
    rows = []
    for _ in range(n_series):
        start = rng.normal(size=2)
        path = start + np.cumsum(rng.normal(0.6, 0.1, size=(n_points, 2)), axis=0)
        rows.append(path @ common + 0.1 * rng.normal(size=(n_points, n_genes)))
    times = np.tile(np.arange(float(n_points)), n_series)
    names = tuple(f"{s}" for s in range(n_series) for _ in range(n_points))
    genes = tuple(f"G{g:02d}" for g in range(n_genes))
    return Expression(np.concatenate(rows), times, names, genes, scale="log")


def in_operons(n_genes=12, n_series=6, n_points=8, seed=0):
    """Genes in pairs that differ by little; each pair walks on its own."""
    rng = np.random.default_rng(seed)
    walk = rng.normal(size=(n_series, n_points, n_genes // 2)).cumsum(axis=1)
    values = np.repeat(walk.reshape(-1, n_genes // 2), 2, axis=1)
    values += 0.3 * rng.normal(size=values.shape)
    times = np.tile(np.arange(float(n_points)), n_series)
    names = tuple(f"{s}" for s in range(n_series) for _ in range(n_points))
    return Expression(values, times, names, tuple(f"G{g:02d}" for g in range(n_genes)), scale="log")
