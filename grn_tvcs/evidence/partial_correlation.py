"""Partial correlation with shrinkage: correlation of two genes given all the others.

With R the correlations of n genes in m samples, usually fewer than genes, the estimate is

    R* = (1 - s) R + s I,     p_ij = -w_ij / sqrt(w_ii w_jj)   with   W = inv(R*).

The shrinkage s with the least expected error is sum of Var(r_ij) / sum of r_ij^2 over all pairs
(Schäfer and Strimmer, Statistical Applications in Genetics and Molecular Biology 4, 32, 2005), with
Var estimated from the samples. Only a matrix of m x m is inverted (Woodbury):

    W = (I - Z' inv(s / (1 - s) I + Z Z') Z) / s,     R = Z'Z.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import unit_columns

MIN_SHRINKAGE = 0.01  # keeps the condition number of R* below 100 n

Array = NDArray[np.float64]


def partial_correlation(
    values: Array, rows: NDArray[np.int64] | None = None, shrinkage: float | None = None
) -> Array:
    """Return partial correlations of the columns `rows` with all columns; 0 for constant columns.

    Parameters
    ----------
    values
        Levels, preferably on a log scale; (samples, genes).
    rows
        Regulators of the result; all genes by default.
    shrinkage
        s, above 0 and at most 1; estimated by default.
    """
    z = unit_columns(values)
    s = estimated_shrinkage(z) if shrinkage is None else shrinkage
    rows = np.arange(z.shape[1]) if rows is None else rows
    if s >= 1.0:
        return np.zeros((len(rows), z.shape[1]))
    inner = z @ z.T + s / (1.0 - s) * np.eye(len(z))
    solved = np.linalg.solve(inner, z)
    diagonal = 1.0 - (z * solved).sum(axis=0)  # of s W
    partial = z[:, rows].T @ solved / np.sqrt(np.outer(diagonal[rows], diagonal))
    partial[np.arange(len(rows)), rows] = 0.0
    return np.asarray(partial)


def estimated_shrinkage(z: Array) -> float:
    """Return the shrinkage of Schäfer and Strimmer for centred columns of length 1.

    With w_kij = m z_ki z_kj / (m - 1), r_ij is m / (m - 1) times the mean of w_kij over the m
    samples, and Var(r_ij) = m / (m - 1)^3 times the sum of squared deviations of w_kij. Sums over
    pairs are computed per sample, so no array of size genes^2 is needed.
    """
    m = len(z)
    x = z[:, z.any(axis=0)] * np.sqrt(m - 1.0)  # unit variance
    if m < 3 or x.shape[1] < 2:
        return 1.0
    squares = x * x
    of_products = (squares.sum(axis=1) ** 2).sum() - (squares * squares).sum()
    gram = x @ x.T
    sums = (gram * gram).sum() - (squares.sum(axis=0) ** 2).sum()  # of (sum of x_ki x_kj)^2
    variance = m / (m - 1.0) ** 3 * (of_products - sums / m)
    total = sums / (m - 1.0) ** 2
    return float(np.clip(variance / total, MIN_SHRINKAGE, 1.0)) if total > 0 else 1.0
