"""Correlation of two genes in the same samples: of their levels, and of the ranks of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

BLOCK = 500_000  # correlations at a time, where those of all genes are looked through
WHOLE = 4_000_000  # pairs of genes; up to so many, all are computed at once
BINS = 1 << 16  # of their sizes, when some are sought by their rank

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def correlation(values: Array, rows: Places | None = None, columns: Places | None = None) -> Array:
    """Pearson's correlation between columns; 0 with a constant column and of one with itself.

    Where all pairs of genes are more than `WHOLE`, each is summed by itself: memory is for the
    pairs that are wanted, and no bit of one depends on which others are.

    Parameters
    ----------
    values
        Of samples x genes.
    rows, columns
        The genes whose correlations are wanted, [row, column]; all by default.
    """
    x = unit_columns(values)
    everything = np.arange(x.shape[1])
    rows, columns = (everything if some is None else some for some in (rows, columns))
    if everything.size**2 > WHOLE:
        course = np.ascontiguousarray(x.T)  # a sum over what lies side by side has one order
        r = np.vecdot(course[rows, None], course[columns])
    else:
        r = x.T @ x
        r = ((r + r.T) / 2)[np.ix_(rows, columns)]
    r[rows[:, None] == columns] = 0.0
    return np.asarray(r)


class RankCorrelations:
    """Spearman's correlations between columns, ties at their mean rank; 0 with a constant column.

    Sums run over whole numbers, so neither the order of rows nor which correlations are asked for
    changes a bit of them. With itself a column has 0. Those of all genes are looked through block
    by block, so memory is for the columns.

    Parameters
    ----------
    values
        Of samples x genes.
    """

    def __init__(self, values: Array) -> None:
        self._ranks = _doubled_ranks(values) - (len(values) + 1)
        size = np.sqrt((self._ranks * self._ranks).sum(axis=0))
        self._size = np.where(size > 0, size, np.inf)
        self.n_genes = values.shape[1]
        self.n_pairs = self.n_genes * (self.n_genes - 1) // 2

    def of(self, rows: Places, columns: Places | None = None) -> Array:
        """Those of some genes with others, by default with all; [row, column]."""
        if columns is None:
            ranks, size, columns = self._ranks, self._size, np.arange(self.n_genes)
        else:
            ranks, size = self._ranks[:, columns], self._size[columns]
        rho = self._ranks[:, rows].T @ ranks
        rho /= self._size[rows, None] * size
        rho[rows[:, None] == columns] = 0.0
        return np.asarray(rho)

    def blocks(self) -> Iterator[tuple[Places, Array]]:
        """Those of all genes, so many at a time: places of the rows, and the rows."""
        for rows in self.in_blocks(np.arange(self.n_genes)):
            yield rows, self.of(rows)

    def in_blocks(self, rows: Places) -> list[Places]:
        """Some genes, in blocks of so many that their correlations with all are few."""
        # At least two rows each: sums along the other axis go the same way then.
        n_blocks = max(1, min(-(-rows.size * self.n_genes // BLOCK), rows.size // 2))
        return np.array_split(rows, n_blocks)

    def strongest(self) -> Array:
        """The largest size among those of each gene."""
        return np.concatenate([np.abs(rho).max(axis=1, initial=0.0) for _, rho in self.blocks()])

    def median_and_quantile(self, share: float) -> tuple[float, float]:
        """Median of the sizes over all pairs of genes, and a quantile; NaN where there is no pair.

        As `np.median` and `np.quantile` have them, to the last bit.
        """
        if not self.n_pairs:
            return np.nan, np.nan
        last = self.n_pairs - 1
        at = last * share
        low = int(at)
        ranks = [last // 2, self.n_pairs // 2, low, min(low + 1, last)]
        values = self._at(ranks)
        return float(np.median(values[:2])), float(np.quantile(values[2:], at - low))

    def _at(self, ranks: Sequence[int]) -> list[float]:
        """The sizes of these ranks, from 0 for the smallest.

        First it is counted how many are in each of many bins, then those in the bins that matter
        are looked at: equal ones once.
        """
        counts = np.zeros(BINS, np.int64)
        for sizes in self._sizes():
            counts += np.bincount(_bin(sizes), minlength=BINS)
        bins = np.searchsorted(np.cumsum(counts), ranks, side="right")
        matters = np.isin(np.arange(BINS), bins)
        found: Counter[float] = Counter()
        for sizes in self._sizes():
            several, number = np.unique(sizes[matters[_bin(sizes)]], return_counts=True)
            found.update(dict(zip(several.tolist(), number.tolist(), strict=True)))
        rising = sorted(found)
        upto = np.cumsum([found[size] for size in rising])
        left_out = np.cumsum(np.where(matters, 0, counts))[bins]
        return [rising[k] for k in np.searchsorted(upto, ranks - left_out, side="right").tolist()]

    def _sizes(self) -> Iterator[Array]:
        """Sizes of the correlations of every pair, once."""
        genes = np.arange(self.n_genes)
        for rows, rho in self.blocks():
            yield np.abs(rho[genes > rows[:, None]])


def _doubled_ranks(values: Array) -> Array:
    """Return twice the rank of each value in its column, ties at their mean rank.

    As `scipy.stats.rankdata` has them. Importing that takes longer than the ranks of 300 genes.
    """
    ranks = np.empty(values.shape)
    for gene, column in enumerate(np.ascontiguousarray(values.T)):
        rising = np.sort(column)
        below, upto = (np.searchsorted(rising, column, side) for side in ("left", "right"))
        ranks[:, gene] = below + upto + 1
    return ranks


def _bin(sizes: Array) -> NDArray[np.int64]:
    return np.minimum((sizes * BINS).astype(np.int64), BINS - 1)


def unit_columns(values: Array) -> Array:
    """Columns less their mean, of length 1; 0 where a column is constant."""
    x = values - values.mean(axis=0)
    size = np.sqrt((x * x).sum(axis=0))
    is_constant = (values == values[:1]).all(axis=0)
    return np.asarray(x / np.where((size > 0) & ~is_constant, size, np.inf))
