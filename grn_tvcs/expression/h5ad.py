"""Expression in AnnData's ``.h5ad``: levels in ``X``, times in ``obs``, genes in ``var``.

Read with h5py alone, by AnnData's specification of its files. Samples of a series at the same time,
such as the cells of one day, are averaged: a series has one level per gene and time.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.expression import Expression, repeated
from grn_tvcs.expression.reading import SERIES
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.command.extras import to_install
from tvcs_core.files.input_size import refuse_more
from tvcs_core.files.shown import listed


def read_h5ad(
    path: str | Path, *, time_column: str | None = None, series_column: str | None = None
) -> Expression:
    """Read an ``.h5ad`` file; needs h5py.

    Samples without a time (NaN) are left out, with a warning. Samples of a series at the same time
    are averaged, with a warning. A column ``perturbed`` of ``obs`` is used if it is there.

    Parameters
    ----------
    path
        The file.
    time_column
        The column of ``obs`` with the time; ``time`` by default, any case.
    series_column
        The column that names the series; by default ``series``, ``condition`` and ``replicate``,
        all that there are of them together, and one series if there is none.

    Raises
    ------
    DataError
        If h5py is not installed, the file is not of this kind, a column is missing or holds what
        it must not, a level is not finite, or as for `Expression`.
    """
    try:
        import h5py
    except ImportError:
        raise DataError(
            f"needs h5py to be read, and it is not installed; give: {to_install('anndata')}",
            path=path,
        ) from None
    Path(path).open("rb").close()  # so that a missing file is an OSError like any other
    try:
        with h5py.File(path, "r") as file:
            _refuse_large(file, path)
            return _expression(_Frames(file, str(path)), time_column, series_column)
    except (DataError, MemoryError):
        raise
    except ValueError as error:
        raise DataError(str(error), path=path) from None
    except Exception as error:  # h5py raises what it meets: OSError, KeyError, RuntimeError, ...
        raise DataError(f"is no HDF5 file of AnnData, or damaged ({error})", path=path) from None


def _refuse_large(file: Any, path: str | Path) -> None:
    """Refuse more than the limit before a byte of it is read: a data set may claim any shape."""
    sizes: list[float] = []

    def add(_: str, part: Any) -> None:
        if hasattr(part, "dtype"):
            sizes.append(math.prod(part.shape or (1,)) * max(part.dtype.itemsize, 8.0))

    file.visititems(add)
    refuse_more(path, sum(sizes), "arrays of more")


def _expression(file: _Frames, time_column: str | None, series_column: str | None) -> Expression:
    times = file.times(time_column)
    series = file.series(series_column, times.size)
    on = file.perturbed()
    is_in = ~np.isnan(times)
    if not is_in.all():
        warn_user(f"{file.path}: left out {int((~is_in).sum())} samples without a time")
    place = {name: k for k, name in enumerate(dict.fromkeys(series[is_in].tolist()))}
    number = np.array([place.get(name, -1) for name in series.tolist()])
    keys = np.stack([number[is_in].astype(np.float64), times[is_in]], axis=1)
    points, point = np.unique(keys, axis=0, return_inverse=True)
    point = point.reshape(-1)
    if len(points) < is_in.sum():
        warn_user(
            f"{file.path}: averaged {int(is_in.sum())} samples to {len(points)}, one for each "
            "time of a series"
        )
    size = np.bincount(point, minlength=len(points))
    mean = sparse.csr_array((1.0 / size[point], (point, np.flatnonzero(is_in))),
                            shape=(len(points), times.size))  # fmt: skip
    genes = file.genes()
    levels = mean @ file.levels(times.size, len(genes))
    values = levels.toarray() if sparse.issparse(levels) else np.asarray(levels)
    names = list(place)
    return Expression(
        values,
        points[:, 1],
        tuple(names[int(k)] for k in points[:, 0]),
        genes,
        None if on is None else _of_points(on[is_in], point, file),
        notes=said_of_cells(int(is_in.sum()), len(points)),
        cells=None if (size == 1).all() else size.astype(np.float64),
    )


def said_of_cells(n_cells: int, n_points: int) -> tuple[str, ...]:
    """Describe how cells at the same time of a series were averaged, if any were."""
    if n_points == n_cells:
        return ()
    return (f"{n_cells} cells were averaged to {n_points} samples, one for each time of a series.",)


def _of_points(on: NDArray[np.bool_], point: NDArray[np.int64], file: _Frames) -> Any:
    share = np.bincount(point, weights=on) / np.bincount(point)
    if not np.isin(share, (0.0, 1.0)).all():
        raise file.error("samples of one time and series must agree in it", "perturbed")
    flags = share == 1.0
    if flags.all() or not flags.any():
        warn_user(f"{file.path}: the column perturbed never changes and is not used")
        return None
    return flags


class _Frames:
    """The parts of an open file, as arrays."""

    def __init__(self, file: Any, path: str) -> None:
        self._file = file
        self.path = path
        for part in ("X", "obs", "var"):
            if part not in file:
                raise self.error(f"must hold {part} as AnnData writes it, found {list(file)}")
        for part in ("obs", "var"):
            if "_index" not in file[part].attrs:
                raise self.error(f"{part} must be a data frame of AnnData 0.7 or later")

    def error(self, what: str, column: str | None = None) -> DataError:
        return DataError(what, path=self.path, column=column)

    def genes(self) -> tuple[str, ...]:
        """Index of ``var``."""
        names = [str(name) for name in self._index("var")]
        if twice := repeated(names):
            raise self.error(f"gene names must be different, found twice: {listed(twice)}")
        return tuple(names)

    def levels(self, n_samples: int, n_genes: int) -> Any:
        """``X``, dense or sparse, finite; (samples, genes)."""
        part = self._file["X"]
        kind = part.attrs.get("encoding-type", "array")
        if kind in ("csr_matrix", "csc_matrix"):
            make = sparse.csr_array if kind == "csr_matrix" else sparse.csc_array
            data = np.asarray(part["data"], dtype=np.float64)
            where = np.asarray(part["indices"]), np.asarray(part["indptr"])
            levels: Any = make((data, *where), shape=tuple(part.attrs["shape"]))
        elif kind == "array" and hasattr(part, "dtype"):
            levels = data = np.asarray(part, dtype=np.float64)
        else:
            raise self.error(f"X must be an array, csr_matrix or csc_matrix, found {kind}")
        if levels.ndim != 2 or levels.shape[0] != n_samples:
            raise self.error(f"X has the shape {levels.shape}, but obs has {n_samples} samples")
        if levels.shape[1] != n_genes:
            raise self.error(f"X has {levels.shape[1]} columns, but var names {n_genes} genes")
        if sparse.issparse(levels):
            levels.check_format(full_check=True)
        if not np.isfinite(data).all():
            raise self.error("X must hold finite numbers, found NaN or infinity")
        return levels

    def times(self, column: str | None) -> NDArray[np.float64]:
        """The column of times; NaN where a sample has none."""
        name = self._named("time", "--time-column") if column is None else column
        values = self._column(name)
        try:
            times = np.array(values, dtype=np.float64)
        except ValueError:
            bad = next(v for v in values if not _is_time(v))
            raise self.error(f"must be a number, found {bad!r}", name) from None
        if np.isinf(times).any() or np.isnan(times).all():
            raise self.error("must hold finite times", name)
        return times

    def series(self, column: str | None, n_samples: int) -> NDArray[Any]:
        """The name of each sample's series."""
        lower = {name.lower(): name for name in self._columns()}
        names = [lower[kind] for kind in SERIES if kind in lower] if column is None else [column]
        if not names:
            return np.full(n_samples, "1", dtype=object)
        labels = [[str(value) for value in self._column(name)] for name in names]
        return np.array(["/".join(row) for row in zip(*labels, strict=True)], dtype=object)

    def perturbed(self) -> NDArray[np.bool_] | None:
        """The column ``perturbed``, if there is one."""
        name = next((name for name in self._columns() if name.lower() == "perturbed"), None)
        if name is None:
            return None
        values = [str(value).lower() for value in self._column(name)]
        if bad := set(values) - {"0", "1", "true", "false"}:
            raise self.error(f"must be 0 or 1, found {min(bad)!r}", name)
        return np.array([value in ("1", "true") for value in values])

    def _named(self, kind: str, option: str) -> str:
        for name in self._columns():
            if name.lower() == kind:
                return name
        raise self.error(
            f"obs must have a column {kind}, or give {option}; it has {listed(self._columns())}"
        )

    def _columns(self) -> list[str]:
        return [_text(name) for name in self._file["obs"].attrs.get("column-order", [])]

    def _index(self, part: str) -> list[Any]:
        frame = self._file[part]
        return _values(frame[_text(frame.attrs["_index"])])

    def _column(self, name: str) -> list[Any]:
        if name not in self._columns():
            raise self.error(f"obs has no column {name!r}; it has {listed(self._columns())}")
        return _values(self._file["obs"][name])


def _values(part: Any) -> list[Any]:
    """A column as Python values: plain, categorical or nullable; NaN where nothing is."""
    if hasattr(part, "dtype"):
        return [_text(value) if isinstance(value, bytes) else value for value in part[()].tolist()]
    if "codes" in part:
        labels = [*_values(part["categories"]), float("nan")]
        return [labels[code] for code in part["codes"][()].tolist()]
    values, is_gap = _values(part["values"]), part["mask"][()].tolist()
    return [float("nan") if gap else v for v, gap in zip(values, is_gap, strict=True)]


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _is_time(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
