"""Annotated levels as AnnData keeps them, in a file or in memory.

Times are in ``obs``, genes in ``var``. Samples of a series at the same time, such as the cells of
one day, are averaged: a series has one level per gene and time. Without a time all are at rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.clock import holds_times, rise_like_times, times_in, unit_notes
from grn_tvcs.expression.expression import Expression, describe_repeated
from grn_tvcs.expression.formats.cells import Cells, expression_of_cells, expression_of_levels
from grn_tvcs.expression.from_sheet import perturbed_in
from grn_tvcs.expression.judge.names import CLOCK, OF_GENES
from grn_tvcs.expression.judge.roles import (
    IGNORED,
    PART,
    Roles,
    expanded,
    kinds_of,
    series_places,
    unknown_name,
)
from grn_tvcs.expression.judge.same_names import Identifiers
from grn_tvcs.expression.judge.series import Samples, by_columns
from grn_tvcs.expression.judge.shape import are_genes, are_samples
from grn_tvcs.expression.options import Options
from grn_tvcs.expression.sheet import Column, Grid, Sheet
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import did_you_mean, joined, plural, quoted
from tvcs_core.files.errors import Remedies
from tvcs_core.files.frames import texts_of_values
from tvcs_core.files.tables import is_number

RAW = "raw"
PEEKED = 20  # samples of a layer that tell whether it holds counts
OBJECT = "the AnnData"
PARTS = ("obs", "var", "X")
OTHER_THAN_NUMBERS = "cmMSU"  # kinds of NumPy: complex, times and texts
TAKES = ("time_column", "series_column", "layer", "gene_column", "ignore", "keep")


class Annotated(ABC):
    """Annotated levels, wherever they are; their frames are ``obs``, ``var`` and that of ``raw``.

    Parameters
    ----------
    path
        Their name in errors.
    options
        The parts to read and the options for ``obs``.
    """

    def __init__(self, path: str, options: Options) -> None:
        self.path = path
        self.options = options

    @abstractmethod
    def n_samples(self) -> int:
        """Rows of ``obs``."""

    @abstractmethod
    def columns(self, frame: str) -> list[str]:
        """Names of the columns of a frame."""

    @abstractmethod
    def values(self, frame: str, name: str | None) -> list[Any]:
        """Return the values of a column, NaN for missing ones; or the index."""

    @abstractmethod
    def layers(self) -> list[str]:
        """Names of the layers."""

    @abstractmethod
    def has_raw(self) -> bool:
        """Whether there is a ``raw``."""

    @abstractmethod
    def matrix(self, name: str, *, is_layer: bool) -> Any:
        """``X``, that of ``raw`` or a layer: an array or a sparse one; (samples, genes)."""

    @abstractmethod
    def some(self, name: str, *, is_layer: bool) -> NDArray[Any]:
        """Return some values of a matrix, those of its first samples, without reading it all."""

    def error(self, what: str, column: str | None = None, remedies: Remedies = ()) -> DataError:
        """Make an error that names the data and perhaps a column."""
        return DataError(what, path=self.path, column=column, remedies=remedies)

    @property
    def is_raw(self) -> bool:
        """Whether the levels are those of ``raw``, which a layer of that name is not."""
        return self.options.layer == RAW and RAW not in self.layers()

    def genes(self) -> tuple[str, ...]:
        """Return the index of ``var``, or the given column of gene names."""
        column, frame = self.options.gene_column, RAW if self.is_raw and self.has_raw() else "var"
        known = self.columns(frame)
        if column is not None and column not in known:
            raise self.error(
                f"var has no column {quoted(column)}{did_you_mean(column, known)}; it has "
                f"{joined(known) or 'its index alone'}"
            )
        values = self.values(frame, column)
        if unnamed := [v for v in values if v != v or not str(v)]:
            raise self.error(f"must name every gene, found {len(unnamed)} without a name", column)
        names = [str(name) for name in values]
        if twice := describe_repeated("gene names", names):
            raise self.error(
                f"{twice}; rename or remove them (scanpy: adata.var_names_make_unique()), or give "
                f"{option_words({'gene_column': 'NAME'})} with a column of var that names each "
                "once",
                column,
            )
        return tuple(names)

    def identifiers(self) -> Identifiers:
        """Return the other names of the genes in ``var``."""
        used, frame = self.options.gene_column, RAW if self.is_raw else "var"
        columns = [name for name in self.columns(frame) if OF_GENES.fullmatch(name.lower())]
        places = {name: name for name in columns} | {"the index of var": None}
        places = {name: place for name, place in places.items() if place != used}
        pairs = (
            zip(self.values(frame, one), self.whole[0], strict=True) for one in places.values()
        )
        texts = {
            (one, gene) for both in pairs for one, gene in both if isinstance(one, str) and one
        }
        return Identifiers(tuple(places), frozenset(texts))

    @cached_property
    def whole(self) -> tuple[tuple[str, ...], Any]:
        """Names of the genes and the levels of all samples, read once for all parts."""
        genes = self.genes()
        return genes, self.levels(self.n_samples(), len(genes))

    def levels(self, n_samples: int, n_genes: int) -> Any:
        """Return the finite levels in use, dense or sparse; (samples, genes)."""
        name = self.options.layer or "X"
        is_layer = self.options.layer is not None and not self.is_raw
        if self.is_raw and not self.has_raw():
            raise self.error(f"has no raw; leave {option_name('layer')} out for X")
        if is_layer and name not in self.layers():
            known = [*self.layers(), *([RAW] if self.has_raw() else [])]
            there_are = f"it has {joined(known)}"
            if not known:
                there_are = f"it has X alone: leave {option_name('layer')} out"
            raise self.error(f"has no layer {quoted(name)}{did_you_mean(name, known)}; {there_are}")
        levels = self.matrix(name, is_layer=is_layer)
        if levels.ndim != 2 or levels.shape[0] != n_samples:
            raise self.error(
                f"{name} has the shape {levels.shape}, but obs has {n_samples} samples"
            )
        if levels.shape[1] != n_genes:
            raise self.error(f"{name} has {levels.shape[1]} columns, but var names {n_genes} genes")
        is_sparse = sparse.issparse(levels)
        if is_sparse:
            levels.check_format(full_check=True)
        n_bad = np.count_nonzero(~np.isfinite(levels.data if is_sparse else levels))
        if n_bad:
            raise self.error(
                f"{name} must hold finite numbers, found {n_bad} that are NaN or infinite: replace "
                "them in the AnnData, or leave out their genes or samples"
            )
        if self.options.layer is None and levels.size and levels.min() < 0:
            self._warn_of_scaled()
        return levels

    def without_x(self) -> DataError:
        """Make the error of data without X."""
        known = joined(self.layers())
        give = option_words({"layer": "NAME"})
        return self.error(f"has no X: give {give}, it has {known or 'no layer either'}")

    def _warn_of_scaled(self) -> None:
        """Warn of values below 0 in X if a layer or raw holds the values before scaling."""
        held = [(name, True) for name in self.layers()]
        held += [(RAW, False)] if self.has_raw() and RAW not in self.layers() else []
        unscaled = []
        for name, is_layer in held:
            values = self.some(name, is_layer=is_layer)
            if values.size and values.min() >= 0:
                is_whole = bool((values == np.rint(values)).all())
                unscaled.append((not is_whole, f"{name} ({'counts' if is_whole else 'levels'})"))
        if unscaled:
            others = joined(name for _, name in sorted(unscaled))
            first = sorted(unscaled)[0][1].partition(" (")[0]
            warn_user(
                f"{self.path}: X holds values below 0, as scaling (sc.pp.scale) makes them, and is "
                f"taken as logarithms; there is also {others}: to use it, give "
                f"{option_words({'layer': first})}"
            )


def is_anndata(data: Any) -> bool:
    """Whether an object is an AnnData."""
    return all(hasattr(data, part) for part in PARTS)


def in_memory(data: Any, options: Options) -> Annotated:
    """Return the parts of an AnnData in memory."""
    options.refuse_except(TAKES, f"{OBJECT}, which says it all itself")
    return _InMemory(data, options)


class _InMemory(Annotated):
    """An AnnData in memory, or one that is backed by its file."""

    def __init__(self, data: Any, options: Options) -> None:
        self._data = data
        super().__init__(OBJECT, options)

    def n_samples(self) -> int:
        return len(self._data.obs)

    def columns(self, frame: str) -> list[str]:
        return [str(name) for name in self._frame(frame).columns]

    def values(self, frame: str, name: str | None) -> list[Any]:
        if name is None:
            return list(self._frame(frame).index)
        column = self._frame(frame)[name]
        values: list[Any] = column.astype(object).where(column.notna(), float("nan")).tolist()
        return values

    def _frame(self, frame: str) -> Any:
        return self._data.raw.var if frame == RAW else getattr(self._data, frame)

    def layers(self) -> list[str]:
        return [str(name) for name in self._data.layers]

    def has_raw(self) -> bool:
        return self._data.raw is not None

    def matrix(self, name: str, *, is_layer: bool) -> Any:
        data = self._data.raw if name == RAW else self._data
        levels = self._data.layers[name] if is_layer else data.X
        if levels is None:
            raise self.without_x()
        if hasattr(levels, "to_memory"):  # of a file
            levels = levels.to_memory()
        if levels.dtype.kind in OTHER_THAN_NUMBERS:
            raise self.error(f"{name} must hold real numbers, found {levels.dtype}")
        if sparse.issparse(levels):
            return sparse.csr_array(levels, dtype=np.float64)
        return np.asarray(levels, dtype=np.float64)

    def some(self, name: str, *, is_layer: bool) -> NDArray[Any]:
        levels = self._data.layers[name] if is_layer else self._data.raw.X
        first = levels[:PEEKED]
        return np.asarray(first.data if sparse.issparse(first) else first)


class _Obs(Grid):
    """The grid of ``obs``: a column is read when it is asked for."""

    def __init__(self, data: Annotated) -> None:
        self.path = data.path
        self.heads = data.columns("obs")
        self._data = data

    def column(self, j: int) -> Sequence[str]:
        """Return a column as text, empty for missing values."""
        values = self._data.values("obs", self.heads[j])
        return texts_of_values(values, [not (v is None or v != v) for v in values])


def roles_of_obs(data: Annotated, part: str | None = None) -> Roles:
    """Return ``obs`` with the roles of its columns."""
    heads = data.columns("obs")
    here = {name.lower() for name in heads}
    ignored = [name for name in expanded(data.options.ignore, heads) if name.lower() in here]
    options = replace(data.options, ignore=ignored, keep=())
    columns = [Column(name, j) for j, name in enumerate(heads)]
    obs = Sheet(_Obs(data), columns, range(1, data.n_samples() + 1))
    kinds = kinds_of(obs, options, part, has_index=False)
    if "time" not in kinds:
        used = [h for h, k in zip(heads, kinds, strict=True) if k not in (IGNORED, PART)]
        _refuse_likely_times(data, obs, used)
    return Roles(obs, kinds, series_places(obs, kinds, options), options)


def _refuse_likely_times(data: Annotated, obs: Sheet, used: Sequence[str]) -> None:
    """Refuse to take samples as at rest if a column is called like a time, or holds times."""
    likely = [name for name in used if CLOCK.fullmatch(name) or "pseudotime" in name.lower()]
    likely = likely or [name for name in used if holds_times(obs.cells(obs.heads.index(name)))]
    if likely:
        rest = {"ignore": (*data.options.ignore, *likely)}
        raise data.error(
            f"obs has no column time, but {joined(likely)} may be one: give "
            f"{option_words({'time_column': likely[0]})}, or {option_words(rest)} to take all "
            "samples as at rest",
            remedies=[*({"time_column": name} for name in likely), {"ignore": tuple(likely)}],
        )


def expression_of(data: Annotated, roles: Roles) -> Expression:
    """Return the expression of those samples that `roles` has, all or a part."""
    row = np.array(roles.sheet.rows, dtype=int) - 1
    if "time" not in roles.kinds:
        return _at_rest(data, row)
    times, unit = _times(roles)
    samples = Samples(roles, times)
    name_of = by_columns(samples)
    place = {name: k for k, name in enumerate(dict.fromkeys(name_of.values()))}
    series = np.array([place[name] for name in name_of.values()])
    is_in, on = ~np.isnan(times), perturbed_in(samples)
    cells = Cells(
        row[is_in], series, times[is_in], np.ones(len(series)), list(place),
        None if on is None else on[is_in],
    )  # fmt: skip
    genes, levels = data.whole
    found = expression_of_cells(data.path, genes, levels, cells, _of_genes(data, genes))
    if found.cells is not None:
        warn_user(
            f"{data.path}: averaged {len(series)} samples to {len(found.times)}, one for each "
            "time of a series"
        )
    return replace(found, notes=(*found.notes, *unit_notes(unit)))


def _at_rest(data: Annotated, row: NDArray[np.int64]) -> Expression:
    names = data.values("obs", None)
    genes, levels = data.whole
    texts = [str(name) for name in names]
    heads = [] if _are_entrez(genes) else genes
    if why := are_genes("", texts, heads) or are_samples(genes, texts, of_obs=True):
        raise data.error(f"obs must hold samples, but seems to name genes, for {why}: give data.T")
    samples = {"sample": [texts[i] for i in row]}
    options = _of_genes(data, genes)
    found = expression_of_levels(data.path, genes, levels[row], samples, options)
    note = "No column of obs is a time, so all samples were taken as at rest."
    return replace(found, notes=(note,))


def _are_entrez(names: Sequence[str]) -> bool:
    """Whether names are numbers that do not rise, as times of samples would."""
    return all(map(is_number, names)) and not rise_like_times([*map(float, names)], 2)


def _times(roles: Roles) -> tuple[NDArray[np.float64], str]:
    """Return the time of each sample, NaN if it has none or is not reached, and the unit."""
    obs, place = roles.sheet, roles.kinds.index("time")
    times, unit = times_in(obs, place, may_be_far=True)
    is_far = np.isinf(times)
    times = np.where(is_far, np.nan, times)
    if n_out := int(np.isnan(times).sum()):
        far = (
            f", {int(is_far.sum())} of them with an infinite one, as pseudotime is where a cell is "
            "not reached"
        )
        warn_user(
            f"{obs.path}: left out {plural(n_out, 'sample')} without a time in {obs.heads[place]}"
            f"{far if is_far.any() else ''}"
        )
    if np.isnan(times).all():
        raise obs.error(
            "must hold finite times, found none; give another column, or "
            f"{option_words({'ignore': obs.heads[place]})} to take all samples as at rest",
            column=place,
            remedies=[{"ignore": (obs.heads[place],)}],
        )
    return times, unit


def _of_genes(data: Annotated, genes: Sequence[str]) -> Options:
    """Return the options for genes: other names to ignore are of columns of ``obs``."""
    heads = data.columns("obs")
    columns = {name.lower() for name in heads}
    names = expanded(data.options.ignore, [*heads, *genes])
    wanted = [name for name in names if name.lower() not in columns]
    if strangers := sorted(set(wanted) - set(genes)):
        known, kind = [*heads, *genes], "neither a column of obs nor a gene"
        raise unknown_name(data.path, kind, strangers[0], "ignore", known)
    return replace(data.options, ignore=wanted)
