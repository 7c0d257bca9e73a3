"""Annotated levels as AnnData keeps them, in a file or in memory.

Times are in ``obs``, genes in ``var``. Samples of a series at the same time, such as the cells of
one day, are averaged: a series has one level per gene and time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.clock import read_times, said_of_no_time, said_of_unit
from grn_tvcs.expression.columns import find_place, may_read
from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.judge.genes import (
    genes_by_name,
    genes_by_numbers,
    refuse_results,
    warn_of_names,
)
from grn_tvcs.expression.judge.names import CLOCK, SERIES
from grn_tvcs.expression.judge.samples import warn_of_samples
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.files.input_size import refuse_cells
from tvcs_core.files.shown import did_you_mean, listed, shown

RAW = "raw"
TAKES = ("time_column", "series_column", "layer", "gene_column", "ignore", "keep")
BYTES_OF_A_LEVEL = 24  # a number of 8 bytes, kept three times while it is read


class Annotated(ABC):
    """Annotated levels, wherever they are.

    Parameters
    ----------
    path
        What errors call them.
    options
        Which parts count, and what the user says of ``obs``.
    """

    def __init__(self, path: str, options: Options) -> None:
        self.path = path
        self.options = options
        self.is_raw = options.layer == RAW and RAW not in self.layers()

    @abstractmethod
    def obs_columns(self) -> list[str]:
        """Names of the columns of ``obs``."""

    @abstractmethod
    def obs(self, name: str) -> list[Any]:
        """Values of a column of ``obs``; NaN where there is none."""

    @abstractmethod
    def layers(self) -> list[str]:
        """Names of the layers."""

    @abstractmethod
    def has_raw(self) -> bool:
        """Whether there is a ``raw``."""

    @abstractmethod
    def var_columns(self) -> list[str]:
        """Names of the columns of ``var``, or of that of ``raw`` where this counts."""

    @abstractmethod
    def var(self, name: str | None) -> list[Any]:
        """Values of a column of the same, or its index."""

    @abstractmethod
    def matrix(self, name: str) -> Any:
        """``X``, that of ``raw`` or a layer: an array or a sparse one; (samples, genes)."""

    def error(self, what: str, column: str | None = None) -> DataError:
        """Make an error that names the data and perhaps a column."""
        return DataError(what, path=self.path, column=column)

    def _of_obs(self, name: str) -> list[Any]:
        place = find_place(self.obs_columns(), name)
        if place is None or (name.isdecimal() and name not in self.obs_columns()):
            raise self.error(
                f"obs has no column {shown(name)}{did_you_mean(name, self.obs_columns())}; it has "
                f"{listed(self.obs_columns())}"
            )
        return self.obs(self.obs_columns()[place])

    def _used(self) -> list[str]:
        """Columns of ``obs`` that are not to be ignored."""
        gone = {name.lower() for name in self.options.ignore}
        return [name for name in self.obs_columns() if name.lower() not in gone]

    def times(self) -> tuple[NDArray[np.float64], str]:
        """The time of each sample, NaN where it has none or is not reached, and the unit."""
        name = self.options.time_column
        if name is None:
            name = self._time_column()
        values = self._of_obs(name)
        unit = ""
        try:
            times = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            found = read_times(["" if value != value else str(value) for value in values])
            if found is None:
                bad = next(v for v in values if not _is_time(v))
                raise self.error(
                    f"must be a number, found {shown(bad)}{said_of_no_time(str(bad))}", name
                ) from None
            times, unit = np.array(found.values), found.unit
        if (is_far := np.isinf(times)).any():
            warn_user(
                f"{self.path}: left out {int(is_far.sum())} samples whose time in {name} is "
                "infinite, as pseudotime is where a cell is not reached"
            )
            times = np.where(is_far, np.nan, times)
        if np.isnan(times).all():
            raise self.error("must hold finite times", name)
        return times, unit

    def _time_column(self) -> str:
        for name in self._used():
            if name.lower() == "time":
                return name
        likely = [name for name in self._used() if _is_clock(name)]
        raise may_read(
            self.error(
                f"obs must have a column time, or give --time-column"
                f"{' ' + likely[0] if likely else ''}; it has {listed(self.obs_columns())}"
            ),
            *({"time_column": name} for name in likely),
        )

    def series(self, n_samples: int) -> NDArray[Any]:
        """The name of each sample's series."""
        lower = {name.lower(): name for name in self._used()}
        names: list[str] = list(self.options.series_column)
        names = names or [lower[kind] for kind in SERIES if kind in lower]
        if not names:
            return np.full(n_samples, "1", dtype=object)
        labels = [[str(value) for value in self._of_obs(name)] for name in names]
        return np.array(["/".join(row) for row in zip(*labels, strict=True)], dtype=object)

    def perturbed(self) -> NDArray[np.bool_] | None:
        """The column ``perturbed``, if there is one."""
        name = next((name for name in self._used() if name.lower() == "perturbed"), None)
        if name is None:
            return None
        values = [str(value).lower() for value in self.obs(name)]
        if bad := set(values) - {"0", "1", "true", "false"}:
            raise self.error(f"must be 0 or 1, found {min(bad)!r}", name)
        return np.array([value in ("1", "true") for value in values])

    def genes(self) -> tuple[str, ...]:
        """Index of ``var``, or the column that is said to name genes."""
        column = self.options.gene_column
        if column is not None and column not in self.var_columns():
            raise self.error(
                f"var has no column {shown(column)}{did_you_mean(column, self.var_columns())}; it "
                f"has {listed(self.var_columns()) or 'its index alone'}"
            )
        values = self.var(column)
        if column is not None and (unnamed := [v for v in values if v != v or not str(v)]):
            raise self.error(f"must name every gene, found {len(unnamed)} without a name", column)
        names = [str(name) for name in values]
        if twice := repeated(names):
            raise self.error(f"gene names must be different, found twice: {listed(twice)}", column)
        return tuple(names)

    def levels(self, n_samples: int, n_genes: int) -> Any:
        """Finite levels of what counts, dense or sparse; (samples, genes)."""
        name = self._counted()
        levels = self.matrix(name)
        if levels.ndim != 2 or levels.shape[0] != n_samples:
            raise self.error(
                f"{name} has the shape {levels.shape}, but obs has {n_samples} samples"
            )
        if levels.shape[1] != n_genes:
            raise self.error(f"{name} has {levels.shape[1]} columns, but var names {n_genes} genes")
        is_sparse = sparse.issparse(levels)
        if is_sparse:
            levels.check_format(full_check=True)
        if not np.isfinite(levels.data if is_sparse else levels).all():
            raise self.error(f"{name} must hold finite numbers, found NaN or infinity")
        return levels

    def _counted(self) -> str:
        layer = self.options.layer
        if layer is None:
            return "X"
        if self.is_raw:
            if self.has_raw():
                return RAW
            raise self.error("has no raw; leave --layer out for X")
        if layer not in self.layers():
            known = [*self.layers(), *([RAW] if self.has_raw() else [])]
            there_are = f"it has {listed(known)}" if known else "it has X alone: leave --layer out"
            raise self.error(
                f"has no layer {shown(layer)}{did_you_mean(layer, known)}; {there_are}"
            )
        return layer


