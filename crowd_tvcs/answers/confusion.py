"""Read tables of confusion matrices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crowd_tvcs.answers.columns import WORKER, Column, find, open_table, refuse_others
from crowd_tvcs.answers.rows import read_shares
from crowd_tvcs.arrays import Floats
from tvcs_core.files.spreadsheet import unshield

COLUMNS = (WORKER, Column("label"), Column("answer"), Column("probability"))


def read_confusion(path: Path, workers: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """Read one confusion matrix per worker: the classes, and an array of (worker, label, answer).

    The table has one row for every worker, true label and answer, in any order, with the columns
    `worker`, `label`, `answer` and `probability`, as `crowd-tvcs quality --per-class` writes them.
    The classes are the names in `label` and `answer`, sorted. Workers outside `workers` are left
    out.
    """
    table = open_table(path)
    refuse_others(table, COLUMNS)
    at_worker, at_label, at_answer, at_probability = find(table, COLUMNS)
    rows = [[unshield(cell) for cell in row] for row in table.rows[1:]]
    classes = tuple(sorted({row[at] for row in rows for at in (at_label, at_answer)}))
    if len(classes) < 2:
        raise table.error("must have two classes or more", 0)
    for at in (at_worker, at_label, at_answer):
        for r, row in enumerate(rows, start=1):
            if not row[at]:
                what = "must be a name, found an empty cell; give it one, or delete the row"
                raise table.error(what, r, at)
    row_of = {name: i for i, name in enumerate(workers)}
    class_of = {name: k for k, name in enumerate(classes)}
    out = np.full((len(row_of), len(classes), len(classes)), np.nan)
    probabilities = read_shares(table, [at_probability], "a probability")[:, 0].tolist()
    for r, (row, probability) in enumerate(zip(rows, probabilities, strict=True), start=1):
        if row[at_worker] not in row_of:
            continue
        place = row_of[row[at_worker]], class_of[row[at_label]], class_of[row[at_answer]]
        if not np.isnan(out[place]):
            raise table.error(
                f"the answer of {row[at_worker]!r} where {row[at_label]!r} is true is there twice",
                r,
                at_answer,
            )
        out[place] = probability
    missing = np.isnan(out)
    if missing.any():
        i, y, k = np.argwhere(missing)[0]
        raise table.error(
            f"must say how likely {workers[i]!r} answers {classes[k]!r} where {classes[y]!r} is "
            "true",
            0,
        )
    sums = out.sum(axis=2)
    wrong = np.abs(sums - 1.0) > 1e-6
    if wrong.any():
        i, y = np.argwhere(wrong)[0]
        raise table.error(
            f"the probabilities of {workers[i]!r} where {classes[y]!r} is true must add up to 1, "
            f"they add up to {sums[i, y]:.6g}", 0,
        )  # fmt: skip
    return classes, out
