"""Names and cells in what people read: no control character acts, no cell fills the screen.

A terminal obeys escape sequences, and marks that turn the direction of writing make a text look
like another one. What people read has them escaped, as `repr` does; what programs read is exact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

CELL = 80  # characters of a cell in a message
LINE = 480  # characters of a line on standard error
LISTED = 5  # names of a list
_FLAW = re.compile("[\0\ud800-\udfff]")
_QUOTED = re.compile(r"""(?<![^\s(\[=:,])('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?![\w])""")


def visible(text: str) -> str:
    r"""Escape every character that is not printed as itself.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def flaw_of(text: str) -> str:
    """Name what of a text not every file and database keeps; '' without such."""
    found = _FLAW.search(text)
    if found is None:
        return ""
    return "a character 0" if found[0] == "\0" else "half of a character"


def shown(value: object) -> str:
    """Quote a value as `repr` does, cut at `CELL` characters."""
    if isinstance(value, str) and len(value) > CELL:
        value = value[: CELL + 1]  # escaping only makes it longer
    return cut(visible(repr(value)))


def cut(text: str, most: int = CELL) -> str:
    """Shorten a text in its middle, where it is longer than `most`: both of its ends say more."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 3]}...{text[-end:]}"


def plain(name: str) -> str:
    """Show a name without quotes: escaped, and cut at `CELL` characters."""
    return cut(visible(name if len(name) <= 2 * CELL else f"{name[:CELL]}{name[-CELL:]}"))


def listed(names: Iterable[str], show: Callable[[str], str] = plain) -> str:
    """Show the first names, without quotes or by `shown`, and say how many more there are."""
    every = list(names)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(show(name) for name in every[:LISTED]) + more


def closest(name: str, known: Iterable[str]) -> str | None:
    """Find the name among those that there are that is nearest to a wrong one, if any is near.

    Capitals, spaces and marks between words do not count.
    """
    every = {_bare(other): other for other in reversed(list(known))}
    near = get_close_matches(_bare(name), every, n=1, cutoff=0.6)
    return every[near[0]] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Ask for the nearest name, as a clause; empty where none is near."""
    near = closest(name, known)
    return "" if near is None else f"; did you mean {shown(near)}?"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower()[:CELL]) or name


def message(text: str) -> str:
    """Make one line of a message: escaped, what it quotes cut at `CELL`, the whole at `LINE`."""
    line = visible(text)
    if len(line) > CELL:
        line = _QUOTED.sub(lambda found: cut(found[0]), line)
    return cut(line, LINE)


def json_text(value: Any, indent: int | None = None) -> str:
    """Write JSON whose names read back exactly and in which no control character stands."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
