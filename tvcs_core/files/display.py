"""Names and cells in messages: escaped and shortened.

A terminal obeys escape sequences, and characters that reverse the writing direction disguise a
text. Both are escaped in messages, as `repr` does. Files for programs keep the exact text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

CELL = 80  # most characters of a cell in a message
LINE = 480  # most characters of a line on standard error
LISTED = 5  # most names of a list in a message
_FLAW = re.compile("[\0\ud800-\udfff]")
_QUOTED = re.compile(r"""(?<![^\s(\[=:,])('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?![\w])""")


def visible(text: str) -> str:
    r"""Escape every character that is not printable.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def flaw_of(text: str) -> str:
    """Name a character that some files and databases cannot store; empty if there is none."""
    match = _FLAW.search(text)
    if match is None:
        return ""
    return "a character 0" if match[0] == "\0" else "half of a character"


def quoted(value: object) -> str:
    """Quote a value as `repr` does, shortened to `CELL` characters."""
    if isinstance(value, str) and len(value) > CELL:
        value = value[: CELL + 1]  # enough, since escaping only lengthens it
    return cut(visible(repr(value)))


def cut(text: str, most: int = CELL) -> str:
    """Shorten the middle of a text to at most `most` characters, since both ends inform more."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 3]}...{text[-end:]}"


def unquoted(name: str) -> str:
    """Return a name without quotes, escaped and shortened to `CELL` characters."""
    return cut(visible(name if len(name) <= 2 * CELL else f"{name[:CELL]}{name[-CELL:]}"))


def joined(names: Iterable[str], show: Callable[[str], str] = unquoted) -> str:
    """Join the first `LISTED` names and count the others."""
    every = list(names)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(show(name) for name in every[:LISTED]) + more


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a misspelt one; None if none is similar.

    Case, spaces and punctuation are ignored.
    """
    every = {_bare(other): other for other in reversed(list(known))}
    near = get_close_matches(_bare(name), every, n=1, cutoff=0.6)
    return every[near[0]] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the clause ``; did you mean NAME?``; empty if no known name is similar."""
    near = closest(name, known)
    return "" if near is None else f"; did you mean {quoted(near)}?"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower()[:CELL]) or name


def message(text: str) -> str:
    """Return one escaped line of at most `LINE` characters, quotations cut to `CELL`."""
    line = visible(text)
    if len(line) > CELL:
        line = _QUOTED.sub(lambda match: cut(match[0]), line)
    return cut(line, LINE)


def json_text(value: Any, indent: int | None = None) -> str:
    """Write JSON with control characters escaped; all names read back exactly."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
