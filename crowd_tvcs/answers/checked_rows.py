"""Check names and labels of the rows of a table: refuse them, or leave them out and count them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowd_tvcs.answers.coded import Coded, encode_columns
from crowd_tvcs.answers.values import (
    Fault,
    describe_fault,
    find_label_fault,
    find_label_faults,
    find_name_fault,
    without_zeros,
)
from crowd_tvcs.arrays import Bools
from tvcs_core.files.tables import Table

LABEL = "label"


@dataclass(frozen=True)
class CheckedRows:
    """Columns of a table of answers or gold, and the mask of valid rows.

    Attributes
    ----------
    names
        The columns of tasks and workers, in the order of the request: valid names.
    label
        The column of labels, likewise.
    counts
        Mask of the valid rows below the header; codes of the others are arbitrary.
    left_out
        Number of rows left out, by reason.
    """

    names: tuple[Coded, ...]
    label: Coded
    counts: Bools
    left_out: Mapping[str, int]

    @property
    def description(self) -> str:
        """Describe the rows left out, for people; empty if there are none."""
        out = ", ".join(f"{times} {why}" for why, times in self.left_out.items())
        return out and f"; left out: {out}"


def check_rows(
    table: Table,
    named: Mapping[str, int],
    label: int,
    classes: Sequence[str] | None = None,
    *,
    leave_out_missing: bool = False,
    leave_out_empty: bool = False,
) -> CheckedRows:
    """Read columns of names and one of labels, and check their values.

    Parameters
    ----------
    table
        The table.
    named
        Columns of tasks and workers, by the kind of their names.
    label
        Column of the labels.
    classes
        Allowed labels; each is valid, whatever it looks like. None for any. A label 1.0 is the
        class 1 if there is no class 1.0.
    leave_out_missing
        Whether to leave out rows without a label, task or worker; otherwise they are refused.
    leave_out_empty
        Whether to leave out rows whose label is an empty cell.
    """
    *coded, labels = encode_columns(table, [*named.values(), label], checked=False)
    labels = _as_classes(labels, classes or ())
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
        _only(one, [find_name_fault(name) is None for name in one.names]) if left_out else one
        for one in coded
    )
    return CheckedRows(names, _only(labels, used) if left_out else labels, counts, left_out)


def _as_classes(labels: Coded, classes: Sequence[str]) -> Coded:
    """Write as integers the labels that a program wrote as floats, where these are the classes."""
    names = []
    for name in labels.names:
        whole = without_zeros(name)
        names.append(whole if whole in classes and name not in classes else name)
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return Coded([*place], np.array([place[name] for name in names], np.int32)[labels.codes])


def _refuse(
    table: Table, column: int, kind: str, coded: Coded, faults: Mapping[int, Fault]
) -> None:
    """Refuse the first row that has one of the values."""
    is_wrong = np.isin(coded.codes, list(faults))
    if is_wrong.any():
        r = int(np.argmax(is_wrong))
        k = int(coded.codes[r])
        times = int(np.count_nonzero(coded.codes == k))
        what = describe_fault(faults[k], coded.names[k], kind, times=times, of_answers=True)
        raise table.error(what, r + 1, column)


def _only(coded: Coded, stays: Sequence[bool] | Bools) -> Coded:
    """Keep some of the names; rows with another get the code of the first."""
    kept = np.asarray(stays, dtype=bool)
    place = np.where(kept, np.cumsum(kept) - 1, 0).astype(np.int32)
    names = [name for name, is_kept in zip(coded.names, kept, strict=True) if is_kept]
    return Coded(names, place[coded.codes])


def _faults(kind: str, names: Sequence[str], classes: Collection[str] | None) -> dict[int, Fault]:
    """Return the fault of each invalid name, by its index."""
    if kind != LABEL:
        found = {name: find_name_fault(name) for name in names}
    elif classes is None:
        found = dict(find_label_faults(names))
    else:
        found = {name: find_label_fault(name) for name in set(names).difference(classes)}
        found = {name: fault for name, fault in found.items() if fault and fault.is_missing}
    return {k: fault for k, name in enumerate(names) if (fault := found.get(name)) is not None}
