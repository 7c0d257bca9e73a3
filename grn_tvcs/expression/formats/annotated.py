"""Annotated levels as AnnData keeps them, in a file or in memory.

Times are in ``obs``, genes in ``var``. Samples of a series at the same time, such as the cells of
one day, are averaged: a series has one level per gene and time. Without a time all are at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

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


class Frame(NamedTuple):
    """A frame of facts: ``obs``, ``var``, or that of ``raw``.

    Attributes
    ----------
    columns
        Names of its columns.
    n_rows
        Number of its rows.
    values
        Returns the values of a column, NaN for missing ones; those of the index for None.
    """

    columns: list[str]
    n_rows: int
    values: Callable[[str | None], list[Any]]


class Matrix(NamedTuple):
    """A matrix of samples x genes.

    Attributes
    ----------
    read
        Returns it as an array or a sparse one; None if the data have none.
    some
        Returns some values, those of its first samples, without reading it all.
    """

    read: Callable[[], Any]
    some: Callable[[], NDArray[Any]]


@dataclass(frozen=True)
class Annotated:
    """Annotated levels, wherever they are.

    Attributes
    ----------
    path
        Their name in errors.
    options
        The parts to read and the options for ``obs``.
    obs, var
        Facts of the samples, and of the genes.
    x, layers
        ``X``, and the layers by name.
    raw
        Facts of the genes of ``raw``, and its matrix; None if there is none.
    """

    path: str
    options: Options
    obs: Frame
    var: Frame
    x: Matrix
    layers: Mapping[str, Matrix]
    raw: tuple[Frame, Matrix] | None

    def error(self, what: str, column: str | None = None, remedies: Remedies = ()) -> DataError:
        """Make an error that names the data and perhaps a column."""
        return DataError(what, path=self.path, column=column, remedies=remedies)

    @cached_property
    def in_use(self) -> tuple[str, Frame, Matrix]:
        """Name, genes and matrix of the levels that the options name."""
        name = self.options.layer
        if name is None:
            return "X", self.var, self.x
        if name in self.layers:
            return name, self.var, self.layers[name]
        if name == RAW and self.raw is not None:
            return RAW, *self.raw
        if name == RAW:
            raise self.error(f"has no raw; leave {option_name('layer')} out for X")
        known = [*self.layers, *([RAW] if self.raw is not None else [])]
        there_are = f"it has {joined(known)}"
        if not known:
            there_are = f"it has X alone: leave {option_name('layer')} out"
        raise self.error(f"has no layer {quoted(name)}{did_you_mean(name, known)}; {there_are}")

    def genes(self) -> tuple[str, ...]:
        """Return the index of ``var``, or the given column of gene names."""
        column, frame = self.options.gene_column, self.in_use[1]
        known = frame.columns
        if column is not None and column not in known:
            raise self.error(
                f"var has no column {quoted(column)}{did_you_mean(column, known)}; it has "
                f"{joined(known) or 'its index alone'}"
            )
        values = frame.values(column)
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
        frame = self.in_use[1]
        columns = [name for name in frame.columns if OF_GENES.fullmatch(name.lower())]
        places = {name: name for name in columns} | {"the index of var": None}
        used = self.options.gene_column
        places = {name: place for name, place in places.items() if place != used}
        pairs = (zip(frame.values(one), self.whole[0], strict=True) for one in places.values())
        texts = {
            (one, gene) for both in pairs for one, gene in both if isinstance(one, str) and one
        }
        return Identifiers(tuple(places), frozenset(texts))

    @cached_property
    def whole(self) -> tuple[tuple[str, ...], Any]:
        """Names of the genes and the levels of all samples, read once for all parts."""
        genes = self.genes()
        return genes, self.levels(len(genes))

    def levels(self, n_genes: int) -> Any:
        """Return the finite levels in use, dense or sparse; (samples, genes)."""
        name, _, matrix = self.in_use
        levels = matrix.read()
        if levels is None:
            known = joined(self.layers)
            give = option_words({"layer": "NAME"})
            raise self.error(f"has no X: give {give}, it has {known or 'no layer either'}")
        if levels.ndim != 2 or levels.shape[0] != self.obs.n_rows:
            raise self.error(
                f"{name} has the shape {levels.shape}, but obs has {self.obs.n_rows} samples"
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

    def _warn_of_scaled(self) -> None:
        """Warn of values below 0 in X if a layer or raw holds the values before scaling."""
        held = {**({} if self.raw is None else {RAW: self.raw[1]}), **self.layers}
        unscaled = []
        for name, matrix in held.items():
            values = matrix.some()
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
    """Return the parts of an AnnData in memory, or of one that is backed by its file."""
    options.refuse_except(TAKES, f"{OBJECT}, which says it all itself")
    raw = data.raw
    return Annotated(
        OBJECT,
        options,
        _frame(data.obs),
        _frame(data.var),
        _matrix("X", lambda: data.X),
        {str(name): _matrix(str(name), partial(data.layers.get, name)) for name in data.layers},
        None if raw is None else (_frame(raw.var), _matrix(RAW, lambda: raw.X)),
    )


def _frame(frame: Any) -> Frame:
    def values(name: str | None) -> list[Any]:
        if name is None:
            return list(frame.index)
        column = frame[name]
        found: list[Any] = column.astype(object).where(column.notna(), float("nan")).tolist()
        return found

    return Frame([str(name) for name in frame.columns], len(frame), values)


def _matrix(name: str, get: Callable[[], Any]) -> Matrix:
    def read() -> Any:
        levels = get()
        if levels is None:
            return None
        if hasattr(levels, "to_memory"):  # of a file
            levels = levels.to_memory()
        if levels.dtype.kind in OTHER_THAN_NUMBERS:
            raise DataError(f"{name} must hold real numbers, found {levels.dtype}", path=OBJECT)
        if sparse.issparse(levels):
            return sparse.csr_array(levels, dtype=np.float64)
        return np.asarray(levels, dtype=np.float64)

    def some() -> NDArray[Any]:
        first = get()[:PEEKED]
        return np.asarray(first.data if sparse.issparse(first) else first)

    return Matrix(read, some)


class _Obs(Grid):
    """The grid of ``obs``: a column is read when it is asked for."""

    def __init__(self, data: Annotated) -> None:
        self.path = data.path
        self.heads = data.obs.columns
        self._values = data.obs.values

    def column(self, j: int) -> Sequence[str]:
        """Return a column as text, empty for missing values."""
        values = self._values(self.heads[j])
        return texts_of_values(values, [not (v is None or v != v) for v in values])


def roles_of_obs(data: Annotated, part: str | None = None) -> Roles:
    """Return ``obs`` with the roles of its columns."""
    heads = data.obs.columns
    here = {name.lower() for name in heads}
    ignored = [name for name in expanded(data.options.ignore, heads) if name.lower() in here]
    options = replace(data.options, ignore=ignored, keep=())
    columns = [Column(name, j) for j, name in enumerate(heads)]
    obs = Sheet(_Obs(data), columns, range(1, data.obs.n_rows + 1))
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
    names = data.obs.values(None)
    genes, levels = data.whole
    texts = [str(name) for name in names]
    heads = [] if _are_entrez(genes) else genes
    why = are_genes("", texts, heads) or are_samples(genes, texts, of_obs=True)
    remedy = "give data.T"
    if clocks := [name for name in data.var.columns if CLOCK.fullmatch(name)]:
        why = f"var has a column of times ({joined(clocks)})"
        remedy += "; or rename the column, if it is of genes"
    if why:
        raise data.error(f"obs must hold samples, but seems to name genes, for {why}: {remedy}")
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
    heads = data.obs.columns
    columns = {name.lower() for name in heads}
    names = expanded(data.options.ignore, [*heads, *genes])
    wanted = [name for name in names if name.lower() not in columns]
    if strangers := sorted(set(wanted) - set(genes)):
        known, kind = [*heads, *genes], "neither a column of obs nor a gene"
        raise unknown_name(data.path, kind, strangers[0], "ignore", known)
    return replace(data.options, ignore=wanted)
