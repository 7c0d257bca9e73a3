"""Teams to begin with: of a table of a part of the tasks, repeated, or of nearly equal sizes.

Tasks of one line are alike, but for their priors. A plan of one of every B of them, within caps
and a budget divided by B, keeps all caps when it is repeated B times, and has the same mean
accuracy. So a table small enough for the method `fast` gives teams for all tasks, whatever prices
come to later. With too many lines for that, tasks get nearly equal numbers of labels, of the best
workers of every line first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.factors.grid import Groups, lines_of
from crowd_tvcs.factors.teams import Teams
from crowd_tvcs.plan.accuracy_of_pairs import accuracies
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.initial import quick
from crowd_tvcs.search.relaxation import Relaxation

# Workers x columns of a table: `fast` takes .2 s for the first number, 1 s for the second
# (two cores of 2023), which are tried in this order.
PAIRS = (200_000, 1_000_000)
# Part of the labels of the best workers that is lost by division: less than the first number does
# not matter, and above the second the next of `PAIRS` is tried.
LITTLE, LOST = 0.02, 0.1
MAX_SCALES = 400  # numbers B that are tried
MAX_CELLS = 20_000_000  # workers x classes of tasks that are sorted, to bound the time: 2 s


def starts(groups: Groups, least: Teams) -> Iterator[Teams]:
    """Yield teams by both ways; they keep the caps, though perhaps not the minimums."""
    for made in (scaled_teams(groups, least), even_teams(groups.plan, least)):
        if made is not None:
            yield made


def scaled_teams(groups: Groups, least: Teams) -> Teams | None:
    """Plan a table of one of every B tasks of each line, and repeat it B times.

    None if there are too many lines for a table, or it cannot meet the minimums.
    """
    plan = groups.plan
    scale = _scale(plan, np.bincount(groups.line))
    if scale is None:
        return None
    order, column = _columns(groups, scale)
    first = np.searchsorted(column, np.arange(column[-1] + 1))
    count = np.diff(np.append(first, column.size))
    try:
        table = _table(plan, order[first + count // 2], _barred(plan, order, column), scale)
    except ValueError:  # divided caps leave no room for the minimums
        return None
    sets = quick(Relaxation.of(table))[1]
    teams = no_teams(least)
    sizes = np.minimum(sets.sizes, teams.workers.shape[1])
    teams.put(order, sets.workers[column], sizes[column], teams.accuracy[order])
    return rated(plan, teams)


def _scale(plan: Plan, count: Integers) -> int | None:
    """Return the smallest B by which division loses little of the labels of the best workers.

    Among those whose table is not too large; the one that loses the least if there is none such.
    None if there are too many lines.
    """
    n, m = plan.factors.shape
    caps, budget = np.minimum(plan.max_tasks_per_worker, m), min(plan.budget, m * n)
    strength = np.abs(plan.factors.table.values - 1.0 / plan.n_classes).mean(axis=1)
    order = np.argsort(-strength, kind="stable")
    caps = caps[order][: int(np.searchsorted(np.cumsum(caps[order]), budget)) + 1]
    if not caps.any() or budget == 0:
        return None
    found: list[tuple[float, int]] = []
    for most in PAIRS:
        least = _least_scale(count, most // n)
        if least is None:
            continue
        largest = max(least, int(np.median(caps[caps > 0])))
        for scale in np.unique(np.linspace(least, largest, MAX_SCALES).astype(np.int64)).tolist():
            lost = float((caps % scale).sum() / caps.sum() + (budget % scale) / budget)
            if lost <= LITTLE:  # a larger table is a finer one
                return scale
            found.append((lost, scale))
        if min(found)[0] <= LOST:
            break
    return min(found)[1] if found else None


def _least_scale(count: Integers, columns: int) -> int | None:
    """Return the smallest B with which lines of so many tasks need at most so many columns."""
    if columns < count.size:
        return None
    low, high = 1, int(count.max())
    while low < high:
        middle = (low + high) // 2
        if int((-(-count // middle)).sum()) <= columns:
            high = middle
        else:
            low = middle + 1
    return low


def _columns(groups: Groups, scale: int) -> tuple[Integers, Integers]:
    """Return all tasks by line and prior, and the column that each of them is a copy of."""
    order = np.lexsort((groups.prior, groups.line))
    line = groups.line[order]
    place = np.arange(line.size) - np.searchsorted(line, line)
    is_first = place % scale == 0
    return order, np.cumsum(is_first) - 1


def _barred(plan: Plan, order: Integers, column: Integers) -> Bools:
    """Mark workers excluded from at least half of the tasks of a column: (workers, columns)."""
    n, size = len(plan.quality.workers), int(column[-1]) + 1
    of_task, worker = np.divmod(plan.factors.excluded, n)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = column
    times = np.bincount(worker * size + place[of_task], minlength=n * size).reshape(n, size)
    return 2 * times >= np.maximum(1, np.bincount(column))


def _table(plan: Plan, tasks: Integers, barred: Bools, scale: int) -> Plan:
    """Return the plan of these tasks with caps and budget divided."""
    part = plan.part(tasks)
    given = part.table
    may = ~barred if given.allowed is None else given.allowed & ~barred
    quality = Quality(given.values, given.workers, given.tasks, may)
    return Plan(
        quality,
        max_workers_per_task=part.max_workers_per_task,
        max_tasks_per_worker=plan.max_tasks_per_worker // scale,
        budget=plan.budget // scale,
        prior=part.prior if plan.n_classes == 2 else 0.5,
        min_workers_per_task=part.min_workers_per_task,
        n_classes=plan.n_classes,
        class_prior=part.class_prior,
    )


def even_teams(plan: Plan, least: Teams) -> Teams | None:
    """Give tasks nearly equal, odd numbers of labels, of the best workers of their lines.

    Workers of every line and number are dealt in turn (the wrap-around rule of McNaughton 1959),
    so that nobody gets a task twice; strong ones join weak ones. None if there are too many lines.
    """
    teams = no_teams(least)
    sizes = _even_sizes(plan, teams.workers.shape[1])
    keys = np.column_stack([lines_of(plan)[0], sizes])
    known, member, of_task, count = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if known.shape[0] * len(plan.quality.workers) > MAX_CELLS:
        return None
    kind = plan.factors.kind[member]
    strength = np.abs(plan.factors.table.values[:, kind] - 1.0 / plan.n_classes)
    dealt = _strongest(plan, kind, strength, known[:, 1], count)
    order = np.argsort(of_task.reshape(-1), kind="stable")
    ends = np.cumsum(count)
    for c, size in enumerate(known[:, 1].tolist()):
        tasks = order[ends[c] - count[c] : ends[c]]
        labels = _in_turn(dealt[:, c], strength[:, c], tasks.size)
        rows = np.zeros(size * tasks.size, dtype=np.int64)
        rows[: labels.size] = labels
        given = np.bincount(np.arange(labels.size) % tasks.size, minlength=tasks.size)
        teams.put(tasks, rows.reshape(size, tasks.size).T, given, teams.accuracy[tasks])
    return rated(plan, teams)


def _even_sizes(plan: Plan, most: int) -> Integers:
    """Return how many labels each task gets: odd numbers where caps and minimums allow them.

    The tasks with the least certain priors get two more, as far as labels go.
    """
    caps, least = np.minimum(plan.max_workers_per_task, most), plan.min_workers_per_task
    m = caps.size
    labels = min(plan.budget, int(np.minimum(plan.max_tasks_per_worker, m).sum()))
    odd = np.where(caps % 2 == 1, caps, np.maximum(caps - 1, 0))
    equal = 2 * ((labels // m + 1) // 2) - 1
    sizes = np.maximum(np.minimum(odd, max(0, equal)), least)
    more, order = 2 if equal > 0 else 1, np.argsort(plan.guess, kind="stable")
    able = order[sizes[order] + more <= odd[order]]
    sizes[able[: max(0, labels - int(sizes.sum())) // more]] += more
    for j in order[::-1]:  # minimums may have taken more than there is
        if (over := int(sizes.sum()) - labels) <= 0:
            break
        sizes[j] -= min(over, int(sizes[j] - least[j]))
    return sizes


def _strongest(
    plan: Plan, kind: Integers, strength: Floats, sizes: Integers, count: Integers
) -> Integers:
    """Return how many tasks of every class each worker gets, the strongest pairs first."""
    n, room = len(plan.quality.workers), plan.max_tasks_per_worker.copy()
    need, out = sizes * count, np.zeros(strength.shape, dtype=np.int64)
    allowed = plan.factors.table.allowed
    may = np.ones(strength.shape, dtype=bool) if allowed is None else allowed[:, kind]
    pairs = np.flatnonzero(may)
    pairs = pairs[np.argsort(-strength.reshape(-1)[pairs], kind="stable")]
    for at in range(0, pairs.size, 10 * n):
        some = pairs[at : at + 10 * n]
        worker, of = np.divmod(some, sizes.size)
        is_open = (room[worker] > 0) & (need[of] > 0)
        for i, c in zip(worker[is_open].tolist(), of[is_open].tolist(), strict=True):
            times = min(int(room[i]), int(need[c]), int(count[c]))
            out[i, c], room[i], need[c] = times, room[i] - times, need[c] - times
        if not (need.any() and room.any()):
            break
    return out


def _in_turn(times: Integers, strength: Floats, n_tasks: int) -> Integers:
    """Return workers, each as often as their tasks, strong workers of one round above weak ones."""
    who = np.flatnonzero(times)
    who = who[np.argsort(-strength[who], kind="stable")]
    turn = (np.cumsum(times[who]) - times[who]) // n_tasks
    rank = np.where(turn % 2 == 0, np.arange(who.size), -np.arange(who.size))
    who = who[np.lexsort((rank, turn))]
    return np.repeat(who, times[who])


def no_teams(least: Teams) -> Teams:
    """Return teams without anybody, for the tasks and caps of others."""
    out = least.copy()
    out.room += out.loads(np.arange(out.sizes.size))
    out.sizes[:] = 0
    return out


def rated(plan: Plan, teams: Teams) -> Teams:
    """Take excluded pairs off teams, in place, and compute their accuracies."""
    tasks = np.unique(plan.factors.excluded // len(plan.quality.workers))
    if tasks.size:
        rows, sizes = teams.workers[tasks].astype(np.int64), teams.sizes[tasks]
        is_one = np.arange(rows.shape[1]) < sizes[:, None]
        goes = plan.factors.excludes(tasks[:, None], rows) & is_one
        order = np.argsort(goes | ~is_one, axis=1, kind="stable")
        left = sizes - goes.sum(axis=1)
        rows = np.take_along_axis(rows, order, axis=1)
        teams.put(tasks, rows, left, teams.accuracy[tasks])
    teams.accuracy[:] = accuracies(plan, teams.pairs())
    return teams
