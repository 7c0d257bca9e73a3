"""Arguments of public functions: what is of another kind is refused by the argument's name."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvcs_core.files.shown import shown


def require_kind(name: str, value: object, kind: type, *, or_none: bool = False) -> None:
    """Refuse what is no object of `kind`.

    Raises
    ------
    TypeError
        ``name must be a Kind, found int``.
    """
    if not (isinstance(value, kind) or (or_none and value is None)):
        nothing = " or None" if or_none else ""
        raise TypeError(f"{name} must be a {kind.__name__}{nothing}, found {type(value).__name__}")


def require_number(name: str, value: object, *, whole: bool = False) -> None:
    """Refuse what is no real number, or with `whole` no integer.

    Raises
    ------
    TypeError
        ``name must be a number, found 'star'``.
    """
    if not isinstance(value, Integral if whole else Real):
        kind = "an integer" if whole else "a number"
        raise TypeError(f"{name} must be {kind}, found {found(value)}")


def require_one_of(name: str, value: object, known: Iterable[str]) -> None:
    """Refuse what is none of the known words.

    Raises
    ------
    ValueError
        ``name must be one of a, b, found 'c'``.
    """
    words = list(known)
    if not (isinstance(value, str) and value in words):
        raise ValueError(f"{name} must be one of {', '.join(words)}, found {found(value)}")


def array_of(name: str, value: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """Copy an array, as one of `dtype`.

    Raises
    ------
    TypeError
        If it holds anything but real numbers.
    """
    try:
        if not np.iscomplexobj(value):
            return np.array(value, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name} must be an array of real numbers, found {found(value)}")


def names_of(name: str, value: Iterable[object]) -> tuple[str, ...]:
    """Several names, as text; those of one letter may be one text.

    Raises
    ------
    TypeError
        If `value` holds no names.
    """
    if isinstance(value, bytes) or not np.iterable(value):
        raise TypeError(f"{name} must be a list of names, found {found(value)}")
    return tuple(str(one) for one in value)


def found(value: object) -> str:
    """Say in one line what was found: a word, a number, else the type, and an array's shape."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with the shape {value.shape}"
    is_short = value is None or isinstance(value, str | bytes | int | float)
    return shown(value) if is_short else type(value).__name__
