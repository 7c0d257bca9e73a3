"""Labels that may be slips of the pen: asked about, or pointed out, before they become classes.

A typo in gold makes a class. It is frequent enough to be asked about, and rare enough that nobody
looks for it: all qualities, votes and confidences are of one class more from then on. So does a
tool that writes 1.0 for 1, or yes for Yes. Naming the classes answers the question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from pathlib import Path

from crowd_tvcs.answers.class_shares import odd_classes
from crowd_tvcs.answers.gold import Gold
from crowd_tvcs.answers.names import sort_classes
from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import listed, shown

SHORTEST = 3  # letters, below which one letter is no slip but another name


def ask_about_classes(path: Path, gold: Gold, used: Collection[str]) -> list[str]:
    """Look for labels of the gold that nobody may have meant; what to say of the others.

    Parameters
    ----------
    path
        Where the gold was read, without any classes named.
    used
        Labels that answers have.

    Raises
    ------
    DataError
        If a label stands once in gold, no answer has it, and it is one slip away from one that
        answers have; or if gold and answers have no label in common, and several each.
    """
    for name, line in sorted(gold.once.items(), key=lambda item: item[1]):
        meant = [] if name in used else [other for other in sorted(used) if is_slip(name, other)]
        if meant:
            raise DataError(
                f"class {shown(name)} occurs once in gold and in no answer; did you mean "
                f"{listed(meant, shown)}? If not, keep it by naming all classes with --classes",
                path=path,
                line=line,
            )
    known = set(gold.labels.values())
    if min(len(known), len(used)) > 1 and known.isdisjoint(used):
        here, there = (listed(sort_classes(names), shown) for names in (known, used))
        raise DataError(
            f"no label of gold is one that answers have: here {here}, there {there}; write them "
            "alike, or name all classes with --classes",
            path=path,
        )
    out = [
        f"note: class {shown(name)} occurs once in gold, in {path}:{line}; one task says next to "
        "nothing of a class. If that is a mistake, mend it, or name the labels with --classes"
        for name, line in sorted(gold.once.items(), key=lambda item: item[1])
        if name in used
    ]
    return out + odd_classes(used, gold.labels) + alike(used)


def alike(used: Collection[str]) -> list[str]:
    """Point out labels of answers that differ in case, spaces or decimals alone, once each group.

    Examples
    --------
    >>> len(alike(["yes", "no", "Yes"])), len(alike(["1", "1.0", "2"])), alike(["1", "10", "A+"])
    (1, 1, [])
    """
    groups: dict[str | float, list[str]] = {}
    for name in sort_classes(used):
        groups.setdefault(_meant(name), []).append(name)
    return [
        f"warning: answers have the labels {_and(names)}, which count as "
        f"{'two' if len(names) == 2 else len(names)} classes. If they are one, write them alike; "
        "else name all with --classes"
        for names in groups.values()
        if len(names) > 1
    ]


def _and(names: list[str]) -> str:
    if len(names) > 2:
        return listed(names, shown)
    return " and ".join(shown(name) for name in names)


def _meant(text: str) -> str | float:
    """Return the number that a label is, or its letters without case and spaces."""
    written = re.sub(r"[\s_]+", "", text.casefold())
    try:
        number = float(written)
    except ValueError:
        return written
    return written if math.isnan(number) else number  # which equals nothing


def is_slip(name: str, other: str) -> bool:
    """Whether two names differ by case, spaces, signs, or one letter that slipped.

    One letter more, less, other, or two exchanged. Names that differ in their digits are two names.

    Examples
    --------
    >>> [is_slip("caat", name) for name in ("cat", "coat", "dog")]
    [True, True, False]
    >>> is_slip("Not sure", "not_sure"), is_slip("class 1", "class 2"), is_slip("no", "na")
    (True, False, False)
    """
    a, b = (re.sub(r"[\W_]+", "", text.casefold()) for text in (name, other))
    if a == b:
        return bool(a) and name != other
    digits = [re.sub(r"\D", "", text) for text in (a, b)]
    if min(len(a), len(b)) < SHORTEST or digits[0] != digits[1]:
        return False
    start = next((k for k in range(min(len(a), len(b))) if a[k] != b[k]), min(len(a), len(b)))
    rest, also = a[start:], b[start:]
    return (
        rest[1:] == also
        or rest == also[1:]
        or rest[1:] == also[1:]
        or (rest[:2] == also[:2][::-1] and rest[2:] == also[2:])
    )
