"""How closely genes go together: whether they do so more closely than in simulated tables.

A simulator gives each gene a noise of its own, so in each sample, and in each step in time, some
part is every gene's own. What is measured in cells has things in common beyond any network: genes
of one operon are one transcript, growth and the preparation of a sample move many at once. So in
real tables nearly every gene has another that it follows step by step, and little is left over.
That is asked of ranks, so neither units nor logarithms matter, signs do not count, for there are
networks where every edge activates, and the first principal component is left out: one regulator of
all genes makes one, too.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.combiner import read_arrays, write_arrays
from grn_tvcs.combine.likeness import RIDGE, covariates, least_squares
from grn_tvcs.evidence.correlation import unit_columns
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import GENES, RANDOM, Design

PATH = Path(__file__).with_name("coexpression.npz")
MEASURES = ("closest change", "own change", "own level")
DIRECTION = np.array([1.0, -1.0, -1.0])  # of tables whose genes go together
MOST = GENES[-1]  # genes, at even distances among all, that are looked at
FEWEST_GENES, FEWEST_ROWS = 3, 4  # genes, and samples or steps, that say anything
USUAL = 0.99  # part of simulated tables that are not close
RIDGE_OF_SPREAD = 1e-2  # for each table
# Simulated tables, by their number of genes, that make a limit; half of all at most. In series, of
# many genes more: few are beyond, far apart, and a limit of 300 such tables let 4 in 100 be.
NEAREST, MANY, NEAREST_OF_MANY = 300, 40, 2000

Array = NDArray[np.float64]


def measures(expression: Expression) -> Array:
    """How closely genes go together, in the order of `MEASURES`; NaN where nothing is known.

    Closest: the median over genes of the largest size of a correlation with another. Own: the
    logarithm of the share of the variance in the lesser half of the principal components, what is
    every gene's own, of half as many genes as rows at most: of as many as rows the lesser half
    would hold next to nothing, whatever they do. Of the ranks of all samples, as normal scores, and
    of their changes from sample to sample of a series, less their first principal component.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    unknown = np.full(len(MEASURES), np.nan)
    levels = _some_of(expression.levels[:, ~expression.is_constant], MOST)
    if levels.shape[1] < FEWEST_GENES or len(levels) < FEWEST_ROWS:
        return unknown
    scores = ndtri((rankdata(levels, axis=0) - 0.5) / len(levels))
    if not expression.series:
        return np.array([np.nan, np.nan, _own(_without_first(scores))])
    changes = [np.diff(scores[piece], axis=0) for piece in expression.pieces().values()]
    steps = np.concatenate(changes)
    if len(steps) < FEWEST_ROWS:
        return unknown
    steps = _without_first(steps)
    return np.array([_closest(steps), _own(steps), _own(_without_first(scores))])


def _some_of(values: Array, most: int) -> Array:
    """So many columns at most, at even distances."""
    n = values.shape[1]
    return values if n <= most else values[:, np.linspace(0, n - 1, most).round().astype(int)]


def _without_first(values: Array) -> Array:
    """Columns of unit length without what the first principal component holds of them."""
    z = unit_columns(values)
    u, size, v = np.linalg.svd(z, full_matrices=False)
    return np.asarray(z - size[0] * np.outer(u[:, 0], v[0]))


def _closest(values: Array) -> float:
    z = unit_columns(values)
    sizes = np.abs(z.T @ z)
    np.fill_diagonal(sizes, 0.0)
    return float(np.median(sizes.max(axis=0)))


