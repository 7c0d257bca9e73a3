"""Change the settings of a campaign within one transaction; refuse to break a promise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select, update

from crowd_tvcs.answers.class_prevalence import class_counts, class_prevalence
from crowd_tvcs.belief.uncertainty import affinity
from crowd_tvcs.campaign.answer_kinds.kind import Preference, ScaleStep, kind_of, labels_of_kind
from crowd_tvcs.campaign.estimates import estimate, note_best
from crowd_tvcs.campaign.leases import RejectedError, free, refuse_unknown
from crowd_tvcs.campaign.settings import COUNTS, MILLION, RANGES, classes_of, prior_of_classes
from crowd_tvcs.campaign.store import kinds, queries
from crowd_tvcs.campaign.store.bulk import update_rows
from crowd_tvcs.campaign.store.rows import Settings, TaskRow, WorkerRow
from crowd_tvcs.campaign.store.schema import GOLD, UNLIMITED, campaign, gold, skill, task, worker
from crowd_tvcs.campaign.tasks import count, settle_all, settle_each
from tvcs_core.files.display import plural


class Note(NamedTuple):
    """A change that was made, of one task or of none, with the old and the new value."""

    task: str | None
    detail: str


def apply_changes(
    connection: Connection, settings: Settings, wanted: Mapping[str, Any], now: float
) -> list[Note]:
    """Make all changes of `checked_changes`, or none; return those that changed something.

    Leases that are over are freed first. The caller holds the lock on the campaign.
    """
    if lapsed := queries.EXPIRE(connection, now=now):
        free(connection, settings, lapsed)
        settings = queries.SETTINGS.only(connection)
    row = _new_row(connection, settings, wanted)
    notes = [Note(None, change) for change in _described(settings, row)]
    after = settings._replace(**row)
    notes += _cap_workers(connection, settings, after, wanted["worker_caps"])
    of_tasks, changed, missing = _cap_tasks(connection, settings, after, wanted)
    notes += of_tasks
    if row.get("money") is not None and not connection.scalar(select(func.max(worker.c.cost))):
        raise RejectedError(
            "money limits nothing here, since no worker has a cost; limit the budget instead, or "
            "begin a new campaign whose --workers have a cost"
        )
    _refuse_too_little(settings, after, settings.missing + missing)
    if row:
        connection.execute(update(campaign).values(row))
    count(connection, missing=missing)
    _settle(connection, settings, row, changed)
    return notes


def _new_row(
    connection: Connection, settings: Settings, wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the columns of the campaign that change."""
    row = {name: wanted[name] for name in (*COUNTS, *RANGES) if name in wanted}
    if not kind_of(settings).has_classes and (asked := {"target", "min_gain"} & row.keys()):
        raise RejectedError(
            f"{min(asked)} is for classes and scales, and these answers claim no confidence; "
            "change the caps instead"
        )
    if "min_gain" in row:
        row["min_gain"] = row["min_gain"] or None
    if wanted["new_classes"]:
        row |= _with_classes(connection, settings, wanted)
    return {name: value for name, value in row.items() if value != getattr(settings, name)}


