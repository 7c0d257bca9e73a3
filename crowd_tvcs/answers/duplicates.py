"""Duplicate answers of a worker to a task: refuse them, or keep one of each pair.

The operator chooses the rule: the first answer, the last, or the label the worker gave most often
(ties go to the first). First and last are in the order of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.checked_rows import CheckedRows
from crowd_tvcs.answers.coded import first_duplicate
from crowd_tvcs.answers.values import AS_TEXT, DIGITS, truncated_numbers
from crowd_tvcs.arrays import Integers
from tvcs_core.arguments import option_name
from tvcs_core.files.display import plural, quoted
from tvcs_core.files.tables import Table

DUPLICATE_RULES = ("first", "last", "majority")
EXAMPLES = 3  # duplicate pairs in a message


@dataclass(frozen=True)
class Deduplicated:
    """Rows of a table without duplicate answers.

    Attributes
    ----------
    rows
        Indices of the rows kept, ascending.
    description
        Clause on the duplicates and their removal, after a semicolon; empty without duplicates.
    """

    rows: NDArray[np.intp]
    description: str = ""


def check_duplicates(duplicates: str | None) -> None:
    """Refuse a rule that is not in `DUPLICATE_RULES`; None stands for refusing duplicates."""
    if duplicates is not None and duplicates not in DUPLICATE_RULES:
        *others, last = DUPLICATE_RULES
        raise ValueError(f"duplicates must be {', '.join(others)} or {last}, found {duplicates!r}")


def remedy(pairs: int, *names: tuple[Collection[str], str]) -> str:
    """Return the remedy for duplicate answers.

    Parameters
    ----------
    pairs
        Number of duplicate pairs.
    names
        All workers, and the one of the pair; and all tasks likewise. If a spreadsheet truncated
        its digits, different ones share the name, and one answer would replace another's.
    """
    for known, name in names:
        if name in truncated_numbers(known):
            return (
                f"{quoted(name)} has lost the digits after the {DIGITS}th, as a spreadsheet cuts "
                f"them, so different ones share it; {AS_TEXT}"
            )
    many = f"{pairs} pairs have duplicates" if pairs > 1 else "it is the only such pair"
    option = option_name("duplicates")
    return f"{many}; {option} first, last or majority keeps one answer of each"


def keep_one(keys: Integers, labels: ArrayLike, duplicates: str) -> NDArray[np.intp]:
    """Choose one row of every key; return the indices of the rows kept, ascending.

    Parameters
    ----------
    keys
        Key of the pair that every row answers.
    labels
        Label of every row.
    duplicates
        One of `DUPLICATE_RULES`.

    Examples
    --------
    >>> keep_one(np.array([7, 7, 8, 7]), ["a", "b", "a", "b"], "majority").tolist()
    [1, 2]
    """
    check_duplicates(duplicates)
    if keys.size == 0:
        return np.empty(0, dtype=np.intp)
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0])
    ends = np.r_[begins[1:], keys.size]
    out = order[begins] if duplicates != "last" else order[ends - 1]
    if duplicates == "majority":
        words = np.asarray(labels)
        for k in np.flatnonzero(ends - begins > 1).tolist():
            rows = order[begins[k] : ends[k]].tolist()
            out[k] = rows[most_frequent([words[row] for row in rows])]
    return np.sort(out)


def most_frequent(labels: Sequence[Hashable]) -> int:
    """Return the index of the first of the most frequent labels."""
    times = Counter(labels)
    return max(range(len(labels)), key=lambda k: (times[labels[k]], -k))


def deduplicate(table: Table, checked: CheckedRows, duplicates: str | None = None) -> Deduplicated:
    """Keep one answer of every pair of a table, by the rule `duplicates`; None refuses duplicates.

    Invalid rows are not kept.
    """
    check_duplicates(duplicates)
    task, worker = checked.names
    keys = task.codes.astype(np.int64) * len(worker.names) + worker.codes
    keys = np.where(checked.counts, keys, -1 - np.arange(keys.size))  # no two that do not count
    twice = first_duplicate(keys)
    if twice is None:
        return Deduplicated(np.flatnonzero(checked.counts))
    pairs, times = np.unique(keys, return_counts=True)
    repeated = pairs[times > 1]
    if duplicates is None:
        row, before = twice
        names = worker.names[worker.codes[row]], task.names[task.codes[row]]
        raise table.error(
            f"every pair must be answered once, but worker {quoted(names[0])} answered task "
            f"{quoted(names[1])} in line {table.lines[before + 1]} already; "
            f"{remedy(repeated.size, (worker.names, names[0]), (task.names, names[1]))}",
            row + 1,
        )
    of_repeated = np.flatnonzero(np.isin(keys, repeated))
    first_keys = list(dict.fromkeys(keys[of_repeated].tolist()))[:EXAMPLES]
    rows = keep_one(keys, checked.label.codes, duplicates)
    rows = rows[checked.counts[rows]]
    first = [of_repeated[keys[of_repeated] == key].tolist() for key in first_keys]
    examples = "; ".join(
        f"{quoted(worker.names[worker.codes[at[0]]])} on {quoted(task.names[task.codes[at[0]]])}, "
        f"lines {', '.join(str(table.lines[row + 1]) for row in at[:5])}"
        for at in first
    )
    description = describe_duplicates(repeated.size, of_repeated.size, duplicates, examples)
    return Deduplicated(rows, f"; {description}")


def describe_duplicates(pairs: int, answers: int, duplicates: str, examples: str) -> str:
    """Describe the number of duplicate pairs, and which answers were kept."""
    return (
        f"{plural(pairs, 'pair')} answered more than once, {answers} answers: kept "
        f"the {duplicates} of each ({examples}{'; ...' if pairs > EXAMPLES else ''})"
    )
