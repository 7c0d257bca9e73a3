"""Comparison of two conditions: edges gained, lost and changed, with probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.comparison.correction import Correction, false_edges, false_genes
from grn_tvcs.comparison.differences import Differences
from grn_tvcs.comparison.edges import KINDS, Difference, intervals, kind_of
from grn_tvcs.comparison.permutations import ALPHA, describe_design
from tvcs_core.files.display import joined, plural, summary
from tvcs_core.lazy import load

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_FDR = 0.2  # expected fraction of false edges among significant edges
ALL_FALSE = 0.995  # of the edges up to one: two digits show it as 1.00
HEADER = (
    "rank", "regulator", "target", "kind", "significant", "probability", "false_discovery", "p",
    *(f"{name}{end}" for name in ("strength_a", "strength_b", "difference")
      for end in ("", "_low", "_high")),
)  # fmt: skip
MAX_EDGES = 100_000  # edges listed; with 1,000 genes nearly all pairs carry no information

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    names
        Names of the conditions.
    genes, regulators
        Names of the targets and of the candidate regulators.
    n_series, n_steps
        Series of each condition, and steps from sample to sample of both.
    permutations, possible
        Number of permutations computed, with the observed one, and number of possible ones.
    global_p_value
        p value of all genes together.
    fdr
        False discovery rate of `significant`.
    differences
        Statistics of every pair, [regulator, target].
    probability
        Probability that each edge differs, [regulator, target].
    gene_p
        p value of each gene's regulation; (genes,).
    correction
        That for the other comparisons, if this is one of several; see `compare_all`.
    notes
        Changes made to the samples, one sentence each.
    """

    names: tuple[str, str]
    genes: tuple[str, ...]
    regulators: tuple[str, ...]
    n_series: tuple[int, int]
    n_steps: int
    permutations: int
    possible: int
    global_p_value: float
    fdr: float
    differences: Differences
    probability: Array
    gene_p: Array
    correction: Correction
    notes: tuple[str, ...] = ()

    __repr__ = summary

    def __str__(self) -> str:
        return self.describe()

    @property
    def corrected_p_value(self) -> float:
        """The global p value, corrected where this is one of several comparisons."""
        return self.correction.global_p_value

    @property
    def n_tests(self) -> int:
        """Number of comparisons over which the result is corrected."""
        return self.correction.n_tests

    @property
    def min_p(self) -> float:
        """The smallest possible p value."""
        return 1.0 / self.permutations

    @property
    def is_testable(self) -> bool:
        """Whether this number of series can show a difference at all."""
        return self.min_p * self.n_tests <= ALPHA

    @property
    def is_significant(self) -> bool:
        """Whether the global test is significant at level `ALPHA`."""
        return self.corrected_p_value <= ALPHA

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Places of at most `MAX_EDGES` pairs, by decreasing probability to differ."""
        p = self.probability
        place = {gene: j for j, gene in enumerate(self.genes)}
        inputs = np.array([place[name] for name in self.regulators], dtype=np.int64)
        own = inputs[:, None] == np.arange(len(self.genes))
        order = np.argsort(-np.where(own, -1.0, p).ravel(), kind="stable")
        return order[: min(p.size - int(own.sum()), MAX_EDGES)]

    @property
    def probabilities(self) -> Array:
        """Probabilities of the listed pairs to differ, falling."""
        return self.probability.ravel()[self._order]

    @cached_property
    def edges(self) -> tuple[Difference, ...]:
        """Pairs by decreasing probability to differ; ties by name.

        Pairs up to which all are expected to be false are not listed; so there are none without a
        significant global test.
        """
        if not self.is_significant:
            return ()
        found, p = self.differences, self.probability
        false = false_edges(self.probabilities, self.correction.edges)
        order = self._order[false < ALL_FALSE]
        ends = intervals(found, self.n_series)
        edges = []
        for rank, (at, rate) in enumerate(zip(order.tolist(), false.tolist(), strict=False), 1):
            i, j = divmod(at, len(self.genes))
            a, b = float(found.first[i, j]), float(found.second[i, j])
            three = tuple((float(low[i, j]), float(high[i, j])) for low, high in ends)
            edges.append(
                Difference(
                    rank, self.regulators[i], self.genes[j], kind_of(a, b, three[0], three[1]),
                    float(p[i, j]), rate, float(found.p[i, j]), a, b, b - a,
                    (three[0], three[1], three[2]),
                )
            )  # fmt: skip
        return tuple(edges)

    @property
    def significant(self) -> tuple[Difference, ...]:
        """The edges with an expected fraction of at most `fdr` false ones."""
        kept = [edge.rank for edge in self.edges if edge.false_discovery <= self.fdr]
        return self.edges[: max(kept, default=0)]

    def describe(self) -> str:
        """Describe the result, or why nothing can be found."""
        a, b = self.names
        series = f"{self.n_series[0]} series of {a} and {self.n_series[1]} of {b}"
        if not self.is_testable:
            return f"{self.describe_design()} {self.describe_genes()}"
        test = f"p = {self.global_p_value:.2g}, {self.permutations} permutations of series"
        if self.n_tests > 1:
            test += f"; {self.corrected_p_value:.2g} corrected for {self.n_tests} pairs"
        if not self.is_significant:
            return (
                f"No significant difference between {series} ({test}). This does not prove that "
                "there is none."
            )
        n = len(self.significant)
        kinds = [f"{sum(e.kind == kind for e in self.significant)} {kind}" for kind in KINDS]
        if not n:
            return (
                f"The conditions differ ({series}; {test}), but no edge reaches a false discovery "
                f"rate of {self.fdr:g}."
            )
        edges = plural(n, "edge differs", "edges differ")
        return (
            f"{edges}: {', '.join(kinds)}, at a false discovery rate of "
            f"{self.significant[-1].false_discovery:.2g} ({series}; {test})."
        )

    def describe_design(self) -> str:
        """Describe the power of these numbers of series."""
        return describe_design(
            self.names, self.n_series, self.permutations, fdr=self.fdr, n_tests=self.n_tests
        )

    def describe_genes(self) -> str:
        """Name the genes whose regulation differs at the false discovery rate."""
        _, rows = self.gene_table()
        found = [name for name, _, false, _ in rows if float(false) <= self.fdr]
        if not found:
            return f"No gene has a false discovery of {self.fdr:g} or less."
        genes = plural(len(found), "gene has", "genes have")
        return f"{genes} a false discovery of {self.fdr:g} or less: {joined(found)}."

    def describe_power(self) -> str:
        """Describe the power of this number of series."""
        from grn_tvcs.comparison.difference_model import describe_power

        return describe_power(min(self.n_series))

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of ``differences.tsv``."""
        n_significant = len(self.significant)
        rows = []
        for edge in self.edges:
            row: list[Any] = [edge.rank, edge.regulator, edge.target, edge.kind]
            row += [int(edge.rank <= n_significant)]
            row += [f"{x:.6g}" for x in (edge.probability, edge.false_discovery, edge.p)]
            middles = edge.strength_a, edge.strength_b, edge.difference
            for middle, ends in zip(middles, edge.intervals, strict=True):
                row += [f"{x:.6g}" for x in (middle, *ends)]
            rows.append(row)
        return list(HEADER), rows

    def gene_table(self) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of ``genes.tsv``, by the evidence of changed regulation."""
        probability = 1.0 - np.prod(1.0 - self.probability, axis=0)
        order = np.lexsort((np.arange(len(self.genes)), -self.differences.best[0]))
        false = self._false_genes(order)
        columns = (self.gene_p[order], false, probability[order])
        rows = [
            [self.genes[j], *(f"{x:.6g}" for x in values)]
            for j, *values in zip(order, *columns, strict=True)
        ]
        return ["gene", "p", "false_discovery", "probability"], rows

    def _false_genes(self, order: NDArray[np.int64]) -> Array:
        """Return the expected share of genes by chance up to each of the ordered genes."""
        expected = self.false_genes_expected[order]
        return false_genes(expected, self.correction.genes, self.n_tests)

    @property
    def false_genes_expected(self) -> Array:
        """The expected number of genes with the statistic of each or more by chance; (genes,)."""
        best = self.differences.best
        at = np.searchsorted(np.sort(best, axis=None), best[0] * (1 - 1e-9))
        return np.asarray((best.size - at) / len(best))

    def to_frame(self) -> pd.DataFrame:
        """Return the edges as a DataFrame; columns as in the file."""
        import pandas as pd

        header, rows = self.table()
        frame = pd.DataFrame(rows, columns=header)
        words = ("regulator", "target", "kind")
        return frame.astype(
            {c: int if c in ("rank", "significant") else float for c in header if c not in words}
        )

    def report(self, path: str | Path, **options: Any) -> None:
        """Write the report as one self-contained HTML file; see `comparison.page.render`."""
        from tvcs_core.files.folders import write_whole

        page = load("grn_tvcs.comparison.page", "render")(self, **options)
        write_whole(path, lambda file: file.write_text(page, encoding="utf-8"))

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write differences.tsv, genes.tsv, report.html and run.json into a folder.

        Raises
        ------
        DataError
            If the folder is not empty and `force` is False, or cannot be written.
        """
        from tvcs_core.command.results import Place, results

        with results("grn_tvcs.compare", Place(Path(folder), force), {}) as out:
            load("grn_tvcs.comparison.page", "write_files")(self, out)

    def facts(self) -> dict[str, Any]:
        """Return the result for ``run.json``."""
        return {
            "conditions": list(self.names),
            "series": list(self.n_series),
            "permutations": self.permutations,
            "permutations_possible": self.possible,
            "smallest_p": self.min_p,
            "p": self.global_p_value,
            **({"p_corrected": self.corrected_p_value} if self.n_tests > 1 else {}),
            "summary": self.describe(),
            "significant": len(self.significant),
            "notes": list(self.notes),
            "genes": list(self.genes),
        }