def _with_classes(
    connection: Connection, settings: Settings, wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the classes with the new ones, and the class probabilities before any answer."""
    kind, before, prior = kind_of(settings), json.loads(settings.classes), wanted["prior"]
    if kind.name in (ScaleStep.name, Preference.name):
        raise RejectedError(
            f"people were asked for {', '.join(before)}, and their answers would mean something "
            "else beside a new one; begin a new campaign of the tasks that are open (campaign init)"
        )
    for place, name in enumerate(wanted["new_classes"]):
        if name in before:
            raise RejectedError(f"class {name!r} is in the campaign already; leave it out")
        others = *before, *wanted["new_classes"][:place]
        if alike := [one for one in others if one.lower() == name.lower()]:
            raise RejectedError(
                f"class {name!r} differs from {alike[0]!r} in case alone, and no class goes away "
                "again; if both are meant, give the new one another name"
            )
    if connection.scalar(select(task.c.id).where(task.c.prior.is_not(None)).limit(1)) is not None:
        raise RejectedError(
            "tasks of this campaign have a prior of their own, which is for two classes; begin a "
            "new campaign of the tasks that are open (campaign init) to have more"
        )
    names = labels_of_kind(kind.name, classes_of([*before, *wanted["new_classes"]]))
    if prior is None:
        chances = _usual_prior(connection, settings, names)
    else:
        chances = prior_of_classes(prior, len(names))
    return {
        "classes": json.dumps(list(names)),
        "prior": json.dumps(chances),
        "shares_of_gold": settings.shares_of_gold if prior is None else 0,
    }


def _usual_prior(connection: Connection, settings: Settings, names: Sequence[str]) -> list[float]:
    """Return the probabilities of more classes by the rule that gave those of the fewer."""
    prior = json.loads(settings.prior)
    if settings.shares_of_gold:
        known = {row.task: names[row.label] for row in connection.execute(select(gold))}
        return class_prevalence(class_counts(known, names)).tolist()
    if len(set(prior)) > 1:
        raise RejectedError(
            "the classes of this campaign have probabilities of their own, so new classes need "
            "prior: one probability per class, the new ones last"
        )
    return prior_of_classes(None, len(names))


def _described(settings: Settings, row: Mapping[str, Any]) -> list[str]:
    """Describe the change of each column of the campaign."""
    changes = []
    for name, value in row.items():
        old = getattr(settings, name)
        if name == "classes":
            new = json.loads(value)[len(json.loads(old)) :]
            changes.append(f"new classes: {', '.join(map(repr, new))}")
        elif name == "prior":
            shares = ", ".join(f"{share:.3g}" for share in json.loads(value))
            changes.append(f"class probabilities: {shares}")
        elif name != "shares_of_gold":
            unit = MILLION if name == "money" else 1
            shown = [_shown(one, unit) for one in (old, value)]
            changes.append(f"{name.replace('_', ' ')}: {shown[0]} -> {shown[1]}")
    return changes


def _shown(value: float | None, unit: int = 1) -> str:
    if value is None or value == UNLIMITED:
        return "none"
    return f"{value / unit:.12g}"


def _refuse_too_little(settings: Settings, after: Settings, missing: int) -> None:
    """Refuse limits below the answers and the tasks out with workers, or promised to tasks."""
    used, budget, money = _so_far(settings), after.budget, after.money
    if budget is not None and budget < settings.slots:
        raise RejectedError(
            f"budget must be at least {settings.slots}, found {budget} {used}; with that "
            "nothing more is handed out"
        )
    left, is_new = after.left, budget != settings.budget or missing > settings.missing
    if left is not None and missing > left and is_new:
        raise RejectedError(
            f"the minimums of the tasks still ask for {plural(missing, 'label')}, and a budget of "
            f"{budget} leaves {left}; give a budget of {settings.slots + missing} or lower minimums"
        )
    if money is not None and money < settings.committed:
        raise RejectedError(
            f"money must be at least {_shown(settings.committed, MILLION)}, found "
            f"{_shown(money, MILLION)} {used}; with that nothing more is handed out that costs"
        )


def _from_to(before: int, after: int) -> str:
    return f"{_shown(before)} -> {_shown(after)}"


def _so_far(of: Settings | WorkerRow | TaskRow) -> str:
    return f"(answered: {of.answers}, with workers now: {of.slots - of.answers})"


def _cap_workers(
    connection: Connection, before: Settings, after: Settings, caps: Mapping[str, int | None]
) -> list[Note]:
    """Give workers their new caps: those named, and those who have the campaign's."""
    common = _Common.of(before.max_tasks_per_worker, after.max_tasks_per_worker)
    rows = queries.WORKERS(connection) if common.changes or caps else []
    refuse_unknown("worker", sorted(caps), {one.name for one in rows})
    notes, new, followers = [], [], 0
    for one in rows:
        cap = common.cap_of(one.name, one.max_tasks, caps)
        if cap == one.max_tasks:
            continue
        if one.slots > cap:
            raise RejectedError(
                f"worker {one.name!r} cannot be cut down to {plural(cap, 'task')} {_so_far(one)}; "
                f"give {one.slots}, or block them, and they get no more"
            )
        new.append({"id": one.id, "max_tasks": cap})
        if one.name in caps:
            change = _from_to(one.max_tasks, cap)
            notes.append(Note(None, f"most tasks of worker {one.name!r}: {change}"))
        else:
            followers += 1
    update_rows(connection, worker, "id", new)
    if new:
        queries.RECALL(connection)
    if followers:
        shown = _shown(common.after)
        notes.insert(0, Note(None, f"most tasks of {plural(followers, 'worker')}: {shown}"))
    return notes


def _cap_tasks(
    connection: Connection, before: Settings, after: Settings, wanted: Mapping[str, Any]
) -> tuple[list[Note], list[int], int]:
    """Give tasks their new caps and minimums; the ids of those, and of their missing slots more."""
    common = _Common.of(before.max_workers_per_task, after.max_workers_per_task)
    caps, minimums = wanted["task_caps"], wanted["task_minimums"]
    named = caps.keys() | minimums.keys()
    rows = queries.TASKS(connection) if common.changes or named else []
    rows = [one for one in rows if one.closed != GOLD]
    refuse_unknown("task", sorted(named), {one.name for one in rows})
    notes, new, missing, followers = [], [], 0, 0
    for one in rows:
        cap = common.cap_of(one.name, one.max_workers, caps)
        least = int(minimums.get(one.name, one.min_workers))
        if (cap, least) == (one.max_workers, one.min_workers):
            continue
        _refuse_few_workers(one, cap, least)
        new.append({"id": one.id, "max_workers": cap, "min_workers": least})
        missing += max(0, least - one.slots) - max(0, one.min_workers - one.slots)
        if one.name in caps and cap != one.max_workers:
            notes.append(Note(one.name, f"most workers: {_from_to(one.max_workers, cap)}"))
        followers += one.name not in caps and cap != one.max_workers
        if least != one.min_workers:
            notes.append(Note(one.name, f"least workers: {_from_to(one.min_workers, least)}"))
    update_rows(connection, task, "id", new)
    if followers:
        shown = _shown(common.after)
        notes.insert(0, Note(None, f"most workers of {plural(followers, 'task')}: {shown}"))
    return notes, [row["id"] for row in new], missing


def _refuse_few_workers(one: TaskRow, cap: int, least: int) -> None:
    if one.slots > cap:
        raise RejectedError(
            f"task {one.name!r} cannot be cut down to {plural(cap, 'worker')} {_so_far(one)}; give "
            f"{one.slots}, or close it, and it gets no more"
        )
    if least > cap:
        raise RejectedError(
            f"task {one.name!r} must have {least} workers and may have {cap}; give it a minimum "
            f"of at most {cap}, or a larger cap"
        )


class _Common(NamedTuple):
    """The cap that the campaign gives to all without their own, before and after."""

    before: int
    after: int

    @classmethod
    def of(cls, before: int | None, after: int | None) -> _Common:
        """Return the caps of the settings, of which None is no limit."""
        return cls(*(UNLIMITED if one is None else one for one in (before, after)))

    @property
    def changes(self) -> bool:
        """Whether those without their own get another."""
        return self.before != self.after

    def cap_of(self, name: str, now: int, own: Mapping[str, int | None]) -> int:
        """Return the new cap of one who is named, or follows the campaign; else that of now."""
        if name in own:
            given = own[name]
            return self.after if given is None else int(given)
        return self.after if now == self.before else now


def _settle(
    connection: Connection, before: Settings, row: Mapping[str, Any], changed: Sequence[int]
) -> None:
    """Bring estimates and tasks in line with the new settings."""
    settings = queries.SETTINGS.only(connection)
    if "classes" in row:
        _weigh_anew(connection, settings)
    if before.source == "gold" and not row.keys().isdisjoint(("classes", "target")):
        estimate(connection, settings)
    elif not row.keys().isdisjoint(("classes", "min_quality")):
        note_best(connection, settings)
    is_of_all = not row.keys().isdisjoint(("classes", "target", "min_gain"))
    if is_of_all or ("min_quality" in row and settings.min_gain is not None):
        settle_all(connection)
    else:
        settle_each(connection, settings, changed)


def _weigh_anew(connection: Connection, settings: Settings) -> None:
    """Store how much an answer of every pair takes away, which more classes change."""
    if not settings.per_pair:
        return
    table = kinds.kind_skill if settings.source == kinds.SOURCE else skill
    found = connection.scalars(select(table.c.quality).distinct()).all()
    gains = [{"quality": q, "gain": 1.0 - affinity(q, settings.n_classes)} for q in found]
    update_rows(connection, table, "quality", gains)
