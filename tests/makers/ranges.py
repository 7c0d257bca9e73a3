"""The range that an error names is the range that is taken: at its ends, and one step beyond."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.every_command import call, command_line, lay_out
from tests.proofs.readers import reader

N = r"(-?[\d.]+(?:e[+-]?\d+)?)"
AT_LEAST = re.compile(rf"(?:>=|greater than or equal to) {N}")
FROM_TO = re.compile(rf"from {N} to {N}|in \[{N}, {N}\]")
BETWEEN = re.compile(rf"above {N}(?: and below {N})?")


def numbers_of(words: list[str]) -> list[tuple[str, type]]:
    """Return the options of a command that are numbers."""
    command: Any = command_line(words[0])
    rest = iter(words[1:])
    while hasattr(command, "commands"):
        command = command.commands[next(rest)]
    options = [of for of in command.params if of.opts[0].startswith("--") and not of.is_flag]
    kinds = [(of.opts[0], of.type_descriptor.annotation) for of in options]
    return [(option, kind) for option, kind in kinds if kind in (int, float)]


def ranges_hold(*names: str, leave_out: str = ""):
    """Make a test of all numbers that small commands take, but options that are left out."""

    @pytest.mark.parametrize("name", names)
    def test(name, tmp_path, monkeypatch, capfd):
        words = lay_out(name, tmp_path, reader(name))[1]
        monkeypatch.chdir(tmp_path)
        tried = [of for of in numbers_of(words) if of[0] not in leave_out.split()]
        assert tried
        found = [
            what
            for option, kind in tried
            for what in complaints(option, kind, refusals(words, option, kind, capfd))
        ]
        assert not found, "\n".join(found)

    return test


def refusals(words: list[str], option: str, kind: type, capture: Any) -> Callable[[float], str]:
    """Return what gives the error of a command for a value of an option, empty where it is none."""

    def refusal(value: float) -> str:
        code, _, err = call([*words, option, str(kind(value))], capture)
        errors = [line for line in err.splitlines() if line.startswith("error: ")]
        assert code in (0, 2), err
        return errors[0] if errors else ""

    return refusal


def complaints(name: str, kind: type, refusal: Callable[[float], str]) -> Iterator[str]:
    """Say where a number is not held to the range that its error names."""
    first = refusal(-1)
    before, must, _ = first.partition(" must be " if " must be " in first else "Input should be")
    if not must:
        yield f"{name} of -1: {first or 'is taken'}"
        return
    for value, is_taken in ((-1, False), *ends(first, kind)):
        message = refusal(value)
        if message.startswith(before + must) is is_taken:
            yield f"{name} of {value}: {message or 'is taken'}; of -1: {first}"
        shown = re.search(rf", found '?{N}'?$", message)
        if not is_taken and shown and float(shown[1]) != kind(value):
            yield f"{name} of {value}: {message}"


def ends(message: str, kind: type) -> Iterator[tuple[float, bool]]:
    """Yield values at the ends of the range that an error names, and whether each is taken."""
    step = 1 if kind is int else 1e-6
    if found := FROM_TO.search(message):
        low, high = (float(x) for x in found.groups() if x is not None)
        yield from ((low, True), (low - step, False), (high, True))
        yield high * (1 + 1e-9) + step, False
    elif found := AT_LEAST.search(message):
        low = float(found[1])
        yield from ((low, True), (low - step, False))
    elif found := BETWEEN.search(message):
        low = float(found[1])
        yield from ((low, False), (low + step, True))
        if found[2]:
            yield from ((float(found[2]), False), (float(found[2]) - step, True))
    else:
        raise AssertionError(f"names no range: {message}")
