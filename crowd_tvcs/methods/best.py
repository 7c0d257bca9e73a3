"""The best assignment that we can find, with a bound on all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_tvcs.arrays import Bools
from crowd_tvcs.factors.assign import assign_in_factors, begin_by_knots
from crowd_tvcs.factors.from_knots import is_enough
from crowd_tvcs.plan.assigned import Assigned
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.certificate import PlanProof
from crowd_tvcs.plan.costs import is_rationed
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import CLOSED, LARGEST, is_largest, nearly, usable
from crowd_tvcs.search.all_sets import fits
from crowd_tvcs.search.branching import Branching
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.initial import climb, largest_sum
from crowd_tvcs.search.rations import money_price_of
from crowd_tvcs.search.relaxation import DualBound
from crowd_tvcs.search.search import NO_MORE, Search

# Time of two more assignments by that of the first ones: at 3.2 million pairs, 2 and 4 classes.
START_AGAIN = 0.5


def best(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Maximise the expected accuracy by prices, and prove how far it is from the largest.

    1. The cheap assignments: those of `fast`, greedy by exact gains and the largest sum of
       qualities; the best of them is kept.
    2. Prices of the caps: every task in turn takes the set of workers with the largest accuracy
       minus prices, and the prices move at once.
    3. An assignment from prices: tasks in random order take their best sets among the workers
       who have room.
    4. Column generation: an LP over all sets seen gives better prices, these give new sets; its
       solution, nearly integral, is rounded and completed as in 3. Ends when the gap is at
       most 1e-4 of the error, when no new set is found, or after 30 rounds.
    5. The bound: with all tasks priced exactly, no assignment can have a larger mean than
       `budget_price * budget + sum(prices * max_tasks_per_worker)
       + mean over tasks of max over sets S of [accuracy(S) - m * sum over S of
       (price of the worker + budget_price)]`, for any prices >= 0, where m is the number of
       tasks. The smallest bound met is returned with its prices.

    With money a label of worker i is charged `money_price * cost[i]` too, and the bound gains
    `money_price * money`; with groups the sets are those with one of a group at most, exactly. Then
    step 1 has one assignment, the required one. The plan of `greedy` is tried at the end, if that
    is quick or nothing is certified.

    Forced pairs are voters whom a task has in any case; a set has as many others as the minimum
    still asks for, or more. Where the tasks in random order leave a minimum unmet, the pairs are
    kept that can be kept with all minimums met. The bound is one for plans that meet the demands.

    Between steps 1 and 2 a table of few kinds of tasks, and of very many workers or more than two
    classes, gets a plan and a bound by knots of quality, see `crowd_tvcs.factors.from_knots`. If
    the gap is small, all ends.

    A deadline that is not reached changes nothing. A deadline that is reached ends the current
    step: the result is the best plan so far with the bound proved so far, and depends on the
    machine.

    Sets of more than 12 workers on a task (forced ones included) are not searched: unless a bound
    shows that no such set pays, there is none, and large teams come from step 1.

    The rest of the gap of a plan of at most 20 tasks and 10 workers is closed by branching over all
    sets of all tasks (see `crowd_tvcs.search.branching`).

    A crowd in factors is planned by groups of tasks that are alike, see
    `crowd_tvcs.factors.assign.assign_in_factors`.
    """
    if not plan.is_table:
        return assign_in_factors(plan, rng=rng, deadline=deadline)
    before = deadline.left
    search = Search(plan, rng, deadline)
    is_soon = deadline.leaves(START_AGAIN * (before - deadline.left))
    if is_soon and not is_rationed(plan):
        search.offer(climb(search.relaxation, exact=True))
        search.offer(largest_sum(plan, plan.max_workers_per_task))
    known = begin_by_knots(plan, deadline) if is_soon else None
    if known is not None:
        search.dual, support = known
        search.offer(support)
    is_certified = known is not None and is_enough(search.gap, len(plan.quality.workers))
    error = 1.0 - float(search.best.accuracy.mean())
    reason = nearly(search.gap, error) if is_certified else search.run()
    if is_rationed(plan) and deadline.has_passed:  # before anything greedy was tried, perhaps
        search.begin_greedily()
    support, certificate = search.relaxation.support_of(search.best), _by_prices(search)
    if reason != LARGEST and not deadline.has_passed and fits(plan):
        support, certificate = _to_the_end(plan, support, search.dual, deadline)
        reason = deadline.reason if deadline.has_passed else NO_MORE
    found = Assignment(
        plan,
        Assigned.of_support(support),
        "best",
        reason,
        certificate=certificate,
    )
    if is_largest(found.expected_accuracy, found.bound, found.standard_error):
        return replace(found, reason=LARGEST)
    if reason.startswith("proved") and not found.certified:  # the accuracy is sampled
        return replace(found, reason=NO_MORE)
    return found


def _by_prices(search: Search) -> PlanProof | None:
    """Return the bound by prices as a mean over the tasks; None if it is no tighter."""
    dual, relaxation = search.dual, search.relaxation
    if dual is None:
        return None
    n, m = relaxation.n_workers, relaxation.n_tasks
    bound = usable(dual.bound / m)
    if bound is None or dual.bound > m * (1.0 + CLOSED):
        return None
    prices = dual.prices / m
    money_price = money_price_of(relaxation.plan, relaxation.rations, prices)
    return PlanProof(
        bound,
        prices[:n],
        float(prices[n]),
        money_price=money_price,
        slack=dual.slack,
        knots=dual.knots,
    )


def _to_the_end(
    plan: Plan, support: Bools, dual: DualBound | None, deadline: Deadline
) -> tuple[Bools, PlanProof]:
    """Close the gap by branching: the best assignment, and the bound of all parts together."""
    search = Branching(plan, deadline)
    prices = np.zeros(search.sets.limits.size) if dual is None else dual.prices
    whole, parts = search.close(support, prices)
    root, leaves = search.leaf(whole), tuple(map(search.leaf, parts))
    bound, by_prices = usable(max(leaf.bound for leaf in leaves)), usable(root.bound)
    assert bound is not None
    assert by_prices is not None
    if not any(leaf.branches for leaf in leaves):
        leaves, bound, by_prices = (), by_prices, None
    return search.support, PlanProof(
        bound, root.prices, root.budget_price, leaves, by_prices, root.money_price
    )
