"""What differs between two conditions: edges gained, lost and changed, and how surely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from grn_tvcs.comparison.chances import chances, whole_p
from grn_tvcs.comparison.conditions import with_common_genes
from grn_tvcs.comparison.differences import Differences, differences
from grn_tvcs.comparison.edges import KINDS, Difference, kind_of
from grn_tvcs.comparison.exchanges import (
    ALPHA,
    LEAST,
    MOST,
    draw_exchanges,
    n_possible,
    series_needed,
)
from grn_tvcs.comparison.steps import pooled, steps_of
from grn_tvcs.expression.expression import Expression, require_expression
from grn_tvcs.network.rules import Rules, gene_set
from tvcs_core.arguments import names_of, require_number
from tvcs_core.engines import Engine, one_blas_thread
from tvcs_core.streams import stream

if TYPE_CHECKING:
    import pandas as pd

FALSE_DISCOVERY = 0.2  # expected share of false edges among those that are claimed
INTERVAL = 0.95
MOST_EDGES = 100_000  # that are listed; of 1,000 genes nearly all pairs say nothing

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    names
        Of the conditions.
    genes, regulators
        Names of the targets, and of those that may regulate.
    n_series, n_steps
        Series of each condition, and steps from sample to sample of both.
    exchanges, possible
        How many exchanges were done, what was measured among them, and how many there are.
    whole_p
        Share of the exchanges that make as much of a difference as was measured, of all genes
        together.
    level
        The false discovery that `claimed` keeps.
    measured
        Every pair, [regulator, target].
    chance
        How likely each edge differs, [regulator, target].
    gene_p
        Share of the exchanges after which the past says as much else of a gene; (genes,).
    notes
        What was done to the samples, a sentence each.
    """

    names: tuple[str, str]
    genes: tuple[str, ...]
    regulators: tuple[str, ...]
    n_series: tuple[int, int]
    n_steps: int
    exchanges: int
    possible: int
    whole_p: float
    level: float
    measured: Differences
    chance: Array
    gene_p: Array
    notes: tuple[str, ...] = ()

    @property
    def least_p(self) -> float:
        """The smallest p value that so many exchanges can give."""
        return 1.0 / self.exchanges

    @property
    def is_able(self) -> bool:
        """Whether so many series can show a difference at all."""
        return self.least_p <= ALPHA

    @property
    def finds_difference(self) -> bool:
        """Whether the series as a whole differ by more than chance makes them."""
        return self.is_able and self.whole_p <= ALPHA

    @cached_property
    def edges(self) -> tuple[Difference, ...]:
        """The pairs, `MOST_EDGES` at most, the one that most likely differs first.

        Of equal ones the first by name.
        """
        found, chance = self.measured, self.chance
        place = {gene: j for j, gene in enumerate(self.genes)}
        inputs = np.array([place[name] for name in self.regulators], dtype=np.int64)
        own = inputs[:, None] == np.arange(len(self.genes))
        order = np.argsort(-np.where(own, -1.0, chance).ravel(), kind="stable")
        order = order[: min(chance.size - int(own.sum()), MOST_EDGES)]
        false = np.cumsum(1.0 - chance.ravel()[order]) / np.arange(1, order.size + 1)
        if not self.finds_difference:
            false[:] = 1.0
        ends = self._intervals()
        edges = []
        for rank, (at, rate) in enumerate(zip(order.tolist(), false.tolist(), strict=True), 1):
            i, j = divmod(at, len(self.genes))
            a, b = float(found.first[i, j]), float(found.second[i, j])
            three = tuple((float(low[i, j]), float(high[i, j])) for low, high in ends)
            edges.append(
                Difference(
                    rank, self.regulators[i], self.genes[j], kind_of(a, b, three[0], three[1]),
                    float(chance[i, j]), rate, float(found.p[i, j]), a, b, b - a,
                    (three[0], three[1], three[2]),
                )
            )  # fmt: skip
        return tuple(edges)

    @property
    def claimed(self) -> tuple[Difference, ...]:
        """The edges of which at most the share `level` is expected to be no difference."""
        kept = [edge.rank for edge in self.edges if edge.false_discovery <= self.level]
        return self.edges[: max(kept, default=0)]

    def _intervals(self) -> list[tuple[Array, Array]]:
        """Ends of the intervals of both strengths and of the difference."""
        found = self.measured
        z = np.arctanh(found.first), np.arctanh(found.second)
        errors = found.first_error, found.second_error
        ends = []
        for mid, error, n in zip(z, errors, self.n_series, strict=True):
            reach = stats.t.isf((1 - INTERVAL) / 2, n - 1) * error
            ends.append((np.tanh(mid - reach), np.tanh(mid + reach)))
        # Of the difference of two correlations, from their own limits (Zou 2007).
        (low_a, high_a), (low_b, high_b) = ends
        between = found.second - found.first
        below = np.hypot(found.second - low_b, high_a - found.first)
        above = np.hypot(high_b - found.second, found.first - low_a)
        return [*ends, (between - below, between + above)]

    def said(self) -> str:
        """Say what was found, in words, and what could have been."""
        a, b = self.names
        series = f"{self.n_series[0]} series of {a} and {self.n_series[1]} of {b}"
        if not self.is_able:
            needed = series_needed(*self.n_series)
            return (
                f"Nothing can be found: {series} can be exchanged in {self.possible} ways only, so "
                f"that no p value is below {self.least_p:.2g}; {needed} series a side are needed."
            )
        p = f"{self.whole_p:.2g}"
        chance = f"in a share of {p} of {self.exchanges} exchanges of the series they do as much"
        if not self.finds_difference:
            return (
                f"No difference was found: {series} differ no more than chance makes them "
                f"({chance}). That is no proof that there is none."
            )
        n = len(self.claimed)
        kinds = [f"{sum(e.kind == kind for e in self.claimed)} {kind}" for kind in KINDS]
        if not n:
            return (
                f"The conditions differ ({series}; {chance}), but of no edge it can be said with a "
                f"false discovery of at most {self.level:g}."
            )
        edges = "1 edge differs" if n == 1 else f"{n} edges differ"
        return (
            f"{edges}: {', '.join(kinds)}, of which a share of "
            f"{self.claimed[-1].false_discovery:.2g} is expected to be false ({series}; {chance})."
        )

    def power_said(self) -> str:
        """Say what so many series are able to find."""
        from grn_tvcs.comparison.chances import power_said

        return power_said(min(self.n_series))

    def table(self, top: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Header and rows of ``differences.tsv``."""
        a, b = "a", "b"
        header = [
            "rank",
            "regulator",
            "target",
            "kind",
            "claimed",
            "chance",
            "false_discovery",
            "p",
        ]
        for name in (f"strength_{a}", f"strength_{b}", "difference"):
            header += [name, f"{name}_low", f"{name}_high"]
        n_claimed = len(self.claimed)
        rows = []
        for edge in self.edges[:top]:
            row: list[Any] = [edge.rank, edge.regulator, edge.target, edge.kind]
            row += [int(edge.rank <= n_claimed)]
            row += [f"{x:.6g}" for x in (edge.chance, edge.false_discovery, edge.p)]
            middles = edge.strength_a, edge.strength_b, edge.difference
            for middle, ends in zip(middles, edge.intervals, strict=True):
                row += [f"{x:.6g}" for x in (middle, *ends)]
            rows.append(row)
        return header, rows

    def gene_table(self) -> tuple[list[str], list[list[Any]]]:
        """Header and rows of ``genes.tsv``: how surely a gene answers otherwise to the others."""
        chance = 1.0 - np.prod(1.0 - self.chance, axis=0)
        order = np.lexsort((np.arange(len(self.genes)), -self.measured.best[0]))
        false = self._false_genes(order)
        columns = (self.gene_p[order], false, chance[order])
        rows = [
            [self.genes[j], *(f"{x:.6g}" for x in told)]
            for j, *told in zip(order, *columns, strict=True)
        ]
        return ["gene", "p", "false_discovery", "chance"], rows

    def _false_genes(self, order: NDArray[np.int64]) -> Array:
        """Genes that an exchange puts so far up on average, beside those that are there."""
        best = self.measured.best
        reached = best[0][order]
        usual = np.sort(best, axis=None)
        at = np.searchsorted(usual, reached * (1 - 1e-9))
        false = (usual.size - at) / len(best) / np.arange(1, reached.size + 1)
        return np.asarray(np.minimum.accumulate(np.minimum(false, 1.0)[::-1])[::-1])

    def to_frame(self, top: int | None = None) -> pd.DataFrame:
        """Return the edges as a DataFrame, the `top` likeliest or all; columns as in the file."""
        import pandas as pd

        header, rows = self.table(top)
        frame = pd.DataFrame(rows, columns=header)
        words = ("regulator", "target", "kind")
        return frame.astype(
            {c: int if c in ("rank", "claimed") else float for c in header if c not in words}
        )

    def report(self, path: str | Path, **told: Any) -> None:
        """Write the report as one HTML file that loads nothing; see `comparison.page.render`."""
        from grn_tvcs.comparison.page import render
        from tvcs_core.files.folders import write_whole

        page = render(self, **told)
        write_whole(path, lambda file: file.write_text(page, encoding="utf-8"))

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write differences.tsv, genes.tsv, report.html and run.json into a folder.

        Raises
        ------
        DataError
            If the folder is not empty and `force` is False, or cannot be written.
        """
        from grn_tvcs.comparison.page import write_files
        from tvcs_core.files.folders import output_folder
        from tvcs_core.files.record import run_record

        record = run_record("grn_tvcs.compare", {}, seed=None, **self.facts())
        with output_folder(folder, force=force) as place:
            write_files(self, place, record)

    def facts(self) -> dict[str, Any]:
        """What ``run.json`` says of the result."""
        return {
            "conditions": list(self.names),
            "series": list(self.n_series),
            "exchanges": self.exchanges,
            "exchanges_possible": self.possible,
            "smallest_p": self.least_p,
            "p": self.whole_p,
            "found": self.said(),
            "claimed": len(self.claimed),
            "notes": list(self.notes),
            "genes": list(self.genes),
        }


def compare(
    a: Expression,
    b: Expression,
    *,
    names: Sequence[str] = ("A", "B"),
    regulators: Iterable[str] | None = None,
    scale: str | None = None,
    level: float = FALSE_DISCOVERY,
    exchanges: int = MOST,
    rng: int | np.random.Generator | None = None,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare the networks of two conditions by time series of both.

    Whole series are exchanged between the conditions: only what then hardly ever happens is a
    difference. Which edge is behind it was learned on simulated pairs of networks.

    Parameters
    ----------
    a, b
        The conditions, each with at least two series. Samples at rest are not used.
    names
        What the conditions are called.
    regulators
        Names of the genes that may regulate; None means all.
    scale
        As for `infer`, of both.
    level
        The expected share of false edges among those that are claimed, in (0, 1).
    exchanges
        How many exchanges are done at most; fewer where there are no more.
    rng
        Seed or generator; the same one gives the same result.
    engine, progress
        As for `infer`; targets are the parts of the work.

    Raises
    ------
    ValueError
        If a condition has fewer than two series, the conditions share fewer than half of their
        genes, or an option is out of its range.
    """
    require_number("level", level)
    require_number("exchanges", exchanges, whole=True)
    if not 0 < level < 1:
        raise ValueError(f"level (--false-discovery) must be above 0 and below 1, found {level:g}")
    if exchanges < LEAST:
        raise ValueError(f"exchanges must be >= {LEAST}, found {exchanges}")
    names = names_of("names", names)
    if len(set(names)) != 2 or len(names) != 2:
        raise ValueError(f"names must be two different ones, found {names}")
    require_expression("a", a)
    require_expression("b", b)
    first, second, notes = with_common_genes(a, b, names, scale)
    both, n_first = pooled(first, second, scale)
    inputs = (
        Rules(regulators=gene_set("regulators", regulators))
        .candidates(both.genes, both.constant_genes)
        .regulators
    )
    rng = stream(rng, "compare")
    n_second = len(both.pieces()) - n_first
    drawn = draw_exchanges(n_first, n_second, exchanges, rng)
    with one_blas_thread():
        steps = steps_of(both, inputs)
        found = differences(steps, drawn, engine=engine, progress=progress)
    return Comparison(
        (names[0], names[1]),
        both.genes,
        tuple(both.genes[j] for j in inputs),
        (n_first, n_second),
        len(steps.past),
        len(drawn.in_first),
        n_possible(n_first, n_second),
        whole_p(found, drawn),
        level,
        found,
        chances(found, drawn, steps),
        drawn.p_values(found.best),
        tuple(dict.fromkeys((*a.notes, *b.notes, *notes))),
    )
