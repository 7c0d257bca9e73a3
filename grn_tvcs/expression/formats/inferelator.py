"""The metadata of inferelator: the previous sample of each sample, and the time between.

Its columns are ``isTs``, ``is1stLast``, ``prevCol``, ``del.t`` and ``condName`` (Bonneau et al.
2006, Genome Biology 7, R36; the workflow ``TFAWorkFlow`` reads them still).
"""

from __future__ import annotations

from dataclasses import replace

from grn_tvcs.expression.sheet import Column, Sheet
from tvcs_core.files.display import quoted
from tvcs_core.files.tables import is_number

NAME, BEFORE, STEP = "condname", "prevcol", "del.t"
NONE = ("", "na", "nan", "none")


def with_times(sheet: Sheet) -> Sheet:
    """Return a sheet of inferelator as one with sample, time and series; any other as it is.

    A series is a chain from a last sample back to the first, whose time is 0; a sample in two
    chains stands in two series. Samples in no chain are in steady state.
    """
    heads = [name.lower() for name in sheet.heads]
    if not {NAME, BEFORE, STEP} <= set(heads):
        return sheet
    name_at, before_at, step_at = (heads.index(head) for head in (NAME, BEFORE, STEP))
    before: dict[str, str] = {}
    step: dict[str, float] = {}
    names = sheet.cells(name_at)
    facts = zip(names, sheet.cells(before_at), sheet.cells(step_at), strict=True)
    for i, (name, last, time) in enumerate(facts):
        if last.lower() in NONE:
            continue
        if last not in names:
            raise sheet.error(
                f"must be a sample of {sheet.heads[name_at]}, found {quoted(last)}", i, before_at
            )
        if not is_number(time) or not float(time) > 0:
            raise sheet.error(
                f"must be the time since the sample before, above 0, found {quoted(time)}",
                i,
                step_at,
            )
        before[name], step[name] = last, float(time)
    _refuse_rings(sheet, before)
    followed = set(before.values())
    made: list[list[str]] = []
    for last in (name for name in before if name not in followed):
        made += _chain(last, before, step)
    seen = {row[0] for row in made}
    made += [[name, "", ""] for name in names if name not in seen]
    rows = [names.index(row[0]) for row in made]
    columns = zip(("sample", "time", "series"), zip(*made, strict=True), strict=True)
    texts_of_heads = [Column(head, name_at, texts) for head, texts in columns]
    return replace(sheet.take(rows), columns=texts_of_heads)


def _refuse_rings(sheet: Sheet, before: dict[str, str]) -> None:
    for name in before:
        at, n = name, 0
        while at in before and n <= len(before):
            at, n = before[at], n + 1
        if n > len(before):
            raise sheet.error(
                f"samples must follow each other in time, but {quoted(name)} comes before itself"
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
