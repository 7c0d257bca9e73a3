"""Rows and qualities that a campaign has already, as in a table that has grown.

They must say what the campaign has. An empty cell says nothing, and neither does a minimum of 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from crowd_tvcs.answers.columns import TASK, WORKER, Column, open_table, rows_by_name
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.answers.rows import COST
from crowd_tvcs.campaign.entries import Task, Worker
from crowd_tvcs.campaign.settings import MILLION
from crowd_tvcs.campaign.state import State
from crowd_tvcs.campaign.store.schema import UNLIMITED
from tvcs_core.files.errors import DataError

Cells = Mapping[str, tuple[object, object]]  # by column, of the table and of the campaign


def new_workers(path: Path, given: list[Worker], state: State) -> list[Worker]:
    """Return the workers of a table that the campaign lacks.

    Raises
    ------
    DataError
        Naming the line of a known worker with another cap, cost or group.
    """
    known = {row.name: row for row in state.workers}
    for one in given:
        if row := known.get(one.name):
            cost = None if one.cost is None else round(one.cost * MILLION) / MILLION
            cells = {
                "max_tasks": (one.max_tasks, row.max_tasks),
                "cost": (cost, row.cost / MILLION),
                "group": (one.team, row.team),
            }
            _check_same(path, WORKER, one.name, cells)
    return [one for one in given if one.name not in known]


def new_tasks(path: Path, given: list[Task], state: State) -> list[Task]:
    """Return the tasks of a table that the campaign lacks.

    Raises
    ------
    DataError
        Naming the line of a known task with another prior, minimum, cap or kind.
    """
    known = {row.name: j for j, row in enumerate(state.tasks)}
    kinds = state.factors.table.tasks
    for one in given:
        if (j := known.get(one.name)) is not None:
            row = state.tasks[j]
            cells = {
                "prior": (one.prior, row.prior),
                "min_workers": (one.min_workers or None, row.min_workers),
                "max_workers": (one.max_workers, row.max_workers),
                "kind": (one.kind, kinds[state.factors.kind[j]] if state.has_kinds else None),
            }
            _check_same(path, TASK, one.name, cells)
    return [one for one in given if one.name not in known]


def new_qualities(path: Path, given: Quality, known: Quality) -> Quality | None:
    """Return a table of qualities with the pairs that the campaign lacks; None without any.

    Raises
    ------
    DataError
        Naming a pair of another quality than in the campaign.
    """
    allowed, there = (
        np.ones(one.shape, bool) if one.allowed is None else one.allowed.copy()
        for one in (given, known)
    )
    rows = {name: i for i, name in enumerate(known.workers)}
    columns = {name: j for j, name in enumerate(known.tasks)}
    for i, worker in enumerate(given.workers):
        for j in np.flatnonzero(allowed[i]).tolist() if worker in rows else ():
            at = rows[worker], columns.get(given.tasks[j], -1)
            if at[1] < 0 or not there[at]:
                continue
            if given.values[i, j] != known.values[at]:
                what = (
                    f"the quality of {worker!r} on {given.tasks[j]!r} must be "
                    f"{known.values[at]:g}, as it is in the campaign already, found "
                    f"{given.values[i, j]:g}; leave it out"
                )
                raise DataError(what, path=path)
            allowed[i, j] = False
    return Quality(given.values, given.workers, given.tasks, allowed) if allowed.any() else None


def _check_same(path: Path, names: Column, name: str, cells: Cells) -> None:
    """Refuse cells of a known name that differ from the campaign."""
    for header, (asked, kept) in cells.items():
        if asked in (None, kept):
            continue
        shown = "empty" if kept in (None, UNLIMITED) else kept
        what = (
            f"must be {shown}, as {name!r} is in the campaign already, found {asked}; leave the "
            "row out (campaign change gives another cap)"
        )
        table = open_table(path)
        if not (at := names.find(table.rows[0])):  # of comparisons, whose tasks are two names
            raise DataError(f"column {header!r} {what}", path=path)
        (column,) = (COST if header == COST.name else Column(header)).find(table.rows[0])
        raise table.error(what, rows_by_name(table, at[0])[name], column)
