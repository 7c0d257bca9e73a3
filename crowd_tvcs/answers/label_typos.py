"""Likely typos of labels: ask about them, or point them out, before they become classes.

A typo in gold makes a class: all qualities, votes and confidences then have one class too many. A
tool that writes 1.0 for 1, or yes for Yes, has the same effect. Naming the classes answers the
question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from crowd_tvcs.answers.class_prevalence import warn_unused_classes
from crowd_tvcs.answers.gold import Gold
from crowd_tvcs.answers.names import sort_classes
from crowd_tvcs.answers.values import (
    AS_TEXT,
    DIGITS,
    MAX_NUMERIC_CLASSES,
    MAY_BE_NAMES,
    SUMMARIES,
    is_date,
    numeric_labels,
    truncated_numbers,
)
from tvcs_core.arguments import option_name
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError

MAX_GROUPS_SHOWN = 3  # in a message
_ADDRESS = re.compile(r"<([^<>\s]+@[^<>\s]+)>\Z")
_WHOLE = re.compile(r"0*(\d+?)(?:\.0*)?")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")  # of pages and editors
# What people choose who have no answer; "unknown" and "none" may be classes.
_ABSTENTION = re.compile(
    r"skip(ped)?|(un|not[\W_]?)sure|(i[\W_])?do(n.?|[\W_]no)t[\W_]know|idk|abstain(ed)?"
    r"|no[\W_](answer|idea)|can(no|.?)t[\W_](tell|say|decide)",
    re.IGNORECASE,
)
_TRUTH = {"true": "1", "false": "0"}
RARE = 20  # of a label that is meant, the least answers for one with a typo: 5 %
MIN_LETTERS = 3  # of a name with a letter more or less, or two exchanged; shorter ones just differ
MIN_REPLACED = 5  # of a name with another letter in place of one: cat and car are two words


def review_labels(
    path: Path, gold: Gold, used: Collection[str], *, has_names: bool = False
) -> list[str]:
    """Refuse labels of gold that are foreign or likely typos; return warnings about the others.

    Parameters
    ----------
    path
        File of the gold.
    used
        Labels of the answers.
    has_names
        Whether the classes are named, so that only foreign labels are refused.

    Raises
    ------
    DataError
        If gold and answers have several labels each and none in common, so that no answer can be
        right; or if a label occurs once in gold, in no answer, and is one typo away from a label
        of answers.
    """
    once = [] if has_names else sorted(gold.seen_once.items(), key=lambda item: item[1])
    classes = option_name("classes")
    for name, line in once:
        meant = (
            [] if name in used else [other for other in sorted(used) if is_likely_typo(name, other)]
        )
        if meant:
            raise DataError(
                f"class {quoted(name)} occurs once in gold and in no answer; did you mean "
                f"{joined(meant, quoted)}? If not, keep it by naming all classes with {classes}",
                path=path,
                line=line,
            )
    known = set(gold.labels.values())
    if min(len(known), len(used)) > 1 and known.isdisjoint(used):
        here, there = (joined(sort_classes(names), quoted) for names in (known, used))
        numbers = [set(numeric_labels(names).values()) for names in (known, used)]
        alike = "" if numbers[0].isdisjoint(numbers[1]) else (
            "; labels are names, so '1' is not '1.0'"
        )  # fmt: skip
        raise DataError(
            f"gold and answers have no label in common: gold has {here}, answers have {there}; "
            f"write the labels alike in both files{alike}",
            path=path,
        )
    out = [
        f"note: class {quoted(name)} occurs once in gold, in {path}:{line}; one task is too few to "
        f"estimate a class. If it is a mistake, correct it, or name the labels with {classes}"
        for name, line in once
        if name in used
    ]
    return out if has_names else out + warn_unused_classes(used, gold.labels)


def warn_of_names(
    labels: Mapping[str, int], tasks: Mapping[str, int], workers: Mapping[str, int]
) -> list[str]:
    """Warn of labels and names that look alike, or like none; by their numbers of answers."""
    return (
        warn_similar_labels(labels)
        + warn_rare_labels(labels)
        + warn_odd_labels(labels)
        + warn_similar_names("task", tasks)
        + warn_similar_names("worker", workers)
    )


def warn_similar_labels(used: Collection[str]) -> list[str]:
    """Warn of labels of answers that differ in case, spaces or decimals alone, once per group.

    A mapping gives the number of answers with each label.

    Examples
    --------
    >>> len(warn_similar_labels(["yes", "no", "Yes"])), len(warn_similar_labels(["1", "1.0", "2"]))
    (1, 1)
    >>> warn_similar_labels(["1", "10", "A+"])
    []
    """
    return [
        f"warning: answers have the labels {_and(names, used)}, which count as "
        f"{'two' if len(names) == 2 else len(names)} classes. If they are one, write them alike; "
        f"else name all with {option_name('classes')}"
        for names in _groups(sort_classes(used), _normalized_label)
    ]


def warn_rare_labels(labels: Mapping[str, int]) -> list[str]:
    """Warn of labels one typo away from one that `RARE` times as many answers have.

    One near several of these is of their series, as grade C is beside grade A and grade B.

    Examples
    --------
    >>> len(warn_rare_labels({"dog": 40, "dgo": 2, "cat": 1}))
    1
    """
    frequent = {name: times for name, times in labels.items() if times >= RARE}
    likely = []
    for name, times in labels.items():
        near = [
            other
            for other in frequent
            if frequent[other] >= RARE * times
            and is_likely_typo(name, other)
            and _normalized_label(name) != _normalized_label(other)
        ]
        if len(near) == 1:
            likely.append([name, *near])
    return [
        f"warning: of the labels {_and(pair, labels)} of answers the first may be a typo of the "
        "second, and counts as a class. If it is one, correct it; else name all labels with "
        f"{option_name('classes')}"
        for pair in likely[:MAX_GROUPS_SHOWN]
    ]


def warn_similar_names(kind: str, names: Collection[str]) -> list[str]:
    """Warn of names of tasks or workers that may be one, and of names that may stand for several.

    Parameters
    ----------
    kind
        ``"task"`` or ``"worker"``.
    names
        The names; a mapping gives the number of answers of each.

    Examples
    --------
    >>> len(warn_similar_names("worker", ["Ann", "ann", "bob"]))
    1
    >>> len(warn_similar_names("task", ["007", "7"]))
    1
    >>> warn_similar_names("task", ["t1", "t11", "t1.0", "a_1", "a1"])
    []
    """
    groups = _groups(sorted(names), _normalized_name)
    out = [
        f"warning: the {kind}s {_and(group, names)} count as {len(group)}, and differ in case, "
        f"blanks or zeros only. If they are one {kind}, write them alike"
        for group in groups[:MAX_GROUPS_SHOWN]
    ]
    if len(groups) > MAX_GROUPS_SHOWN:
        out.append(f"warning: so do {len(groups) - MAX_GROUPS_SHOWN} more groups of {kind}s")
    if cut := truncated_numbers(names):
        out.append(
            f"warning: the {kind}s {joined(cut, quoted)} have only zeros after the {DIGITS}th "
            f"digit, as a spreadsheet leaves them, so that different {kind}s may share a name; "
            f"{AS_TEXT}"
        )
    if dates := [name for name in names if is_date(name)]:
        out.append(
            f"warning: the {kind}s {joined(dates, quoted)} are dates; if a spreadsheet made them "
            f"of names such as 2-3 or MAR2, {AS_TEXT}"
        )
    if summaries := [name for name in names if name.casefold() in SUMMARIES]:
        out.append(
            f"warning: {_and(summaries, names)} is taken for the name of a {kind}; if the row sums "
            "up others, delete it"
        )
    if missing := [name for name in names if name in MAY_BE_NAMES]:
        out.append(
            f"warning: {_and(missing, names)} is taken for the name of a {kind}, though R and "
            "others write it where there is none; if so, leave the rows out or write the name"
        )
    return out


def warn_odd_labels(used: Collection[str]) -> list[str]:
    """Warn of labels that may be dates, abstentions, ratings or free text.

    Parameters
    ----------
    used
        The labels; a mapping gives the number of answers with each.

    Examples
    --------
    >>> len(warn_odd_labels(["2-Mar", "no"])), len(warn_odd_labels([str(k) for k in range(50)]))
    (1, 1)
    """
    out = []
    if dates := [name for name in used if is_date(name)]:
        out.append(
            f"warning: the labels {joined(dates, quoted)} are dates; if a spreadsheet made them of "
            f"labels such as 2-3 or MAR2, {AS_TEXT}"
        )
    if abstentions := _abstentions(used):
        count = "counts as a class" if len(abstentions) == 1 else "count as classes"
        out.append(
            f"warning: {_and(abstentions, used)} {count} that a task may have; if there is no "
            f"answer, empty these cells and give {option_name('leave_out_missing')}; else name all "
            f"labels with {option_name('classes')}"
        )
    if len(used) <= MAX_NUMERIC_CLASSES:
        return out
    answers = sum(used.values()) if isinstance(used, Mapping) else 0
    if len(numeric_labels(used)) == len(used):
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


def _abstentions(used: Collection[str]) -> list[str]:
    """Return the labels that may mean that there is no answer, such as -1 beside 0 and 1."""
    found = [name for name in used if _ABSTENTION.fullmatch(name)]
    others = [name for name in used if name not in ("-1", *found)]
    if "-1" in used and len(others) > 1 and all(_WHOLE.fullmatch(name) for name in others):
        found.append("-1")
    return found


def _groups(names: Iterable[str], key: Callable[[str], Hashable]) -> list[list[str]]:
    """Return the groups of two or more names with the same key."""
    keys = {name: key(name) for name in names}
    often = {one for one, times in Counter(keys.values()).items() if times > 1}
    found: dict[Hashable, list[str]] = {}
    for name, one in keys.items() if often else ():
        if one in often:
            found.setdefault(one, []).append(name)
    return list(found.values())


def _and(names: Sequence[str], times: Collection[str]) -> str:
    """Join names, with the number of answers of each if it is known."""
    every = [
        quoted(name) + (f" ({times[name]})" if isinstance(times, Mapping) else "") for name in names
    ]
    return joined(every, str) if len(every) > 2 else " and ".join(every)


def _normalized_name(text: str) -> str:
    """Return a name as it is seen, without case and repeated blanks; of an integer its digits.

    Of an address with a name, ``Ann <ann@x.org>``, the address.
    """
    text = _INVISIBLE.sub("", text) or text
    if text.endswith(">") and (address := _ADDRESS.search(text)):
        text = address[1]
    if text[0].isdigit() and (whole := _WHOLE.fullmatch(text)):
        return whole[1]
    return " ".join(text.casefold().split()) if " " in text or "\xa0" in text else text.casefold()


def _normalized_label(text: str) -> str | float:
    """Return the number that a label is, or its letters as they are seen, without case.

    True and false are 1 and 0, as programs write them.
    """
    written = re.sub(r"[\s_]+", "", _INVISIBLE.sub("", text).casefold())
    try:
        number = float(_TRUTH.get(written, written.removesuffix("%")))
    except ValueError:
        return written
    if math.isnan(number):  # which equals nothing
        return written
    return number / 100.0 if written.endswith("%") else number


def is_likely_typo(name: str, other: str) -> bool:
    """Return whether two names differ by case, spaces, punctuation, or one typo.

    A typo is one letter more or less, or two exchanged, or in a name of `MIN_REPLACED` letters or
    more a different one. Names with different digits are different names.

    Examples
    --------
    >>> [is_likely_typo("caat", name) for name in ("cat", "coat", "dog")]
    [True, False, False]
    >>> is_likely_typo("Not sure", "not_sure"), is_likely_typo("class 1", "class 2")
    (True, False)
    >>> is_likely_typo("no", "na")
    False
    """
    a, b = (re.sub(r"[\W_]+", "", text.casefold()) for text in (name, other))
    if a == b:
        return bool(a) and name != other
    digits = [re.sub(r"\D", "", text) for text in (a, b)]
    if min(len(a), len(b)) < MIN_LETTERS or digits[0] != digits[1]:
        return False
    start = next((k for k in range(min(len(a), len(b))) if a[k] != b[k]), min(len(a), len(b)))
    rest, also = a[start:], b[start:]
    return (
        rest[1:] == also
        or rest == also[1:]
        or (rest[1:] == also[1:] and len(a) >= MIN_REPLACED)
        or (rest[:2] == also[:2][::-1] and rest[2:] == also[2:])
    )
