"""Gold, answers to gold tasks, and answers: written into the store of a campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, delete, select

from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, items_of_pair, kind_of
from crowd_tvcs.campaign.entries import AnswerRecord
from crowd_tvcs.campaign.estimates import estimate
from crowd_tvcs.campaign.leases import (
    KNOWN,
    LATE,
    Given,
    RejectedError,
    judge,
    read_label,
    refuse_unknown,
    take_again,
    write_answers,
)
from crowd_tvcs.campaign.settings import check_name
from crowd_tvcs.campaign.store.bulk import insert_rows
from crowd_tvcs.campaign.store.gold import ANSWERS
from crowd_tvcs.campaign.store.queries import SETTINGS, TASK_CALLED, TASKS, WORKER, WORKERS
from crowd_tvcs.campaign.store.rows import PairRow, Settings
from crowd_tvcs.campaign.store.schema import GOLD, LAPSED, gold, gold_answer, pair, task
from crowd_tvcs.campaign.stored_model import is_due
from crowd_tvcs.campaign.tasks import settle_all


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
    insert_rows(connection, gold, [{"task": n, "label": k} for n, k in sorted(known.items())])
    wanted = set(connection.scalars(select(task.c.name).where(task.c.closed != GOLD)))
    for line in lines:
        if line.task in wanted:
            raise line.error(f"task {line.task!r} is to be labelled, so it gives no quality")
        if line.task not in known:
            raise line.error(
                f"task {line.task!r} has no gold label; leave out answers to such tasks"
            )
    add_gold_answers(connection, kind, lines)
    if settings.source == "gold":
        estimate(connection, settings)


def add_gold_answers(
    connection: Connection, kind: AnswerKind, lines: Sequence[AnswerRecord]
) -> tuple[int, int]:
    """Add answers to gold tasks; how many are new, and how many were known already."""
    before = {(row.task, row.worker): row.label for row in connection.execute(ANSWERS)}
    new = []
    for line in lines:
        with _errors_at(line):
            label = read_label(kind, line.label, line.task, line.worker)
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
    insert_rows(connection, gold_answer, new)
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
    known = gold_names.union(tasks)
    for line in lines:
        with _errors_at(line):
            if line.worker not in workers and line.worker in known and line.task in workers:
                raise RejectedError(
                    f"{line.worker!r} is a task and {line.task!r} a worker of this campaign: the "
                    "columns task and worker seem to be swapped"
                )
            refuse_unknown("worker", [line.worker], workers)
            refuse_unknown("task", [line.task], known)
    counts = {"accepted": 0, "late": 0, "known": 0, "gold": 0}
    on_gold = [line for line in lines if line.task in gold_names]
    counts["gold"], counts["known"] = add_gold_answers(connection, kind, on_gold)
    if counts["gold"] and settings.source == "gold":
        estimate(connection, settings)
        settle_all(connection)
        settings = SETTINGS.only(connection)
    slots = {
        (row.task_id, row.worker_id): PairRow(
            row.worker_id, row.state, row.label, row.leased_at, None, None
        )
        for row in connection.execute(select(pair))
    }
    new = []
    for line in (line for line in lines if line.task not in gold_names):
        who, row = workers[line.worker], tasks[line.task]
        slot = slots.get((row.id, who.id))
        if slot is not None and slot.state <= LAPSED:  # late ones take the room of one another
            settings = SETTINGS.only(connection)
            who = WORKER.only(connection, called=line.worker)
            row = TASK_CALLED.only(connection, called=line.task)
        with _errors_at(line):
            code = read_label(kind, line.label, line.task, line.worker)
            reason = judge(connection, settings, who, row, slot, code)
        if reason == LATE:
            take_again(connection, settings, who, row)
        counts[{KNOWN: "known", LATE: "late"}.get(reason, "accepted")] += 1
        if reason != KNOWN:
            swapped = _is_swapped(kind, line)
            new.append(Given(row.id, who.id, code, line.when, line.seconds, swapped))
    if new:
        write_answers(connection, settings, new)
        settings = SETTINGS.only(connection)
        if is_due(settings.dependence, settings.answers):
            estimate(connection, settings)
            settle_all(connection)
    return counts


@contextmanager
def _errors_at(line: AnswerRecord) -> Iterator[None]:
    """Let an error name the place of an answer."""
    try:
        yield
    except RejectedError as error:
        raise line.error(str(error)) from None


def _is_swapped(kind: AnswerKind, line: AnswerRecord) -> int | None:
    """Return whether the second item was on the left: as the table has it, else as it is drawn."""
    if line.left is None:
        return kind.is_swapped(line.task, line.worker)
    return int(line.left != items_of_pair(line.task)[0])
