"""Comparison of two conditions: edges gained, lost and changed, with probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.comparison.conditions import with_common_genes
from grn_tvcs.comparison.correction import Correction, false_edges, false_genes
from grn_tvcs.comparison.difference_model import global_p_value, predict_differences
from grn_tvcs.comparison.differences import Differences, measure_differences
from grn_tvcs.comparison.edges import KINDS, Difference, intervals, kind_of
from grn_tvcs.comparison.permutations import (
    ALPHA,
    DEFAULT_PERMUTATIONS,
    MIN_PERMUTATIONS,
    count_permutations,
    describe_design,
    draw_permutations,
)
from grn_tvcs.comparison.steps import make_steps, pool_conditions
from grn_tvcs.expression.bins import AUTO, in_bins
from grn_tvcs.expression.read import READING, as_expressions
from grn_tvcs.methods import FOREIGN
from grn_tvcs.network.rules import Rules, gene_set
from tvcs_core.arguments import check_number, names_of
from tvcs_core.engines import Engine, one_blas_thread
from tvcs_core.files.display import did_you_mean, joined, summary
from tvcs_core.lazy import load
from tvcs_core.streams import stream

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_FDR = 0.2  # expected fraction of false edges among significant edges
ALL_FALSE = 0.995  # of the edges up to one: two digits show it as 1.00
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
    notes
        Changes made to the samples, one sentence each.
    correction
        The other comparisons, where this is one of several; see `compare_all`.
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
    notes: tuple[str, ...] = ()
    correction: Correction | None = None

    __repr__ = summary

    def __str__(self) -> str:
        return self.describe()

    @property
    def corrected_p_value(self) -> float:
        """The global p value, corrected where this is one of several comparisons."""
        return self.global_p_value if self.correction is None else self.correction.global_p_value

    @property
    def n_tests(self) -> int:
        """Number of comparisons over which the result is corrected."""
        return 1 if self.correction is None else self.correction.n_tests

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
        others = np.empty(0) if self.correction is None else self.correction.edges
        false = false_edges(self.probabilities, others)
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
        if self.correction is not None:
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
        edges = "1 edge differs" if n == 1 else f"{n} edges differ"
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
        genes = "1 gene has" if len(found) == 1 else f"{len(found)} genes have"
        return f"{genes} a false discovery of {self.fdr:g} or less: {joined(found)}."

    def describe_power(self) -> str:
        """Describe the power of this number of series."""
        from grn_tvcs.comparison.difference_model import describe_power

        return describe_power(min(self.n_series))

    def table(self, top: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of ``differences.tsv``."""
        a, b = "a", "b"
        header = [
            "rank",
            "regulator",
            "target",
            "kind",
            "significant",
            "probability",
            "false_discovery",
            "p",
        ]
        for name in (f"strength_{a}", f"strength_{b}", "difference"):
            header += [name, f"{name}_low", f"{name}_high"]
        n_significant = len(self.significant)
        rows = []
        for edge in self.edges[:top]:
            row: list[Any] = [edge.rank, edge.regulator, edge.target, edge.kind]
            row += [int(edge.rank <= n_significant)]
            row += [f"{x:.6g}" for x in (edge.probability, edge.false_discovery, edge.p)]
            middles = edge.strength_a, edge.strength_b, edge.difference
            for middle, ends in zip(middles, edge.intervals, strict=True):
                row += [f"{x:.6g}" for x in (middle, *ends)]
            rows.append(row)
        return header, rows

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
        others = np.empty(0) if self.correction is None else self.correction.genes
        return false_genes(self.false_genes_expected[order], others, self.n_tests)

    @property
    def false_genes_expected(self) -> Array:
        """The expected number of genes with the statistic of each or more by chance; (genes,)."""
        best = self.differences.best
        at = np.searchsorted(np.sort(best, axis=None), best[0] * (1 - 1e-9))
        return np.asarray((best.size - at) / len(best))

    def to_frame(self, top: int | None = None) -> pd.DataFrame:
        """Return the edges as a DataFrame, the first `top` or all; columns as in the file."""
        import pandas as pd

        header, rows = self.table(top)
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
            **({} if self.correction is None else {"p_corrected": self.corrected_p_value}),
            "summary": self.describe(),
            "significant": len(self.significant),
            "notes": list(self.notes),
            "genes": list(self.genes),
        }


