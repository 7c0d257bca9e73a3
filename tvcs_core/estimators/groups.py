"""Groups of features by label, and their caps."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvcs_core.constraint import Caps

CapsByLabel = Caps | Mapping[Any, int]


def checked_labels(name: str, labels: ArrayLike | None, n_features: int) -> Any:
    """Return the labels as an array of objects, one per feature."""
    if labels is None:
        return None
    array = np.asarray(labels, dtype=object)
    if array.shape != (n_features,):
        raise ValueError(
            f"{name} must have one label per feature ({n_features}), found shape {array.shape}"
        )
    return array


def of_matrix(name: str, caps: CapsByLabel) -> Caps:
    """Refuse caps by label, which the features and targets of a matrix do not have."""
    if isinstance(caps, Mapping):
        raise TypeError(f"{name} by label go with one target; give a number or an array")
    return caps


def numbered(name: str, labels: Any, caps: CapsByLabel) -> tuple[NDArray[np.int64] | None, Caps]:
    """Number the groups in the order of their labels; -1 for None and NaN."""
    if labels is None:
        if caps is not None:
            raise ValueError(f"{name} were given, but not the groups that they cap")
        return None, None
    named = np.array([label is not None and label == label for label in labels])
    ordered = sorted(set(np.asarray(labels)[named].tolist()))
    number = {label: i for i, label in enumerate(ordered)}
    group_of = np.array([number[x] if n else -1 for x, n in zip(labels, named, strict=True)])
    if isinstance(caps, Mapping):
        unknown = [label for label in caps if label not in number]
        if unknown:
            raise ValueError(f"{name} caps {unknown[0]!r}, which is no label of a feature")
        caps = [caps.get(label, len(labels)) for label in ordered]
    elif caps is not None and not isinstance(caps, Integral):
        caps = np.asarray(caps)
    return group_of, caps
