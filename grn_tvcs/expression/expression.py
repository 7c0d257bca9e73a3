"""Expression over time and in steady state: values, genes, times and series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers
from tvcs_core.arguments import array_of, check_choice, check_type, names_of, option_name
from tvcs_core.files.display import joined, plural
from tvcs_core.lazy import load

SCALES = ("levels", "log", "counts")
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Expression:
    """Levels of genes over time, in series, or in steady state, or both.

    Parameters
    ----------
    values
        One row per sample of a series, one column per gene; finite, of any unit. No row where all
        samples are in steady state.
    times
        When each sample was taken; rising within a series.
    series
        The name of each sample's series; the samples of a series stand together.
    genes
        Names of the columns, all different.
    perturbed
        Whether a perturbation was on when each sample was taken; None if nothing is known.
    notes
        Changes made to the samples on reading, a sentence each, for the methods of a paper.
    scale
        Scale of the values: ``"levels"``, ``"log"`` (logarithms or z-scores) or ``"counts"``; None
        where it is to be guessed, as `infer` does.
    guessed_from
        Evidence for a guessed scale; None if the scale was given.
    steady_values
        Samples that belong to no series, steady states of any kind: one row each, the columns of
        `values`; None if there are none.
    cells
        How many cells each sample of a series is the mean of, or the sum of their weights; None
        where every sample counts once.
    unbinned
        Levels of the cells, or of some of them, that were averaged in bins, for evidence that
        ignores time; (cells, genes). None if samples were not averaged.
    identifiers
        Other names of the genes that stand in the table, by which lists of genes may call them.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the scale is unknown, a name is there twice, a
        series is in pieces or has fewer than two time points, times do not rise within a series,
        there is no sample, or cells are not above 0.
    """

    values: NDArray[np.float64]
    times: NDArray[np.float64]
    series: tuple[str, ...]
    genes: tuple[str, ...]
    perturbed: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()
    scale: str | None = None
    guessed_from: str | None = None
    steady_values: NDArray[np.float64] | None = None
    cells: NDArray[np.float64] | None = None
    unbinned: NDArray[np.float64] | None = None
    identifiers: Identifiers = field(default=NO_IDENTIFIERS, compare=False)

    @classmethod
    def of(cls, data: Any, **options: Any) -> Expression:
        """Read expression of a file, of several, of a DataFrame, an AnnData or an array.

        A file is a table of samples x genes: text, plain or ``.gz``, or ``.xlsx``; a series matrix
        of GEO, known by its first line; AnnData's ``.h5ad``; or BEELINE's, with `pseudotime`. The
        first row names the columns. One of them may be the time (``Time``, any case), in numbers or
        with a unit as in ``2h``. A sample whose time is empty or ``NA`` is in steady state; without
        this column all samples are. Columns ``series``, ``condition`` and ``replicate`` together
        name the series, so that a replicate is a series of its own. Without them, a blank line or a
        smaller time than before starts a new series, as in the files of the DREAM challenge; the
        series are named ``1``, ``2``, ... Rows out of order whose times all differ are one series.
        A column ``perturbed`` holds 1 where a perturbation was on and 0 elsewhere; a column
        ``sample`` is not used. All other columns of numbers are genes, unless their names or
        numbers show that they describe samples (``RIN``, ``total_counts``): these are left out,
        with a warning, or refused.

        Columns of a DataFrame mean the same, and so do named levels of its index; other names in
        the index are not used. Of an AnnData and its file times and series stand in ``obs``: where
        a column is the time, samples without one are left out and those at one time of a series
        averaged, with a warning; if none is, all samples are in steady state. An array of
        samples x genes comes with `gene_names`, and perhaps with `times` (NaN for a sample in
        steady state) and `series`, one for each sample. Files of the same genes are taken together:
        the series of all stand after each other, named by the file as well where names would clash.

        Parameters
        ----------
        data
            A path or several, a DataFrame, an AnnData, or an array with `gene_names`.
        **options
            `gene_names`, `times` and `series` of an array, and the options of the command line for
            facts that the data do not hold: `samples` (a path, or beside a DataFrame another),
            `pseudotime`, `lineage_weights`, `genes_in_rows`, `time_column`, `sample_column`,
            `series_column`, `ignore`, `keep`, `replicates`, `sheet`, `samples_sheet`, `layer`,
            `gene_column` and `missing`: see
            `grn_tvcs.expression.options.Options`.

        Raises
        ------
        DataError
            Naming line and column: an empty file, a time of another name, genes in rows, a cell
            that is not a finite number, a gene that is there twice, a series of one time point, a
            time that comes twice in a series, a gene without any value.
        ValueError, TypeError
            If options contradict each other or do not go with the data, or the data are of
            another kind.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"Time": ["0h", "2h"], "lexA": [1.0, 2.0], "recA": [3.0, 1.0]})
        >>> Expression.of(table).genes
        ('lexA', 'recA')
        >>> Expression.of([[1, 3], [2, 1]], gene_names=["lexA", "recA"], times=[0, 2]).times
        array([0., 2.])
        """
        # Reading stands above expressions; so it is known here by its name alone.
        found: Expression = load("grn_tvcs.expression.read", "read_with")(data, options)
        return found

    def __post_init__(self) -> None:
        values = array_of("values", self.values, np.float64)
        times = array_of("times", self.times, np.float64)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "series", names_of("series", self.series))
        object.__setattr__(self, "genes", names_of("genes", self.genes))
        if values.ndim != 2 or values.shape != (times.size, len(self.genes)):
            raise ValueError(
                f"values must have the shape samples x genes = ({times.size}, {len(self.genes)}), "
                f"but it is {values.shape}"
            )
        if times.ndim != 1 or len(self.series) != times.size:
            raise ValueError(
                f"every sample needs a time and a series, found {times.size} times and "
                f"{len(self.series)} series names"
            )
        if self.perturbed is not None:
            perturbed = array_of("perturbed", self.perturbed, np.bool_)
            object.__setattr__(self, "perturbed", perturbed)
            if perturbed.shape != times.shape:
                raise ValueError(
                    f"perturbed must hold one flag per sample, found {perturbed.shape} for "
                    f"{times.size} samples"
                )
        if not (np.isfinite(values).all() and np.isfinite(times).all()):
            raise ValueError("values and times must be finite")
        self._check_rest_and_cells()
        if self.scale is not None:
            check_choice("scale", self.scale, SCALES)
        check_type("identifiers", self.identifiers, Identifiers)
        if twice := describe_repeated("gene names", self.genes):
            raise ValueError(twice)
        self._check_series()

    def _check_rest_and_cells(self) -> None:
        for name, what in (("steady_values", "in steady state"), ("unbinned", "of cells")):
            if getattr(self, name) is None:
                continue
            levels = array_of(name, getattr(self, name), np.float64)
            if levels.ndim != 2 or levels.shape[1] != len(self.genes):
                raise ValueError(
                    f"{name} must have a column for each of the {len(self.genes)} genes, found the "
                    f"shape {levels.shape}"
                )
            if not np.isfinite(levels).all():
                raise ValueError(f"levels {what} must be finite")
            object.__setattr__(self, name, levels if len(levels) else None)
        if self.cells is not None:
            cells = array_of("cells", self.cells, np.float64)
            object.__setattr__(self, "cells", cells)
            if cells.shape != self.times.shape or not (np.isfinite(cells) & (cells > 0)).all():
                raise ValueError("cells must hold one finite number above 0 per sample of a series")

    def _check_series(self) -> None:
        if twice := repeated([name for name, _ in groupby(self.series)]):
            raise ValueError(f"the samples of a series must stand together: {joined(twice)}")
        if not self.series and self.steady_values is None:
            raise ValueError("expression must have samples, found none")
        for name, rows in self.pieces.items():
            if len(self.times[rows]) < 2:
                raise ValueError(
                    f"a series must have at least 2 time points, but series {name!r} has 1"
                )
            if (np.diff(self.times[rows]) <= 0).any():
                raise ValueError(f"times must rise within a series, but not in series {name!r}")

    @cached_property
    def pieces(self) -> dict[str, slice]:
        """Rows of each series, in the order of the samples; none where all are in steady state."""
        sizes = [(name, len(list(some))) for name, some in groupby(self.series)]
        ends = accumulate(n for _, n in sizes)
        return {name: slice(end - n, end) for (name, n), end in zip(sizes, ends, strict=True)}

    def __str__(self) -> str:
        describe_scale = load("grn_tvcs.expression.scales", "describe_scale")
        on = self.perturbed
        scale = "not given; infer guesses it" if self.scale is None else describe_scale(self)
        times = f"{self.times.min():g} to {self.times.max():g}, " if self.series else ""
        known = "not known" if on is None else f"on in {on.sum()} samples"
        facts = {
            f"Expression of {plural(len(self.genes), 'gene')}": describe_samples(self),
            "times": f"{times}{spacing(self)}",
            "scale": scale,
            "perturbation": known if self.series else "none, all samples are in steady state",
            "genes": joined(self.genes),
        }
        return "\n".join(f"{name}: {fact}" for name, fact in facts.items())

    __repr__ = __str__

    @property
    def n_series(self) -> int:
        """Number of the series."""
        return len(self.pieces)

    @property
    def n_steps(self) -> int:
        """Number of the steps from sample to sample in all series."""
        return len(self.times) - self.n_series

    @property
    def steps(self) -> NDArray[np.float64]:
        """Times from sample to sample in all series."""
        own = [np.diff(self.times[rows]) for rows in self.pieces.values()]
        return np.concatenate([np.empty(0), *own])

    @property
    def n_steady(self) -> int:
        """Number of the steady-state samples."""
        return 0 if self.steady_values is None else len(self.steady_values)

    @property
    def levels(self) -> NDArray[np.float64]:
        """All samples regardless of time: those of the series, then those in steady state."""
        return (
            self.values
            if self.steady_values is None
            else np.concatenate([self.values, self.steady_values])
        )

    @property
    def unbinned_levels(self) -> NDArray[np.float64]:
        """All samples regardless of time, with cells as they were before they were averaged."""
        if self.unbinned is None:
            return self.levels
        return np.concatenate([self.unbinned, self.levels[len(self.times) :]])

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Which genes have the same value in every sample; (genes,)."""
        levels = self.levels
        return np.asarray((levels == levels[:1]).all(axis=0))

    @property
    def constant_genes(self) -> tuple[str, ...]:
        """Names of the genes with the same value in every sample."""
        return tuple(g for g, is_flat in zip(self.genes, self.is_constant, strict=True) if is_flat)

    def in_name_order(self) -> Expression:
        """Sort genes by name and samples by their numbers, so that the file's order is forgotten.

        Samples of a series stay together.
        """
        order = sorted(range(len(self.genes)), key=lambda j: self.genes[j])
        values = self.values[:, order]
        pieces = sorted(
            self.pieces.values(),
            key=lambda rows: (self.times[rows].tolist(), values[rows].tolist()),
        )
        rows = np.concatenate([np.empty(0, int), *(np.r_[piece] for piece in pieces)])
        found = self._at(rows, order)
        for name in ("steady_values", "unbinned"):
            if (levels := found[name]) is not None:  # in the order of their numbers
                found[name] = levels[np.lexsort(levels.T[::-1])]
        return replace(self, **found)

    def part(self, is_in: NDArray[np.bool_]) -> Expression:
        """The samples of series for which `is_in` holds, and all steady-state samples.

        Cells before averaging are dropped, as their series are not known.
        """
        return replace(self, **self._at(is_in, slice(None)) | {"unbinned": None})

    def of_genes(self, is_in: NDArray[np.bool_], scale: str | None) -> Expression:
        """All samples of the genes for which `is_in` holds, their levels being on this scale."""
        return replace(self, **self._at(slice(None), is_in), scale=scale)

    def _at(self, rows: Any, genes: Any) -> dict[str, Any]:
        """The fields of samples of series, and of genes, at these places of the arrays."""

        def some(values: Any, *at: Any) -> Any:
            return None if values is None else values[at]

        return {
            "values": self.values[:, genes][rows],
            "times": self.times[rows],
            "series": tuple(np.array(self.series, dtype=object)[rows]),
            "genes": tuple(np.array(self.genes, dtype=object)[genes]),
            "perturbed": some(self.perturbed, rows),
            "cells": some(self.cells, rows),
            "steady_values": some(self.steady_values, slice(None), genes),
            "unbinned": some(self.unbinned, slice(None), genes),
        }

    def of_series(self) -> Expression:
        """The same without the steady-state samples."""
        return replace(self, steady_values=None)

    def with_perturbation_until(self, time: float) -> Expression:
        """The same samples, those before `time` in their series being perturbed.

        The protocol of the DREAM challenge: the perturbation is on from the start of every
        series, and the sample at `time` is the first one after it.

        Raises
        ------
        ValueError
            If no sample, or every sample, is before `time`, or there is no series.
        """
        if not self.series:
            raise ValueError(
                "a perturbation ends within a series, but all samples are in steady state: leave "
                f"it out, or give a time ({option_name('time_column')})"
            )
        on = self.times < time
        if on.all() or not on.any():
            few = "every sample" if on.all() else "no sample"
            raise ValueError(
                f"the end of the perturbation must lie within the series, but {few} is before "
                f"{time:g}; times go from {self.times.min():g} to {self.times.max():g}"
            )
        return replace(self, perturbed=on)


