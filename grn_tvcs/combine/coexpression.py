"""Co-expression check: whether genes are more closely co-expressed than in simulated tables.

The simulator gives each gene its own noise, so part of every sample, and of every step in time, is
specific to the gene. Real cells have common variation beyond any network: genes of one operon are
one transcript, and growth and sample preparation move many genes at once. In real tables nearly
every gene thus follows another one closely, and little specific variation is left. The measures use
ranks, so units and logarithms do not matter. Signs do not count, because in some networks every
edge activates. The first principal component is removed, because a regulator of all genes makes one
too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.combiner import read_arrays
from grn_tvcs.combine.domain_check import covariates
from grn_tvcs.evidence.correlation import evenly_spaced, unit_columns
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import GENES, RANDOM, Design

PATH = Path(__file__).with_name("coexpression.npz")
MEASURES = ("closest change", "own change", "own level")
DIRECTION = np.array([1.0, -1.0, -1.0])  # sign of each measure under closer co-expression
MAX_GENES = GENES[-1]  # genes used, evenly spaced among all
MIN_GENES, MIN_ROWS = 3, 4  # smallest numbers of genes, and of samples or steps

Array = NDArray[np.float64]


def coexpression_measures(expression: Expression) -> Array:
    """Return the measures of co-expression in the order of `MEASURES`; NaN if they are not defined.

    Closest: the median over genes of the largest absolute correlation with another gene. Own: the
    logarithm of the share of variance in the smaller half of the principal components, which is
    specific to genes. It uses at most half as many genes as rows; with as many genes as rows this
    share is always close to 0. All measures use normal scores of ranks and their changes within
    series, without the first principal component.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    unknown = np.full(len(MEASURES), np.nan)
    levels = _some_of(expression.levels[:, ~expression.is_constant], MAX_GENES)
    if levels.shape[1] < MIN_GENES or len(levels) < MIN_ROWS:
        return unknown
    scores = ndtri((rankdata(levels, axis=0) - 0.5) / len(levels))
    if not expression.series:
        return np.array([np.nan, np.nan, _own(_without_first(scores))])
    changes = [np.diff(scores[piece], axis=0) for piece in expression.pieces.values()]
    steps = np.concatenate(changes)
    if len(steps) < MIN_ROWS:
        return unknown
    steps = _without_first(steps)
    return np.array([_closest(steps), _own(steps), _own(_without_first(scores))])


def _some_of(values: Array, most: int) -> Array:
    """Return at most `most` columns, evenly spaced."""
    n = values.shape[1]
    return values if n <= most else values[:, evenly_spaced(n, most)]


def _without_first(values: Array) -> Array:
    """Return columns of unit length without their first principal component."""
    z = unit_columns(values)
    u, size, v = np.linalg.svd(z, full_matrices=False)
    return np.asarray(z - size[0] * np.outer(u[:, 0], v[0]))


def _closest(values: Array) -> float:
    z = unit_columns(values)
    sizes = np.abs(z.T @ z)
    np.fill_diagonal(sizes, 0.0)
    return float(np.median(sizes.max(axis=0)))


def _own(values: Array) -> float:
    z = unit_columns(_some_of(values, max(MIN_GENES, len(values) // 2)))
    shares = np.linalg.svd(z, compute_uv=False)[: len(z) - 1] ** 2
    own = float(shares[len(shares) // 2 :].sum()) / max(float(shares.sum()), 1e-300)
    return float(np.log(2 * own + 1e-3))


@dataclass(frozen=True)
class Coexpression:
    """Distribution of the measures in simulated tables, given their designs.

    Attributes
    ----------
    means
        Least squares coefficients of each measure on the covariates; (covariates, MEASURES).
    spreads
        Coefficients of the logarithm of the residual variance; (covariates, MEASURES).
    limits
        `LIMIT_QUANTILE` of the excess of simulated tables, without and with series, by number of
        genes; (2, GENES).
    """

    means: Array
    spreads: Array
    limits: Array

    def excess(self, found: Array, design: Design) -> float:
        """Return the mean of the measures in standard deviations from tables of the design.

        Positive if genes are more closely co-expressed than in a typical table; NaN without
        measures.
        """
        x = covariates_of(design)
        deviations = (found - x @ self.means) * np.exp(-0.5 * (x @ self.spreads)) * DIRECTION
        known = deviations[~np.isnan(found)]
        return float(known.mean()) if known.size else np.nan

    def is_excessive(self, found: Array, design: Design) -> bool:
        """Return whether genes are co-expressed more closely than in simulated tables."""
        nearest = int(np.abs(np.log(np.array(GENES) / design.n_genes)).argmin())
        limit = self.limits[int(design.n_series > 0), nearest]
        return bool(self.excess(found, design) > limit)


def design_for(expression: Expression, design: Design) -> Design:
    """Return the design with the number of genes of the table, at most `MAX_GENES`."""
    n = int(np.clip(len(expression.genes), 2, MAX_GENES))
    return replace(design, n_genes=n, n_regulators=min(design.n_regulators, n))


def covariates_of(design: Design) -> Array:
    """Return the covariates of a design: those of traits, and the start of series."""
    return np.array([*covariates(design), float(design.start == RANDOM)])


@functools.cache
def load_coexpression(path: Path = PATH) -> Coexpression:
    """Load the distribution of the package.

    Raises
    ------
    DataError
        If the file is missing, edited or of another version.
    """
    arrays, _ = read_arrays(path)
    return Coexpression(arrays["means"], arrays["spreads"], arrays["limits"])
