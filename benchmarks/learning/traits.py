"""Fit the distribution of traits to simulated tables (`grn_tvcs.combine.domain_check`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grn_tvcs.combine.domain_check import (
    TRAITS,
    Array,
    TraitDistribution,
    as_row,
    covariates,
    distance,
    group,
)
from grn_tvcs.simulation.designs import Design

RIDGE = 1e-3  # ridge penalty per table
REFERENCE_QUANTILE = 0.975  # fraction of simulated tables inside the domain


def fit_trait_distribution(rows: Sequence[tuple[dict[str, float], Design]]) -> TraitDistribution:
    """Fit the distribution to the traits of simulated tables and their designs."""
    X = np.array([covariates(design) for _, design in rows])
    Y = np.array([as_row(found) for found, _ in rows])
    means = np.zeros((X.shape[1], len(TRAITS)))
    left = np.full(Y.shape, np.nan)
    for k in range(len(TRAITS)):
        known = ~np.isnan(Y[:, k])
        means[:, k] = least_squares(X[known], Y[known, k], RIDGE * len(X))
        left[known, k] = Y[known, k] - X[known] @ means[:, k]
    scatter = _covariance(left)
    all_distances: list[list[float]] = [[], [], []]
    for y, rest in zip(Y, left, strict=True):
        all_distances[group(y)].append(distance(rest, scatter))
    limits = [np.quantile(one, REFERENCE_QUANTILE) if one else np.inf for one in all_distances]
    return TraitDistribution(means, scatter, np.array(limits))


def least_squares(x: Array, y: Array, penalty: float) -> Array:
    """Return ridge coefficients of y on x; the first column, constant, is not penalised."""
    penalties = penalty * np.eye(x.shape[1])
    penalties[0, 0] = 0.0
    return np.asarray(np.linalg.solve(x.T @ x + penalties, x.T @ y))


def _covariance(left: Array) -> Array:
    """Return the pairwise covariance of columns with gaps, shrunk slightly towards its diagonal."""
    known = ~np.isnan(left)
    x = np.nan_to_num(left - np.nanmean(left, axis=0))
    counts = known.T.astype(float) @ known
    full = x.T @ x / np.maximum(counts, 1.0)
    return 0.9 * full + 0.1 * np.diag(full.diagonal()) + 1e-9 * np.eye(len(full))
