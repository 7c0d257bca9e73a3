"""Steady states beside the series: wild type, changed genes, and the effects of these."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression, describe_repeated
from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers, same_names
from grn_tvcs.expression.scales import log_levels, scale_of
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import array_of, names_of
from tvcs_core.files.display import joined, summary

# Part of the deviations from rest that tells the standard deviation, and how many of these it is
# for normal noise. The median would be 0 for a gene that is not measurable in steady state.
QUANTILE, DEVIATIONS = 0.8, 1.2816
LOG_OFFSET = 0.1  # part of a gene's largest level that is added before the logarithm
WILD_TYPE = ""
CONTRARY, CONTRARY_SD = 0.7, 3.0  # on a log scale, about twice the level; standard deviations
Levels = NDArray[np.float64]
OUT, DOWN, UP = "knock-out", "knock-down", "over-expression"  # kinds of experiments


@dataclass(frozen=True)
class SteadyStates:
    """Levels in steady state, of the wild type or after one gene was changed.

    Parameters
    ----------
    levels
        One row per experiment, one column per gene; finite, in the unit of the series.
    changed
        Name of the gene that was changed in each experiment; empty for the wild type.
    is_knockout
        Whether the gene was knocked out, and not only down; nothing for the wild type.
    genes
        Names of the columns, all different.
    is_overexpressed
        Whether the gene was made to have more, in place of less; None for never.

    Raises
    ------
    ValueError
        If shapes disagree, a level is not finite, names repeat, a changed gene is no column, or a
        gene is both knocked out and over-expressed.
    """

    levels: NDArray[np.float64]
    changed: tuple[str, ...]
    is_knockout: NDArray[np.bool_]
    genes: tuple[str, ...]
    is_overexpressed: NDArray[np.bool_] | None = None

    __repr__ = summary

    def __post_init__(self) -> None:
        levels = array_of("levels", self.levels, np.float64)
        is_knockout = array_of("is_knockout", self.is_knockout, np.bool_)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "is_knockout", is_knockout)
        is_up = (
            np.zeros(is_knockout.shape, bool)
            if self.is_overexpressed is None
            else array_of("is_overexpressed", self.is_overexpressed, np.bool_)
        )
        object.__setattr__(self, "is_overexpressed", is_up)
        object.__setattr__(self, "changed", names_of("changed", self.changed))
        object.__setattr__(self, "genes", names_of("genes", self.genes))
        shape = (len(self.changed), len(self.genes))
        if levels.shape != shape or is_knockout.shape != shape[:1]:
            raise ValueError(
                f"levels must have the shape experiments x genes = {shape} and one flag per "
                f"experiment, found {levels.shape} and {is_knockout.shape}"
            )
        if is_up.shape != shape[:1] or (is_up & is_knockout).any():
            raise ValueError(
                "is_overexpressed must have one flag per experiment, none of a knock-out, found "
                f"{is_up.astype(int).tolist()}"
            )
        if not np.isfinite(levels).all():
            raise ValueError("levels must be finite")
        if twice := describe_repeated("gene names", self.genes):
            raise ValueError(twice)
        if unknown := sorted(set(self.changed) - set(self.genes) - {WILD_TYPE}):
            raise ValueError(f"changed genes must be columns, but these are not: {joined(unknown)}")

    @property
    def n_knockdowns(self) -> int:
        """Number of experiments with a gene that was knocked down."""
        n_changed = sum(gene != WILD_TYPE for gene in self.changed)
        return n_changed - int(self.is_knockout.sum()) - self.n_overexpressions

    @property
    def n_overexpressions(self) -> int:
        """Number of experiments with a gene that was over-expressed."""
        return int(self._is_up.sum())

    @property
    def _is_up(self) -> NDArray[np.bool_]:
        assert self.is_overexpressed is not None  # the constructor fills it
        return self.is_overexpressed

    def renamed(self, genes: Sequence[str]) -> SteadyStates:
        """The same experiments, the genes called so, in the order of the columns."""
        name_of = dict(zip(self.genes, genes, strict=True)) | {WILD_TYPE: WILD_TYPE}
        changed = tuple(name_of[gene] for gene in self.changed)
        return replace(self, genes=tuple(genes), changed=changed)

    def called_as(
        self, genes: Sequence[str], identifiers: Identifiers = NO_IDENTIFIERS
    ) -> SteadyStates:
        """The same experiments, the genes called as those of a table, with a warning."""
        same = same_names(self.genes, genes, identifiers)
        made = [same.gene_of.get(gene, gene) for gene in self.genes]
        if made == list(self.genes) or len(set(made)) < len(made):
            return self
        warn_user(f"of the genes of steady states, {same.describe()}")
        return self.renamed(made)

    def of(self, genes: Sequence[str], identifiers: Identifiers = NO_IDENTIFIERS) -> SteadyStates:
        """The same experiments with the columns in the order of `genes`.

        Raises
        ------
        ValueError
            If the genes differ.
        """
        if set(genes) != set(self.genes):
            self = self.called_as(genes, identifiers)
        if missing := sorted(set(genes) ^ set(self.genes)):
            raise ValueError(
                "steady states and series must have the same genes, but these are in one of "
                f"them only: {joined(missing)}"
            )
        place = {gene: j for j, gene in enumerate(self.genes)}
        order = sorted(range(len(self.changed)), key=self._key)
        return self._at(order, [place[gene] for gene in genes])

    def restrict_to(self, genes: Collection[str]) -> SteadyStates:
        """The levels of some genes, without the experiments in which another gene was changed."""
        kept = [j for j, gene in enumerate(self.genes) if gene in genes]
        rows = [k for k, gene in enumerate(self.changed) if gene == WILD_TYPE or gene in genes]
        return self._at(rows, kept)

    def _at(self, rows: list[int], columns: list[int]) -> SteadyStates:
        return SteadyStates(
            self.levels[np.ix_(rows, columns)],
            tuple(self.changed[k] for k in rows),
            self.is_knockout[rows],
            tuple(self.genes[j] for j in columns),
            self._is_up[rows],
        )

    def _key(self, k: int) -> tuple[str, bool, bool, list[float]]:
        flags = bool(self.is_knockout[k]), bool(self._is_up[k])
        return (self.changed[k], *flags, sorted(self.levels[k].tolist()))

    def only_overexpressed(self) -> NDArray[np.bool_]:
        """Which genes were over-expressed and never knocked down; (genes,)."""
        pairs = list(zip(self.changed, self._is_up, self.is_knockout, strict=True))
        up = {gene for gene, is_up, _ in pairs if is_up}
        down = {gene for gene, is_up, is_out in pairs if not is_up and not is_out}
        return np.array([gene in up - down for gene in self.genes])

    def is_changed(self, *, is_out: bool) -> NDArray[np.bool_]:
        """Which genes were knocked out, or else changed: down or up; (genes,)."""
        names = {g for g, out in zip(self.changed, self.is_knockout, strict=True) if out == is_out}
        return np.array([gene in names for gene in self.genes])

    def warn_of_contrary(self, expression: Expression) -> None:
        """Warn of changed genes whose own level moved against the change, beyond noise."""
        fell, spread = self._moved(expression)
        is_contrary = np.where(self._is_up[:, None], fell, -fell) > np.maximum(
            CONTRARY, CONTRARY_SD * spread
        )
        found = {
            gene
            for gene, is_it in zip(self.changed, is_contrary, strict=True)
            if gene != WILD_TYPE and is_it[self.genes.index(gene)]
        }
        if found:
            warn_user(
                f"{len(found)} changed genes have more than usual after a knock-out or "
                f"knock-down, or less after over-expression: {joined(sorted(found))}; if the kind "
                "of change is wrong, so are the signs of its effects"
            )

    def shifts(
        self, expression: Expression, *, is_out: bool, rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """How far each gene moved when another was knocked out, or else changed, in SDs.

        ``[regulator, target]``, above 0 where the target fell, or rose when the regulator was
        over-expressed: the regulator activates it. Levels
        are compared as ``log(x / max + 0.1)`` with the gene's own maximum, because their noise
        grows with them; values that are logarithms already as they are. The rest level of a gene
        is the median of all its steady states and of the first samples of the series; its
        standard deviation is that of normal noise with the same 80 % quantile of deviations from
        rest, but at least that of the median gene. Of a gene that was changed several times the
        mean counts. `rows` are the genes that are wanted as regulators, all by default.
        """
        fell, spread = self._moved(expression)
        z = np.where(spread > 0, fell / np.where(spread > 0, spread, 1.0), 0.0)
        rows = np.arange(len(self.genes)) if rows is None else rows
        row_of = {self.genes[j]: row for row, j in enumerate(rows.tolist())}
        shifts = np.zeros((len(rows), len(self.genes)))
        times = np.zeros(len(rows))
        for k in np.flatnonzero(self.is_knockout == is_out):
            if self.changed[k] in row_of:
                shifts[row_of[self.changed[k]]] += -z[k] if self._is_up[k] else z[k]
                times[row_of[self.changed[k]]] += 1
        shifts[np.arange(len(rows)), rows] = 0.0
        return shifts / np.maximum(times, 1)[:, None]

    def _moved(self, expression: Expression) -> tuple[Levels, Levels]:
        """Return how far levels fell below rest on a log scale, and the deviation of each gene."""
        n = len(self.levels)
        both = np.concatenate([self.levels, expression.values])
        logs = log_levels(both, LOG_OFFSET, scale_of(expression))
        first = [n + rows.start for rows in expression.pieces.values()]
        known = np.concatenate([logs[:n], logs[first]])
        rest = np.median(known, axis=0)
        spread = np.quantile(np.abs(known - rest), QUANTILE, axis=0, method="lower") / DEVIATIONS
        return rest - logs[:n], np.maximum(spread, np.median(spread))
