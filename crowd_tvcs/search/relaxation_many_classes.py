"""The Lagrangian relaxation of a plan with K classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.many_class_table import GainScratch
from crowd_tvcs.accuracy.many_classes import accuracy_under, exact_voters, table_size
from crowd_tvcs.accuracy.model import AnswerModel
from crowd_tvcs.plan.forced import beyond_forced
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.kernels import greedy_many_classes, pricing_many_classes
from crowd_tvcs.search.kernels.bounds import INTERVALS
from crowd_tvcs.search.kernels.records import (
    AnswerCounts,
    Candidates,
    Climb,
    Limit,
    Measure,
    Model,
    Prices,
    Room,
    TaskSets,
    TaskValues,
)
from crowd_tvcs.search.kernels.scratch import (
    BoundScratch,
    ManyClassBranchScratch,
    ManyClassScratch,
    Nodes,
    Shortlist,
)
from crowd_tvcs.search.rations import Rations
from crowd_tvcs.search.relaxation import UPDATES, Relaxation, kinds_of_tasks

PROOF_NODES = 300_000
MOST_COUNTS = 20_000
UPDATES_UNEVEN = 3_000

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ManyClassRelaxation(Relaxation):
    """The relaxation of a plan of more than two classes, or with confusion matrices.

    Attributes
    ----------
    model
        How the candidates answer.
    """

    model: Model

    @property
    def updates(self) -> int:
        """Tasks that may move the prices; gains of uneven workers take long."""
        return UPDATES if self.model.is_even.all() else UPDATES_UNEVEN

    @classmethod
    def of(cls, plan: Plan) -> ManyClassRelaxation:
        """Leave out who is not allowed, has no room or tells nothing.

        Who tells nothing is left in where the task must have somebody.
        """
        model = plan.model
        assert model is not None
        forced, caps, need, open_pairs = beyond_forced(plan)
        base, _ = accuracy_under(model, forced)
        telling = (model.informativeness[model.kind].T > 0.0) & (base < 1.0)[:, None]
        useful = (telling | (need > 0)[:, None]) & open_pairs
        reach = np.where(telling, model.reach[model.kind].T - 1.0 / model.n_classes + 0.5, 0.5)
        reach = np.where(useful, reach, 0.0)
        # A worker of quality 1/2 in the eyes of the kernels is one who tells nothing.
        reach[telling & useful] = np.maximum(reach[telling & useful], 0.5 + 1e-12)
        kind = np.where(useful, model.kind.T, 0)
        worker = np.lexsort((kind, -reach), axis=1).astype(np.int64)
        kind = np.ascontiguousarray(np.take_along_axis(kind, worker, axis=1))
        count, rations = useful.sum(axis=1), Rations.of(plan, forced)
        fixed, n_fixed = _fixed_kinds(model, forced)
        candidates = Candidates(
            quality=np.ascontiguousarray(np.take_along_axis(reach, worker, axis=1)),
            worker=worker,
            size=count,
            need=need,
            cap=np.minimum(plan.max_workers_per_task - forced.sum(axis=0), rations.able(useful)),
            fixed=fixed,
            n_fixed=n_fixed,
            base=base,
            cost=rations.cost,
            owed=rations.owed,
            group=rations.group,
        )
        same, first = kinds_of_tasks(candidates, kind, model.prior)
        inside = Model(
            kind=kind,
            prior=np.ascontiguousarray(model.prior),
            matrices=np.ascontiguousarray(model.matrices),
            is_even=model.is_even,
            counts=_counts(model.n_classes),
            exact=exact_voters(model.n_classes),
            limit=table_size(model.n_classes),
        )
        return cls(plan, candidates, caps, same, first, rations, inside)

    def _visit(
        self,
        order: Integers,
        prices: Prices,
        room: Room,
        sets: TaskSets,
        found: TaskValues,
        limit: Limit,
    ) -> None:
        fewer = Limit(min(limit.steps, PROOF_NODES), limit.stop)
        pricing_many_classes.visit(
            order, self.candidates, self.model, prices, room, sets, found, fewer, self._scratch()
        )

    def _climb(self, state: Climb, measure: Measure) -> None:
        """Climb as with two classes; `measure.sharp` changes nothing."""
        greedy_many_classes.climb(
            self.candidates, self.model, measure.exact, state, self._pair(), self._gains()
        )

    def _filler(self) -> Callable[[int, Integers, Floats], None]:
        pair, gain, gains = self._pair(), np.empty(self.n_workers), self._gains()

        def fill(j: int, places: Integers, scores: Floats) -> None:
            greedy_many_classes.fill_scores(
                j, self.candidates, self.model, True, places, scores, pair, gain, gains
            )

        return fill

    def _pair(self) -> Floats:
        """Room for two tables, to build one from the other."""
        k = self.plan.n_classes
        return np.empty((2, k, k * self.model.limit))

    def _gains(self) -> GainScratch:
        n = self.n_workers
        return GainScratch(np.empty(n), np.empty(n), np.empty(self.model.limit))

    def _scratch(self) -> ManyClassScratch:
        """Scratch for the best sets, of one thread."""
        n, exact = self.n_workers, self.model.exact
        most = self.model.counts.begin.size + n + INTERVALS
        return ManyClassScratch(
            asked=np.empty(n),
            short=Shortlist.empty(n, has_groups=self.rations.group.size > 0),
            kinds=np.empty(n, dtype=np.int64),
            tried=np.empty(n, dtype=np.int64),
            pair=self._pair(),
            branch=ManyClassBranchScratch(
                tables=np.empty((exact + 1, self.plan.n_classes, self.model.limit)),
                chosen=np.empty(n, dtype=np.int64),
                nodes=Nodes.empty(n, exact + 2),
                bounds=BoundScratch.empty(n, most, most),
                gains=self._gains(),
            ),
        )


def _fixed_kinds(model: AnswerModel, forced: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Kinds of those forced on every task who tell something, and their number."""
    telling = (forced & (model.informativeness[model.kind] > 0.0)).T
    n_fixed = telling.sum(axis=1)
    fixed = np.zeros((n_fixed.size, max(1, int(n_fixed.max(initial=0)))), dtype=np.int64)
    j, i = np.nonzero(telling)
    fixed[j, np.arange(j.size) - (np.cumsum(n_fixed) - n_fixed)[j]] = model.kind.T[j, i]
    return fixed, n_fixed


@cache
def _counts(n_classes: int) -> AnswerCounts:
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
    return AnswerCounts(np.array(begin), np.array(rows, dtype=np.int64), np.array(ways))
