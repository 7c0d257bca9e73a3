"""Rows of a table whose names and labels are judged: refused, or left out and counted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.coded import Coded, code_columns
from crowd_tvcs.answers.values import Fault, described, judge_label, judge_labels, judge_name
from tvcs_core.files.tables import Table

LABEL = "label"


@dataclass(frozen=True)
class Judged:
    """Columns of a table of answers or gold, and which of its rows count.

    Attributes
    ----------
    names
        Of the columns of tasks and workers, in the order that was asked for: names that count.
    label
        Likewise of the labels.
    counts
        Which rows below the header count; the codes of the others mean nothing.
    left_out
        How many rows do not, by the reason.
    """

    names: tuple[Coded, ...]
    label: Coded
    counts: NDArray[np.bool_]
    left_out: Mapping[str, int]

    @property
    def described(self) -> str:
        """Describe what was left out, for people; empty if nothing was."""
        out = ", ".join(f"{times} {why}" for why, times in self.left_out.items())
        return out and f"; left out: {out}"


def judge_rows(
    table: Table,
    named: Mapping[str, int],
    label: int,
    classes: Sequence[str] | None = None,
    *,
    leave_out_missing: bool = False,
    leave_out_empty: bool = False,
) -> Judged:
    """Read columns of names and one of labels, and judge what stands in them.

    Parameters
    ----------
    table
        The table.
    named
        Columns of tasks and workers, by what they name.
    label
        Column of the labels.
    classes
        Labels there may be; each is a label, whatever it looks like. None for any.
    leave_out_missing
        Whether to leave rows without a label, task or worker out; else they are refused.
    leave_out_empty
        Whether to leave rows out whose label is an empty cell.

    Raises
    ------
    DataError
        Naming line and column of the first value that is no name or no label, and what to do.
    """
    *coded, labels = code_columns(table, [*named.values(), label], judged=False)
    counts = np.ones(labels.codes.size, dtype=bool)
    left_out: dict[str, int] = {}
    columns = zip([*named, LABEL], [*named.values(), label], [*coded, labels], strict=True)
    for kind, column, one in columns:
        faults = _faults(kind, one.names, classes)
        missing = {k for k, fault in faults.items() if fault.is_missing and leave_out_missing}
        if leave_out_empty and kind == LABEL:
            missing |= {k for k in faults if not one.names[k]}
        _refuse(table, column, kind, one, {k: f for k, f in faults.items() if k not in missing})
        is_missing = counts & np.isin(one.codes, list(missing))
        if is_missing.any():
            left_out[f"without a {kind}"] = int(np.count_nonzero(is_missing))
            counts &= ~is_missing
    if left_out and not counts.any():
        raise table.error("must have a row with a label, found none: all are left out as missing")
    used = np.bincount(labels.codes[counts], minlength=len(labels.names)) > 0
    names = tuple(
        _only(one, [judge_name(name) is None for name in one.names]) if left_out else one
        for one in coded
    )
    return Judged(names, _only(labels, used) if left_out else labels, counts, left_out)


def _refuse(
    table: Table, column: int, kind: str, coded: Coded, faults: Mapping[int, Fault]
) -> None:
    """Refuse the first row that has one of the values."""
    is_wrong = np.isin(coded.codes, list(faults))
    if is_wrong.any():
        r = int(np.argmax(is_wrong))
        k = int(coded.codes[r])
        times = int(np.count_nonzero(coded.codes == k))
        what = described(faults[k], coded.names[k], kind, times=times, of_answers=True)
        raise table.error(what, r + 1, column)


def _only(coded: Coded, stays: Sequence[bool] | NDArray[np.bool_]) -> Coded:
    """Keep some of the names; rows with another get the code of the first."""
    kept = np.asarray(stays, dtype=bool)
    place = np.where(kept, np.cumsum(kept) - 1, 0).astype(np.int32)
    names = [name for name, is_kept in zip(coded.names, kept, strict=True) if is_kept]
    return Coded(names, place[coded.codes])


def _faults(kind: str, names: Sequence[str], classes: Collection[str] | None) -> dict[int, Fault]:
    """Return what is wrong with each name, by its place."""
    if kind != LABEL:
        found = {name: judge_name(name) for name in names}
    elif classes is None:
        found = dict(judge_labels(names))
    else:
        found = {name: judge_label(name) for name in set(names).difference(classes)}
        found = {name: fault for name, fault in found.items() if fault and fault.is_missing}
    return {k: fault for k, name in enumerate(names) if (fault := found.get(name)) is not None}
