"""Check the bound of `branches.json` in plain NumPy, with code of its own.

Every plan takes one side of every test, so it is in one of the leaves if these are all the leaves
of a tree of tests. A leaf's prices prove a bound for the plans in it, by weak duality: with m
tasks, the prices of the workers and the budget as in `prices.csv` and a price for every test,

    bound = sum of price * cap + money_price * money + mean over tasks of max over sets S of
            [accuracy(S) - m * (prices of S + the task's part in the tests)],

A test of at most k tasks adds its price * k, and each task that counts in it is charged the price.
A test of at least k tasks does the opposite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.verification import pricing_many_classes as multiclass
from crowd_tvcs.verification.pricing import accuracy
from crowd_tvcs.verification.pricing_common_error import (
    scale_of_equals,
    seeming_chances,
    seeming_right,
    weights_and_scale,
)
from crowd_tvcs.verification.side_constraints import groups_of, label_prices, worth_of_money

MAX_TASKS, MAX_WORKERS = 20, 10  # of a plan that the method branches on, see methods/best.py
TOLERANCE = 1e-9  # rounding of a bound
MAX_QUICK_OUTCOMES = 2**16  # outcomes of a team that are enumerated
MAX_FINITE = 1e300  # largest price of a file

Test = tuple[frozenset[str], frozenset[str], int]  # tasks, workers, how many of them


def bound_of_branches(plan: Plan, document: Any) -> float:
    """Return the largest bound of the leaves of `branches.json`, each computed from its prices."""
    n, m = plan.quality.shape
    if n > MAX_WORKERS or m > MAX_TASKS:
        raise ValueError(f"is for at most {MAX_TASKS} tasks and {MAX_WORKERS} workers")
    is_one = isinstance(document, dict) and set(document) == {"leaves"}
    leaves = document["leaves"] if is_one else None
    if not isinstance(leaves, list) or not leaves:
        raise ValueError("must hold a list of leaves and nothing else")
    read = [_Leaf(plan, number, leaf) for number, leaf in enumerate(leaves, start=1)]
    _check_tree([leaf.path for leaf in read], 0)
    tasks = _Tasks(plan)
    bounds = [tasks.bound(leaf) for leaf in read]
    for leaf, bound in zip(read, bounds, strict=True):
        if abs(leaf.bound - bound) > TOLERANCE * max(1.0, abs(bound)):
            raise ValueError(f"leaf {leaf.number}: bound is {leaf.bound!r}, recomputed {bound!r}")
    return min(max(bounds), tasks.most)


class _Leaf:
    """A leaf as read from the file; a faulty one is refused."""

    def __init__(self, plan: Plan, number: int, given: Any) -> None:
        self.number, quality = number, plan.quality
        names = {"prices", "budget_price", "branches", "bound"}
        names |= set() if plan.money is None else {"money_price"}
        if not isinstance(given, dict) or set(given) != names or not isinstance(
            given["prices"], dict
        ):  # fmt: skip
            of_money = "" if plan.money is None else "a money_price, "
            raise ValueError(
                f"leaf {number} must have prices, a budget_price, {of_money}branches and bound"
            )
        prices = given["prices"]
        if sorted(prices) != sorted(quality.workers):
            raise ValueError(f"leaf {number} must have one price per worker")
        self.prices = np.array([self._number(prices[name]) for name in quality.workers])
        self.budget_price = self._number(given["budget_price"])
        # The bound of a half that no plan is in may be far below 0.
        self.bound = self._number(given["bound"], least=-MAX_FINITE)
        self.money_price = self._number(given.get("money_price", 0.0), most=MAX_FINITE)
        self.path: list[tuple[Test, bool, int]] = []
        self.branch_prices: list[float] = []
        branches = given["branches"]
        if not isinstance(branches, list):
            raise ValueError(f"leaf {number} must have prices, a budget_price and branches")
        for branch in branches:
            self.path.append(self._branch(branch, set(quality.tasks), set(quality.workers)))
            self.branch_prices.append(self._number(branch["price"]))

    def _number(self, value: Any, *, least: float = 0.0, most: float = 1e9) -> float:
        is_one = isinstance(value, float | int) and not isinstance(value, bool)
        if not is_one or not least <= value < most:
            raise ValueError(f"leaf {self.number}: a price must be a number >= 0, found {value!r}")
        return float(value)

    def _branch(self, given: Any, tasks: set[str], workers: set[str]) -> tuple[Test, bool, int]:
        """Read a test, whether at most so many tasks are meant, and how many."""
        keys = {"tasks", "workers", "with_at_least", "price"}
        side = "at_most" if isinstance(given, dict) and "at_most" in given else "at_least"
        if not isinstance(given, dict) or set(given) != keys | {side}:
            names = ", ".join(sorted(keys))
            raise ValueError(f"leaf {self.number}: a branch must have {names} and one side")
        least, count = given["with_at_least"], given[side]
        if any(isinstance(x, bool) or not isinstance(x, int) for x in (least, count)):
            raise ValueError(f"leaf {self.number}: counts must be integers")
        test = _names(given["tasks"], tasks), _names(given["workers"], workers), least
        return test, side == "at_most", count


def _names(given: Any, known: set[str]) -> frozenset[str]:
    if not isinstance(given, list) or not all(isinstance(x, str) and x in known for x in given):
        raise ValueError(f"tasks and workers of a branch must be of the plan, found {given!r}")
    return frozenset(given)


def _check_tree(paths: list[list[tuple[Test, bool, int]]], depth: int) -> None:
    """Refuse leaves that leave out plans: at every node both sides of one test must be there."""
    if len(paths) == 1 and len(paths[0]) == depth:
        return
    if any(len(path) <= depth for path in paths) or len({path[depth][0] for path in paths}) != 1:
        raise ValueError("the leaves are not those of a tree: some plans may be in none")
    low = [path for path in paths if path[depth][1]]
    high = [path for path in paths if not path[depth][1]]
    most, least = {path[depth][2] for path in low}, {path[depth][2] for path in high}
    if len(most) != 1 or least != {count + 1 for count in most}:
        raise ValueError("a test must have the sides 'at most k' and 'at least k + 1'")
    _check_tree(low, depth + 1)
    _check_tree(high, depth + 1)


class _Tasks:
    """The sets of every task, each computed when it may matter, once for tasks that are alike."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.right = seeming_right(plan.table.values, plan.common_error)
        self.prior = seeming_chances(plan)
        n, m = plan.quality.shape
        groups = groups_of(plan)
        self.member = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
        self.forced = np.zeros((n, m), bool) if plan.forced is None else plan.forced
        open_pairs = ~self.forced
        if plan.table.allowed is not None:
            open_pairs &= plan.table.allowed
        self.sets: list[NDArray[np.int64]] = []
        self.known: list[dict[int, float]] = []
        shared: dict[tuple[Any, ...], dict[int, float]] = {}
        for j in range(m):
            size = self.member.sum(axis=1) + self.forced[:, j].sum()
            may = ~self.member[:, ~open_pairs[:, j]].any(axis=1)
            may &= size >= plan.min_workers_per_task[j]
            may &= size <= plan.max_workers_per_task[j]
            for group in np.unique(groups[groups >= 0]):
                may &= (self.member | self.forced[:, j])[:, groups == group].sum(axis=1) <= 1
            self.sets.append(np.flatnonzero(may))
            table = b"" if plan.confusion is not None else plan.table.values[:, j].tobytes()
            prior = plan.prior[j] if plan.class_prior is None else plan.class_prior[j].tobytes()
            key = (table, self.forced[:, j].tobytes(), prior)
            self.known.append(shared.setdefault(key, {}))

    @property
    def most(self) -> float:
        """Mean of the upper bounds on the accuracy of the tasks."""
        e, out = self.plan.common_error, []
        for j in range(len(self.plan.quality.tasks)):
            scale = scale_of_equals(e)
            if self.plan.model is not None:
                _, seems = multiclass.chances(self.plan, j)
                scale = weights_and_scale(seems, multiclass.shares(self.plan, j), e)[1]
            out.append(scale.of(1.0))
        return math.fsum(out) / len(out)

    def accuracy(self, j: int, number: int) -> float:
        """Accuracy of task j with a set and the forced workers, or a bound on it."""
        known = self.known[j]
        if number not in known:
            chosen = self.member[number] | self.forced[:, j]
            if self.plan.model is not None:
                matrices, seems = multiclass.chances(self.plan, j)
                drawn = multiclass.shares(self.plan, j)
                weights, scale = weights_and_scale(seems, drawn, self.plan.common_error)
                low, high = multiclass.accuracy(matrices[chosen], weights)
            else:
                scale = scale_of_equals(self.plan.common_error)
                quality = self.right[chosen, j]
                low, high = accuracy(quality[quality != 0.5], float(self.prior[j]))
            if low != high:
                raise ValueError("is for teams whose accuracy is computed exactly")
            known[number] = scale.of(high)
        return known[number]

    def bound(self, leaf: _Leaf) -> float:
        """Bound the mean accuracy of the plans of a leaf by its prices."""
        plan = self.plan
        m = len(plan.quality.tasks)
        out = [*(leaf.prices * plan.max_tasks_per_worker), leaf.budget_price * plan.budget]
        out.append(worth_of_money(plan, leaf.money_price))
        out += [(k if most else -k) * price for (_, most, k), price in self._priced(leaf)]
        return math.fsum(out) + math.fsum(self._best(j, leaf) for j in range(m)) / m

    def _priced(self, leaf: _Leaf) -> list[tuple[tuple[Test, bool, int], float]]:
        return list(zip(leaf.path, leaf.branch_prices, strict=True))

    def _best(self, j: int, leaf: _Leaf) -> float:
        """Largest accuracy minus prices of task j, over all its sets."""
        quality, sets = self.plan.quality, self.sets[j]
        m, member = len(quality.tasks), self.member[sets]
        each = label_prices(self.plan, leaf.prices, leaf.budget_price, leaf.money_price)
        pays = (member | self.forced[:, j]) @ each
        for ((tasks, workers, least), most, _), price in self._priced(leaf):
            if quality.tasks[j] in tasks:
                counted = np.array([name in workers for name in quality.workers])
                counts = member[:, counted].sum(axis=1) >= least
                pays = pays + np.where(counts, price if most else -price, 0.0)
        # Those that pay least come first; an accuracy is at most that of everybody.
        everybody = int(np.bitwise_or.reduce(sets))
        outcomes = self.plan.n_classes ** int((self.member[everybody] | self.forced[:, j]).sum())
        most_accurate = self.accuracy(j, everybody) if outcomes <= MAX_QUICK_OUTCOMES else 1.0
        best = -np.inf
        for s in np.argsort(pays, kind="stable").tolist():
            if most_accurate - m * pays[s] <= best:
                break
            best = max(best, self.accuracy(j, int(sets[s])) - m * float(pays[s]))
        return best
