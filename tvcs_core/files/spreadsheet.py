"""Protection against formula injection in files that people open in a spreadsheet.

A spreadsheet evaluates a text cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
return. `shield` puts an apostrophe before such a name and `unshield` removes it, so every name
survives a round trip: ``unshield(shield(name)) == name``. Plain numbers such as ``-3`` are harmless
and stay unchanged, like ``007`` and ``NA``.
"""

from __future__ import annotations

import re

_ACTIVE = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def shield(name: str) -> str:
    """Put an apostrophe before a name that a spreadsheet would evaluate as a formula.

    A name that already starts with such apostrophes gets another one, so that `unshield` is exact.
    """
    if _ACTIVE.match(name) and not _NUMBER.fullmatch(name):
        return "'" + name
    return name


def unshield(cell: str) -> str:
    """Remove the apostrophe that `shield` put before a name."""
    return cell[1:] if cell.startswith("'") and _ACTIVE.match(cell) else cell
