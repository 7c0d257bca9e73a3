"""Names and cells in what people read: no control character acts, no cell fills the screen.

A terminal obeys escape sequences, and marks that turn the direction of writing make a text look
like another one. What people read has them escaped, as `repr` does; what programs read is exact.
"""

from __future__ import annotations

CELL = 80  # characters of a cell in a message
LINE = 480  # characters of a line on standard error


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
