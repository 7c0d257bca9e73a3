"""Mutual information between genes, and how far it stands out of that with other genes (CLR).

The estimator is the default of the R package minet (Meyer, Lafitte and Bontempi 2008): the mutual
information of two Gaussian variables with Spearman's rank correlation rho,

    I(x; y) = -log(1 - rho^2) / 2,

where rho^2 is at most 0.999999. It sees monotone relations only and needs no bins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import WHOLE, RankCorrelations

LARGEST_SQUARE = 0.999999  # of a correlation, so that copies of a gene have a finite value


def mutual_information(rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information, in nats, of Gaussian variables with the correlations `rho`."""
    return -0.5 * np.log1p(-np.minimum(rho * rho, LARGEST_SQUARE))


class Information:
    """Mutual information of some genes with all; kept where all pairs of genes are few."""

    def __init__(self, rho: RankCorrelations) -> None:
        self.rho = rho
        self._kept: NDArray[np.float64] | None = None
        if rho.n_genes**2 <= WHOLE:
            self._kept = mutual_information(rho.of(np.arange(rho.n_genes)))

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """That of `rows`, each of which may be there several times; [row, gene]."""
        if self._kept is not None:
            return self._kept[rows]
        several, at = np.unique(rows, return_inverse=True)
        return mutual_information(self.rho.of(several))[at]


def relatedness(
    rho: RankCorrelations,
    rows: NDArray[np.int64] | None = None,
    columns: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Context likelihood of relatedness (CLR) of every pair, the same both ways.

        z_i(j) = max(0, (I(i; j) - mean_i) / sd_i),     score(i, j) = sqrt(z_i(j)^2 + z_j(i)^2),

    with mean_i and sd_i (n - 1 in the denominator) over the mutual information of gene i with all
    others, itself left out, as in minet. A gene that is as near to all others has no background:
    its z is 0. Faith, Hayete, Thaden et al., PLoS Biology 5, e8 (2007).

    Parameters
    ----------
    rho
        Rank correlations of all genes; their mutual information is taken.
    rows, columns
        Genes whose pairs are wanted, [row, column]; all by default.
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
    """Score of some pairs, from mean and sd of all genes."""
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
    """Mean and sd of the mutual information of some genes; an infinite sd where there is none."""
    information = mutual_information(np.ascontiguousarray(rho.T))
    n_others = len(information) - 1
    mean = information.sum(axis=0) / max(n_others, 1)
    away = information - mean
    away[places, np.arange(len(places))] = 0.0
    sd = np.sqrt((away * away).sum(axis=0) / max(n_others - 1, 1))
    return mean, np.where(sd > 1e-12 * mean, sd, np.inf)
