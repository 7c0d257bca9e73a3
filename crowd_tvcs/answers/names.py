"""Names of tasks, workers and classes, and their integer codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.values import describe_fault, find_label_faults, find_name_fault
from crowd_tvcs.arrays import Integers
from tvcs_core.arguments import array_of, by_label, items_of
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.frames import is_frame


def sort_classes(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort the distinct labels: by value if all are integers, else by name."""
    names = sorted(set(labels))
    if all(name.isascii() and name.isdigit() for name in names):
        names.sort(key=int)
    return tuple(names)


def encode(kind: str, names: Sequence[str], known: Sequence[str]) -> Integers:
    """Return the index in `known` of each of `names`; an unknown name is an error."""
    code_of = {name: k for k, name in enumerate(known)}
    for name in names:
        if name not in code_of:
            what = "class" if kind == "label" else kind
            there = joined(known, quoted)
            raise ValueError(
                f"{kind} {name!r} is unknown; every {kind} must be a {what} of {there}"
            )
    return np.array([code_of[name] for name in names], dtype=np.int64)


def check_names(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple, refusing one that is empty, not text, or repeated.

    For tasks and workers, words that programs write for a missing name are refused too. Class names
    are free.
    """
    out = items_of(kind, names)
    if not out:
        raise ValueError(f"{kind} must hold at least one name, found none")
    check_texts(kind, out)
    faults = map(find_name_fault, out) if kind != "classes" else ()
    for i, fault in enumerate(faults):
        if fault is not None:
            what = describe_fault(fault, out[i], kind.removesuffix("s"), of_answers=False)
            raise ValueError(f"{kind}[{i}] {what}")
    if len(set(out)) < len(out):
        repeated = sorted(name for name, times in Counter(out).items() if times > 1)
        raise ValueError(f"{kind} must differ, found more than once: {joined(repeated, quoted)}")
    return out


def check_texts(kind: str, names: Sequence[object]) -> None:
    """Refuse a name that is empty or not text."""
    for i, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"{kind} must be names, but {kind}[{i}] is {name!r}; turn numbers into text with "
                "str, and leave out rows where the name is missing"
            )


def check_labels(kind: str, labels: Sequence[str]) -> None:
    """Refuse labels that are not text, and words that programs write for a missing one.

    For labels without named classes; see `crowd_tvcs.answers.values`.
    """
    check_texts(kind, labels)
    for label, fault in find_label_faults(dict.fromkeys(labels)).items():
        raise ValueError(f"{kind} {describe_fault(fault, label, 'label', of_answers=False)}")


def check_classes(classes: Sequence[str]) -> None:
    """Refuse fewer than two classes."""
    if len(classes) < 2:
        raise ValueError(f"classes must be at least two, found only {classes[0]!r}")


def check_codes(name: str, codes: ArrayLike, names: tuple[str, ...], size: int) -> Integers:
    """Return a vector of `size` indices into `names`, refusing anything else."""
    out = array_of(name, codes)
    if out.size == 0:
        out = out.astype(np.int64)
    if out.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, found {out.dtype}")
    if out.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), found {out.shape}")
    wrong = (out < 0) | (out >= len(names))
    if wrong.any():
        raise ValueError(
            f"{name} must be in 0 to {len(names) - 1}, found {out[int(np.argmax(wrong))]}"
        )
    out = out.astype(np.int64)
    out.setflags(write=False)
    return out


def in_order(name: str, given: Any, names: Sequence[str]) -> Any:
    """Return values by name, a mapping or a Series, in the order of the names; others unchanged.

    A Series that is only numbered from 0 is a list, unless the numbers are the names.

    Raises
    ------
    ValueError
        If a name has no value or two, or a value belongs to another name.
    TypeError
        If it is a DataFrame.
    """
    if is_frame(given):
        raise TypeError(f"{name} must be one value, a Series or an array, found a DataFrame")
    if not hasattr(given, "keys"):
        return given
    is_list = by_label(name, given) is None
    of_name = {str(label): value for label, value in given.items()}
    if is_list and set(of_name) != set(names):
        return given
    if missing := [one for one in names if one not in of_name]:
        raise ValueError(f"{name} must have a value of {quoted(missing[0])}, found none")
    if others := set(of_name).difference(names):
        raise ValueError(f"{name} has a value of {quoted(min(others))}, which is none of the names")
    return [of_name[one] for one in names]
