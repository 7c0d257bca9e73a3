"""Inputs of a campaign: its first contents, more workers and tasks, gold, and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from crowd_tvcs.answers.columns import COST_RANGE
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, items_of_pair, kind_of
from crowd_tvcs.campaign.entries import (
    MILLION,
    AnswerRecord,
    Task,
    Worker,
    check_different,
    check_name,
)
from crowd_tvcs.campaign.estimates import estimate, note_best
from crowd_tvcs.campaign.leases import (
    KNOWN,
    LATE,
    Given,
    RejectedError,
    judge,
    take_again,
    write_answers,
)
from crowd_tvcs.campaign.settings import check_range, count_of
from crowd_tvcs.campaign.store import kinds
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.queries import SETTINGS, SETTLED, TASK_CALLED, TASKS, WORKER, WORKERS
from crowd_tvcs.campaign.store.rows import PairRow, Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import (
    GOLD,
    UNLIMITED,
    gold,
    gold_answer,
    pair,
    skill,
    task,
    worker,
)
from crowd_tvcs.campaign.stored_model import is_due
from crowd_tvcs.campaign.tables import Qualities
from crowd_tvcs.campaign.tasks import count, settle
from tvcs_core.arguments import check_type, describe_value


def add_workers(connection: Connection, settings: Settings, workers: Sequence[Worker]) -> None:
    """Add workers; a name that is there is an error, and where money is limited one without cost.

    Raises
    ------
    ValueError
        Naming the worker.
    """
    check_different("worker", [one.name for one in workers])
    known = set(connection.scalars(select(worker.c.name)))
    common = settings.max_tasks_per_worker
    rows = []
    for one in sorted(workers, key=lambda w: w.name):
        if one.name in known:
            raise ValueError(
                f"worker {one.name!r} is in the campaign already, with a cost and group that "
                "stand; leave their row out (campaign change gives them another cap)"
            )
        own = count_of(f"max_tasks of worker {one.name!r}", one.max_tasks)
        own = common if own is None else own
        rows.append(
            {
                "name": one.name,
                "max_tasks": UNLIMITED if own is None else own,
                "cost": _millionths(settings, one),
                "team": one.team,
                "quality": None,
                "slots": 0,
                "answers": 0,
            }
        )
    if rows:
        connection.execute(insert(worker), rows)


def _millionths(settings: Settings, one: Worker) -> int:
    """Return the cost of a label of a worker, in units of the store."""
    if one.cost is None:
        if settings.money is not None:
            raise ValueError(
                f"money needs the cost of a label of every worker, found none for {one.name!r}"
            )
        return 0
    if not 0.0 <= one.cost < COST_RANGE[1]:
        raise ValueError(
            f"cost must be from 0 to below {COST_RANGE[1]:.0f}, but that of worker {one.name!r} is "
            f"{one.cost}"
        )
    return round(one.cost * MILLION)


def add_tasks(connection: Connection, settings: Settings, tasks: Sequence[Task]) -> None:
    """Add tasks; a name that is there, or a gold task that was answered, is an error."""
    check_different("task", [one.name for one in tasks])
    known = set(connection.scalars(select(task.c.name)))
    tried = set(connection.scalars(select(gold_answer.c.task)))
    kind = kind_of(settings)
    kind.check_tasks([one.name for one in tasks if one.name not in known], known)
    rows, missing = [], 0
    for one in sorted(tasks, key=lambda t: t.name):
        if one.name in known:
            raise ValueError(f"task {one.name!r} is in the campaign already; leave its row out")
        if one.name in tried:
            raise ValueError(
                f"task {one.name!r} has gold answers that qualities come from, so it cannot be "
                "labelled as well"
            )
        if one.prior is not None and not (kind.has_classes and len(kind.labels) == 2):
            raise ValueError(
                f"a prior of a task needs two classes, there are {len(kind.labels)} labels"
                if kind.has_classes
                else f"a task has no prior where answers are of the kind {kind.name}; leave it out"
            )
        prior = one.prior
        if prior is not None:
            prior = check_range(f"prior of task {one.name!r}", prior, 0.0, 1.0)
        own = count_of(f"max_workers of task {one.name!r}", one.max_workers)
        most = settings.max_workers_per_task if own is None else own
        most = UNLIMITED if most is None else most
        if one.min_workers > most:
            raise ValueError(
                f"task {one.name!r} must have {one.min_workers} workers and may have {most}"
            )
        missing += int(one.min_workers)
        rows.append(
            {
                "name": one.name,
                "prior": prior,
                "min_workers": int(one.min_workers),
                "max_workers": most,
                "closed": 0,
            }
            | dict.fromkeys(SETTLED, 0)
        )
    if rows:
        connection.execute(insert(task), rows)
    kinds.set_kinds(connection, settings.source, {one.name: one.kind for one in tasks})
    if settings.source == kinds.SOURCE:
        note_best(connection, settings)
    left = (UNLIMITED if settings.budget is None else settings.budget) - settings.slots
    if settings.missing + missing > left:
        of = f"the budget has {left} left" if settings.budget is not None else "too many to count"
        raise ValueError(
            f"the least workers of the tasks ask for {settings.missing + missing} labels, {of}"
        )
    count(connection, missing=missing)


def add_kinds(connection: Connection, settings: Settings, table: Quality) -> None:
    """Write qualities of workers on kinds down, before the tasks of new kinds; see `kinds`.

    Raises
    ------
    ValueError
        If the campaign has other qualities, or that of a pair already.
    """
    if settings.source != kinds.SOURCE:
        raise ValueError("the qualities of this campaign are not of kinds of tasks")
    check_type("kinds", table, Quality)
    for name in table.tasks:
        check_name("name of a kind", name)
    classes = len(json.loads(settings.classes))
    kinds.add_qualities(connection, table, lambda value: 1.0 - affinity(value, classes))
    note_best(connection, settings)


def set_qualities(connection: Connection, settings: Settings, qualities: Qualities) -> None:
    """Write qualities down; names that the campaign does not have are left out.

    Raises
    ------
    TypeError, ValueError
        If they are none, qualities per pair come to a campaign that has one per worker, or the
        other way round, or any to one whose qualities are of kinds.
    """
    if settings.source == kinds.SOURCE:
        raise ValueError("the qualities of this campaign are of kinds of tasks; give it kinds")
    if not isinstance(qualities, Quality | Mapping):
        raise TypeError(
            f"qualities must be a mapping of workers to numbers or a Quality, found "
            f"{describe_value(qualities)}"
        )
    is_per_pair = isinstance(qualities, Quality)
    if is_per_pair != bool(settings.per_pair):
        layouts = ("one quality per worker", "a quality for every pair")
        raise ValueError(
            f"this campaign has {layouts[settings.per_pair]}, but the table gives "
            f"{layouts[is_per_pair]}"
        )
    ids = dict(connection.execute(select(worker.c.name, worker.c.id)).all())
    if not isinstance(qualities, Quality):
        rows = [
            {
                "who": ids[n],
                "value": check_range(f"quality of worker {n!r}", qualities[n], 0.0, 1.0),
            }
            for n in sorted(ids.keys() & qualities.keys())
        ]
        if rows:
            connection.execute(_SET_QUALITY, rows)
        note_best(connection, settings)
        return
    classes = len(json.loads(settings.classes))
    ordinary = select(task.c.name, task.c.id).where(task.c.closed != GOLD)
    tasks = dict(connection.execute(ordinary).all())
    allowed = np.ones(qualities.shape, bool) if qualities.allowed is None else qualities.allowed
    listed = []
    for i, j in np.argwhere(allowed).tolist():
        name, of = qualities.workers[i], qualities.tasks[j]
        if name in ids and of in tasks:
            value = float(qualities.values[i, j])
            listed.append(
                {
                    "worker_id": ids[name],
                    "task_id": tasks[of],
                    "quality": value,
                    "gain": 1.0 - affinity(value, classes),
                }
            )
    if listed:
        _refuse_known_pairs(connection, listed)
        connection.execute(insert(skill), listed)
    note_best(connection, settings)


def add_gold(
    connection: Connection,
    settings: Settings,
    labels: Mapping[str, str],
    lines: Sequence[AnswerRecord],
) -> None:
    """Add gold labels, and answers to gold tasks; then estimate every worker's quality anew.

    Raises
    ------
    ValueError
        If a gold label contradicts one that is known, a label is none of the classes, or an answer
        contradicts one that is known.
    """
    kind = kind_of(settings)
    known = dict(connection.execute(select(gold.c.task, gold.c.label)).all())
    kind.check_tasks(sorted(labels), ())
    for name, label in sorted(labels.items()):
        try:
            code = kind.parse(label, name)
        except ValueError as error:
            raise ValueError(f"the gold label of {name!r} {error}") from None
        if known.setdefault(name, code) != code:
            before = kind.show(known[name], name)
            raise ValueError(f"the gold label of {name!r} was {before!r} before")
    connection.execute(delete(gold))
    if known:
        rows = [{"task": n, "label": k} for n, k in sorted(known.items())]
        connection.execute(insert(gold), rows)
    wanted = set(connection.scalars(select(task.c.name).where(task.c.closed != GOLD)))
    for line in lines:
        if line.task in wanted:
            raise line.error(f"task {line.task!r} is to be labelled, so it gives no quality")
        if line.task not in known:
            raise line.error(f"task {line.task!r} has no gold label")
    add_gold_answers(connection, kind, lines)
    if settings.source == "gold":
        estimate(connection, settings)


def add_gold_answers(
    connection: Connection, kind: AnswerKind, lines: Sequence[AnswerRecord]
) -> tuple[int, int]:
    """Add answers to gold tasks; how many are new, and how many were known already.

    Raises
    ------
    DataError, ValueError
        If an answer contradicts one that was brought before, or given at the desk.
    """
    before = {(row.task, row.worker): row.label for row in connection.execute(ANSWERS)}
    new = []
    for line in lines:
        label = _code(kind, line)
        key = (line.task, line.worker)
        if key not in before:
            check_name("worker of an answer", line.worker)
            new.append({"task": line.task, "worker": line.worker, "label": label})
        elif before[key] != label:
            raise line.error(
                f"worker {line.worker!r} answered gold task {line.task!r} with "
                f"{kind.show(before[key], line.task)!r} before, now "
                f"{kind.show(label, line.task)!r}"
            )
    if new:
        connection.execute(insert(gold_answer), new)
    return len(new), len(lines) - len(new)


def take_answers(
    connection: Connection, settings: Settings, lines: Sequence[AnswerRecord]
) -> dict[str, int]:
    """Import answers, all or none; return the numbers of accepted, late, known and gold ones.

    Raises
    ------
    DataError
        Naming file and line of an unknown worker or task, a label outside the classes, an answer to
        a pair that was not handed out, or one that contradicts a stored answer.
    """
    kind = kind_of(settings)
    workers = {row.name: row for row in WORKERS(connection)}
    tasks = {row.name: row for row in TASKS(connection) if row.closed != GOLD}
    gold_names = set(connection.scalars(select(gold.c.task))) - set(tasks)
    counts = {"accepted": 0, "late": 0, "known": 0, "gold": 0}
    for line in lines:
        _refuse_unknown(line, workers, tasks, gold_names)
    on_gold = [line for line in lines if line.task in gold_names]
    counts["gold"], counts["known"] = add_gold_answers(connection, kind, on_gold)
    if counts["gold"] and settings.source == "gold":
        estimate(connection, settings)
        settle_all(connection)
        settings = SETTINGS.only(connection)
    new, late = [], []
    slots = {
        (row.task_id, row.worker_id): PairRow(
            row.worker_id, row.state, row.label, row.leased_at, None, None
        )
        for row in connection.execute(select(pair))
    }
    for line in (line for line in lines if line.task not in gold_names):
        who, row = workers[line.worker], tasks[line.task]
        slot = slots.get((row.id, who.id))
        code = _code(kind, line)
        reason = _judged(connection, settings, who, row, slot, (line, code))
        counts[{KNOWN: "known", LATE: "late"}.get(reason, "accepted")] += 1
        if reason != KNOWN:
            swapped = _is_swapped(kind, line)
            new.append(Given(row.id, who.id, code, line.when, line.seconds, swapped))
        if reason == LATE:
            late.append((line, code, slot))
    for line, code, slot in late:  # each may take the room of the next
        now = SETTINGS.only(connection)
        who = WORKER.only(connection, called=line.worker)
        row = TASK_CALLED.only(connection, called=line.task)
        _judged(connection, now, who, row, slot, (line, code))
        take_again(connection, now, who, row)
    if new:
        write_answers(connection, settings, new)
        settings = SETTINGS.only(connection)
        if is_due(settings.dependence, settings.answers):
            estimate(connection, settings)
            settle_all(connection)
    return counts


def _judged(
    connection: Connection,
    settings: Settings,
    who: WorkerRow,
    row: TaskRow,
    slot: PairRow | None,
    given: tuple[AnswerRecord, int],
) -> str:
    line, code = given
    try:
        return judge(connection, settings, who, row, slot, code)
    except RejectedError as error:
        raise line.error(str(error)) from None


def _code(kind: AnswerKind, line: AnswerRecord) -> int:
    """Return the code of an answer, or refuse it naming its place."""
    try:
        return kind.parse(line.label, line.task, line.worker)
    except ValueError as error:
        raise line.error(f"label {error}") from None


def _is_swapped(kind: AnswerKind, line: AnswerRecord) -> int | None:
    """Return whether the second item was on the left: as the table has it, else as it is drawn."""
    if line.left is None:
        return kind.is_swapped(line.task, line.worker)
    return int(line.left != items_of_pair(line.task)[0])


def settle_all(connection: Connection) -> None:
    """Settle every task, after something that concerns all of them."""
    settings = SETTINGS.only(connection)
    for row in TASKS(connection):
        settle(connection, settings, row)


def set_closed(connection: Connection, names: Sequence[str], closed: int) -> None:
    """Close tasks, or open them again."""
    if names:
        rows = [{"called": name} for name in names]
        change = update(task).where(task.c.name == bindparam("called"))
        connection.execute(change.values(closed=closed), rows)
        settle_all(connection)


def _refuse_unknown(
    line: AnswerRecord,
    workers: Mapping[str, WorkerRow],
    tasks: Mapping[str, TaskRow],
    gold_names: set[str],
) -> None:
    if line.worker not in workers:
        raise line.error(f"worker {line.worker!r} is not in the campaign")
    if line.task not in tasks and line.task not in gold_names:
        raise line.error(f"task {line.task!r} is not in the campaign")


def _refuse_known_pairs(connection: Connection, listed: Sequence[dict[str, Any]]) -> None:
    if not connection.scalar(select(func.count()).select_from(skill)):
        return
    known = {(i, j) for i, j in connection.execute(select(skill.c.worker_id, skill.c.task_id))}
    for row in listed:
        if (row["worker_id"], row["task_id"]) in known:
            raise ValueError("the table gives the quality of a pair that the campaign has already")


_SET_QUALITY = (
    update(worker).where(worker.c.id == bindparam("who")).values(quality=bindparam("value"))
)
