"""Teams from the program over knots of quality: every voter at a knot becomes a worker near it.

The program says how many tasks take which multiset of voters at knots, and how many labels every
worker gives on every kind of tasks. Voters and labels are sorted by quality and matched in that
order, so that a worker stands for a voter at one of the knots around them. What the team of a task
loses or gains by that is of the second order in the distance of the knots.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.factors.knots import KnotsOfKind, KnotsProgram
from crowd_tvcs.factors.start import rated
from crowd_tvcs.factors.teams import Teams

MAX_DISTANCE = 2_000  # places that are searched for another worker where one would vote twice

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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


def _once_each(task: Integers, worker: Integers) -> NDArray[np.bool_]:
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
