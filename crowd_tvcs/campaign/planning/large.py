"""Plan a round of a crowd in factors, whose workers x tasks are too many for a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.campaign.entries import Round
from crowd_tvcs.campaign.planning.proposal import (
    RoundRequest,
    beliefs_of,
    labels_left,
    reason_of,
    rng_of,
    worth_their_price,
)
from crowd_tvcs.campaign.state import CHUNK_PAIRS, Bools, Floats, Integers, State, within_reach
from crowd_tvcs.campaign.stopping import is_worth_a_label, least_of_round
from crowd_tvcs.campaign.store.schema import ANSWERED, ISSUED, LAPSED, LEASED
from crowd_tvcs.factors import tables
from crowd_tvcs.methods import assign, check_honoured
from crowd_tvcs.plan.accuracy_of_pairs import accuracies
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan


def propose_in_factors(state: State, asked: RoundRequest) -> Round:
    """Choose the pairs of a round of a crowd whose workers x tasks are too many for a table.

    Tasks with labels that are out wait for them. A bound is of the other tasks' part.

    Raises
    ------
    ValueError
        If there is money or a group, which only plans of a table honour.
    """
    method, labels = asked.method or "best", asked.labels
    check_honoured(method, ["kinds"])
    is_open = _open_tasks(state)
    before = _pending_accuracy(state)
    if not is_open.any():
        return _nobody(before, "no task is open")
    plan = _plan_of(state, np.flatnonzero(is_open), labels)
    is_spent = plan.budget == 0 and labels_left(state.settings, labels) != 0
    is_for_least = is_spent and bool(_missing(state).any())
    if is_for_least:
        is_open &= _missing(state) > 0
        if not is_open.any():
            return _nobody(before, "what the budget has left is for minimums of tasks that wait")
        plan = _plan_of(state, np.flatnonzero(is_open), labels, only_least=True)
    number = np.flatnonzero(is_open)
    rng = rng_of(state.settings)
    found = assign(plan, method, rng=rng, time_limit=asked.time_limit)
    kept = np.ones(found.size, dtype=bool)
    if not is_for_least:
        kept = _pairs_worth_their_price(plan, found, least_of_round(state, asked.min_gain))
    pairs = found.assigned.part(kept)
    accuracy = float(accuracies(plan, pairs).mean())
    bound, left_out = found.bound, int((~kept).sum())
    reason = reason_of(found, accuracy, left_out)
    if number.size < before.size:
        share, rest = number.size / before.size, float(before[~is_open].sum()) / before.size
        accuracy = share * accuracy + rest
        bound = None if bound is None else share * bound + rest
    new = np.column_stack([pairs.workers, number[pairs.tasks]])
    named = sorted(state.named(new))
    return Round(0, named, found.method, reason, accuracy, bound, left_out)


def _nobody(before: Floats, reason: str) -> Round:
    """Propose a round without pairs."""
    return Round(0, [], "best", reason, float(before.mean()), None, 0)


def _pending_accuracy(state: State) -> Floats:
    """Expected accuracy of every task after all pending answers."""
    out = np.isin(state.pairs.state, (ISSUED, LEASED))
    every = np.arange(len(state.tasks))
    plan = Plan(state.factors, **beliefs_of(state, every))
    tasks, workers = (number[out] for number in state.pairs[:2])
    return accuracies(plan, Assigned.of(tasks, workers, plan.quality.shape))


def _open_tasks(state: State) -> Bools:
    """Tasks of a large crowd that a round may give labels."""
    if state.settings.money is not None or any(w.team is not None for w in state.workers):
        raise ValueError(
            f"rounds with money or groups are planned for crowds whose workers x tasks are at most "
            f"{tables.MOST_PAIRS}, found {len(state.workers)} x {len(state.tasks)}; next honours "
            "them in any crowd"
        )
    waits = state.count(ISSUED, LEASED) > 0
    return ~state.closed & is_worth_a_label(state) & ~waits


def _missing(state: State) -> Integers:
    """How many more labels a task's minimum asks for that may be had; of closed tasks, none."""
    within, kind = _within(state).sum(axis=0), state.factors.kind
    least = np.array([t.min_workers for t in state.tasks])
    least = within_reach(least, within[kind], _n_known(state)[kind])
    short = np.maximum(least - state.count(ISSUED, LEASED, ANSWERED), 0)
    return np.where(state.closed, 0, short)


