"""Leaves of branch and bound over plans: the parts that together prove the bound of a tiny plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Floats


@dataclass(frozen=True)
class Branch:
    """A half of all plans: those in which a count of tasks is at most, or at least, some number.

    Attributes
    ----------
    tasks
        Numbers of the tasks that count if they have at least `least` of `workers`, not counting
        forced pairs.
    workers, least
        Numbers of workers, and how many of them.
    most
        Whether at most `count` tasks count, or at least.
    count
        That number.
    price
        Charge on a task that counts with "at most", and reward with "at least"; >= 0, in units of
        the mean expected accuracy.
    """

    tasks: tuple[int, ...]
    workers: tuple[int, ...]
    least: int
    most: bool
    count: int
    price: float


@dataclass(frozen=True, eq=False)
class Leaf:
    """A part of all plans, and the prices that prove its bound.

    Attributes
    ----------
    branches
        Which plans are meant: those within all of these.
    prices, budget_price
        As of `crowd_tvcs.plan.assignment.PlanProof`.
    bound
        On the mean expected accuracy of these plans.
    money_price
        As of `PlanProof`.
    """

    branches: tuple[Branch, ...]
    prices: Floats
    budget_price: float
    bound: float
    money_price: float | None = None

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Leaf:
        """Put the workers in the order of `rows` and the tasks in that of `columns`."""
        worker, task = np.argsort(rows), np.argsort(columns)
        branches = tuple(
            Branch(
                tuple(sorted(task[list(b.tasks)].tolist())),
                tuple(sorted(worker[list(b.workers)].tolist())),
                b.least,
                b.most,
                b.count,
                b.price,
            )
            for b in self.branches
        )
        return replace(self, branches=branches, prices=self.prices[rows])


def as_json(
    leaves: Sequence[Leaf], workers: Sequence[str], tasks: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the leaves as `branches.json` holds them, with names for numbers."""
    return [
        {
            "bound": leaf.bound,
            "branches": [
                {
                    "tasks": sorted(tasks[j] for j in b.tasks),
                    "workers": sorted(workers[i] for i in b.workers),
                    "with_at_least": b.least,
                    "at_most" if b.most else "at_least": b.count,
                    "price": b.price,
                }
                for b in leaf.branches
            ],
            "budget_price": leaf.budget_price,
            **({} if leaf.money_price is None else {"money_price": leaf.money_price}),
            "prices": dict(sorted(zip(workers, leaf.prices.tolist(), strict=True))),
        }
        for leaf in leaves
    ]
