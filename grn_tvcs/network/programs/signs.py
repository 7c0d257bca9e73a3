"""Signs of edges as programs and databases write them.

Databases use words (TRRUST: ``Activation``; RegulonDB: ``+-`` for both), programs numbers below and
above 0. A weight gives the sign if its column is known to be signed, or if any weight of the file
is below 0. The importances of trees never are, and give no sign.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvcs_core.files.tables import is_number

WORDS = {
    1: ("+", "activates", "activation", "activator", "activating", "positive", "stimulation"),
    -1: ("-", "represses", "repression", "repressor", "repressing", "negative", "inhibition",
         "inhibits"),
    0: ("?", "", "+-", "-+", "regulates", "unknown", "dual", "undefined",
        "associated-with"),
}  # fmt: skip
SIGN_OF = {word: sign for sign, words in WORDS.items() for word in words}
SHOWN = "+ - ? 1 -1 0, or a word such as Activation or Repression"
NO_EDGE = "0"  # in a list of true edges


def sign_of(cell: str) -> int | None:
    """1 for activation, -1 for repression, 0 for not known; None for any other cell."""
    word = cell.strip().lower()
    if word in SIGN_OF:
        return SIGN_OF[word]
    if is_number(word) and word != "nan":
        return (float(word) > 0) - (float(word) < 0)
    return None


def is_word(cell: str) -> bool:
    """Whether a cell is a sign and can be no weight."""
    word = cell.strip().lower()
    return word in SIGN_OF and word != ""


def of_true_edges(cells: Sequence[str]) -> list[int | None]:
    """Signs of the third cells of true edges; None where one is no sign.

    1 is an edge, and an activating one where another is -1. 0, which is no edge, has the sign 0.
    """
    is_signed = any(cell in ("-1", "-1.0") for cell in cells)
    found: list[int | None] = []
    for cell in cells:
        if is_word(cell):
            found.append(sign_of(cell))
        elif cell in ("1", "+1", "1.0", "-1", "-1.0", NO_EDGE):
            found.append(sign_of(cell) if is_signed else 0)
        else:
            found.append(None)
    return found


def as_true_edges(cells: Sequence[str]) -> list[str]:
    """Return weights of a database as signs of true edges: below 0 represses, 0 is no edge."""
    if not all(is_number(cell) for cell in cells):
        return list(cells)
    weights = [float(cell) for cell in cells]
    positive = "+" if min(weights, default=0.0) < 0 else "1"
    return ["0" if w == 0 else "-" if w < 0 else positive for w in weights]
