"""Options of the method of `grn-tvcs infer`: ``--option NAME=VALUE`` and ``--calibrate``."""

from __future__ import annotations

from typing import Any

from grn_tvcs.expression.options import OFF
from grn_tvcs.methods.table import METHODS
from tvcs_core.arguments import check_choice

CALIBRATE = "calibrate"  # a method takes it that has a keyword-only argument of this name


def method_options(method: str, given: list[str], calibrate: str | None) -> dict[str, Any]:
    """Return the options of the method as Python values.

    Parameters
    ----------
    given
        ``NAME=VALUE`` each; values become of the kind of their default.
    calibrate
        Networks to simulate, or ``"off"``; None if not given.
    """
    check_choice("method", method, METHODS)
    networks = None if calibrate is None else _number_of_networks(calibrate)
    defaults = METHODS[method].options
    options: dict[str, Any] = {}
    for text in given:
        name, is_there, value = text.partition("=")
        if not is_there:
            raise ValueError(f"--option must be NAME=VALUE, found {text!r}")
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise ValueError(f"{method} does not take {name!r}; its options: {known}")
        try:
            options[name] = _like(defaults[name], value)
        except ValueError:
            like = defaults[name]
            like = ",".join(map(str, like)) if isinstance(like, tuple) else like
            raise ValueError(f"--option {name} must be like {like}, found {value!r}") from None
    if networks is None:
        return options
    if CALIBRATE not in defaults:
        able = [name for name in METHODS if CALIBRATE in METHODS[name].options]
        those = f"; methods that do: {', '.join(able)}" if able else ""
        raise ValueError(f"{method} does not take --{CALIBRATE}{those}")
    if CALIBRATE in options:
        raise ValueError(f"give --{CALIBRATE} or --option {CALIBRATE}, not both")
    return options | {CALIBRATE: networks}


def _number_of_networks(text: str) -> int:
    if text == OFF:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"--{CALIBRATE} must be an integer >= 0 or {OFF}, found {text!r}")
    return int(text)


def _like(default: Any, text: str) -> Any:
    """Return a text as a value of the kind of a default."""
    if isinstance(default, tuple):
        words = text.split(",")
        return tuple(_like(part, word) for part, word in zip(default, words, strict=True))
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    return text if default is None else type(default)(text)
