"""The combiner: two stages of trees and what they were made of, in one file of plain arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.features import Table
from grn_tvcs.combine.relations import SECOND_STAGE, relations
from grn_tvcs.combine.trees import Trees, evaluate
from tvcs_core import DataError

FORMAT = 3  # of the file; another one is refused
IMPOSSIBLE = -30.0  # log-odds of a pair that may not be an edge
ROWS = 64  # inputs at a time, so that features of many genes fit into memory

Array = NDArray[np.float64]


class Stages(NamedTuple):
    """What one set of networks taught.

    Attributes
    ----------
    first
        Trees that know the features of one pair.
    second
        Trees that know those of `relations` after them.
    """

    first: Trees
    second: Trees


@dataclass(frozen=True)
class Combiner:
    """What a combiner is made of.

    Attributes
    ----------
    names
        Features of the first stages, in the order in which their trees know them.
    stages
        What one or several sets of networks taught; the mean of what they say counts.
    """

    names: tuple[str, ...]
    stages: tuple[Stages, ...]

    def logits(self, table: Table, inputs: NDArray[np.int64]) -> Array:
        """Log-odds of every pair, [input, gene]; `IMPOSSIBLE` where it may not be an edge."""
        said = []
        for stages in self.stages:
            first = stage_logits(stages.first, table, self.names)
            related = relations(first, table, inputs)
            said.append(stage_logits(stages.second, related, self.names + SECOND_STAGE))
        return np.asarray(np.mean(said, axis=0))


def stage_logits(stage: Trees, table: Table, names: tuple[str, ...]) -> Array:
    """What one stage says of every pair."""
    out = np.full(table.allowed.shape, IMPOSSIBLE)
    for start in range(0, len(out), ROWS):
        rows = slice(start, start + ROWS)
        block = out[rows]
        block[table.allowed[rows]] = evaluate(stage, table.rows(names, rows))
    return out


def save(combiner: Combiner, path: Path, **more: NDArray[Any]) -> None:
    """Write a combiner and more arrays; the same bytes for the same ones."""
    arrays: dict[str, NDArray[Any]] = {"names": np.array(combiner.names)} | more
    for k, stages in enumerate(combiner.stages):
        for stage, trees in stages._asdict().items():
            arrays |= named(trees, f"{k}_{stage}")
    arrays |= {"digest": np.array(digest(arrays)), "format": np.array(FORMAT)}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def load(path: Path) -> tuple[Combiner, dict[str, NDArray[Any]], str]:
    """Read a combiner, the arrays beside it and the hash of all.

    Raises
    ------
    DataError
        If the file is no combiner, of another format, or not as it was written.
    """
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    except Exception as error:  # whatever a damaged archive or header leads to
        raise DataError(f"must be a model of evidence (.npz): {error}", path=path) from None
    known = arrays.pop("format", np.array(0))
    if int(known) != FORMAT:
        raise DataError(f"must be a model of format {FORMAT}, found {int(known)}", path=path)
    stamp = str(arrays.pop("digest", ""))
    if stamp != digest(arrays):
        raise DataError("was changed after it was made: its arrays do not fit its hash", path=path)
    stages: list[Stages] = []
    while f"{len(stages)}_first_base" in arrays:
        both = (trees_among(arrays, f"{len(stages)}_{stage}") for stage in Stages._fields)
        stages.append(Stages(*both))
    names = tuple(str(name) for name in arrays.pop("names"))
    return Combiner(names, tuple(stages)), arrays, stamp


def trees_among(arrays: dict[str, NDArray[Any]], prefix: str) -> Trees:
    """Take trees out of arrays; `named` put them there."""
    return Trees(*(arrays.pop(f"{prefix}_{name}") for name in Trees._fields))


def named(trees: Trees, prefix: str) -> dict[str, NDArray[Any]]:
    """Trees as arrays with names."""
    return {f"{prefix}_{name}": value for name, value in trees._asdict().items()}


def digest(arrays: dict[str, NDArray[Any]]) -> str:
    """SHA-256 of arrays and their names."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        found.update(value.tobytes())
    return found.hexdigest()
