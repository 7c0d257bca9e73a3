"""Names in files that people open in a spreadsheet: no name may act as a formula.

A spreadsheet runs a text cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
return. `shield` puts an apostrophe before such a name and `unshield` takes it off again, so
every name survives the way through a file of ours: ``unshield(shield(name)) == name``. Plain
numbers such as ``-3`` are harmless and stay as they are, like ``007`` and ``NA``.
"""

from __future__ import annotations

import re

_ACTIVE = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def shield(name: str) -> str:
    """Put an apostrophe before a name that a spreadsheet would take for a formula.

    A name that has such apostrophes already gets one more, so that `unshield` can undo it.
    """
    if _ACTIVE.match(name) and not _NUMBER.fullmatch(name):
        return "'" + name
    return name


def unshield(cell: str) -> str:
    """Take off the apostrophe that `shield` put before a name."""
    return cell[1:] if cell.startswith("'") and _ACTIVE.match(cell) else cell
