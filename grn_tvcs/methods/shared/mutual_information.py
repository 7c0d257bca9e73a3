"""Mutual information between genes, as ARACNE, CLR and MRNET take it here.

The estimator is the default of the R package minet (Meyer, Lafitte and Bontempi 2008): the mutual
information of two Gaussian variables with Spearman's rank correlation rho,

    I(x; y) = -log(1 - rho^2) / 2,

where rho^2 is at most 0.999999. It sees monotone relations only and needs no bins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_SQUARE = 0.999999  # of a correlation, so that copies of a gene have a finite value


def rank_correlation(values: NDArray[np.float64]) -> NDArray[np.float64]:
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


def mutual_information(rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information, in nats, of Gaussian variables with the correlations `rho`."""
    return -0.5 * np.log1p(-np.minimum(rho * rho, LARGEST_SQUARE))
