"""Teams from the program over knots of quality: every voter at a knot becomes a worker near it.

The program says how many tasks take which multiset of voters at knots, and how many labels every
worker gives on every kind of tasks. Voters and labels are sorted by quality and matched in that
order, so that a worker stands for a voter at one of the knots around them. What the team of a task
loses or gains by that is of the second order in the distance of the knots.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.knots import (
    MAX_KINDS,
    MIN_WORKERS,
    KnotsOfKind,
    KnotsProgram,
    bound_by_knots,
    least_workers,
)
from crowd_tvcs.factors.prices import GroupRelaxation
from crowd_tvcs.factors.rounding import fill_remaining
from crowd_tvcs.factors.start import rated
from crowd_tvcs.factors.teams import Teams
from crowd_tvcs.plan.costs import is_rationed
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CERTIFIED_WITHIN
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.relaxation import DualBound

# Multisets of all groups that are tried, one number after the other while the gap is not close.
MULTISETS = 25_000, 250_000, 2_500_000
LONGER = 2.0  # time that more multisets may take by that of the last
CLOSE = 1e-4  # gap of the mean accuracy at which no more are tried
MAX_DISTANCE = 2_000  # places that are searched for another worker where one would vote twice


def plans_by_knots(
    relaxed: GroupRelaxation, nobody: Teams, deadline: Deadline
) -> Iterator[tuple[DualBound, Teams]]:
    """Yield bounds by ever more knots of quality, and the teams of their programs.

    Yield nothing if the crowd has no such bound (see `crowd_tvcs.factors.knots`).
    """
    program, took, bound, best = None, 0.0, np.inf, 0.0
    for multisets in MULTISETS:
        before = deadline.left
        if before <= LONGER * took:
            return
        found = bound_by_knots(relaxed.groups, relaxed.relaxation, multisets, deadline, program)
        if found is None:
            continue
        dual, program = found
        teams = teams_by_knots(relaxed.groups, program, nobody)
        fill_remaining(relaxed, teams)
        took, bound = before - deadline.left, min(bound, dual.bound)
        best = max(best, float(teams.accuracy.sum()))
        yield dual, teams
        if bound - best <= CLOSE * relaxed.n_tasks:
            return


def is_enough(gap: float, n_workers: int) -> bool:
    """Whether a plan with such a gap of the mean accuracy, by knots, ends the search.

    With fewer workers branch and bound may close a gap that is not close.
    """
    return gap <= (CERTIFIED_WITHIN if n_workers >= MIN_WORKERS else CLOSE)


def of_few_kinds(plan: Plan) -> Plan | None:
    """Return the plan of a table in factors if it has very many workers and few kinds of tasks."""
    table, model = plan.table, plan.model
    kind_of: dict[tuple[bytes, bytes], int] = {}
    is_plain = model is None
    if model is not None and plan.class_prior is not None and plan.confusion is None:
        # A plan of a vote among common errors has weights for priors.
        is_plain = np.array_equal(model.prior, plan.class_prior)
        is_plain &= np.unique(plan.class_prior, axis=0).shape[0] <= MAX_KINDS
    is_limited = plan.forced is not None or plan.common_error > 0.0 or is_rationed(plan)
    if not is_plain or is_limited or len(table.workers) < least_workers(plan.n_classes):
        return None
    kind = np.empty(len(table.tasks), np.int64)
    for j in range(kind.size):
        allowed = b"" if table.allowed is None else table.allowed[:, j].tobytes()
        kind[j] = kind_of.setdefault((table.values[:, j].tobytes(), allowed), len(kind_of))
        if len(kind_of) > MAX_KINDS:
            return None
    first = np.unique(kind, return_index=True)[1]
    kinds = table.reorder(np.arange(len(table.workers)), first)
    return Plan(
        Factors(kinds, table.tasks, kind),
        max_workers_per_task=plan.max_workers_per_task,
        max_tasks_per_worker=plan.max_tasks_per_worker,
        budget=plan.budget,
        prior=plan.prior if plan.n_classes == 2 else 0.5,
        n_classes=plan.n_classes,
        class_prior=plan.class_prior,
        min_workers_per_task=plan.min_workers_per_task,
    )


def teams_by_knots(groups: Groups, program: KnotsProgram, nobody: Teams) -> Teams:
    """Return teams that follow the program; they keep the caps, though perhaps not the minimums."""
    out, most = nobody.copy(), nobody.workers.shape[1]
    nearest = groups.low + (groups.share >= 0.5)
    labels = _whole(program.loads, out.room[:-1])
    for kind, one in enumerate(program.known):
        task, knot = _voters(one, program, nearest)
        # Equal voters are sorted task by task, first those that a task has once.
        copy = _copies(task, knot, one.at.size)
        order = np.lexsort((task, copy, -knot))
        task = task[order]
        workers = np.flatnonzero(one.share.any(axis=1))
        quality = one.share[workers] @ one.at
        workers = workers[np.argsort(-quality, kind="stable")]
        worker = np.repeat(workers, labels[workers, kind])
        size = min(task.size, worker.size, int(out.room[-1]))
        task, worker = task[:size], worker[:size]
        is_kept = _once_each(task, worker)
        _put(out, task[is_kept], worker[is_kept], most)
    return rated(groups.plan, out)


def _whole(shares: Floats, caps: Integers) -> Integers:
    """Round the labels of every worker on every kind, within their caps: largest remainders."""
    out = np.floor(shares + 1e-9).astype(np.int64)
    left = np.minimum(caps, np.rint(shares.sum(axis=1)).astype(np.int64)) - out.sum(axis=1)
    rank = np.argsort(np.argsort(out - shares, axis=1, kind="stable"), axis=1)
    return out + (rank < left[:, None])


def _voters(
    one: KnotsOfKind, program: KnotsProgram, nearest: Integers
) -> tuple[Integers, Integers]:
    """Return task and knot of every voter on the tasks of a kind."""
    tasks, knots = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for group in one.groups.tolist():
        mine = np.flatnonzero(nearest == group)
        taken = np.flatnonzero(program.group == group)
        share = program.tasks[taken]
        if not mine.size or not share.sum() > 0.0:
            continue
        ends = np.rint(np.cumsum(share) / share.sum() * mine.size).astype(np.int64)
        begin = 0
        for cut, end in zip(taken.tolist(), ends.tolist(), strict=True):
            row = np.repeat(np.arange(one.at.size), program.labels[cut].astype(np.int64))
            tasks.append(np.repeat(mine[begin:end], row.size))
            knots.append(np.tile(row, end - begin))
            begin = end
    return np.concatenate(tasks), np.concatenate(knots)


def _copies(task: Integers, knot: Integers, size: int) -> Integers:
    """Return how many equal voters of its task come before every voter."""
    key = task * size + knot
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    out = np.empty(key.size, np.int64)
    out[order] = np.arange(key.size) - np.searchsorted(ordered, ordered)
    return out


def _once_each(task: Integers, worker: Integers) -> Bools:
    """Let workers who would vote twice on a task change places, in place; mask of the others."""
    team: dict[int, dict[int, int]] = {}
    twice = []
    for place, (j, i) in enumerate(zip(task.tolist(), worker.tolist(), strict=True)):
        members = team.setdefault(j, {})
        if i in members:
            twice.append(place)
        members[i] = members.get(i, 0) + 1
    out = np.ones(task.size, bool)
    for place in twice:
        i, members = int(worker[place]), team[int(task[place])]
        if members[i] < 2:  # the other one has moved
            continue
        for other in _around(place, task.size):
            k, others = int(worker[other]), team[int(task[other])]
            if k not in members and i not in others:
                worker[place], worker[other] = k, i
                members[i] -= 1
                members[k] = others[i] = 1
                others[k] -= 1
                if not others[k]:
                    del others[k]
                break
        else:
            members[i] -= 1
            out[place] = False
    return out


def _around(place: int, size: int) -> Iterator[int]:
    """Yield the places around one, the nearest first."""
    for away in range(1, MAX_DISTANCE):
        if place + away < size:
            yield place + away
        if place >= away:
            yield place - away


def _put(teams: Teams, task: Integers, worker: Integers, most: int) -> None:
    """Put workers into the teams of their tasks."""
    order = np.argsort(task, kind="stable")
    task, worker = task[order], worker[order]
    tasks, first, size = np.unique(task, return_index=True, return_counts=True)
    rows = np.zeros((tasks.size, most), np.int64)
    rows[np.repeat(np.arange(tasks.size), size), np.arange(task.size) - np.repeat(first, size)] = (
        worker
    )
    teams.put(tasks, rows, size, teams.accuracy[tasks])
