"""Expression over time and at rest: what was measured, of which genes, in which series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import array_of, names_of, require_one_of
from tvcs_core.files.shown import listed

if TYPE_CHECKING:
    import pandas as pd

SCALES = ("levels", "log", "counts")


@dataclass(frozen=True)
class Expression:
    """Levels of genes over time, in series, or at rest, or both.

    Parameters
    ----------
    values
        One row per sample of a series, one column per gene; finite, of any unit. No row where all
        samples are at rest.
    times
        When each sample was taken; rising within a series.
    series
        The name of each sample's series; the samples of a series stand together.
    genes
        Names of the columns, all different.
    perturbed
        Whether a perturbation was on when each sample was taken; None where nothing is known.
    notes
        What was done to the samples on reading, a sentence each, for the methods of a paper.
    scale
        What the values are: ``"levels"``, ``"log"`` (logarithms or z-scores) or ``"counts"``; None
        where it is to be guessed, as `infer` does.
    guessed_from
        What the scale was guessed from; None where it was said.
    at_rest
        Samples that belong to no series, steady states of any kind: one row each, the columns of
        `values`; None where there are none.
    cells
        How many cells each sample of a series is the mean of, or the sum of their weights; None
        where every sample counts once.

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
    at_rest: NDArray[np.float64] | None = None
    cells: NDArray[np.float64] | None = None

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        samples: pd.DataFrame | None = None,
        genes_in_rows: bool = False,
        time_column: str | None = None,
        sample_column: str | None = None,
        series_column: str | Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        keep: Sequence[str] = (),
        replicates: str | None = None,
        missing: str = "error",
    ) -> Expression:
        """Make expression of a DataFrame: a row per sample, a column per gene, perhaps a time.

        Columns mean what they mean in a file (`read_expression`), and so do named levels of the
        index; other names in the index are not used. Series follow from their columns, or from
        times that fall.

        Parameters
        ----------
        frame
            The levels.
        samples
            A row for each sample with its time and series, named by its index or the column
            ``sample``, as the index of `frame` or its column ``sample`` name them.
        genes_in_rows
            The index names genes, and columns are samples; they may be called by their times.
        time_column, sample_column, series_column, ignore, keep, replicates, missing
            As for `grn_tvcs.read_layout`.

        Raises
        ------
        ValueError
            If a gene is there twice, a level is no number, or as for `read_expression`.
        """
        from grn_tvcs.expression.layouts.frames import from_frame

        return from_frame(
            frame,
            samples=samples,
            genes_in_rows=genes_in_rows,
            time_column=time_column,
            sample_column=sample_column,
            series_column=series_column,
            ignore=ignore,
            keep=keep,
            replicates=replicates,
            missing=missing,
        )

    @classmethod
    def from_anndata(cls, data: Any, **words: Any) -> Expression:
        """Make expression of an AnnData in memory.

        Parameters
        ----------
        data
            The AnnData; times and series are in ``obs``.
        **words
            ``time_column``, ``series_column``, ``layer``, ``gene_column``, ``ignore`` and ``keep``,
            as for `grn_tvcs.read_h5ad`.

        Raises
        ------
        ValueError
            As for `grn_tvcs.read_h5ad`.
        """
        from grn_tvcs.expression.layouts.frames import from_anndata

        return from_anndata(data, **words)

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
            require_one_of("scale", self.scale, SCALES)
        if twice := repeated(self.genes):
            raise ValueError(f"gene names must be different, found twice: {listed(twice)}")
        self._check_series()

    def _check_rest_and_cells(self) -> None:
        if self.at_rest is not None:
            at_rest = array_of("at_rest", self.at_rest, np.float64)
            if at_rest.ndim != 2 or at_rest.shape[1] != len(self.genes):
                raise ValueError(
                    f"at_rest must have a column for each of the {len(self.genes)} genes, found "
                    f"the shape {at_rest.shape}"
                )
            if not np.isfinite(at_rest).all():
                raise ValueError("levels at rest must be finite")
            object.__setattr__(self, "at_rest", at_rest if len(at_rest) else None)
        if self.cells is not None:
            cells = array_of("cells", self.cells, np.float64)
            object.__setattr__(self, "cells", cells)
            if cells.shape != self.times.shape or not (np.isfinite(cells) & (cells > 0)).all():
                raise ValueError("cells must hold one finite number above 0 per sample of a series")

    def _check_series(self) -> None:
        starts = [i for i, name in enumerate(self.series) if i == 0 or name != self.series[i - 1]]
        names = [self.series[i] for i in starts]
        if twice := repeated(names):
            raise ValueError(f"the samples of a series must stand together: {listed(twice)}")
        if not starts and self.at_rest is None:
            raise ValueError("expression must have samples, found none")
        for name, rows in self.pieces().items():
            if len(self.times[rows]) < 2:
                raise ValueError(
                    f"a series must have at least 2 time points, but series {name!r} has 1"
                )
            if (np.diff(self.times[rows]) <= 0).any():
                raise ValueError(f"times must rise within a series, but not in series {name!r}")

    def pieces(self) -> dict[str, slice]:
        """Rows of each series, in the order of the samples; none where all are at rest."""
        if not self.series:
            return {}
        edges = [i for i, name in enumerate(self.series) if i and name != self.series[i - 1]]
        bounds = [0, *edges, len(self.series)]
        return {self.series[a]: slice(a, b) for a, b in pairwise(bounds)}

    @property
    def n_at_rest(self) -> int:
        """Number of the samples at rest."""
        return 0 if self.at_rest is None else len(self.at_rest)

    @property
    def levels(self) -> NDArray[np.float64]:
        """All samples, for who does not ask for time: those of the series, then those at rest."""
        return self.values if self.at_rest is None else np.concatenate([self.values, self.at_rest])

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
            self.pieces().values(),
            key=lambda rows: (self.times[rows].tolist(), values[rows].tolist()),
        )
        rows = np.array([i for piece in pieces for i in range(piece.start, piece.stop)], dtype=int)
        rest = [] if self.at_rest is None else sorted(self.at_rest[:, order].tolist())
        return replace(
            self,
            values=values[rows],
            times=self.times[rows],
            series=tuple(self.series[i] for i in rows),
            genes=tuple(self.genes[j] for j in order),
            perturbed=None if self.perturbed is None else self.perturbed[rows],
            at_rest=np.array(rest) if rest else None,
            cells=None if self.cells is None else self.cells[rows],
        )

    def part(self, is_in: NDArray[np.bool_]) -> Expression:
        """The samples of series for which `is_in` holds, and all samples at rest."""
        names = zip(self.series, is_in, strict=True)
        return replace(
            self,
            values=self.values[is_in],
            times=self.times[is_in],
            series=tuple(name for name, is_there in names if is_there),
            perturbed=None if self.perturbed is None else self.perturbed[is_in],
            cells=None if self.cells is None else self.cells[is_in],
        )

    def of_series(self) -> Expression:
        """The same without the samples at rest."""
        return replace(self, at_rest=None)

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
            raise ValueError("a perturbation ends within a series, but all samples are at rest")
        on = self.times < time
        if on.all() or not on.any():
            few = "every sample" if on.all() else "no sample"
            raise ValueError(
                f"the end of the perturbation must lie within the series, but {few} is before "
                f"{time:g}; times go from {self.times.min():g} to {self.times.max():g}"
            )
        return replace(self, perturbed=on)


