"""A plan with K classes as the kernels see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.many_classes import accuracy_under, exact_voters, table_size
from crowd_tvcs.accuracy.model import AnswerModel
from crowd_tvcs.plan.forced import beyond_forced
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.kernels import greedy_many_classes, pricing_many_classes
from crowd_tvcs.search.kernels.bounds import SLOPES
from crowd_tvcs.search.relaxation import UPDATES, Choice, Market, kinds_of_tasks

NODES = 0  # in the search for prices: exchanges alone
PROOF_NODES = 300_000
MOST_COUNTS = 20_000
UPDATES_UNEVEN = 3_000

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MulticlassMarket(Market):
    """A plan of more than two classes, or with confusion matrices.

    `offers` are those of `crowd_tvcs.search.kernels.pricing_many_classes`.

    Attributes
    ----------
    inside
        The model as these kernels take it.
    """

    inside: tuple[Any, ...]

    @property
    def updates(self) -> int:
        """Tasks that may move the prices; gains of uneven workers take long."""
        return UPDATES if self.inside[3].all() else UPDATES_UNEVEN

    @classmethod
    def of(cls, plan: Plan) -> MulticlassMarket:
        """Leave out who is not allowed, has no room or tells nothing.

        Who tells nothing is left in where the task must have somebody.
        """
        model = plan.model
        assert model is not None
        forced, caps, need, open_pairs = beyond_forced(plan)
        base, _ = accuracy_under(model, forced)
        telling = (model.told[model.kind].T > 0.0) & (base < 1.0)[:, None]
        useful = (telling | (need > 0)[:, None]) & open_pairs
        reach = np.where(telling, model.reach[model.kind].T - 1.0 / model.n_classes + 0.5, 0.5)
        reach = np.where(useful, reach, 0.0)
        # A worker of quality 1/2 in the eyes of the kernels is one who tells nothing.
        reach[telling & useful] = np.maximum(reach[telling & useful], 0.5 + 1e-12)
        kind = np.where(useful, model.kind.T, 0)
        who = np.lexsort((kind, -reach), axis=1).astype(np.int64)
        kind = np.ascontiguousarray(np.take_along_axis(kind, who, axis=1))
        count = useful.sum(axis=1)
        fixed, n_fixed = _fixed_kinds(model, forced)
        offers = (
            np.ascontiguousarray(np.take_along_axis(reach, who, axis=1)),
            who,
            count,
            need,
            np.minimum(plan.max_workers_per_task - forced.sum(axis=0), count),
            fixed,
            n_fixed,
            base,
        )
        same, first = kinds_of_tasks(offers, kind, model.prior)
        inside = (
            kind,
            np.ascontiguousarray(model.prior),
            np.ascontiguousarray(model.matrices),
            model.is_even,
            _counts(model.n_classes),
            exact_voters(model.n_classes),
            table_size(model.n_classes),
        )
        return cls(plan, offers, caps, same, first, inside)

    def visit(
        self,
        order: Integers,
        prices: Floats,
        choice: Choice,
        deadline: Deadline,
        *,
        step: float = 0.0,
        room: Integers | None = None,
        node_limit: int | None = None,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Let the tasks in `order` take their best sets; see `Market.visit`."""
        found = np.zeros((2, self.n_tasks))
        pricing_many_classes.visit(
            order,
            self.offers,
            self.inside,
            self._terms(order, prices, step, room),
            choice.sets,
            choice.sizes,
            choice.accuracy,
            found,
            NODES if node_limit is None else min(node_limit, PROOF_NODES),
            self._scratch(),
            deadline.stop,
        )
        return found[0], found[1] == 1.0

    def climb(self, choice: Choice, *, exact: bool, sharp: bool = False) -> NDArray[np.bool_]:
        """Add pair after pair to `choice`, in place, as `Market.climb`; `sharp` changes nothing."""
        greedy_many_classes.climb(
            self.offers,
            self.inside,
            exact,
            *self._climber(choice),
            self._tables(),
            self._inner(),
        )
        return choice.support(self)

    def _tables(self) -> Floats:
        k = self.inside[1].shape[1]
        return np.empty((2, k, k * self.inside[6]))

    def _inner(self) -> tuple[Floats, Floats, Floats]:
        n = self.n_workers
        return np.empty(n), np.empty(n), np.empty(self.inside[6])

    def _scratch(self) -> tuple[Any, ...]:
        n, k = self.n_workers, self.inside[1].shape[1]
        exact, limit = self.inside[5], self.inside[6]
        most = self.inside[4][0].size + n + SLOPES
        depth = exact + 2
        branch = (
            np.empty(n + 2),
            np.empty(most),
            np.empty(most),
            np.empty(most),
            np.empty((n + 2, most)),
            np.empty((depth, n + 1)),
            np.empty(depth),
            *(np.empty(depth, dtype=np.int64) for _ in range(4)),
            self._inner(),
        )
        inner = (
            (np.empty(n), np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)),
            np.empty(n, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.empty(n + 1),
            self._tables(),
            np.empty((exact + 1, k, limit)),
            branch,
        )
        return np.empty(n), np.empty(self.n_tasks, dtype=np.int64), inner


def _fixed_kinds(model: AnswerModel, forced: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Kinds of those forced on every task who tell something, and their number."""
    telling = (forced & (model.told[model.kind] > 0.0)).T
    n_fixed = telling.sum(axis=1)
    fixed = np.zeros((n_fixed.size, max(1, int(n_fixed.max(initial=0)))), dtype=np.int64)
    j, i = np.nonzero(telling)
    fixed[j, np.arange(j.size) - (np.cumsum(n_fixed) - n_fixed)[j]] = model.kind.T[j, i]
    return fixed, n_fixed


@cache
def _counts(n_classes: int) -> tuple[Integers, Integers, Floats]:
    """How often each class can be answered by 0, 1, 2, ... voters, and in how many ways."""
    begin, rows, ways = [0], [], []
    for a in range(64):
        if a > 1 and begin[-1] + comb(a + n_classes - 1, a) > MOST_COUNTS:
            break
        for drawn in combinations_with_replacement(range(n_classes), a):
            number = np.bincount(np.array(drawn, dtype=np.int64), minlength=n_classes)
            rows.append(number)
            ways.append(factorial(a) / prod(factorial(c) for c in number.tolist()))
        begin.append(len(rows))
    return np.array(begin), np.array(rows, dtype=np.int64), np.array(ways)
