"""The meta data of inferelator, which tell each sample the one before it and the time between.

Its columns are ``isTs``, ``is1stLast``, ``prevCol``, ``del.t`` and ``condName`` (Bonneau et al.
2006, Genome Biology 7, R36; the workflow ``TFAWorkFlow`` reads them still).
"""

from __future__ import annotations

from tvcs_core.files.rows import Rows
from tvcs_core.files.shown import shown
from tvcs_core.files.tables import Table, is_number

NAME, BEFORE, STEP = "condname", "prevcol", "del.t"
NONE = ("", "na", "nan", "none")


def with_times(table: Table) -> Table:
    """Return a sheet of inferelator as one with sample, time and series; any other as it is.

    A series is a chain from a last sample back to the first, whose time is 0; a sample in two
    chains stands in two series. Samples in no chain are at rest.

    Raises
    ------
    DataError
        If a sample before another is not there, a step is no number above 0, or a chain is a ring.
    """
    heads = [name.lower() for name in table.rows[0]]
    if not {NAME, BEFORE, STEP} <= set(heads):
        return table
    name_at, before_at, step_at = (heads.index(head) for head in (NAME, BEFORE, STEP))
    before: dict[str, str] = {}
    step: dict[str, float] = {}
    names = [row[name_at] for row in table.rows[1:]]
    for i, row in enumerate(table.rows[1:], start=1):
        if row[before_at].lower() in NONE:
            continue
        if row[before_at] not in names:
            raise table.error(
                f"must be a sample of {table.rows[0][name_at]}, found {shown(row[before_at])}",
                i,
                before_at,
            )
        if not is_number(row[step_at]) or not float(row[step_at]) > 0:
            raise table.error(
                f"must be the time since the sample before, above 0, found {shown(row[step_at])}",
                i,
                step_at,
            )
        before[row[name_at]], step[row[name_at]] = row[before_at], float(row[step_at])
    _refuse_rings(table, before)
    followed = set(before.values())
    rows: list[list[str]] = []
    for last in (name for name in before if name not in followed):
        rows += _chain(last, before, step)
    seen = {row[0] for row in rows}
    rows += [[name, "", ""] for name in names if name not in seen]
    made = Rows.of([["sample", "time", "series"], *rows])
    return Table(table.path, ",", made, [1] * len(made), bytes(len(made)))


def _refuse_rings(table: Table, before: dict[str, str]) -> None:
    for name in before:
        at, n = name, 0
        while at in before and n <= len(before):
            at, n = before[at], n + 1
        if n > len(before):
            raise table.error(
                f"samples must follow each other in time, but {shown(name)} comes before itself"
            )


def _chain(last: str, before: dict[str, str], step: dict[str, float]) -> list[list[str]]:
    """Samples from the first to the last, each with its time and the name of the last."""
    names = [last]
    while names[-1] in before:
        names.append(before[names[-1]])
    names.reverse()
    times = [0.0]
    for name in names[1:]:
        times.append(times[-1] + step[name])
    return [[name, f"{time:.12g}", last] for name, time in zip(names, times, strict=True)]