def repeated(names: Sequence[Name]) -> list[Name]:
    """Names that are there more than once, in order."""
    return [name for name, count in Counter(names).items() if count > 1]


def describe_repeated(what: str, names: Sequence[str]) -> str:
    """Describe names that occur more than once; empty if all differ."""
    twice = repeated(names)
    return f"{what} must be different, found twice: {joined(twice)}" if twice else ""


def write_expression(expression: Expression, path: str | Path) -> None:
    """Write the layout of the DREAM challenge: tabs, ``Time`` first, a blank line before a series.

    Six decimals. Names of series are not kept: `Expression.of` will number them. Steady-state
    samples come last, their time is empty.
    """
    lines = ["\t".join(["Time", *expression.genes])]
    for rows in expression.pieces.values():
        lines.append("")
        for time, levels in zip(expression.times[rows], expression.values[rows], strict=True):
            lines.append("\t".join([f"{time:g}", *(f"{level:.6f}" for level in levels)]))
    for levels in [] if expression.steady_values is None else expression.steady_values:
        lines.append("\t".join(["", *(f"{level:.6f}" for level in levels)]))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def describe_samples(expression: Expression, kind: str = "series") -> str:
    """Describe the numbers of samples, of series, and of samples in steady state."""
    n_rest = plural(expression.n_steady, "steady-state sample")
    if not expression.series:
        return n_rest
    samples = f"{len(expression.times)} samples in {expression.n_series} {kind}"
    return f"{samples} and {n_rest}" if expression.n_steady else samples


def is_even(steps: NDArray[np.float64]) -> bool:
    """Whether steps in time are all the same."""
    return bool(steps.max() - steps.min() <= 1e-6 * steps.max())


def spacing(expression: Expression) -> str:
    """Describe how samples are spaced in time."""
    if not expression.series:
        return "none, all samples are in steady state"
    steps = expression.steps
    low, high = steps.min(), steps.max()
    if is_even(steps):
        return f"even, every {low:g}"
    return f"uneven, {low:g} to {high:g}; memory decays with time"