def _own(values: Array) -> float:
    z = unit_columns(_some_of(values, max(FEWEST_GENES, len(values) // 2)))
    shares = np.linalg.svd(z, compute_uv=False)[: len(z) - 1] ** 2
    own = float(shares[len(shares) // 2 :].sum()) / max(float(shares.sum()), 1e-300)
    return float(np.log(2 * own + 1e-3))


@dataclass(frozen=True)
class Coexpression:
    """How closely genes of simulated tables go together, given their designs.

    Attributes
    ----------
    means
        Least squares coefficients of each measure on what moves it; (covariates, MEASURES).
    spreads
        Those of the logarithm of its variance; (covariates, MEASURES).
    limits
        Closeness that the part `USUAL` of simulated tables is within, without series and with
        some, by number of genes; (2, GENES).
    """

    means: Array
    spreads: Array
    limits: Array

    def closeness(self, found: Array, design: Design) -> float:
        """Mean of the measures, as deviations from tables of the design; NaN if nothing is known.

        Above 0 genes go together more closely than in the usual table.
        """
        x = _covariates(design)
        deviations = (found - x @ self.means) * np.exp(-0.5 * (x @ self.spreads)) * DIRECTION
        known = deviations[~np.isnan(found)]
        return float(known.mean()) if known.size else np.nan

    def is_close(self, found: Array, design: Design) -> bool:
        """Whether genes go together more closely than in all but a few simulated tables."""
        limit = self.limits[int(design.n_series > 0), _size(design.n_genes)]
        return bool(self.closeness(found, design) > limit)


def design_in(expression: Expression, design: Design) -> Design:
    """The design with the number of genes that are there, as far as so many are looked at."""
    n = int(np.clip(len(expression.genes), 2, MOST))
    return replace(design, n_genes=n, n_regulators=min(design.n_regulators, n))


def _covariates(design: Design) -> Array:
    """What of a design moves measures, as numbers: what moves traits, and where series start."""
    return np.array([*covariates(design), float(design.start == RANDOM)])


def _size(n_genes: int) -> int:
    """Place in `GENES` of the number nearest to that of a table."""
    return int(np.abs(np.log(np.array(GENES) / n_genes)).argmin())


def learn_coexpression(
    found: Array, designs: Sequence[Design], n_usual: int | None = None
) -> Coexpression:
    """Learn from the measures of simulated tables, (tables, MEASURES), and their designs.

    With series and without, at least two tables each. The first `n_usual`, by default all, are of
    all sizes alike and say what is usual; limits are of all.
    """
    X = np.array([_covariates(design) for design in designs[:n_usual]])
    means = np.zeros((X.shape[1], len(MEASURES)))
    spreads = np.zeros_like(means)
    for k, y in enumerate(found[:n_usual].T):
        known = ~np.isnan(y)
        x = X[known]
        means[:, k] = least_squares(x, y[known], RIDGE * len(x))
        left = y[known] - x @ means[:, k]
        # Some of all variance is added, so that no table that is hit by chance counts for much.
        of_each = np.log(left**2 + 1e-3 * left.var())
        spreads[:, k] = least_squares(x, of_each, RIDGE_OF_SPREAD * len(x))
        spreads[0, k] += np.log(np.mean(left**2 * np.exp(-x @ spreads[:, k])))
    learned = Coexpression(means, spreads, np.empty((2, len(GENES))))
    pairs = zip(found, designs, strict=True)
    closeness = np.array([learned.closeness(row, design) for row, design in pairs])
    genes = np.array([design.n_genes for design in designs])
    is_timed = np.array([design.n_series > 0 for design in designs])
    for timed in (False, True):
        known = (is_timed == timed) & ~np.isnan(closeness)
        of, size = closeness[known], genes[known]
        for place, n in enumerate(GENES):
            nearest = np.argsort(np.abs(np.log(size / n)), kind="stable")
            most = NEAREST_OF_MANY if timed and n > MANY else NEAREST
            some = nearest[: max(1, min(most, of.size // 2))]
            learned.limits[int(timed), place] = np.quantile(of[some], USUAL)
    return learned


@functools.cache
def coexpression(path: Path = PATH) -> Coexpression:
    """Read what comes with the package.

    Raises
    ------
    DataError
        If the file is missing, edited or of another version.
    """
    arrays, _ = read_arrays(path)
    return Coexpression(arrays["means"], arrays["spreads"], arrays["limits"])


def write_coexpression(path: Path, learned: Coexpression, made: Any) -> None:
    """Write it, with what it was `made` with, as text; the same bytes for the same."""
    arrays = {"means": learned.means, "spreads": learned.spreads, "limits": learned.limits}
    write_arrays(path, arrays | {"made": np.array(made)})
