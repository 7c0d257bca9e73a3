"""Groups of features by label, and their caps."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.arguments import array_of, by_label
from tvcs_core.constraint import Caps
from tvcs_core.files.frames import is_missing

CapsByLabel = Caps | Mapping[Any, int | None]


def checked_labels(name: str, labels: Any, n_features: int, features: Any) -> Any:
    """Return the labels as an array of objects, one per feature; by name, if they have names."""
    if labels is None:
        return None
    of_feature = by_label(name, labels)
    if of_feature is not None and features is not None:
        missing = [feature for feature in features if feature not in of_feature]
        if missing:
            raise ValueError(f"{name} must have a label of the feature {missing[0]!r}, found none")
        labels = [of_feature[feature] for feature in features]
    elif of_feature is not None and isinstance(labels, Mapping):
        raise ValueError(
            f"{name} by the names of features need X with names, such as a DataFrame; "
            "give a list of labels"
        )
    array = np.asarray(labels, dtype=object)
    if array.shape != (n_features,):
        raise ValueError(
            f"{name} must have one label per feature ({n_features}), found shape {array.shape}"
        )
    return array


def of_matrix(name: str, caps: Any) -> Caps:
    """Refuse caps by label, which the features and targets of a matrix do not have."""
    if by_label(name, caps) is not None:
        raise TypeError(f"{name} by label go with one target; give a number or an array")
    return caps


def numbered(name: str, labels: Any, caps: Any) -> tuple[NDArray[np.int64] | None, Caps]:
    """Number the groups in the order of their labels; -1 for None, NaN and the integer -1."""
    if labels is None:
        if caps is not None:
            raise ValueError(f"{name} were given, but not the groups that they cap")
        return None, None
    has_group = np.array([not _is_no_group(label) for label in labels])
    found = set(np.asarray(labels)[has_group].tolist())
    try:
        ordered = sorted(found)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in found})
        raise ValueError(
            f"labels of groups must be of one kind, found {' and '.join(kinds)}"
        ) from error
    number = {label: i for i, label in enumerate(ordered)}
    group_of = np.array([number[x] if n else -1 for x, n in zip(labels, has_group, strict=True)])
    if (of_label := by_label(name, caps)) is not None:
        unknown = [label for label in of_label if label not in number]
        if unknown:
            raise ValueError(f"{name} caps {unknown[0]!r}, which is no label of a feature")
        found_caps = (of_label.get(label) for label in ordered)
        caps = [len(labels) if is_missing(cap) else cap for cap in found_caps]
    elif caps is not None and not isinstance(caps, Integral):
        caps = array_of(name, caps, copy=False)
        if caps.ndim == 1 and caps.size != len(ordered):
            raise ValueError(
                f"{name} must have one cap per group ({len(ordered)}), found {caps.size}"
            )
    return group_of, caps


def _is_no_group(label: Any) -> bool:
    return is_missing(label) or (isinstance(label, Integral) and label == -1)
