"""An AnnData in memory, or one that is backed by its file."""

from __future__ import annotations

from typing import Any

import numpy as np

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.formats.annotated import RAW, TAKES, Annotated, expression_of
from grn_tvcs.expression.options import Options

OBJECT = "the AnnData"
PARTS = ("obs", "var", "X")
OTHER_THAN_NUMBERS = "cmMSU"  # kinds of NumPy: complex, times and texts


def is_anndata(data: Any) -> bool:
    """Whether an object is an AnnData."""
    return all(hasattr(data, part) for part in PARTS)


def read_anndata(data: Any, options: Options) -> Expression:
    """Read an AnnData in memory as its file would be read."""
    options.refuse_all_but(TAKES, f"{OBJECT}, which says it all itself")
    return expression_of(_InMemory(data, options))


class _InMemory(Annotated):
    """An AnnData in memory, or one that is backed by its file."""

    def __init__(self, data: Any, options: Options) -> None:
        self._data = data
        super().__init__(OBJECT, options)

    def n_samples(self) -> int:
        return len(self._data.obs)

    def obs_columns(self) -> list[str]:
        return [str(name) for name in self._data.obs.columns]

    def obs(self, name: str) -> list[Any]:
        return _values(self._data.obs[name])

    def layers(self) -> list[str]:
        return [str(name) for name in self._data.layers]

    def has_raw(self) -> bool:
        return self._data.raw is not None

    def var_columns(self) -> list[str]:
        return [str(name) for name in self._var.columns]

    def var(self, name: str | None) -> list[Any]:
        return list(self._var.index) if name is None else _values(self._var[name])

    @property
    def _var(self) -> Any:
        return self._data.raw.var if self.is_raw and self.has_raw() else self._data.var

    def matrix(self, name: str) -> Any:
        from scipy import sparse

        if name == "X":
            levels = self._data.X
        elif self.is_raw and name == RAW:
            levels = self._data.raw.X
        else:
            levels = self._data.layers[name]
        if levels is None:
            raise self.error("has no X; give a layer")
        if hasattr(levels, "to_memory"):  # of a file
            levels = levels.to_memory()
        if levels.dtype.kind in OTHER_THAN_NUMBERS:
            raise self.error(f"{name} must hold real numbers, found {levels.dtype}")
        if sparse.issparse(levels):
            return sparse.csr_array(levels, dtype=np.float64)
        return np.asarray(levels, dtype=np.float64)


def _values(column: Any) -> list[Any]:
    values: list[Any] = column.astype(object).where(column.notna(), float("nan")).tolist()
    return values
