"""An AnnData in memory, or one that is backed by its file."""

from __future__ import annotations

from typing import Any

import numpy as np

from grn_tvcs.expression.formats.annotated import RAW, TAKES, Annotated
from grn_tvcs.expression.options import Options

OBJECT = "the AnnData"
PARTS = ("obs", "var", "X")
OTHER_THAN_NUMBERS = "cmMSU"  # kinds of NumPy: complex, times and texts


def is_anndata(data: Any) -> bool:
    """Whether an object is an AnnData."""
    return all(hasattr(data, part) for part in PARTS)


def in_memory(data: Any, options: Options) -> Annotated:
    """Return the parts of an AnnData in memory."""
    options.refuse_all_but(TAKES, f"{OBJECT}, which says it all itself")
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
        from scipy import sparse

        data = self._data.raw if name == RAW else self._data
        levels = self._data.layers[name] if is_layer else data.X
        if levels is None:
            raise self.error("has no X; give a layer")
        if hasattr(levels, "to_memory"):  # of a file
            levels = levels.to_memory()
        if levels.dtype.kind in OTHER_THAN_NUMBERS:
            raise self.error(f"{name} must hold real numbers, found {levels.dtype}")
        if sparse.issparse(levels):
            return sparse.csr_array(levels, dtype=np.float64)
        return np.asarray(levels, dtype=np.float64)
