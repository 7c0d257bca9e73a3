"""Pairs of a worker and a task that are answered more than once: refused, or one answer kept.

Which is kept is the operator's to say: the first, the last, or the one the worker gave most often
(of answers that tie, the first of them). First and last are those of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.coded import first_repeat
from crowd_tvcs.answers.judged import Judged
from crowd_tvcs.answers.values import AS_TEXT, DIGITS, cut_numbers
from tvcs_core.files.shown import shown
from tvcs_core.files.tables import Table

KEEPS = ("first", "last", "majority")
EXAMPLES = 3


@dataclass(frozen=True)
class Kept:
    """The answers that are kept.

    Attributes
    ----------
    rows
        Their places, ascending.
    said
        What was found and done, for people; empty if no pair is answered twice.
    """

    rows: NDArray[np.intp]
    said: str = ""


def require_keep(keep: str | None) -> None:
    """Refuse a rule that is none of `KEEPS`; None for refusing repeats."""
    if keep is not None and keep not in KEEPS:
        raise ValueError(f"keep must be {', '.join(KEEPS[:-1])} or {KEEPS[-1]}, found {keep!r}")


def remedy(pairs: int, *names: tuple[Collection[str], str]) -> str:
    """Say what to do about so many pairs that are answered more than once.

    Parameters
    ----------
    pairs
        How many there are.
    names
        All workers, and the one of the pair; and all tasks likewise. Where a spreadsheet cut its
        digits different ones share it, and taking one answer would throw away another's.
    """
    for known, name in names:
        if name in cut_numbers(known):
            return (
                f"{shown(name)} has lost the digits after the {DIGITS}th, as a spreadsheet cuts "
                f"them, so different ones share it; {AS_TEXT}"
            )
    many = f"so are {pairs} pairs in all" if pairs > 1 else "no other pair is"
    return f"{many}; --keep first, last or majority (keep= in Python) takes one answer of each"


def keep_one(keys: NDArray[np.int64], labels: ArrayLike, keep: str) -> NDArray[np.intp]:
    """Choose one row of every key; the places of the rows that are kept, ascending.

    Parameters
    ----------
    keys
        Of every row which pair it answers.
    labels
        Of every row what it says.
    keep
        One of `KEEPS`.

    Examples
    --------
    >>> keep_one(np.array([7, 7, 8, 7]), ["a", "b", "a", "b"], "majority").tolist()
    [1, 2]
    """
    require_keep(keep)
    if keys.size == 0:
        return np.empty(0, dtype=np.intp)
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0])
    ends = np.r_[begins[1:], keys.size]
    out = order[begins] if keep != "last" else order[ends - 1]
    if keep == "majority":
        words = np.asarray(labels)
        for k in np.flatnonzero(ends - begins > 1).tolist():
            rows = order[begins[k] : ends[k]].tolist()
            out[k] = rows[most_frequent([words[row] for row in rows])]
    return np.sort(out)


def most_frequent(labels: Sequence[Hashable]) -> int:
    """Place of the first of the labels that occur most often."""
    times = Counter(labels)
    return max(range(len(labels)), key=lambda k: (times[labels[k]], -k))


def one_per_pair(table: Table, judged: Judged, keep: str | None = None) -> Kept:
    """Keep one answer of every pair of a table, by the rule `keep`; None refuses repeats.

    Rows that do not count are not kept.

    Raises
    ------
    DataError
        Naming the first pair that is answered twice, with both lines, how many more there are, and
        the remedy.
    """
    require_keep(keep)
    task, worker = judged.names
    keys = task.codes.astype(np.int64) * len(worker.names) + worker.codes
    keys = np.where(judged.counts, keys, -1 - np.arange(keys.size))  # no two that do not count
    twice = first_repeat(keys)
    if twice is None:
        return Kept(np.flatnonzero(judged.counts))
    pairs, times = np.unique(keys, return_counts=True)
    repeated = pairs[times > 1]
    if keep is None:
        row, before = twice
        names = worker.names[worker.codes[row]], task.names[task.codes[row]]
        raise table.error(
            f"every pair must be answered once, but worker {shown(names[0])} answered task "
            f"{shown(names[1])} in line {table.lines[before + 1]} already; "
            f"{remedy(repeated.size, (worker.names, names[0]), (task.names, names[1]))}",
            row + 1,
        )
    of_repeated = np.flatnonzero(np.isin(keys, repeated))
    rows = keep_one(keys, judged.label.codes, keep)
    rows = rows[judged.counts[rows]]
    first = [of_repeated[keys[of_repeated] == key].tolist() for key in _first_keys(keys, repeated)]
    told = "; ".join(
        f"{shown(worker.names[worker.codes[at[0]]])} on {shown(task.names[task.codes[at[0]]])}, "
        f"lines {', '.join(str(table.lines[row + 1]) for row in at[:5])}"
        for at in first
    )
    return Kept(rows, told_of(repeated.size, of_repeated.size, keep, told))


def told_of(pairs: int, answers: int, keep: str, examples: str) -> str:
    """Say how many pairs were answered more than once, and what was done."""
    return (
        f"{pairs} pair{'s' if pairs > 1 else ''} answered more than once, {answers} answers: kept "
        f"the {keep} of each ({examples}{'; ...' if pairs > EXAMPLES else ''})"
    )


def _first_keys(keys: NDArray[np.int64], repeated: NDArray[np.int64]) -> list[int]:
    """The repeated keys whose first row comes first."""
    found: dict[int, None] = {}
    for key in keys[np.isin(keys, repeated)].tolist():
        found[key] = None
        if len(found) == EXAMPLES:
            break
    return list(found)
