"""The best assignment that we can find, with a bound on what any other could reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_tvcs.assignment import Assignment, Certificate
from crowd_tvcs.deadline import Deadline
from crowd_tvcs.plan import Plan
from crowd_tvcs.proof import CLOSED, usable
from crowd_tvcs.search import NO_MORE, Search
from crowd_tvcs.starts import climb, largest_sum


def best(plan: Plan, *, rng: np.random.Generator, deadline: Deadline) -> Assignment:
    """Maximise the expected accuracy by prices, and prove how far it is from the largest.

    1. The cheap assignments: those of `fast`, greedy by exact gains and the largest sum of
       qualities; the best of them is kept.
    2. Prices of the caps: every task in turn takes the set of workers with the largest accuracy
       minus prices, and the prices move at once.
    3. An assignment from prices: tasks in random order take their best sets among the workers
       who have room.
    4. Column generation: an LP over all sets seen gives better prices, these give new sets; its
       solution, nearly integral, is rounded and completed as in 3. The search for sets is broken
       off early as long as that finds some, and is exact from then on. Ends when the gap is at
       most 1e-4 of the error, when no new set is found, or after 30 rounds.
    5. The bound: with all tasks priced exactly, no assignment can have a larger mean than
       `budget_price * budget + sum(prices * max_tasks_per_worker)
       + mean over tasks of max over sets S of [accuracy(S) - m * sum over S of
       (price of the worker + budget_price)]`, for any prices >= 0, where m is the number of
       tasks. The smallest bound met is returned with its prices.

    Forced pairs are voters whom a task has in any case; a set has as many others as the minimum
    still asks for, or more. Where the tasks in random order leave a minimum unmet, the pairs are
    kept that can be kept with all minimums met. The bound is one for plans that meet the demands.

    A deadline that does not strike changes nothing. One that does breaks off whatever is going on
    and makes the result depend on the machine; it is then the best so far, with the
    bound that was proved before, if any.

    Sets of more than 12 workers on a task (forced ones included) are not searched: unless a bound
    shows that no such set pays, there is none, and large teams come from step 1.
    """
    search = Search(plan, rng, deadline)
    search.offer(climb(search.market, exact=True))
    search.offer(largest_sum(plan, plan.max_workers_per_task))
    reason = search.run()
    support = search.best.support(search.market)
    dual = search.dual
    certificate = None
    m = search.market.n_tasks
    if dual is not None and dual.bound <= m * (1.0 + CLOSED):  # else it says nothing
        bound = usable(dual.bound / m)
        assert bound is not None
        certificate = Certificate(bound, dual.prices[:-1] / m, float(dual.prices[-1] / m))
    found = Assignment(plan, support, "best", reason, facts=search.facts, certificate=certificate)
    if reason.startswith("proved") and not found.certified:  # the accuracy is sampled
        found = replace(found, reason=NO_MORE)
    return found