def repeated(names: Sequence[str]) -> list[str]:
    """Names that are there more than once, in order."""
    return [name for name, count in Counter(names).items() if count > 1]


def write_expression(expression: Expression, path: str | Path) -> None:
    """Write the layout of the DREAM challenge: tabs, ``Time`` first, a blank line before a series.

    Six decimals. Names of series are not kept: `read_expression` will number them. Samples at rest
    come last, their time is empty.
    """
    lines = ["\t".join(["Time", *expression.genes])]
    for rows in expression.pieces().values():
        lines.append("")
        for time, levels in zip(expression.times[rows], expression.values[rows], strict=True):
            lines.append("\t".join([f"{time:g}", *(f"{level:.6f}" for level in levels)]))
    for levels in [] if expression.at_rest is None else expression.at_rest:
        lines.append("\t".join(["", *(f"{level:.6f}" for level in levels)]))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def samples_said(expression: Expression, kind: str = "series") -> str:
    """Say how many samples there are, in how many series, and how many at rest."""
    n_rest = f"{expression.n_at_rest} samples at rest"
    if not expression.series:
        return n_rest
    said = f"{len(expression.times)} samples in {len(expression.pieces())} {kind}"
    return f"{said} and {n_rest}" if expression.n_at_rest else said


def is_even(steps: NDArray[np.float64]) -> bool:
    """Whether steps in time are all the same."""
    return bool(steps.max() - steps.min() <= 1e-6 * steps.max())


def spacing(expression: Expression) -> str:
    """Describe how samples are spaced in time."""
    if not expression.series:
        return "none, all samples are at rest"
    steps = np.concatenate([np.diff(expression.times[p]) for p in expression.pieces().values()])
    low, high = steps.min(), steps.max()
    if is_even(steps):
        return f"even, every {low:g}"
    return f"uneven, {low:g} to {high:g}; the past fades with time"
