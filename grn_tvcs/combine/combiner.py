"""The combiner: two stages of trees and two of nets, stored as a file of plain arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.features import Table, names_and_directions
from grn_tvcs.combine.nets import Net, evaluate_net
from grn_tvcs.combine.relations import SECOND_STAGE, relations
from grn_tvcs.combine.trees import Trees, evaluate
from tvcs_core import DataError
from tvcs_core.engines import one_blas_thread
from tvcs_core.files.display import joined, quoted

FORMAT = 8  # version of the file and of the evidence it was trained on; others are refused
IMPOSSIBLE = -30.0  # log-odds of pairs that may not be edges
ROWS = 64  # inputs per chunk of features, which bounds the memory

Array = NDArray[np.float64]
Model = TypeVar("Model", Trees, Net)


class Stages(NamedTuple):
    """Two stages trained on one set of networks.

    Attributes
    ----------
    first
        Trees or a net on the features of a single pair.
    second
        Trees or a net that also use the features of `relations`.
    """

    first: Trees | Net
    second: Trees | Net


@dataclass(frozen=True)
class Combiner:
    """Models that combine the sources of evidence.

    Attributes
    ----------
    names
        Features of the first stages, in order.
    stages
        Trees, trained on one or several sets of networks; their log-odds are averaged.
    nets
        Nets, averaged likewise; the two averages have equal weight.
    """

    names: tuple[str, ...]
    stages: tuple[Stages, ...]
    nets: tuple[Stages, ...] = ()

    def logits(self, table: Table, inputs: NDArray[np.int64]) -> Array:
        """Return log-odds, [input, gene]; `IMPOSSIBLE` for pairs that may not be edges."""
        kinds = [kind for kind in (self.stages, self.nets) if kind]
        with one_blas_thread():
            found = [_mean_logits(models, self.names, table, inputs) for models in kinds]
        return np.asarray(np.mean(found, axis=0))


def _mean_logits(
    models: tuple[Stages, ...], names: tuple[str, ...], table: Table, inputs: NDArray[np.int64]
) -> Array:
    logits = []
    for stages in models:
        first = stage_logits(stages.first, table, names)
        related = relations(first, table, inputs)
        logits.append(stage_logits(stages.second, related, names + SECOND_STAGE))
    return np.asarray(np.mean(logits, axis=0))


def stage_logits(stage: Trees | Net, table: Table, names: tuple[str, ...]) -> Array:
    """Return the log-odds of every pair by one stage."""
    out = np.full(table.allowed.shape, IMPOSSIBLE)
    shared = np.array([isinstance(table.columns.get(name, np.nan), float) for name in names])
    for start in range(0, len(out), ROWS):
        rows = slice(start, start + ROWS)
        block = out[rows]
        features = table.rows(names, rows)
        block[table.allowed[rows]] = (
            evaluate_net(stage, features, shared)
            if isinstance(stage, Net)
            else evaluate(stage, features)
        )
    return out


def models_of(name: str, kind: type[Model], arrays: dict[str, NDArray[Any]]) -> list[Model]:
    """Take models out of the arrays of a file, where each is called `NAME NUMBER FIELD`.

    Weights of four bytes are there as float16.
    """
    found: list[Model] = []
    while f"{name} {len(found)} base" in arrays:
        fields = [arrays.pop(f"{name} {len(found)} {field}") for field in kind._fields]
        full: list[Any] = [
            one.astype(np.float32) if one.dtype == np.float16 else one for one in fields
        ]
        found.append(kind(*full))
    return found


def load(path: Path) -> tuple[Combiner, dict[str, NDArray[Any]], str]:
    """Read a combiner, the other arrays of the file and the hash of all arrays.

    Raises
    ------
    DataError
        If the file is no combiner, of another format or other features, or changed since it was
        written.
    """
    arrays, stamp = read_arrays(path)
    names = tuple(str(name) for name in arrays.pop("names"))
    if differing := sorted(set(names) ^ names_and_directions().keys()):
        raise DataError(
            "must be a model of the features that are computed here, but these are in one of the "
            f"two only: {joined(differing)}",
            path=path,
        )
    stages, nets = (
        tuple(map(Stages, models[::2], models[1::2]))
        for models in (models_of("trees", Trees, arrays), models_of("nets", Net, arrays))
    )
    return Combiner(names, stages, nets), arrays, stamp


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    """Read the arrays of a file and check its hash; return both. Raises as `load` does."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    except Exception as error:  # NumPy and zipfile raise many kinds on damaged archives
        raise DataError(f"must be a model of evidence (.npz): {error}", path=path) from None
    known = arrays.pop("format", np.array(0)).tolist()
    if known != FORMAT:
        raise DataError(f"must be a model of format {FORMAT}, found {quoted(known)}", path=path)
    stamp = str(arrays.pop("digest", ""))
    if stamp != digest(arrays):
        raise DataError("was changed after it was written: the hash does not match", path=path)
    return arrays, stamp


def digest(arrays: dict[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of arrays and their names."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        found.update(value.tobytes())
    return found.hexdigest()