def _labels_left(state: State, labels: int | None, held: int) -> int | None:
    """Most new labels of a plan, which holds to so many of the missing ones, beside the others."""
    settings, new = state.settings, labels_left(state.settings, labels)
    if new is None or settings.left is None:
        return new
    kept = int(_missing(state).sum()) - held
    return max(0, min(new, settings.left - kept))


def _n_known(state: State) -> Integers:
    """How many workers have a quality, by kind."""
    table = state.factors.table
    n, m = table.shape
    return np.full(m, n) if table.allowed is None else table.allowed.sum(axis=0)


def _within(state: State) -> Bools:
    """Mark the kinds of tasks of every worker: above the minimum quality and not blocked."""
    return state.lets_in(state.factors.table) & ~state.blocked[:, None]


def _plan_of(
    state: State, number: Integers, labels: int | None, *, only_least: bool = False
) -> Plan:
    """Return the static problem of a round of some tasks; see `rounds.plan_of`.

    Workers who had a task are excluded from it, and its minimum is at most the number of remaining
    workers. The budget keeps the labels that this misses, and those of tasks that wait. Without
    budget for more, a plan with `only_least` gives tasks no more than their minimums.
    """
    factors, within = state.factors, _within(state)
    table = factors.table if within.all() else replace(factors.table, allowed=within)
    of_tasks = [state.tasks[j] for j in number.tolist()]
    done = state.count(ANSWERED)[number]
    place = np.full(len(state.tasks), -1)
    place[number] = np.arange(number.size)
    is_had = (state.pairs.state != LAPSED) & (place[state.pairs.task] >= 0)
    had = place[state.pairs.task[is_had]], state.pairs.worker[is_had]
    room = np.array([0 if w.blocked else w.max_tasks - w.slots for w in state.workers])
    least, kind = np.array([t.min_workers for t in of_tasks]), factors.kind[number]
    least = within_reach(least, within.sum(axis=0)[kind], _n_known(state)[kind])
    least[had[0]] = 0
    most = np.array([t.max_workers for t in of_tasks]) - done
    missing = _missing(state)[number]
    most = np.minimum(most, missing) if only_least else most
    held = int(missing.sum() if only_least else least.sum())
    budget = _labels_left(state, labels, held)
    if budget is not None and least.sum() > budget:
        least[:] = 0  # a later round meets the minimums
        budget = budget if only_least else _labels_left(state, labels, 0)
    return Plan(
        Factors(table, [t.name for t in of_tasks], kind, excluded=had),
        max_workers_per_task=most,
        max_tasks_per_worker=np.maximum(room, 0),
        budget=budget,
        min_workers_per_task=least,
        **beliefs_of(state, number),
    )


def _pairs_worth_their_price(plan: Plan, found: Assignment, min_gain: float) -> Bools:
    """Which pairs of a plan in factors stay; see `worth_their_price`, block by block of tasks."""
    pairs, (n, m) = found.assigned, plan.quality.shape
    size, kept = max(1, CHUNK_PAIRS // n), np.zeros(found.size, dtype=bool)
    for start in range(0, m, size):
        number = np.arange(start, min(start + size, m))
        begin, end = np.searchsorted(pairs.tasks, [number[0], number[-1] + 1])
        at = pairs.workers[begin:end], pairs.tasks[begin:end] - start
        chosen = np.zeros((n, number.size), dtype=bool)
        chosen[at] = True
        nothing = np.zeros_like(chosen)
        kept[begin:end] = worth_their_price(plan.part(number), nothing, chosen, min_gain)[at]
    return kept
