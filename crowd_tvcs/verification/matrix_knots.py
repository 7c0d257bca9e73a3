"""Compute the bound of `knots` in summary.json: voters that were priced in place of the workers.

A worker whose matrix is a mean of matrices of other voters, each garbled, is worth no more than
these voters are, one drawn by the chances of the mean (the accuracy of a vote is convex in the
matrix of a voter, and garbling adds nothing). So where no worker costs less than such a mean of the
prices of knots, the best multiset of knots bounds every set of workers. Sets that use excluded
pairs are bounded as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification.pricing_many_classes import best_multiset, chances
from crowd_tvcs.verification.record_checks import is_number
from tvcs_core.files.display import quoted

MARGIN = 1e-6  # accuracy of a voter by which the stated bound may be larger, for rounding

Floats = NDArray[np.float64]


def bound_of_matrix_knots(plan: Plan, prices: tuple[Floats, float, float], document: Any) -> float:
    """Return the bound that the prices of workers, of the budget and of the knots prove.

    Raises
    ------
    ValueError
        If the knots are not those of this plan, or a worker costs less than a mixture of them.
    """
    m, most = len(plan.quality.tasks), int(plan.max_workers_per_task.max())
    of_workers, of_budget, _ = prices
    matrices, prior = _of_all_tasks(plan)
    voters, price = _knots(plan, matrices, document)
    price *= m
    off = 0.0
    for i, matrix in enumerate(matrices):
        cost, rest = _cheapest_mixture(matrix, voters, price)
        asked = m * float(of_workers[i] + of_budget)
        if not cost <= asked + MARGIN:
            raise ValueError(
                f"knots: a label of {quoted(plan.quality.workers[i])} must cost {cost / m!r}, that "
                f"of a mixture of knots, or more, found {asked / m!r}"
            )
        off = max(off, rest + max(0.0, cost - asked))
    caps = math.fsum(of_workers * plan.max_tasks_per_worker) + of_budget * plan.budget
    best = best_multiset(prior[:, None], voters, price, most)
    if best == math.inf:
        raise ValueError("knots: these are too many to be tried here")
    return caps + best + most * off


def _of_all_tasks(plan: Plan) -> tuple[Floats, Floats]:
    """Return the matrices of the workers and the prior, which must be those of every task."""
    if not plan.is_table or plan.common_error > 0.0:
        raise ValueError("knots: a plan by kinds of tasks or with common errors has none")
    matrices, prior = chances(plan, 0)
    values, priors = plan.table.values, plan.prior if plan.n_classes == 2 else plan.class_prior
    are_alike = priors is None or (priors == priors[0]).all()
    if not are_alike or (plan.confusion is None and (values != values[:, :1]).any()):
        raise ValueError("knots: tasks must be alike, found different ones")
    return matrices, prior


def _knots(plan: Plan, matrices: Floats, document: Any) -> tuple[Floats, Floats]:
    """Return the matrices of the knots in summary.json, and their prices."""
    k, names = plan.n_classes, plan.quality.workers
    if not isinstance(document, dict) or set(document) != {"workers", "splits"}:
        raise ValueError("knots: must have workers and splits, and nothing else")
    workers, splits = document["workers"], document["splits"]
    if not isinstance(workers, dict) or not set(workers) <= set(names):
        raise ValueError("knots: workers must be those of the plan, with a price each")
    is_split = isinstance(splits, list) and all(
        isinstance(split, dict)
        and set(split) == {"parts", "price"}
        and isinstance(split["parts"], list)
        and len(split["parts"]) == k
        and all(type(part) is int and 0 <= part < k for part in split["parts"])
        for split in splits
    )
    if not is_split:
        raise ValueError(f"knots: splits must have a price, and parts from 0 of {k} classes")
    prices = [*workers.values(), *(split["price"] for split in splits)]
    if not all(is_number(price) and price >= 0.0 for price in prices):
        raise ValueError("knots: prices must be numbers >= 0")
    place = {name: i for i, name in enumerate(names)}
    voters = [matrices[place[name]] for name in workers]
    voters += [np.eye(k)[split["parts"]] for split in splits]
    return np.array(voters).reshape(-1, k, k), np.array(prices, dtype=float)


def _cheapest_mixture(matrix: Floats, voters: Floats, price: Floats) -> tuple[float, float]:
    """Return the least cost of a mixture of garbled voters, and by how much it is another matrix.

    The variables are, per voter, chance times garbling, and the rest that tells nothing.
    """
    from scipy.optimize import linprog

    n, k = len(voters), len(matrix)
    columns, cost = [], []
    for s in range(n):
        for row in range(k):
            for answer in range(k):
                made = np.zeros((k, k))
                made[:, answer] = voters[s, :, row]
                sums = np.zeros((n, k))
                sums[s, row] = 1.0
                # all rows of a garbling have the sum of the first
                columns.append(np.append(made, sums[:, 1:] - sums[:, :1]))
                cost.append(price[s] if row == 0 else 0.0)
    for answer in range(k):
        made = np.zeros((k, k))
        made[:, answer] = 1.0
        columns.append(np.append(made, np.zeros(n * (k - 1))))
        cost.append(0.0)
    system = np.array(columns).T
    wanted = np.append(matrix, np.zeros(n * (k - 1)))
    found = linprog(cost, A_eq=system, b_eq=wanted, bounds=(0.0, None))
    if found.status != 0:
        return math.inf, 0.0
    rest = np.abs(system @ np.maximum(found.x, 0.0) - wanted)
    return float(found.fun), float(
        rest[: k * k].reshape(k, k).sum(axis=1).max() + rest[k * k :].sum()
    )
