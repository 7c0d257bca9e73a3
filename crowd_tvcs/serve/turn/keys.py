"""Keys of classes: the digit that a name begins with, so that 1 never answers 0; or a letter."""

from __future__ import annotations

import re
from collections.abc import Sequence

DIGITS = "1234567890"
"""Digits in the order of a keyboard."""
LETTERS = "ABDEFGHIJKLMNOPQRTVWXY"
"""Letters that stand for nothing else: not C, S, U or Z."""

_NUMBER = re.compile(r"\d+", re.ASCII)


def keys_of(classes: Sequence[str]) -> list[str]:
    """Return the digit or letter that answers each class, or ``""`` if none is left.

    A class that alone begins with a one-digit number has that digit: ``0`` and ``1``, but also ``1
    star``. Others have the digit of their position, else the first free one, else the next letter.
    None has a digit that another class begins with.
    """
    numbers = [_number(name) for name in classes]
    keys = [digit if numbers.count(digit) == 1 else "" for digit in numbers]
    free = [digit for digit in DIGITS if digit not in numbers]
    for place, key in enumerate(keys):
        if not key and place < len(DIGITS) and DIGITS[place] in free:
            keys[place] = DIGITS[place]
            free.remove(DIGITS[place])
    free += LETTERS
    for place, key in enumerate(keys):
        if not key and free:
            keys[place] = free.pop(0)
    return keys


def _number(name: str) -> str:
    """Return the number below 10 that a name begins with, or ``""``."""
    found = _NUMBER.match(name)
    value = "" if found is None else found[0].lstrip("0") or "0"
    return value if len(value) == 1 else ""
