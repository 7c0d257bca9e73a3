"""Mutual information of genes, and its excess over the background of both genes (CLR).

The estimator is the default of the R package minet (Meyer, Lafitte and Bontempi 2008): the mutual
information of two Gaussian variables with Spearman's rank correlation rho,

    I(x; y) = -log(1 - rho^2) / 2,

with rho^2 clipped to 0.999999. It detects monotone relations only and needs no bins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import MAX_FULL_MATRIX, RankCorrelations

MAX_SQUARED_CORRELATION = 0.999999  # keeps the information of copies of a gene finite


def mutual_information(rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mutual information, in nats, of Gaussian variables with correlations `rho`."""
    return -0.5 * np.log1p(-np.minimum(rho * rho, MAX_SQUARED_CORRELATION))


class MutualInformation:
    """Mutual information of genes with all genes; stored if all pairs are few."""

    def __init__(self, rho: RankCorrelations) -> None:
        self.rho = rho
        self._kept: NDArray[np.float64] | None = None
        if rho.n_genes**2 <= MAX_FULL_MATRIX:
            self._kept = mutual_information(rho.of(np.arange(rho.n_genes)))

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mutual information of `rows`, which may contain duplicates; [row, gene]."""
        if self._kept is not None:
            return self._kept[rows]
        several, at = np.unique(rows, return_inverse=True)
        return mutual_information(self.rho.of(several))[at]


def clr_scores(
    rho: RankCorrelations,
    rows: NDArray[np.int64] | None = None,
    columns: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the context likelihood of relatedness (CLR) of every pair, symmetric.

        z_i(j) = max(0, (I(i; j) - mean_i) / sd_i),     score(i, j) = sqrt(z_i(j)^2 + z_j(i)^2),

    with mean_i and sd_i (n - 1 in the denominator) over the mutual information of gene i with all
    other genes, as in minet. If gene i has equal information with all others, z_i is 0. Faith,
    Hayete, Thaden et al., PLoS Biology 5, e8 (2007).

    Parameters
    ----------
    rho
        Rank correlations of all genes.
    rows, columns
        Genes of the result, [row, column]; all by default.
    """
    everything = np.arange(rho.n_genes)
    rows, columns = (everything if some is None else some for some in (rows, columns))
    of_blocks = [_background(block, places) for places, block in rho.blocks()]
    mean, sd = (np.concatenate(parts) for parts in zip(*of_blocks, strict=True))
    return np.concatenate(
        [_away_for_both(rho, some, columns, mean, sd) for some in rho.in_blocks(rows)]
    )


def _away_for_both(
    rho: RankCorrelations,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    mean: NDArray[np.float64],
    sd: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the scores of some pairs, given mean and sd of all genes."""
    information = mutual_information(rho.of(rows, columns))
    z = []
    for of in (rows[:, None], columns):
        away = information - mean[of]
        away[rows[:, None] == columns] = 0.0
        z.append(np.clip(away / sd[of], 0.0, None))
    return np.asarray(np.hypot(z[1], z[0]))


def _background(
    rho: NDArray[np.float64], places: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and sd of the mutual information of genes; infinite sd if it is constant."""
    information = mutual_information(np.ascontiguousarray(rho.T))
    n_others = len(information) - 1
    mean = information.sum(axis=0) / max(n_others, 1)
    away = information - mean
    away[places, np.arange(len(places))] = 0.0
    sd = np.sqrt((away * away).sum(axis=0) / max(n_others - 1, 1))
    return mean, np.where(sd > 1e-12 * mean, sd, np.inf)
