"""Mutual information between genes, and how far it stands out of that with other genes (CLR).

The estimator is the default of the R package minet (Meyer, Lafitte and Bontempi 2008): the mutual
information of two Gaussian variables with Spearman's rank correlation rho,

    I(x; y) = -log(1 - rho^2) / 2,

where rho^2 is at most 0.999999. It sees monotone relations only and needs no bins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import RankCorrelations

LARGEST_SQUARE = 0.999999  # of a correlation, so that copies of a gene have a finite value


def mutual_information(rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information, in nats, of Gaussian variables with the correlations `rho`."""
    return -0.5 * np.log1p(-np.minimum(rho * rho, LARGEST_SQUARE))


def relatedness(
    rho: RankCorrelations, rows: NDArray[np.int64] | None = None
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
    rows
        Genes whose pairs with all genes are wanted; all by default. [row, gene] is returned.
    """
    rows = np.arange(rho.n_genes) if rows is None else rows
    of_blocks = [_background(block, places) for places, block in rho.blocks()]
    mean, sd = (np.concatenate(parts) for parts in zip(*of_blocks, strict=True))
    information = mutual_information(rho.of(rows))
    z = []
    for own_mean, own_sd in ((mean[rows, None], sd[rows, None]), (mean, sd)):
        away = information - own_mean
        away[np.arange(len(rows)), rows] = 0.0
        z.append(np.clip(away / own_sd, 0.0, None))
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
