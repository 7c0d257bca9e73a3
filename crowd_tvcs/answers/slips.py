"""Labels that may be slips of the pen: asked about, or pointed out, before they become classes.

A typo in gold makes a class. It is frequent enough to be asked about, and rare enough that nobody
looks for it: all qualities, votes and confidences are of one class more from then on. So does a
tool that writes 1.0 for 1, or yes for Yes. Naming the classes answers the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from crowd_tvcs.answers.class_shares import odd_classes
from crowd_tvcs.answers.gold import Gold
from crowd_tvcs.answers.names import sort_classes
from crowd_tvcs.answers.values import (
    AS_TEXT,
    DIGITS,
    MAY_BE_NAMES,
    MOST_NUMBERS,
    cut_numbers,
    is_date,
    numbers_in,
)
from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import listed, shown

MOST_GROUPS = 3  # that are shown one by one
_WHOLE = re.compile(r"0*(\d+?)(?:\.0*)?")
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
    return out + odd_classes(used, gold.labels) + alike(used) + odd_labels(used)


def alike(used: Collection[str]) -> list[str]:
    """Point out labels of answers that differ in case, spaces or decimals alone, once each group.

    A mapping says of every label how many answers have it.

    Examples
    --------
    >>> len(alike(["yes", "no", "Yes"])), len(alike(["1", "1.0", "2"])), alike(["1", "10", "A+"])
    (1, 1, [])
    """
    return [
        f"warning: answers have the labels {_and(names, used)}, which count as "
        f"{'two' if len(names) == 2 else len(names)} classes. If they are one, write them alike; "
        "else name all with --classes"
        for names in _groups(sort_classes(used), _meant)
    ]


def alike_names(kind: str, names: Collection[str]) -> list[str]:
    """Point out names of tasks or workers that may be those of one, and those that may be of many.

    Parameters
    ----------
    kind
        ``"task"`` or ``"worker"``.
    names
        The names; a mapping says how many answers each has.

    Examples
    --------
    >>> len(alike_names("worker", ["Ann", "ann", "bob"])), len(alike_names("task", ["007", "7"]))
    (1, 1)
    >>> alike_names("task", ["t1", "t11", "t1.0", "a_1", "a1"])
    []
    """
    groups = _groups(sorted(names), _same_name)
    out = [
        f"warning: the {kind}s {_and(group, names)} count as {len(group)}, and differ in case, "
        f"blanks or zeros only. If they are one {kind}, write them alike"
        for group in groups[:MOST_GROUPS]
    ]
    if len(groups) > MOST_GROUPS:
        out.append(f"warning: so do {len(groups) - MOST_GROUPS} more groups of {kind}s")
    if cut := cut_numbers(names):
        out.append(
            f"warning: the {kind}s {listed(cut, shown)} have only zeros after the {DIGITS}th "
            f"digit, as a spreadsheet leaves them, so that different {kind}s may share a name; "
            f"{AS_TEXT}"
        )
    if dates := [name for name in names if is_date(name)]:
        out.append(
            f"warning: the {kind}s {listed(dates, shown)} are dates; if a spreadsheet made them of "
            f"names such as 2-3 or MAR2, {AS_TEXT}"
        )
    if missing := [name for name in names if name in MAY_BE_NAMES]:
        out.append(
            f"warning: {_and(missing, names)} is taken for the name of a {kind}, though R and "
            "others write it where there is none; if so, leave the rows out or write the name"
        )
    return out


def odd_labels(used: Collection[str]) -> list[str]:
    """Point out labels that may be dates, ratings or free text.

    Parameters
    ----------
    used
        The labels; a mapping says how many answers each has.

    Examples
    --------
    >>> len(odd_labels(["2-Mar", "no"])), len(odd_labels([str(k) for k in range(50)]))
    (1, 1)
    """
    out = []
    if dates := [name for name in used if is_date(name)]:
        out.append(
            f"warning: the labels {listed(dates, shown)} are dates; if a spreadsheet made them of "
            f"labels such as 2-3 or MAR2, {AS_TEXT}"
        )
    if len(used) <= MOST_NUMBERS:
        return out
    answers = sum(used.values()) if isinstance(used, Mapping) else 0
    if len(numbers_in(used)) == len(used):
        out.append(
            f"warning: answers have {len(used)} different labels, all numbers, and each counts as "
            "a class of its own; if they are a rating or a measurement, round them to few classes"
        )
    elif answers and 2 * len(used) > answers:
        out.append(
            f"warning: {answers} answers have {len(used)} different labels, and each counts as a "
            "class of its own; of texts or names no vote can be taken"
        )
    return out


def _groups(names: Iterable[str], key: Callable[[str], Hashable]) -> list[list[str]]:
    """Return the groups of names that have the same key, of two names or more."""
    keys = {name: key(name) for name in names}
    often = {one for one, times in Counter(keys.values()).items() if times > 1}
    found: dict[Hashable, list[str]] = {}
    for name, one in keys.items() if often else ():
        if one in often:
            found.setdefault(one, []).append(name)
    return list(found.values())


def _and(names: Sequence[str], times: Collection[str]) -> str:
    """Join names, with how many answers each has where that is known."""
    every = [
        shown(name) + (f" ({times[name]})" if isinstance(times, Mapping) else "") for name in names
    ]
    return listed(every, str) if len(every) > 2 else " and ".join(every)


def _same_name(text: str) -> str:
    """Return a name without case and doubled blanks; of a whole number its digits alone."""
    if text[0].isdigit() and (whole := _WHOLE.fullmatch(text)):
        return whole[1]
    return " ".join(text.casefold().split()) if " " in text or "\xa0" in text else text.casefold()


def _meant(text: str) -> str | float:
    """Return the number that a label is, or its letters without case and spaces."""
    written = re.sub(r"[\s_]+", "", text.casefold())
    try:
        number = float(written.removesuffix("%"))
    except ValueError:
        return written
    if math.isnan(number):  # which equals nothing
        return written
    return number / 100.0 if written.endswith("%") else number


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
