"""The combiner: two stages of trees and two of nets, and its file of plain arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.features import Table
from grn_tvcs.combine.nets import Net, evaluate_net
from grn_tvcs.combine.relations import SECOND_STAGE, relations
from grn_tvcs.combine.trees import Trees, evaluate
from tvcs_core import DataError
from tvcs_core.files.shown import shown

FORMAT = 6  # of the file and of the evidence that it was learned from; another one is refused
IMPOSSIBLE = -30.0  # log-odds of a pair that may not be an edge
ROWS = 64  # inputs at a time, so that features of many genes fit into memory

Array = NDArray[np.float64]


class Stages(NamedTuple):
    """What one set of networks taught.

    Attributes
    ----------
    first
        Trees, or a net, that know the features of one pair.
    second
        Those that know those of `relations` after them.
    """

    first: Trees | Net
    second: Trees | Net


@dataclass(frozen=True)
class Combiner:
    """What a combiner is made of.

    Attributes
    ----------
    names
        Features of the first stages, in the order in which they know them.
    stages
        What one or several sets of networks taught trees; the mean of what they say counts.
    nets
        What networks taught nets; the mean of what these say counts as much as that of the trees.
    """

    names: tuple[str, ...]
    stages: tuple[Stages, ...]
    nets: tuple[Stages, ...] = ()

    def logits(self, table: Table, inputs: NDArray[np.int64]) -> Array:
        """Log-odds of every pair, [input, gene]; `IMPOSSIBLE` where it may not be an edge."""
        said = [self._mean_of(some, table, inputs) for some in (self.stages, self.nets) if some]
        return np.asarray(np.mean(said, axis=0))

    def _mean_of(self, some: tuple[Stages, ...], table: Table, inputs: NDArray[np.int64]) -> Array:
        said = []
        for stages in some:
            first = stage_logits(stages.first, table, self.names)
            related = relations(first, table, inputs)
            said.append(stage_logits(stages.second, related, self.names + SECOND_STAGE))
        return np.asarray(np.mean(said, axis=0))


def stage_logits(stage: Trees | Net, table: Table, names: tuple[str, ...]) -> Array:
    """What one stage says of every pair."""
    out = np.full(table.allowed.shape, IMPOSSIBLE)
    for start in range(0, len(out), ROWS):
        rows = slice(start, start + ROWS)
        block = out[rows]
        features = table.rows(names, rows)
        said = (
            evaluate_net(stage, features) if isinstance(stage, Net) else evaluate(stage, features)
        )
        block[table.allowed[rows]] = said
    return out


def save(combiner: Combiner, path: Path, **more: NDArray[Any]) -> None:
    """Write a combiner and more arrays; the same bytes for the same ones."""
    arrays: dict[str, NDArray[Any]] = {"names": np.array(combiner.names)} | more
    for word, some in (("", combiner.stages), ("net_", combiner.nets)):
        for k, stages in enumerate(some):
            for stage, one in stages._asdict().items():
                arrays |= named(one, f"{word}{k}_{stage}")
    write_arrays(path, arrays)


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays with their hash; the same bytes for the same ones."""
    arrays = arrays | {"digest": np.array(digest(arrays)), "format": np.array(FORMAT)}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def load(path: Path) -> tuple[Combiner, dict[str, NDArray[Any]], str]:
    """Read a combiner, the arrays beside it and the hash of all.

    Raises
    ------
    DataError
        If the file is no combiner, of another format, or not as it was written.
    """
    arrays, stamp = read_arrays(path)
    names = tuple(str(name) for name in arrays.pop("names"))
    stages, nets = _stages_among(arrays, "", Trees), _stages_among(arrays, "net_", Net)
    return Combiner(names, stages, nets), arrays, stamp


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    """Read what `write_arrays` wrote, and the hash; it refuses as `load` does."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    except Exception as error:  # whatever a damaged archive or header leads to
        raise DataError(f"must be a model of evidence (.npz): {error}", path=path) from None
    known = arrays.pop("format", np.array(0)).tolist()
    if known != FORMAT:
        raise DataError(f"must be a model of format {FORMAT}, found {shown(known)}", path=path)
    stamp = str(arrays.pop("digest", ""))
    if stamp != digest(arrays):
        raise DataError("was changed after it was made: its arrays do not fit its hash", path=path)
    return arrays, stamp


def _stages_among(
    arrays: dict[str, NDArray[Any]], word: str, kind: type[Trees] | type[Net]
) -> tuple[Stages, ...]:
    """Take all stages of a kind out of arrays."""
    found: list[Stages] = []
    while f"{word}{len(found)}_first_base" in arrays:
        prefix = f"{word}{len(found)}"
        found.append(
            Stages(*(among(arrays, f"{prefix}_{stage}", kind) for stage in Stages._fields))
        )
    return tuple(found)


def among(
    arrays: dict[str, NDArray[Any]], prefix: str, kind: type[Trees] | type[Net] = Trees
) -> Any:
    """Take trees or a net out of arrays; `named` put them there."""
    return kind(*(arrays.pop(f"{prefix}_{name}") for name in kind._fields))


def named(stage: Trees | Net, prefix: str) -> dict[str, NDArray[Any]]:
    """Trees or a net as arrays with names."""
    return {f"{prefix}_{name}": value for name, value in stage._asdict().items()}


def digest(arrays: dict[str, NDArray[Any]]) -> str:
    """SHA-256 of arrays and their names."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        found.update(value.tobytes())
    return found.hexdigest()
