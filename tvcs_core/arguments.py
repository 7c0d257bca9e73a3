"""What a function is given, looked at before it is used: errors name the argument."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from tvcs_core.files.shown import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def real_numbers(name: str, given: Any, *, copy: bool = False) -> NDArray[np.float64]:
    """Return `given` as 64-bit floats; with `copy` always in an array of its own.

    Raises
    ------
    TypeError
        If it is no array of real numbers: text, complex numbers, rows of different lengths.

    Examples
    --------
    >>> real_numbers("quality", [[0.9, 0.6], [0.7]])
    Traceback (most recent call last):
        ...
    TypeError: quality must be an array of real numbers, found [[0.9, 0.6], [0.7]]
    """
    import numpy as np

    try:
        array = np.asarray(given)
        if array.dtype.kind != "c":
            return np.array(array, dtype=np.float64, copy=copy or None)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must be an array of real numbers, found {shown(given)}")


def array_of(name: str, given: Any, *, copy: bool = False) -> NDArray[Any]:
    """Return `given` as an array of whatever type; with `copy` always in one of its own.

    Raises
    ------
    TypeError
        If its rows differ in length.
    """
    import numpy as np

    try:
        return np.array(given, copy=copy or None)
    except ValueError:
        raise TypeError(f"the rows of {name} must be of one length, found {shown(given)}") from None


def real_number(name: str, given: Any) -> float:
    """Return one finite number.

    Raises
    ------
    TypeError, ValueError
        If it is none, or is not finite.
    """
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"{name} must be a number, found {shown(given)}")
    if not math.isfinite(given):
        raise ValueError(f"{name} must be finite, found {given}")
    return float(given)


def whole_number(name: str, given: Any, least: int = 0) -> int:
    """Return an integer that is not below `least`.

    Raises
    ------
    TypeError, ValueError
        If it is no integer, or too small.
    """
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise TypeError(f"{name} must be an integer >= {least}, found {shown(given)}")
    if given < least:
        raise ValueError(f"{name} must be >= {least}, found {given}")
    return int(given)


def one_of(name: str, given: Any, known: Iterable[str]) -> str:
    """Return a name that is among the `known` ones.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    names = tuple(known)
    if not isinstance(given, str) or given not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}, found {shown(given)}")
    return given


def instance_of(name: str, given: Any, kind: type) -> None:
    """Refuse what is not of the class `kind`.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not isinstance(given, kind):
        raise TypeError(f"{name} must be of class {kind.__name__}, found {shown(given)}")


def listed_names(name: str, given: Any) -> tuple[Any, ...]:
    """Return the names that `given` holds, whatever they are.

    Raises
    ------
    TypeError
        If it holds none, as a number does, or is a text, whose letters nobody means.
    """
    if not isinstance(given, str | bytes):
        try:
            return tuple(given)
        except TypeError:
            pass
    raise TypeError(f"{name} must be a list of names, found {shown(given)}")
