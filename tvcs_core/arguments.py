"""Arguments of public functions: checks that name them, and their names in messages.

Messages write options as keywords of Python, but on the command line as there.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tvcs_core.files.display import quoted, unquoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ON_COMMAND_LINE = ContextVar("on_command_line", default=False)


class Help(NamedTuple):
    """The help of an argument, in the annotation of it: for command lines and for Python.

    Attributes
    ----------
    text
        The argument in words, for messages.
    metavar
        The name of its value on a command line.
    """

    text: str
    metavar: str | None = None


def check_type(name: str, value: object, kind: type, *, or_none: bool = False) -> None:
    """Raise unless `value` is an instance of `kind`.

    Raises
    ------
    TypeError
        ``name must be a Kind, found int``.
    """
    if not (isinstance(value, kind) or (or_none and value is None)):
        nothing = " or None" if or_none else ""
        raise TypeError(f"{name} must be a {kind.__name__}{nothing}, found {type(value).__name__}")


def check_number(
    name: str, value: object, *, whole: bool = False, least: float | None = None
) -> None:
    """Raise unless `value` is a real number (an integer if `whole`) and at least `least`.

    Raises
    ------
    TypeError
        ``name must be a number, found 'star'``.
    ValueError
        ``name must be >= 1, found 0``.
    """
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        kind = "an integer" if whole else "a number"
        raise TypeError(f"{name} must be {kind}, found {describe_value(value)}")
    if least is not None and not cast(float, value) >= least:
        raise ValueError(f"{name} must be >= {least}, found {value}")


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    """Raise unless `value` is one of the words in `known`.

    Raises
    ------
    ValueError
        ``name must be one of a, b, found 'c'``.
    """
    words = list(known)
    if not (isinstance(value, str) and value in words):
        raise ValueError(f"{name} must be one of {', '.join(words)}, found {describe_value(value)}")


def refuse_masked(name: str, values: Any) -> None:
    """Raise if an array has masked values: the numbers under a mask would count."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} must have no masked values, found {np.ma.count_masked(values)}; fill them in "
            "or leave them out"
        )


def refuse_where(name: str, values: NDArray[Any], wrong: NDArray[np.bool_], expected: str) -> None:
    """Raise if a value is wrong.

    Raises
    ------
    ValueError
        ``name must be >= 0, but name[1, 2] is -3``, with the first wrong value.
    """
    if wrong.any():
        import numpy as np

        at = np.unravel_index(int(np.argmax(wrong)), values.shape)
        index = f"[{', '.join(str(int(i)) for i in at)}]" if at else ""
        raise ValueError(f"{name} must be {expected}, but {name}{index} is {values[at]}")


def array_of(
    name: str, value: Any, dtype: type[np.generic] | None = None, *, copy: bool = True
) -> NDArray[Any]:
    """Return `value` as an array of `dtype`; without `copy`, the array itself if it already is one.

    Raises
    ------
    TypeError
        If it does not hold real numbers only, or with booleans others than 0 and 1; without a
        `dtype`, if its rows differ in length.
    ValueError
        If it has masked values.
    """
    import numpy as np

    refuse_masked(name, value)
    try:
        if dtype is None or np.asarray(value).dtype.kind not in "cmM":  # complex, or of time
            found = np.array(value, dtype=dtype, copy=copy or None)
            if dtype is not np.bool_ or np.isin(np.asarray(value), (0, 1)).all():
                return found
    except (TypeError, ValueError, OverflowError):
        pass
    of = "real numbers" if dtype is not np.bool_ else "booleans"
    expected = "an array with rows of one length" if dtype is None else f"an array of {of}"
    raise TypeError(f"{name} must be {expected}, found {describe_value(value)}")


def by_label(name: str, values: Any) -> dict[Any, Any] | None:
    """Return a mapping, or a Series whose index is not 0, 1, ..., as a dict; None for others.

    Raises
    ------
    ValueError
        If a Series has two values of one label.
    """
    if not hasattr(values, "keys") or hasattr(type(values), "columns"):
        return None
    found = dict(values.items())
    if len(found) < len(values):
        twice = next(label for label, n in Counter(values.keys()).items() if n > 1)
        raise ValueError(f"{name} must have one value of each name, found two of {quoted(twice)}")
    is_list = not isinstance(values, Mapping) and list(found) == list(range(len(found)))
    return None if is_list else found


def items_of(name: str, value: Any, kind: str = "names") -> tuple[Any, ...]:
    """Return the items of `value` (names, or items of another `kind`) unchanged.

    Raises
    ------
    TypeError
        If `value` is not iterable, a text, whose items are letters, or a DataFrame, whose items are
        the names of its columns.
    """
    if hasattr(type(value), "columns"):  # of any library
        rows = "its rows (frame.itertuples(index=False))"
        part = rows if kind == "answers" else "one column of it"
        raise TypeError(f"{name} must be a list of {kind}, found a DataFrame; give {part}")
    if not isinstance(value, str | bytes):
        try:
            return tuple(value)
        except TypeError:
            pass
    raise TypeError(f"{name} must be a list of {kind}, found {describe_value(value)}")


def names_of(name: str, value: Iterable[object]) -> tuple[str, ...]:
    """Return the items of `value` as text; see `items_of`."""
    return tuple(str(one) for one in items_of(name, value))


def describe_value(value: object) -> str:
    """Describe a value in one line: a text or number itself, else its type; arrays by shape."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with the shape {value.shape}"
    is_short = value is None or isinstance(value, str | bytes | int | float)
    return quoted(value) if is_short else type(value).__name__


@contextmanager
def on_command_line() -> Iterator[None]:
    """Write options as on the command line while the context lasts."""
    before = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(before)


def is_on_command_line() -> bool:
    """Return whether messages are for a user of the command line."""
    return _ON_COMMAND_LINE.get()


def option_name(name: str) -> str:
    """Write the name of an option, as on the command line or as a keyword."""
    return f"--{name.replace('_', '-')}" if is_on_command_line() else name


def option_words(options: Mapping[str, Any]) -> str:
    """Write options with their values, as on the command line or as keywords.

    Examples
    --------
    >>> option_words({"genes_in_rows": True, "series_column": ("donor", "my dose")})
    "genes_in_rows=True, series_column=['donor', 'my dose']"
    >>> with on_command_line():
    ...     option_words({"genes_in_rows": True, "series_column": ("donor", "my dose")})
    "--genes-in-rows --series-column donor --series-column 'my dose'"
    """
    if not is_on_command_line():
        return ", ".join(f"{name}={_literal(value)}" for name, value in options.items())
    words = []
    for name, value in options.items():
        option = option_name(name)
        for one in value if isinstance(value, tuple | list) else (value,):
            words += [option] if one is True else [option, shlex.quote(unquoted(str(one)))]
    return " ".join(words)


def _literal(value: Any) -> str:
    if isinstance(value, tuple | list):
        return repr(value[0] if len(value) == 1 else list(value))
    return repr(value)