def expression_of(data: Annotated) -> Expression:
    """Make out the expression of annotated levels; as `read_h5ad` says.

    Raises
    ------
    DataError, ValueError
        As for `read_h5ad`.
    """
    times, unit = data.times()
    series = data.series(times.size)
    on = data.perturbed()
    is_in = ~np.isnan(times)
    if not is_in.all():
        warn_user(f"{data.path}: left out {int((~is_in).sum())} samples without a time")
    place = {name: k for k, name in enumerate(dict.fromkeys(series[is_in].tolist()))}
    number = np.array([place.get(name, -1) for name in series.tolist()])
    keys = np.stack([number[is_in].astype(np.float64), times[is_in]], axis=1)
    points, point = np.unique(keys, axis=0, return_inverse=True)
    point = point.reshape(-1)
    if len(points) < is_in.sum():
        warn_user(
            f"{data.path}: averaged {int(is_in.sum())} samples to {len(points)}, one for each "
            "time of a series"
        )
    size = np.bincount(point, minlength=len(points))
    mean = sparse.csr_array((1.0 / size[point], (point, np.flatnonzero(is_in))),
                            shape=(len(points), times.size))  # fmt: skip
    genes = data.genes()
    refuse_cells(data.path, len(points), len(genes), BYTES_OF_A_LEVEL)
    levels = mean @ data.levels(times.size, len(genes))
    values = levels.toarray() if sparse.issparse(levels) else np.asarray(levels)
    names = list(place)
    notes = said_of_cells(int(is_in.sum()), len(points))
    genes, values = _judged(data, genes, values)
    warn_of_samples(data.path, values)
    found = Expression(
        values,
        points[:, 1],
        tuple(names[int(k)] for k in points[:, 0]),
        genes,
        None if on is None else _of_points(on[is_in], point, data),
        notes=(*notes, *said_of_unit(unit)),
        cells=None if (size == 1).all() else size.astype(np.float64),
    )
    return _without(found, data)


def _judged(
    data: Annotated, genes: tuple[str, ...], values: NDArray[np.float64]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Leave out of ``var`` what is no gene; names to ignore are none of its business."""
    told = (*data.options.keep, *data.options.ignore)
    refuse_results(data.path, genes, told)
    is_gene = genes_by_name(data.path, genes, told, has_time=True)
    genes, values = tuple(genes[j] for j in np.flatnonzero(is_gene)), values[:, is_gene]
    is_gene = genes_by_numbers(data.path, genes, values, told, has_time=True)
    genes, values = tuple(genes[j] for j in np.flatnonzero(is_gene)), values[:, is_gene]
    warn_of_names(data.path, genes)
    return genes, values


def _without(found: Expression, data: Annotated) -> Expression:
    """Leave out the genes that are to be ignored."""
    columns = {name.lower() for name in data.obs_columns()}
    wanted = [name for name in data.options.ignore if name.lower() not in columns]
    if not wanted:
        return found
    if strangers := [name for name in wanted if name not in found.genes]:
        known = [*data.obs_columns(), *found.genes]
        raise data.error(
            f"has neither a column of obs nor a gene {shown(strangers[0])} for --ignore"
            f"{did_you_mean(strangers[0], known)}"
        )
    kept = [j for j, gene in enumerate(found.genes) if gene not in wanted]
    return replace(found, values=found.values[:, kept], genes=tuple(found.genes[j] for j in kept))


def said_of_cells(n_cells: int, n_points: int) -> tuple[str, ...]:
    """Describe how cells at the same time of a series were averaged, if any were."""
    if n_points == n_cells:
        return ()
    return (f"{n_cells} cells were averaged to {n_points} samples, one for each time of a series.",)


def _of_points(on: NDArray[np.bool_], point: NDArray[np.int64], data: Annotated) -> Any:
    share = np.bincount(point, weights=on) / np.bincount(point)
    if not np.isin(share, (0.0, 1.0)).all():
        raise data.error("samples of one time and series must agree in it", "perturbed")
    flags = share == 1.0
    if flags.all() or not flags.any():
        warn_user(f"{data.path}: the column perturbed never changes and is not used")
        return None
    return flags


def _is_clock(name: str) -> bool:
    return CLOCK.fullmatch(name) is not None or "pseudotime" in name.lower()


def _is_time(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
