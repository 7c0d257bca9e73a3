"""Correlation of two genes in the same samples: of their levels, and of the ranks of these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def correlation(values: Array) -> Array:
    """Pearson's correlation between columns; 0 with a constant column and on the diagonal."""
    x = unit_columns(values)
    r = x.T @ x
    r = (r + r.T) / 2
    np.fill_diagonal(r, 0.0)
    return r


def rank_correlation(values: Array) -> Array:
    """Spearman's correlation between columns, ties at their mean rank; 0 with a constant column.

    Sums run over whole numbers, so the order of rows changes no bit of it. The diagonal is 0.
    """
    from scipy.stats import rankdata

    n_samples = len(values)
    ranks = np.rint(2 * rankdata(values, axis=0)) - (n_samples + 1)
    products = ranks.T @ ranks
    size = np.sqrt(products.diagonal())
    size = np.where(size > 0, size, np.inf)
    rho = products / (size[:, None] * size[None, :])
    np.fill_diagonal(rho, 0.0)
    return np.asarray(rho)


def unit_columns(values: Array) -> Array:
    """Columns less their mean, of length 1; 0 where a column is constant."""
    x = values - values.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0))
    is_constant = (values == values[:1]).all(axis=0)
    return np.asarray(x / np.where((size > 0) & ~is_constant, size, np.inf))
