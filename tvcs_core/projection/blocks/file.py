"""Files of block projections: an `.npz` with support, caps and prices, without V."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tvcs_core.constraint import TVCS
from tvcs_core.files.errors import DataError
from tvcs_core.files.input_size import refuse_large_npz
from tvcs_core.projection.file import format_of, matrix_of, read_saved, write_saved

FORMAT = "tvcs-block-projection-2"
T = TypeVar("T")
ARRAYS = (
    "rows", "cols", "values", "row_duals", "col_duals", "total_dual", "objective", "gap",
)  # fmt: skip


def save(path: str | Path, constraint: TVCS, found: Mapping[str, Any]) -> None:
    """Write a projection of blocks: its caps and, of `found`, the `ARRAYS`."""
    arrays = {name: np.asarray(found[name]) for name in ARRAYS}
    write_saved(path, FORMAT, constraint, arrays)


def is_saved(path: str | Path) -> bool:
    """Return whether `path` is such a file; False for all others, including damaged ones."""
    try:
        with Path(path).open("rb") as raw:
            refuse_large_npz(raw, path)
            with np.load(raw, allow_pickle=False) as file:
                return format_of(file["format"]) == FORMAT
    except DataError:
        raise
    except Exception:
        return False


def load(path: str | Path, make: Callable[..., T]) -> T:
    """Read what `save` wrote and return what `make` makes of the arrays and the constraint.

    Raises
    ------
    DataError
        If the file is damaged or is something else.
    """
    wrong = "no saved projection of blocks"
    return read_saved(path, FORMAT, wrong, lambda arrays: make(**_assembled(arrays)))


def _assembled(arrays: dict[str, Any]) -> dict[str, Any]:
    constraint = matrix_of(arrays)
    n, m = constraint.shape
    size = arrays["rows"].size
    shapes = {"rows": (size,), "cols": (size,), "values": (size,)}
    shapes |= {"row_duals": (n,), "col_duals": (m,)}
    content: dict[str, Any] = {}
    for name in ARRAYS:
        shape, kind = shapes.get(name, ()), "i" if name in ("rows", "cols") else "f"
        array = arrays[name]
        if array.shape != shape or array.dtype.kind != kind:
            of_kind = "integers" if kind == "i" else "real numbers"
            raise ValueError(
                f"its {name} must be {of_kind} of shape {shape}, found {array.dtype} of shape "
                f"{array.shape}"
            )
        content[name] = (
            array.astype(np.int64 if kind == "i" else np.float64) if shape else float(array)
        )
    return content | {"constraint": constraint}
