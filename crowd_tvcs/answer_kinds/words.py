"""Words of answers in a cell: a preference between two items, and several labels."""

from __future__ import annotations

from collections.abc import Sequence

from tvcs_core.files.display import joined, quoted

LEFT, RIGHT, TIE = 0, 1, 2
WORDS = ("left", "right", "tie")
SEPARATOR = ";"  # between the labels of a cell
NONE = "none"  # a set without any label


def find_fault_of_pair(left: str, right: str, answer: str) -> str:
    """Return why a comparison is none; empty if it is one."""
    for name in (left, right):
        if name.lower() in WORDS:
            return (
                f"an item must not be called {quoted(name)}, which is an answer; give it another "
                "name"
            )
    if left == right:
        return f"an item is not compared with itself, found {quoted(left)} twice; delete the row"
    if answer.lower() in WORDS or answer in (left, right):
        return ""
    return (
        f"must be left, right, tie, or one of the items {quoted(left)} and {quoted(right)}, found "
        f"{quoted(answer)}"
    )


def code_of(left: str, answer: str) -> int:
    """Return the code of a valid answer: `LEFT`, `RIGHT` or `TIE`."""
    if answer.lower() in WORDS:
        return WORDS.index(answer.lower())
    return LEFT if answer == left else RIGHT


def split_cell(cell: str, separator: str, none: str) -> list[str]:
    """Split a cell at the separator; one at its end, as Microsoft Forms writes it, is none."""
    text = cell.strip().removesuffix(separator)
    return [none] if not text else [name.strip() for name in text.split(separator)]


def find_fault_of_set(
    names: list[str], labels: Sequence[str] | None, separator: str, none: str
) -> str:
    """Return why the labels of a cell are no answer; empty if they are one."""
    if "" in names:
        return f"must have a label on both sides of every {quoted(separator)}"
    if none in names and len(names) > 1:
        return f"{quoted(none)} stands for no label and must stand alone"
    for name in names:
        if labels is not None and name != none and name not in labels:
            return (
                f"must be any of {joined(labels, quoted)}, with {quoted(separator)} between them "
                f"(or {none}), but {quoted(name)} is no label"
            )
    return ""
