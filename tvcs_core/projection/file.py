"""Files of projections: one `.npz` with V, the constraint, the support and the prices."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tvcs_core.arguments import describe_value
from tvcs_core.constraint import TVCS
from tvcs_core.files.errors import DataError
from tvcs_core.files.input_size import refuse_large_npz
from tvcs_core.projection.entries import Entries, enter
from tvcs_core.projection.exact import PricedSupport

FORMAT = "tvcs-projection-1"
# Kinds of NumPy dtypes that the arrays may have; other arrays may have any.
WHOLE = (
    "shape", "row_caps", "col_caps", "total", "row_of", "col_of", "row", "col", "support_row",
    "support_col",
)  # fmt: skip
REAL = ("values", "row_duals", "col_duals", "total_dual", "lower", "upper")
KINDS = dict.fromkeys(WHOLE, "iu") | dict.fromkeys(REAL, "fiu") | {"allowed": "b"}

T = TypeVar("T")


def save(
    path: str | Path,
    constraint: TVCS,
    values: Any,
    support: Any,
    duals: tuple[NDArray[np.float64], NDArray[np.float64], float],
) -> None:
    """Write a projection: V, where it is kept, and the prices of rows, columns and the total."""
    arrays: dict[str, Any] = {}
    if sparse.issparse(values):
        V, kept = values.tocoo(), support.tocoo()
        arrays |= {"row": V.coords[0], "col": V.coords[1], "values": V.data}
        arrays |= {"support_row": kept.coords[0], "support_col": kept.coords[1]}
    else:
        arrays |= {"values": values, "support": support}
    arrays |= {
        "row_duals": duals[0],
        "col_duals": duals[1],
        "total_dual": np.array(duals[2]),
    }
    for name in ("row_of", "col_of", "allowed"):
        if getattr(constraint, name) is not None:
            arrays[name] = getattr(constraint, name)
    if constraint.bounds is not None:
        arrays["lower"], arrays["upper"] = constraint.bounds
    write_saved(path, FORMAT, constraint, arrays)


def write_saved(path: str | Path, form: str, constraint: TVCS, arrays: dict[str, Any]) -> None:
    """Write an `.npz` file with the format, the shape, the caps and `arrays`."""
    with Path(path).open("wb") as file:
        np.savez_compressed(
            file,
            format=np.array(form),
            shape=np.array(constraint.shape),
            row_caps=constraint.row_caps,
            col_caps=constraint.col_caps,
            total=np.array(constraint.total),
            **arrays,
        )


def load(path: str | Path, make: Callable[[Entries, TVCS, PricedSupport], T]) -> T:
    """Read what `save` wrote and return what `make` makes of it.

    Raises
    ------
    DataError
        If the file is damaged or is something else, or `make` refuses what it holds.
    """
    wrong = "not a saved projection"
    return read_saved(path, FORMAT, wrong, lambda arrays: make(*_assembled(arrays)))


def read_saved(path: str | Path, form: str, otherwise: str, assemble: Callable[[Any], T]) -> T:
    """Read an `.npz` file whose array `format` equals `form`, and return ``assemble(arrays)``.

    Raises
    ------
    DataError
        If the file is damaged, or of another format; the message is `otherwise`.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be that of a file, found {describe_value(path)}")
    with Path(path).open("rb") as raw:
        try:
            refuse_large_npz(raw, path)
            with np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if (found := format_of(arrays["format"])) != form:
                raise ValueError(f"its format is {found}, not {form}")
            _refuse_other_kinds(arrays)
            return assemble(arrays)
        except (DataError, MemoryError):
            raise
        except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"is not a whole .npz file ({error})", path=path) from None
        except Exception as error:  # NumPy parses headers with Python's tokenizer
            raise DataError(f"is {otherwise} ({error})", path=path) from None


def format_of(found: NDArray[Any]) -> str:
    """Return the text of the array `format`, with invalid characters replaced.

    NumPy returns invalid characters unchanged, and printing them raises an error.
    """
    if found.dtype.kind != "U" or found.shape != ():
        return f"an array of {found.dtype}"
    text = found.astype(found.dtype.newbyteorder("<")).tobytes()
    return text.decode("utf-32-le", "replace").rstrip("\0")


def _refuse_other_kinds(arrays: dict[str, Any]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind not in KINDS.get(name, array.dtype.kind):
            raise ValueError(f"its {name} must not be of type {array.dtype}")
    if arrays["total"].shape != ():
        raise ValueError(f"its total must be one number, found shape {arrays['total'].shape}")


def _assembled(arrays: dict[str, Any]) -> tuple[Entries, TVCS, PricedSupport]:
    constraint = _constraint(arrays)
    if "row" in arrays:
        shape = constraint.shape
        at = (arrays["row"], arrays["col"])
        entries = enter(sparse.coo_array((arrays["values"], at), shape=shape), constraint)
        support = np.ravel_multi_index((arrays["support_row"], arrays["support_col"]), shape)
        assert entries.indices is not None
        if not np.isin(support, entries.indices).all():
            raise ValueError("its support does not fit its values")
        mask = np.isin(entries.indices, support)
    else:
        entries = enter(arrays["values"], constraint)
        mask = arrays["support"]
        if mask.dtype != np.bool_ or mask.shape != constraint.shape:
            raise ValueError("its support does not fit its values")
        mask = mask.reshape(entries.gains.shape)
    solved = PricedSupport(
        mask,
        np.ldexp(_duals(arrays, "row_duals", constraint.row_caps.shape), -entries.unit),
        np.ldexp(_duals(arrays, "col_duals", constraint.col_caps.shape), -entries.unit),
        math.ldexp(float(_duals(arrays, "total_dual", ())), -entries.unit),
        {},
    )
    return entries, constraint, solved


def _constraint(arrays: dict[str, Any]) -> TVCS:
    rest = {
        "allowed": arrays.get("allowed"),
        "bounds": (arrays["lower"], arrays["upper"]) if "lower" in arrays else None,
    }
    if "row_of" not in arrays:
        return matrix_of(arrays, **rest)
    caps = {name: arrays[name] for name in ("row_caps", "col_caps")}
    total = int(arrays["total"])
    return TVCS.groups(arrays["row_of"], arrays["col_of"], **caps, total=total, **rest)


def matrix_of(arrays: dict[str, Any], **rest: Any) -> TVCS:
    """Return the constraint of a matrix with the shape and the caps of `arrays`.

    Raises
    ------
    ValueError
        If the shape is not that of the caps: a damaged one could need any memory.
    """
    shape = tuple(arrays["shape"].tolist())
    caps = {name: arrays[name] for name in ("row_caps", "col_caps")}
    if shape != tuple(size for of in caps.values() for size in of.shape):
        sizes = " and ".join(str(of.shape) for of in caps.values())
        raise ValueError(f"its shape {shape} is not that of its caps, {sizes}")
    return TVCS.matrix(shape, **caps, total=int(arrays["total"]), **rest)


def _duals(arrays: dict[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    duals = np.asarray(arrays[name], dtype=np.float64)
    if duals.shape != shape or not (duals >= 0).all():
        raise ValueError(f"its {name} must be numbers >= 0 of shape {shape}")
    return duals
