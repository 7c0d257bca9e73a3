"""The voters of a plan as the search asks them: qualities of two classes, or kinds of matrices.

Two classes fold a quality q below 1/2 to 1 - q, and their tables are half as long. The classes here
hold all differences of the search between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.many_class_table import GainScratch
from crowd_tvcs.accuracy.kernels.two_class_table import EXACT, TABLE
from crowd_tvcs.accuracy.many_classes import accuracy_under, exact_voters, table_size
from crowd_tvcs.accuracy.model import AnswerModel
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.search.kernels import greedy, greedy_many_classes, pricing, pricing_many_classes
from crowd_tvcs.search.kernels.records import (
    AnswerCounts,
    Candidates,
    Climb,
    Limit,
    Model,
    Prices,
    Room,
    TaskSets,
    TaskValues,
)
from crowd_tvcs.search.kernels.scratch import (
    BoundScratch,
    BranchScratch,
    GradeScratch,
    ManyClassBranchScratch,
    ManyClassScratch,
    Nodes,
    Scratch,
    Shortlist,
    Tables,
)

UPDATES = 60_000  # of prices; larger plans get fewer epochs, since every task moves them
UPDATES_UNEVEN = 3_000  # the same where gains take long
MANY_CLASS_NODES = 300_000  # of branch and bound per task at most; few tasks share their limit
MOST_COUNTS = 20_000
MIN_INFORMATIVE = 0.5 + 1e-12  # quality; kernels take 1/2 as uninformative


class Strengths(NamedTuple):
    """The workers of every task as voters, before any are left out.

    Attributes
    ----------
    value
        Folded quality, or that of an even worker who is as useful, of shape (tasks, workers).
    telling
        Whether the answer of a worker changes the posterior of the task, likewise.
    base
        Accuracy of every task by its forced workers alone.
    fixed, n_fixed
        Informative forced workers, as `Candidates` takes them.
    kind
        Matrix of every worker on every task, of shape (tasks, workers); 0 for two classes.
    """

    value: Floats
    telling: Bools
    base: Floats
    fixed: NDArray[Any]
    n_fixed: Integers
    kind: Integers


def strengths_of(plan: Plan, forced: Bools) -> Strengths:
    """Return how strong the workers of a plan are as voters."""
    if plan.model is not None:
        return _strengths_by_model(plan.model, forced)
    folded = np.maximum(plan.table.values, 1.0 - plan.table.values).T
    base = plan.accuracy(forced)
    fixed, n_fixed = _fixed_voters(plan, folded, forced)
    telling = (folded > 0.5) & (base < 1.0)[:, None]
    value, kind = np.where(telling, folded, 0.5), np.zeros(folded.shape, dtype=np.int64)
    return Strengths(value, telling, base, fixed, n_fixed, kind)


def _strengths_by_model(model: AnswerModel, forced: Bools) -> Strengths:
    base, _ = accuracy_under(model, forced)
    telling = (model.informativeness[model.kind].T > 0.0) & (base < 1.0)[:, None]
    reach = model.reach[model.kind].T - 1.0 / model.n_classes + 0.5
    value = np.where(telling, np.maximum(reach, MIN_INFORMATIVE), 0.5)
    return Strengths(value, telling, base, *_fixed_kinds(model, forced), model.kind.T)


@dataclass(frozen=True)
class FoldedVoters:
    """Voters of two classes, each with one quality; the candidates say all of them."""

    is_folded: ClassVar[bool] = True
    updates: ClassVar[int] = UPDATES
    alike: ClassVar[tuple[NDArray[Any], ...]] = ()

    def part(self, tasks: Integers) -> FoldedVoters:
        """Return the voters of some of the tasks, which may be there twice."""
        return self

    def visit(
        self,
        order: Integers,
        candidates: Candidates,
        prices: Prices,
        room: Room,
        sets: TaskSets,
        found: TaskValues,
        limit: Limit,
    ) -> None:
        """Assign tasks their best sets in turn."""
        scratch = folded_scratch(candidates)
        pricing.visit(order, candidates, prices, room, sets, found, limit, *scratch)

    def climb(self, candidates: Candidates, state: Climb, *, exact: bool) -> None:
        """Add pair after pair."""
        greedy.climb(candidates, exact, state, Tables.empty(2, 2 * TABLE))

    def filler(self, candidates: Candidates) -> Callable[[int, Integers, Floats], None]:
        """Return what writes the exact gains of the candidates of a task beside some of them."""
        x = candidates
        tables, gain = Tables.empty(2, 2 * TABLE), np.empty(x.worker.shape[1])

        def fill(j: int, places: Integers, scores: Floats) -> None:
            quality, fixed = x.quality[j, : x.size[j]], x.fixed[j, : x.n_fixed[j]]
            greedy.fill_scores(
                quality, fixed, x.need[j], x.cap[j], True, places, scores, tables, gain
            )

        return fill


@dataclass(frozen=True, eq=False)
class ManyClassVoters:
    """Voters of more than two classes, or with confusion matrices."""

    model: Model
    is_folded: ClassVar[bool] = False

    @property
    def updates(self) -> int:
        """How many tasks may move the prices."""
        return UPDATES if self.model.is_even.all() else UPDATES_UNEVEN

    @property
    def alike(self) -> tuple[NDArray[Any], ...]:
        """Rows by which tasks differ beside their candidates."""
        return self.model.kind, self.model.prior

    def part(self, tasks: Integers) -> ManyClassVoters:
        """Return the voters of some of the tasks, which may be there twice."""
        kind, prior = self.model.kind[tasks], self.model.prior[tasks]
        return ManyClassVoters(self.model._replace(kind=kind, prior=prior))

    def visit(
        self,
        order: Integers,
        candidates: Candidates,
        prices: Prices,
        room: Room,
        sets: TaskSets,
        found: TaskValues,
        limit: Limit,
    ) -> None:
        """Assign tasks their best sets in turn."""
        most = max(MANY_CLASS_NODES, limit.steps // max(1, order.size))
        fewer, scratch = Limit(min(limit.steps, most), limit.stop), self._scratch(candidates)
        pricing_many_classes.visit(
            order, candidates, self.model, prices, room, sets, found, fewer, scratch
        )

    def climb(self, candidates: Candidates, state: Climb, *, exact: bool) -> None:
        """Add pair after pair."""
        gains = self._gains(candidates.worker.shape[1])
        greedy_many_classes.climb(candidates, self.model, exact, state, self._pair(), gains)

    def filler(self, candidates: Candidates) -> Callable[[int, Integers, Floats], None]:
        """Return what writes the exact gains of the candidates of a task beside some of them."""
        n = candidates.worker.shape[1]
        pair, gain, gains = self._pair(), np.empty(n), self._gains(n)

        def fill(j: int, places: Integers, scores: Floats) -> None:
            greedy_many_classes.fill_scores(
                j, candidates, self.model, True, places, scores, pair, gain, gains
            )

        return fill

    def _pair(self) -> Floats:
        """Make room for two tables, to build one from the other."""
        k = self.model.matrices.shape[1]
        return np.empty((2, k, k * self.model.limit))

    def _gains(self, n: int) -> GainScratch:
        return GainScratch(np.empty(n), np.empty(n), np.empty(self.model.limit))

    def _scratch(self, candidates: Candidates) -> ManyClassScratch:
        """Return scratch for the best sets, of one thread."""
        n, exact = candidates.worker.shape[1], self.model.exact
        most = self.model.counts.begin.size + n + 2
        return ManyClassScratch(
            asked=np.empty(n),
            short=Shortlist.empty(n, has_groups=candidates.group.size > 0),
            kinds=np.empty(n, dtype=np.int64),
            tried=np.empty(n, dtype=np.int64),
            pair=self._pair(),
            branch=ManyClassBranchScratch(
                tables=np.empty((exact + 1, self.model.matrices.shape[1], self.model.limit)),
                chosen=np.empty(n, dtype=np.int64),
                nodes=Nodes.empty(n, exact + 2),
                bounds=BoundScratch.empty(n, most, most),
                gains=self._gains(n),
            ),
        )


Voters = FoldedVoters | ManyClassVoters


def voters_of(plan: Plan, kind: Integers) -> Voters:
    """Return the voters of a plan; `kind` has the matrices of its candidates, in their order."""
    model = plan.model
    if model is None:
        return FoldedVoters()
    return ManyClassVoters(
        Model(
            kind=kind,
            prior=np.ascontiguousarray(model.prior),
            matrices=np.ascontiguousarray(model.matrices),
            is_even=model.is_even,
            counts=_counts(model.n_classes),
            exact=exact_voters(model.n_classes),
            limit=table_size(model.n_classes),
        )
    )


def folded_scratch(candidates: Candidates) -> tuple[Scratch, BranchScratch]:
    """Return scratch for the best sets of two classes, of one thread."""
    n, depths = candidates.worker.shape[1], EXACT + 3
    scratch = Scratch(
        asked=np.empty(n),
        short=Shortlist.empty(n, has_groups=candidates.group.size > 0),
        tried=np.empty(n, dtype=np.int64),
    )
    branch = BranchScratch(
        tables=Tables.empty(EXACT + 1, 2 * TABLE),
        chosen=np.empty(n, dtype=np.int64),
        nodes=Nodes.empty(n, depths),
        bounds=BoundScratch.empty(n, n + 2, EXACT + 2),
        grades=GradeScratch.empty(depths),
    )
    return scratch, branch


def _fixed_voters(plan: Plan, folded: Floats, forced: Bools) -> tuple[Floats, Integers]:
    """Folded prior of every task, then the folded qualities of its informative forced workers."""
    telling = forced.T & (folded > 0.5)
    n_fixed = 1 + telling.sum(axis=1)
    fixed = np.zeros((n_fixed.size, int(n_fixed.max(initial=1))))
    fixed[:, 0] = np.maximum(plan.prior, 1.0 - plan.prior)
    j, i = np.nonzero(telling)
    place = np.arange(j.size) - np.concatenate([[0], np.cumsum(n_fixed - 1)])[j] + 1
    fixed[j, place] = folded[j, i]
    return fixed, n_fixed


def _fixed_kinds(model: AnswerModel, forced: Bools) -> tuple[Integers, Integers]:
    """Kinds of the informative forced workers of every task, and their number."""
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
