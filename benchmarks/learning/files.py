"""Write what was trained to the files that `grn_tvcs.combine` reads; equal models, equal bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.calibration import Calibration
from grn_tvcs.combine.coexpression import Coexpression
from grn_tvcs.combine.combiner import FORMAT, Combiner, digest
from grn_tvcs.combine.domain_check import TraitDistribution
from grn_tvcs.combine.nets import Net
from grn_tvcs.combine.pretrained import TRAIT_FIELDS, WORDS
from grn_tvcs.combine.trees import Trees

# Fields of four bytes that a file holds as float16.
WEIGHTS = ("first", "first_base", "second", "second_base", "last", "base")  # of nets
HALVES = ("value", *WEIGHTS)

Array = NDArray[np.float64]


def write_pretrained(
    path: Path,
    combiner: Combiner,
    trait_distributions: dict[str, TraitDistribution],
    growth: Array,
    nulls: Trees,
    common: dict[str, Calibration],
    made: dict[str, Any] | None = None,
) -> None:
    """Write a model, as in `PretrainedModels`; equal models give equal bytes."""
    looks = {
        f"likeness_{word}_{name}": getattr(trait_distributions[start], name)
        for start, word in WORDS.items()
        for name in TRAIT_FIELDS
    }
    save(
        combiner,
        path,
        growth=growth,
        **arrays_of("nulls", [nulls]),
        made=np.array(json.dumps(made or {}, sort_keys=True)),
        common_keys=np.array(list(common), dtype=str),
        common_numbers=np.array([astuple(one) for one in common.values()]),
        **looks,
    )


def write_coexpression(path: Path, learned: Coexpression, made: Any) -> None:
    """Write a distribution and `made`, a text on its origin; equal arguments give equal bytes."""
    arrays = {"means": learned.means, "spreads": learned.spreads, "limits": learned.limits}
    write_arrays(path, arrays | {"made": np.array(made)})


def save(combiner: Combiner, path: Path, **more: NDArray[Any]) -> None:
    """Write a combiner and further arrays; equal contents give equal bytes."""
    arrays: dict[str, NDArray[Any]] = {"names": np.array(combiner.names)} | more
    for name, kind in (("trees", combiner.stages), ("nets", combiner.nets)):
        arrays |= arrays_of(name, [model for stages in kind for model in stages])
    write_arrays(path, arrays)


def arrays_of(name: str, models: Sequence[Trees | Net]) -> dict[str, NDArray[Any]]:
    """Return the arrays of models for a file, each as `NAME NUMBER FIELD`."""
    return {
        f"{name} {k} {field}": (
            value.astype(np.float16) if field in HALVES and value.dtype == np.float32 else value
        )
        for k, model in enumerate(models)
        for field, value in model._asdict().items()
    }


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays with their hash; equal arrays give equal bytes."""
    arrays = arrays | {"digest": np.array(digest(arrays)), "format": np.array(FORMAT)}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
