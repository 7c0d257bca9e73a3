"""From prices to teams: whole parts of a linear program, then task by task within the room left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.factors.prices import GroupRelaxation
from crowd_tvcs.factors.teams import Teams
from crowd_tvcs.plan.accuracy_of_pairs import accuracies
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.column_generation import Columns, MasterSolution
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels.records import Candidates, TaskSets
from crowd_tvcs.search.relaxation import Relaxation

AT_ONCE = 2_000_000  # workers x tasks of a block, to bound memory: 16 MB an array
CLIMBED = 200_000  # workers x tasks of a climb that gives labels left over; it takes .1 s
MAX_CLIMBS = 5  # climbs, to bound the time
ROUNDING = 1e-6  # tasks: rounding of the shares of a linear program


def take_whole_parts(
    relaxed: GroupRelaxation, columns: Columns, master: MasterSolution, teams: Teams
) -> None:
    """Assign tasks the sets of a linear program as often as it does, rounded down.

    Tasks of a line and sets of its groups are taken in the order of priors, so that a task gets a
    set of a knot near its own prior. A task that excludes a worker of its set leaves the set to the
    next task of the group, or changes sets with a task before it.
    """
    groups = relaxed.groups
    order = np.lexsort((groups.prior, groups.line))
    ends = np.cumsum(groups.weight)  # of every group, among these
    used = np.flatnonzero(master.share > ROUNDING)
    sets = [columns.set_of(c) for c in master.part[used].tolist()]
    of_group = np.array([group for group, _ in sets], dtype=np.int64)
    free, at, last = 0, 0.0, -1  # the next task that has nobody, and where shares have come to
    for u in np.lexsort((-master.share[used], of_group)).tolist():
        group, workers = sets[u]
        if group != last:
            at, last = float(ends[group] - groups.weight[group]), group
        first = max(free, int(np.ceil(at - ROUNDING)))
        at = min(at + float(master.share[used[u]]), float(ends[group]))
        times = int(np.floor(at + ROUNDING)) - first
        times = min(times, int(teams.room[-1]) // workers.size, int(teams.room[workers].min()))
        end, wanted = int(np.ceil(ends[group] - ROUNDING)), times
        times = min(times, _bring_forward(groups.plan, order[first:end], workers))
        if times > 0:
            tasks, free = order[first : first + times], first + times
            rows, sizes = (
                np.broadcast_to(workers, (times, workers.size)),
                np.full(times, workers.size),
            )
            teams.put(tasks, rows, sizes, teams.accuracy[tasks])
        if times < wanted:
            begin = int(np.ceil(ends[group] - groups.weight[group] - ROUNDING))
            left = order[first + max(times, 0) : first + wanted]
            _change_sets(groups.plan, teams, order[begin:first], left, workers)
    teams.accuracy[:] = accuracies(groups.plan, teams.pairs())


def _bring_forward(plan: Plan, tasks: Integers, workers: Integers) -> int:
    """Put tasks that all of the workers may label first, in place; return how many they are."""
    if not plan.factors.excluded.size:
        return tasks.size
    is_kept = ~plan.factors.excludes(tasks[:, None], workers).any(axis=1)
    tasks[:] = np.concatenate([tasks[is_kept], tasks[~is_kept]])
    return int(is_kept.sum())


def _change_sets(
    plan: Plan, teams: Teams, done: Integers, left: Integers, workers: Integers
) -> None:
    """Give tasks that exclude one of these workers the set of another task, which takes these."""
    able = done[
        ~plan.factors.excludes(done[:, None], workers).any(axis=1) & (teams.sizes[done] > 0)
    ]
    for task in left.tolist():
        place = np.arange(teams.workers.shape[1]) < teams.sizes[able, None]
        is_barred = plan.factors.excludes(np.array(task), teams.workers[able]) & place
        fits = np.flatnonzero(~is_barred.any(axis=1))
        if not fits.size:
            continue
        other = able[fits[:1]]
        rows, sizes = teams.workers[other].astype(np.int64), teams.sizes[other]
        teams.put(other, workers[None, :], np.array([workers.size]), teams.accuracy[other])
        teams.put(np.array([task]), rows, sizes, teams.accuracy[[task]])
        able = np.delete(able, fits[0])


def blocks(relaxed: GroupRelaxation, tasks: Integers) -> Iterator[Integers]:
    """Yield tasks in blocks whose candidates are few enough for the memory."""
    size = max(1, AT_ONCE // relaxed.relaxation.n_workers)
    for at in range(0, tasks.size, size):
        yield tasks[at : at + size]


def relaxation_of(relaxed: GroupRelaxation, tasks: Integers) -> Relaxation:
    """Return the relaxation of some tasks, each with its own prior, from that of their groups."""
    whole, groups = relaxed.relaxation, relaxed.groups
    plan, at = groups.plan, groups.low[tasks]
    x = whole.candidates
    guess = plan.guess[tasks]
    fixed = x.fixed[at]
    if plan.class_prior is None:
        fixed = guess[:, None].copy()
    candidates = x._replace(
        quality=x.quality[at], worker=x.worker[at], size=x.size[at], need=x.need[at],
        cap=x.cap[at], fixed=fixed, n_fixed=x.n_fixed[at], base=guess.copy(),
    )  # fmt: skip
    _exclude(plan, tasks, candidates)
    each = np.arange(tasks.size)
    voters = whole.voters.part(at)
    return replace(whole, candidates=candidates, kind=each, first=each, voters=voters, weight=None)


def _exclude(plan: Plan, tasks: Integers, candidates: Candidates) -> None:
    """Take excluded pairs off the candidates of some tasks; the others keep their order."""
    if not plan.factors.excluded.size:
        return
    rows = np.flatnonzero(np.isin(tasks, plan.factors.excluded // len(plan.quality.workers)))
    worker, size = candidates.worker[rows], candidates.size[rows]
    goes = plan.factors.excludes(tasks[rows, None], worker)
    is_one = np.arange(worker.shape[1]) < size[:, None]
    order = np.argsort(goes | ~is_one, axis=1, kind="stable")
    candidates.worker[rows] = np.take_along_axis(worker, order, axis=1)
    candidates.quality[rows] = np.take_along_axis(candidates.quality[rows], order, axis=1)
    candidates.size[rows] = size - (goes & is_one).sum(axis=1)


def assign_by(
    relaxed: GroupRelaxation,
    tasks: Integers,
    prices: Floats,
    teams: Teams,
    deadline: Deadline,
    *,
    step: float = 0.0,
) -> None:
    """Assign tasks, in this order, their best sets at some prices among workers with room.

    Tasks give back their workers first, block by block. A block that would then miss a minimum, or
    have less accuracy in sum, keeps its workers. With a `step` prices move after every task.
    """
    for some in blocks(relaxed, tasks):
        if deadline.has_passed:
            return
        relaxation, room = relaxation_of(relaxed, some), teams.room + teams.loads(some)
        sets, order = relaxation.nobody(), np.arange(some.size)
        relaxation.visit(order, prices, sets, deadline, step=step, room=room, of=relaxed.n_tasks)
        _keep_better(teams, some, sets, relaxation.need)


def _keep_better(teams: Teams, tasks: Integers, sets: TaskSets, need: Integers) -> None:
    most = teams.workers.shape[1]
    is_met = bool(((sets.sizes >= need) & (sets.sizes <= most)).all())
    was_met = bool((teams.sizes[tasks] >= need).all())
    if is_met and (not was_met or sets.accuracy.sum() > teams.accuracy[tasks].sum()):
        teams.put(tasks, sets.workers, sets.sizes, sets.accuracy)


def fill_remaining(relaxed: GroupRelaxation, teams: Teams) -> None:
    """Give labels left over to the tasks of least accuracy, pair after pair."""
    plan, most = relaxed.groups.plan, teams.workers.shape[1]
    size = max(1, CLIMBED // len(plan.quality.workers))
    able = np.flatnonzero(teams.sizes < np.minimum(plan.max_workers_per_task, most))
    # Two more labels may gain though one does not: half as many tasks get them.
    labels = min(int(teams.room[-1]), int(teams.room[:-1].sum()))
    able = able[np.argsort(teams.accuracy[able], kind="stable")][: -(-labels // 2)]
    for at in range(0, min(able.size, MAX_CLIMBS * size), size):
        if min(int(teams.room[-1]), int(teams.room[:-1].sum())) <= 0:
            return
        tasks = np.sort(able[at : at + size])
        before = teams.of(tasks)
        relaxation = relaxation_of(relaxed, tasks)
        cap = np.minimum(relaxation.candidates.cap, most)
        relaxation = replace(
            relaxation,
            caps=teams.room + teams.loads(tasks),
            candidates=relaxation.candidates._replace(cap=cap),
        )
        sets = relaxation.nobody()
        rows, sizes, accuracy = before
        sets.workers[:, : rows.shape[1]], sets.sizes[:] = rows, sizes
        relaxation.climb(sets, exact=False)
        teams.put(tasks, sets.workers, sets.sizes, accuracy)
        chosen = teams.pairs(tasks)
        teams.accuracy[tasks] = accuracies(plan, chosen)[tasks]
        if teams.accuracy[tasks].sum() < accuracy.sum():
            teams.put(tasks, *before)