def compare(
    a: Any,
    b: Any,
    *,
    names: Sequence[str] = ("A", "B"),
    regulators: Iterable[str] | None = None,
    scale: str | None = None,
    bins: int | str = AUTO,
    fdr: float = DEFAULT_FDR,
    permutations: int = DEFAULT_PERMUTATIONS,
    rng: int | np.random.Generator | None = None,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> Comparison:
    """Compare the networks of two conditions by time series of both.

    Whole series are permuted between the conditions to test for a difference. A model trained on
    simulated pairs of networks then gives the probability that each edge differs.

    Parameters
    ----------
    a, b
        The conditions, each with at least two series: an `Expression`, or what `Expression.of`
        reads. Steady-state samples are not used.
    names
        Names of the conditions.
    regulators
        Names of the genes that may regulate; None means all.
    scale, bins
        As for `infer`, of both.
    fdr
        Expected fraction of false edges among significant edges, in (0, 1).
    permutations
        Largest number of permutations.
    rng
        Seed or generator; equal seeds give equal results.
    engine, progress
        As for `infer`; units of work are targets.
    **reading
        Options of reading, such as ``time_column``, where a condition is to be read.

    Raises
    ------
    ValueError, TypeError
        If a condition has fewer than two series, the conditions share fewer than half of their
        genes, or an option is out of its range.
    """
    _refuse_unknown(reading)
    check_number("level", fdr)
    check_number("permutations", permutations, whole=True)
    if not 0 < fdr < 1:
        raise ValueError(f"fdr must be above 0 and below 1, found {fdr:g}")
    if permutations < MIN_PERMUTATIONS:
        raise ValueError(f"permutations must be >= {MIN_PERMUTATIONS}, found {permutations}")
    names = names_of("names", names)
    if len(set(names)) != 2 or len(names) != 2:
        raise ValueError(f"names must be two different ones, found {names}")
    a, b = (
        in_bins(part, bins, scale) for part in as_expressions({"a": a, "b": b}, reading).values()
    )
    first, second, notes = with_common_genes(a, b, names, scale)
    both, n_first = pool_conditions(first, second, scale)
    inputs = (
        Rules(regulators=gene_set("regulators", regulators))
        .candidates(both.genes, both.constant_genes)
        .regulators
    )
    rng = stream(rng, "compare")
    n_second = len(both.pieces()) - n_first
    drawn = draw_permutations(n_first, n_second, permutations, rng)
    with one_blas_thread():
        steps = make_steps(both, inputs)
        found = measure_differences(steps, drawn, engine=engine, progress=progress)
    return Comparison(
        (names[0], names[1]),
        both.genes,
        tuple(both.genes[j] for j in inputs),
        (n_first, n_second),
        len(steps.past),
        len(drawn.in_first),
        count_permutations(n_first, n_second),
        global_p_value(found, drawn),
        fdr,
        found,
        predict_differences(found, drawn, steps),
        drawn.p_values(found.best),
        tuple(dict.fromkeys((*a.notes, *b.notes, *notes))),
    )


def _refuse_unknown(words: Iterable[str]) -> None:
    """Refuse arguments that are none of reading, those of other libraries with the right one."""
    for name in words:
        if name in READING:
            continue
        right = FOREIGN.get(name, "")
        is_ours = right.partition(",")[0] in signature(compare).parameters
        remedy = f"; give {right}" if is_ours else did_you_mean(name, READING)
        raise TypeError(f"compare does not take {name!r}{remedy}")
