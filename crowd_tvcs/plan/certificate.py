"""Duals of the score of a method, and the proof of a bound: its prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.plan.leaves import Leaf
from tvcs_core import Projection
from tvcs_core.files.display import summary


@dataclass(frozen=True, eq=False)
class Duals:
    """Duals of the caps: gains of the score that a method projects by one more unit of each.

    Attributes
    ----------
    workers, tasks, budget
        Dual of every worker's cap, of every task's cap and of the budget, all >= 0. One more
        unit of a cap adds at most this much to the score.
    unit
        Name of the score. No method so far projects the expected accuracy.
    is_price
        Whether the score means something to an operator.
    """

    workers: Floats
    tasks: Floats
    budget: float
    unit: str
    is_price: bool = False

    __repr__ = summary

    @classmethod
    def of(cls, projection: Projection, unit: str, *, is_price: bool = False) -> Duals:
        """Take the duals of a projection."""
        return cls(
            projection.row_duals, projection.col_duals, projection.total_dual, unit, is_price
        )


@dataclass(frozen=True, eq=False)
class Knots:
    """Prices of a few voters, of whom every worker with a confusion matrix is a mixture.

    A worker's matrix is a mean of matrices of knots, each garbled, and of uninformative ones, by
    chances at which knots cost on the mean no more than ``prices[i] + budget_price``. So the best
    multiset of knots, less their prices, is worth no less than the best set of workers.

    Attributes
    ----------
    workers
        The workers whose matrices are knots.
    splits
        Voters who tell which part of a partition holds the truth: the part of every class.
    prices
        Price of a label of each, of the workers first.
    """

    workers: Integers
    splits: tuple[tuple[int, ...], ...]
    prices: Floats

    def as_json(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the knots as `summary.json` has them, sorted by name of the worker."""
        prices = self.prices.tolist()
        of_workers = zip((names[i] for i in self.workers), prices, strict=False)
        of_splits = zip(self.splits, prices[self.workers.size :], strict=True)
        return {
            "workers": dict(sorted(of_workers)),
            "splits": [{"parts": list(parts), "price": price} for parts, price in of_splits],
        }


@dataclass(frozen=True, eq=False)
class PlanProof:
    """A bound on the mean expected accuracy of every assignment within the caps, with its proof.

    For any prices >= 0 and with m tasks, no assignment has a larger mean than::

        budget_price * budget + sum over workers i of prices[i] * max_tasks_per_worker[i]
        + money_price * money
        + mean over tasks of [max over sets S of at most max_workers_per_task allowed workers of
          (accuracy(S) - m * sum over i in S of (prices[i] + budget_price
          + money_price * cost[i]))],

    where S has at most one worker of a group.

    Attributes
    ----------
    bound
        That number, every task having been priced exactly.
    prices
        Price of one more task for every worker, >= 0.
    budget_price
        Price of one more label in the budget, >= 0. All are per label and in units of the mean
        expected accuracy: one more unit of a cap adds at most its price to the bound.
    leaves
        Parts that all assignments fall into, each with prices and a bound of its own. If there
        are any, `bound` is the largest of theirs, and the prices above prove `bound_by_prices`.
    bound_by_prices
        Bound that the prices above prove without leaves; None if it is `bound`.
    money_price
        Price of one more unit of money, >= 0; None for a plan without money.
    slack
        Accuracy by which a task of a table may have been priced too high, because exact pricing
        takes too long; 0 if the prices prove the bound to the last digit.
    knots
        Voters that were priced in place of the workers; None if every task was priced exactly.
    """

    bound: float
    prices: Floats
    budget_price: float
    leaves: tuple[Leaf, ...] = ()
    bound_by_prices: float | None = None
    money_price: float | None = None
    slack: float = 0.0
    knots: Knots | None = None

    def reorder(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> PlanProof:
        """Put the workers in the order of `rows` and the tasks in that of `columns`."""
        leaves = tuple(leaf.reorder(rows, columns) for leaf in self.leaves)
        knots = self.knots
        if knots is not None:
            knots = replace(knots, workers=np.argsort(rows)[knots.workers])
        return replace(self, prices=self.prices[rows], leaves=leaves, knots=knots)
