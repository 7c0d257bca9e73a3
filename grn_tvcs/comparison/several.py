"""Comparison of several conditions: every pair of them, with one correction over all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from grn_tvcs.comparison.compare import compare
from grn_tvcs.comparison.comparison import Comparison
from grn_tvcs.comparison.correction import Correction, holm
from grn_tvcs.comparison.permutations import ALPHA, DEFAULT_PERMUTATIONS
from grn_tvcs.expression.read import READING, as_expressions
from tvcs_core.files.display import summary

if TYPE_CHECKING:
    import pandas as pd

Progressed = Callable[[int, int], None]


@dataclass(frozen=True)
class Comparisons:
    """Result of `compare_all`.

    Attributes
    ----------
    pairs
        The comparison of every pair of conditions, in their order.
    """

    pairs: tuple[Comparison, ...]

    __repr__ = summary

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """Describe the result in one line for each pair."""
        if len(self.pairs) == 1:
            return self.pairs[0].describe()
        return "\n".join(f"{' and '.join(one.names)}: {one.describe()}" for one in self.pairs)

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of ``differences.tsv``: those of each pair, with its names."""
        return self._joined([one.table() for one in self.pairs])

    def gene_table(self) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of ``genes.tsv``."""
        return self._joined([one.gene_table() for one in self.pairs])

    def pair_table(self) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of ``pairs.tsv``: the global test of each pair."""
        header = ["condition_a", "condition_b", "series_a", "series_b", "permutations", "p"]
        rows = [
            [
                *one.names, *one.n_series, one.permutations, f"{one.global_p_value:.6g}",
                f"{one.corrected_p_value:.6g}", len(one.significant),
            ]
            for one in self.pairs
        ]  # fmt: skip
        return [*header, "p_corrected", "significant"], rows

    def to_frame(self) -> pd.DataFrame:
        """Return the edges of all pairs as a DataFrame; columns as in the file."""
        import pandas as pd

        frames = [one.to_frame() for one in self.pairs]
        for one, frame in zip(self.pairs, frames, strict=True):
            for place, name in enumerate(one.names):
                frame.insert(place, f"condition_{'ab'[place]}", name)
        return pd.concat(frames, ignore_index=True)

    def facts(self) -> dict[str, Any]:
        """Return the result for ``run.json``."""
        return {"pairs": [one.facts() for one in self.pairs]}

    def _joined(
        self, tables: list[tuple[list[str], list[list[Any]]]]
    ) -> tuple[list[str], list[list[Any]]]:
        rows = [
            [*one.names, *row]
            for one, (_, found) in zip(self.pairs, tables, strict=True)
            for row in found
        ]
        return ["condition_a", "condition_b", *tables[0][0]], rows


def compare_all(
    conditions: Mapping[str, Any],
    *,
    permutations: int = DEFAULT_PERMUTATIONS,
    progress: Progressed | None = None,
    **options: Any,
) -> Comparisons:
    """Compare every pair of several conditions, and correct for the number of pairs.

    The global tests are corrected by Holm's method, and the false discovery rates of edges and of
    genes hold for the list of all pairs together.

    Parameters
    ----------
    conditions
        The time series of each condition, by its name: an `Expression`, or what `Expression.of`
        reads.
    permutations
        Largest number of permutations of a pair; more are taken where as many could not show a
        difference after the correction.
    progress, options
        As for `compare`; each condition is read once.

    Raises
    ------
    ValueError
        If there are fewer than two conditions, or as for `compare`.
    """
    if len(conditions) < 2:
        raise ValueError(f"there must be at least two conditions, found {len(conditions)}")
    reading = {name: options.pop(name) for name in READING if name in options}
    conditions = as_expressions(conditions, reading)
    names = list(combinations(conditions, 2))
    most = most_permutations(permutations, len(names))
    found = [
        compare(
            conditions[a], conditions[b], names=(a, b), permutations=most,
            progress=None if progress is None else partial(_part, progress, k, len(names)),
            **options,
        )
        for k, (a, b) in enumerate(names)
    ]  # fmt: skip
    return Comparisons(corrected(found))


def most_permutations(permutations: int, n_pairs: int) -> int:
    """Return the number of permutations with which a pair of several can be significant."""
    return permutations if n_pairs == 1 else max(permutations, math.ceil(n_pairs / ALPHA))


def corrected(found: list[Comparison]) -> tuple[Comparison, ...]:
    """Return comparisons with one correction over all of them."""
    if len(found) < 2:
        return tuple(found)
    p = holm([one.global_p_value for one in found])
    edges = [
        one.probabilities if p_value <= ALPHA else np.empty(0)
        for one, p_value in zip(found, p, strict=True)
    ]
    genes = [one.false_genes_expected for one in found]

    def all_but(k: int, parts: list[Any]) -> Any:
        return np.concatenate([part for j, part in enumerate(parts) if j != k])

    return tuple(
        replace(one, correction=Correction(p[k], len(found), all_but(k, edges), all_but(k, genes)))
        for k, one in enumerate(found)
    )


def _part(progress: Progressed, k: int, n: int, done: int, total: int) -> None:
    """Report the progress of one of `n` equal parts."""
    progress(k * total + done, n * total)
