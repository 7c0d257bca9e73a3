"""Names and cells in messages: escaped and shortened.

A terminal obeys escape sequences, and characters that reverse the writing direction disguise a
text. Both are escaped in messages, as `repr` does. Files for programs keep the exact text.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any

CELL = 80  # most characters of a cell in a message
LINE = 480  # most characters of a line on standard error
LISTED = 5  # most names of a list in a message
FACTS, WIDTH = 8, 100  # most lines of a printed record, and characters of each
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
    return cut(visible(name))


def plural(number: object, one: str, many: str = "") -> str:
    """Return a number with what it counts, in the singular or the plural.

    Examples
    --------
    >>> plural(1, "task"), plural(2, "task"), plural(0, "class", "classes")
    ('1 task', '2 tasks', '0 classes')
    >>> plural(1, "task is open", "tasks are open")
    '1 task is open'
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def joined(names: Iterable[str], show: Callable[[str], str] = unquoted) -> str:
    """Join the first `LISTED` names and count the others."""
    every = list(names)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(show(name) for name in every[:LISTED]) + more


def summary(record: Any) -> str:
    """Describe a dataclass or a named tuple in a few lines, arrays by their shapes alone.

    It is the ``__repr__`` of public records. Single values stand together, and fields that are
    None are left out.
    """
    names = [f.name for f in fields(record)] if is_dataclass(record) else record._fields
    values = {name: getattr(record, name) for name in names if not name.startswith("_")}
    known = {name: value for name, value in values.items() if value is not None}
    single = {n: v for n, v in known.items() if isinstance(v, bool | int | float | str)}
    facts = ", ".join(f"{name} {_single(value)}" for name, value in single.items())
    head = type(record).__name__ + (f": {facts}" if facts else "")
    lines = textwrap.wrap(head, WIDTH, subsequent_indent="  ")
    others = [name for name in known if name not in single]
    lines += [f"  {name}: {cut(_contents(known[name]))}" for name in others[:FACTS]]
    if more := others[FACTS:]:
        lines.append(f"  and {joined(more)}")
    return "\n".join(lines)


def _single(value: bool | float | str) -> str:
    """Write a single value; numbers with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else quoted(value)


def _contents(value: Any) -> str:
    """Describe a value of many parts in a line, without its parts."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{' x '.join(map(str, value.shape)) or 'one'} {value.dtype}"
    if is_dataclass(value) or hasattr(value, "_fields"):
        return str(value).partition("\n")[0]
    if isinstance(value, tuple | list | frozenset | set | Mapping):
        every = sorted(value) if isinstance(value, frozenset | set) else value
        if all(isinstance(one, str) for one in value):
            return f"{len(value)}: {joined(every)}" if value else "none"
        return f"{len(value)} values"
    return quoted(value)


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


def in_lines(text: str) -> list[str]:
    """Break a text of more than `LINE` characters into lines of whole sentences."""
    lines = [""]
    for sentence in re.split(r"(?<=\.) ", text) if len(text) > LINE else [text]:
        longer = f"{lines[-1]} {sentence}".lstrip()
        if lines[-1] and len(longer) > LINE:
            lines.append(sentence)
        else:
            lines[-1] = longer
    return lines


def json_text(value: Any, indent: int | None = None) -> str:
    """Write JSON with control characters escaped; all names read back exactly."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
