"""Plan a round: spend the rest of the budget by the posteriors, around issued pairs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, insert, select, update

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Bools
from crowd_tvcs.campaign.answer_kinds.kind import Preference
from crowd_tvcs.campaign.answer_kinds.pair_plan import propose_pairs
from crowd_tvcs.campaign.entries import Round
from crowd_tvcs.campaign.planning.large import propose_in_factors
from crowd_tvcs.campaign.planning.proposal import (
    RoundRequest,
    beliefs_of,
    labels_left,
    reason_of,
    rng_of,
    worth_their_price,
)
from crowd_tvcs.campaign.settings import MILLION
from crowd_tvcs.campaign.state import Integers, State, within_reach
from crowd_tvcs.campaign.stopping import is_worth_a_label, least_of_round
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.bulk import insert_rows
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.schema import ISSUED, LAPSED, pair, planned
from crowd_tvcs.campaign.store.statements import later
from crowd_tvcs.campaign.tasks import count, settle_each
from crowd_tvcs.methods import METHODS, assign, methods_for
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast
from crowd_tvcs.skills.dependence_fit import NO_GOLD


def plan_of(state: State, labels: int | None, spare: int = 0) -> Plan:
    """Return the static problem of a round.

    Answered pairs are gone: their answers are in the priors and their cost is taken off the money.
    Pending pairs are forced, since their answers will come and be paid. No room is left by closed
    tasks, tasks that are not worth a label, groups that had a task, workers below the minimum
    quality, and used-up caps. A minimum is at most the number of workers who may have the task, one
    per group, unless all workers together could not meet it.

    Parameters
    ----------
    state
        The campaign.
    labels
        Maximum number of new labels; None for the rest of the budget.
    spare
        Millionths of the money to leave alone.
    """
    settings, pending, answered = state.settings, state.pending, state.answered
    m, allowed = len(state.tasks), state.lets_in(state.quality)
    closed = state.closed | ~is_worth_a_label(state)
    able = allowed & ~answered & ~closed & ~state.team_mates & ~state.out_of_reach
    able |= pending
    done, out = answered.sum(axis=0), pending.sum(axis=0)
    per_task = np.array([t.max_workers for t in state.tasks]) - done
    per_worker = np.array([w.max_tasks - w.slots for w in state.workers]) + pending.sum(axis=1)
    least = np.array([t.min_workers for t in state.tasks]) - done
    new = labels_left(settings, labels)
    budget = None if new is None else new + int(out.sum())
    n_able = _one_of_a_group(state, able & ((per_worker > 0)[:, None] | pending))
    known = np.ones_like(able) if state.quality.allowed is None else state.quality.allowed
    least = within_reach(np.maximum(least, 0), n_able, _one_of_a_group(state, known))
    least = np.where(closed, out, least)
    if budget is not None and np.maximum(least, out).sum() > budget:
        least = np.zeros(m, dtype=np.int64)  # a later round meets the minimums
    money = None
    if settings.money is not None:
        paid = settings.committed - int(_prices(state) @ pending.sum(axis=1))
        money = (settings.money - spare - paid) / MILLION
    return Plan(
        Quality(state.quality.values, state.quality.workers, state.quality.tasks, able),
        max_workers_per_task=per_task,
        max_tasks_per_worker=per_worker,
        budget=budget,
        min_workers_per_task=least,
        forced=pending,
        cost=state.costs,
        money=money,
        group=[w.team for w in state.workers],
        **beliefs_of(state),
        **_errors_of(state),
    )


def _one_of_a_group(state: State, able: Bools) -> Integers:
    """How many workers each task may have, of each group one."""
    n_able: Integers = able.sum(axis=0)
    for members in state.teams:
        n_able += able[members].any(axis=0) - able[members].sum(axis=0)
    return n_able


def _errors_of(state: State) -> dict[str, Any]:
    """Return the common error of new labels, if gold measured it, as in `assign --dependence`.

    Without gold new labels count as independent, as there.
    """
    model = state.model
    if model is None or model.source == NO_GOLD.source:
        return {}
    return {"common_error": model.plan_error, "error_shares": json.loads(state.settings.prior)}


def propose(state: State, asked: RoundRequest) -> Round:
    """Choose the pairs of a round; the same state gives the same pairs.

    Without a method it is `usual_method`. `assign` refuses one that does not honour the money and
    groups of the campaign. A task to which new labels add less than the minimum gain, per label,
    gets none, unless its minimum asks for them (`crowd_tvcs.campaign.stopping.least_of_round`).
    """
    if state.kind.name == Preference.name:
        return propose_pairs(state, asked.labels, asked.max_per_side)
    if not state.kind.has_classes:
        raise ValueError(
            "answers of several labels have no plan: next and the desk hand out the tasks with "
            "fewest answers first, each up to its cap of workers (max_workers_per_task)"
        )
    if state.is_large:
        return propose_in_factors(state, asked)
    plan, found = _within_money(state, asked)
    least = least_of_round(state, asked.min_gain)
    chosen = worth_their_price(plan, state.pending, found.support & ~state.pending, least)
    left_out = int((found.support & ~state.pending & ~chosen).sum())
    kept = Assignment(plan, Assigned.of_support(chosen | state.pending), found.method, found.reason)
    return Round(
        0,
        state.named(np.argwhere(chosen)),
        found.method,
        reason_of(found, kept.expected_accuracy, left_out),
        kept.expected_accuracy,
        found.bound,
        left_out,
        kept.standard_error,
        _forecast(state, kept),
    )


def _forecast(state: State, kept: Assignment) -> AccuracyForecast | None:
    """Return the accuracy predicted by gold; of tasks without answers, by their workers."""
    model = state.model
    if model is None or model.forecast_model is None or kept.plan.common_error != model.plan_error:
        return None
    new = kept.support & ~state.answered.any(axis=0)
    return model.forecast_model.forecast_plan(state.quality.values, new, kept.task_accuracy)


def _within_money(state: State, asked: RoundRequest) -> tuple[Plan, Assignment]:
    """Plan a round that the money can pay to the millionth, as the store counts it.

    `Plan` allows for the rounding of sums, which can be some millionths of a large sum of money.
    """
    settings, spare = state.settings, 0
    while True:
        plan = plan_of(state, asked.labels, spare)
        name = asked.method or usual_method(plan, quick=asked.quick)
        found = assign(plan, name, rng=rng_of(settings), time_limit=asked.time_limit)
        new = found.support & ~state.pending
        cost = settings.committed + int(_prices(state) @ new.sum(axis=1))
        if settings.money is None or cost <= settings.money:
            return plan, found
        spare += cost - settings.money


def usual_method(plan: Plan, *, quick: bool = False) -> str:
    """The first method, or the first quick one, that honours all that the plan demands."""
    return next(name for name in methods_for(plan) if METHODS[name].is_quick or not quick)


def issue(connection: Connection, state: State, settings: Settings, found: Round) -> Round:
    """Write a round down, in which every new pair gets a slot; return it with its number."""
    number = settings.rounds + 1
    workers, tasks = ({row.name: row for row in rows} for rows in (state.workers, state.tasks))
    chosen = [(tasks[task].id, workers[who].id) for who, task in found.pairs]
    lapsed = set(map(tuple, connection.execute(_LAPSED)))
    again = [{"of_task": j, "who": i, "number": number} for j, i in chosen if (j, i) in lapsed]
    if again:
        connection.execute(_ISSUE_AGAIN, again)
    new = {"state": ISSUED, "round": number}
    first = [new | {"task_id": j, "worker_id": i} for j, i in chosen if (j, i) not in lapsed]
    insert_rows(connection, pair, first)
    by_worker = Counter(i for _, i in chosen)
    later(connection, *(queries.MORE_SLOTS.with_(who=i, more=n) for i, n in by_worker.items()))
    cost = sum(w.cost * by_worker[w.id] for w in state.workers)
    missing = settle_each(connection, settings, [j for j, _ in chosen])
    connection.execute(
        insert(planned).values(
            round=number,
            method=found.method,
            reason=found.reason,
            pairs=len(chosen),
            answers_before=settings.answers,
            expected_accuracy=found.expected_accuracy,
            bound=found.bound,
        )
    )
    count(connection, slots=len(chosen), committed=cost, missing=missing, rounds=1)
    return replace(found, number=number)


def _prices(state: State) -> Integers:
    """Millionths that a label of every worker costs."""
    return np.array([w.cost for w in state.workers], dtype=np.int64)


_LAPSED = select(pair.c.task_id, pair.c.worker_id).where(pair.c.state == LAPSED)
_ISSUE_AGAIN = (
    update(pair)
    .where(pair.c.task_id == bindparam("of_task"), pair.c.worker_id == bindparam("who"))
    .values(state=ISSUED, round=bindparam("number"), expires=None)
)
