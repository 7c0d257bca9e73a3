"""Correlation of two genes in the same samples: Pearson's of levels, Spearman's of ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# Numbers of correlations, which bound the memory; results do not depend on them.
CHUNK_SIZE = 500_000  # per chunk, in loops over all genes
MAX_FULL_MATRIX = 4_000_000  # largest number of pairs computed as one matrix product
MAX_GENES = 1000  # genes whose correlations count in quantiles

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def correlation(
    values: Array, rows: Indices | None = None, columns: Indices | None = None
) -> Array:
    """Return Pearson's correlation between columns; 0 with constant columns and with itself.

    With more than `MAX_FULL_MATRIX` pairs of genes, each correlation is a sum of its own: memory is
    needed only for the requested pairs, and its bits do not depend on which pairs are requested.

    Parameters
    ----------
    values
        (samples, genes).
    rows, columns
        Genes of the result, [row, column]; all by default.
    """
    x = unit_columns(values)
    everything = np.arange(x.shape[1])
    rows, columns = (everything if some is None else some for some in (rows, columns))
    if everything.size**2 > MAX_FULL_MATRIX:
        course = np.ascontiguousarray(x.T)  # contiguous: the order of a sum is fixed
        r = np.vecdot(course[rows, None], course[columns])
    else:
        r = x.T @ x
        r = ((r + r.T) / 2)[np.ix_(rows, columns)]
    r[rows[:, None] == columns] = 0.0
    return np.asarray(r)


class RankCorrelations:
    """Spearman's correlations between columns, with mean ranks for ties; 0 with constant columns.

    Sums are over integers, so no bit depends on the order of rows or on the requested pairs. The
    correlation of a column with itself is 0. Loops over all genes work in chunks, so the memory is
    that of the columns.

    Parameters
    ----------
    values
        (samples, genes).
    """

    def __init__(self, values: Array) -> None:
        self._ranks = _doubled_ranks(values) - (len(values) + 1)
        size = np.sqrt((self._ranks * self._ranks).sum(axis=0))
        self._size = np.where(size > 0, size, np.inf)
        self.n_genes = values.shape[1]
        self.n_pairs = self.n_genes * (self.n_genes - 1) // 2

    def of(self, rows: Indices, columns: Indices | None = None) -> Array:
        """Return the correlations of some genes with others, by default with all; [row, column]."""
        if columns is None:
            ranks, size, columns = self._ranks, self._size, np.arange(self.n_genes)
        else:
            ranks, size = self._ranks[:, columns], self._size[columns]
        rho = self._ranks[:, rows].T @ ranks
        rho /= self._size[rows, None] * size
        rho[rows[:, None] == columns] = 0.0
        return np.asarray(rho)

    def blocks(self) -> Iterator[tuple[Indices, Array]]:
        """Yield the correlations of all genes in chunks: indices of rows, and the rows."""
        for rows in self.in_blocks(np.arange(self.n_genes)):
            yield rows, self.of(rows)

    def in_blocks(self, rows: Indices) -> list[Indices]:
        """Split genes into chunks of at most about `CHUNK_SIZE` correlations with all genes."""
        # At least two rows per chunk: NumPy sums a single row in another order.
        n_blocks = max(1, min(-(-rows.size * self.n_genes // CHUNK_SIZE), rows.size // 2))
        return np.array_split(rows, n_blocks)

    def strongest(self) -> Array:
        """Return the largest absolute correlation of each gene."""
        return np.concatenate([np.abs(rho).max(axis=1, initial=0.0) for _, rho in self.blocks()])

    def median_and_quantile(self, share: float) -> tuple[float, float]:
        """Return the median and a quantile of absolute correlations of all pairs; NaN if none.

        At most `MAX_GENES` genes count, evenly spaced.
        """
        if not self.n_pairs:
            return np.nan, np.nan
        some = evenly_spaced(self.n_genes, MAX_GENES)
        sizes = np.concatenate(
            [np.abs(self.of(rows, some)[some > rows[:, None]]) for rows in self.in_blocks(some)]
        )
        return float(np.median(sizes)), float(np.quantile(sizes, share))


def evenly_spaced(n: int, most: int) -> Indices:
    """Return at most `most` of `n` indices, evenly spaced from the first to the last."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def _doubled_ranks(values: Array) -> Array:
    """Return twice the rank of each value in its column, with mean ranks for ties.

    Equal to `scipy.stats.rankdata`, whose import takes longer than ranking 300 genes.
    """
    ranks = np.empty(values.shape)
    for gene, column in enumerate(np.ascontiguousarray(values.T)):
        rising = np.sort(column)
        below, upto = (np.searchsorted(rising, column, side) for side in ("left", "right"))
        ranks[:, gene] = below + upto + 1
    return ranks


def unit_columns(values: Array) -> Array:
    """Centre the columns and scale them to length 1; constant columns become 0."""
    x = values - values.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0))
    is_constant = (values == values[:1]).all(axis=0)
    return np.asarray(x / np.where((size > 0) & ~is_constant, size, np.inf))
