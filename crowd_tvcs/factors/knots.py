"""A bound for very many workers on tasks of few kinds: prices linear between knots of quality.

For fixed other voters the accuracy of a vote is convex in the quality of a voter. So a worker
between two knots is worth, less their price, at most as much as the better of two voters at these
knots, if the price is linear in between. A best set is bounded by the best of all multisets of
voters at the knots, which are few enough to be tried. With one kind, a cap of a worker counts for
the two knots around them, by the shares of the chord, so that the dual has one variable per knot.
With several kinds, each has such a line of prices, and a worker costs the highest of their own on
all kinds: no kind is then priced too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd_tvcs.accuracy.model import even_matrices
from crowd_tvcs.arrays import Floats, Integers
from crowd_tvcs.factors.grid import Groups
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.multisets import Sets, accuracies_of, multisets
from crowd_tvcs.search.relaxation import DualBound, Relaxation

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# With fewer, branch and bound proves tighter bounds in seconds: of two classes, and of more.
MIN_WORKERS, MIN_WORKERS_MANY = 150, 12
MAX_KNOTS = 40
OUTCOMES = 1_000_000_000  # of all multisets together: 2 s
MIN_KNOTS = 8  # fewer prove little
MAX_KINDS = 8  # with more there are too few knots for each
MAX_PRICES = 8_000  # workers x kinds if there are several: these take 8 s
ROUNDS = 150  # cutting planes, to bound the time; 30 to 60 do
CLOSE = 1e-6  # accuracy of a task: gap of the best prices and the cutting planes at which to stop


@dataclass(frozen=True, eq=False)
class KnotsOfKind:
    """Multisets of voters at the knots of one kind of tasks.

    Attributes
    ----------
    groups
        Indices of the groups of this kind.
    share
        Part of every knot in the price of every worker, of shape (workers, knots); 0 for workers
        who may not do such tasks.
    sets
        Knots of the voters of every multiset, of shape (voters, multisets); the number of knots
        stands for no voter.
    gain
        Accuracy of every multiset, of shape (groups, multisets); -inf where it is no set of theirs.
    at
        Quality at every knot.
    """

    groups: Integers
    share: Floats
    sets: Sets
    gain: Floats
    at: Floats

    @classmethod
    def of(
        cls, groups: Groups, kind: int, count: int, most: int, least: float, deadline: Deadline
    ) -> KnotsOfKind | None:
        """Try the multisets of at most `most` voters at about `count` knots.

        All knots but the first are at qualities of `least` or more. None if the deadline struck.
        """
        members = groups.members
        mine = np.flatnonzero(groups.plan.factors.kind[groups.member[groups.group_line]] == kind)
        table = groups.plan.factors.table
        quality = table.values[:, kind]
        if members.n_classes == 2:  # who is mostly wrong counts as one who is as often right
            quality = np.maximum(quality, 1.0 - quality)
        may = np.ones(quality.size, bool) if table.allowed is None else table.allowed[:, kind]
        used = quality[may & (quality >= least)]
        worst = quality[may].min(initial=1.0)
        at = np.unique(np.append(_knots(used, count - 1), worst))
        share = np.column_stack([np.interp(quality, at, own) for own in np.eye(at.size)])
        k, made = members.n_classes, multisets(at.size, most)
        gain = np.empty((mine.size, len(made)))
        for row, j in zip(gain, mine.tolist(), strict=True):
            prior = np.array([1.0 - members.prior[j], members.prior[j]])
            prior = prior if members.class_prior is None else members.class_prior[j]
            found = accuracies_of(made, even_matrices(at, k), prior, deadline)
            if found is None:
                return None
            row[:] = found
        sets = made.T.copy()
        size, fewest = (sets < at.size).sum(axis=0), members.min_workers_per_task[mine, None]
        gain[(size < fewest) | (size > members.max_workers_per_task[mine, None])] = -np.inf
        return cls(mine, share * may[:, None], sets, gain, at)

    def best(self, price: Floats, of_label: float) -> tuple[Floats, Floats, Floats]:
        """Return the best value of every group at the prices of the knots, its gain and labels."""
        of_voter, cost = np.append(price + of_label, 0.0), np.zeros(self.sets.shape[1])
        for voter in self.sets:
            cost += of_voter[voter]
        net = self.gain - cost
        chosen, groups = net.argmax(axis=1), np.arange(self.groups.size)
        labels = (self.sets[:, chosen, None] == np.arange(self.at.size)).sum(axis=0)
        return net[groups, chosen], self.gain[groups, chosen], labels.astype(np.float64)

    def convex(self, price: Floats) -> Floats:
        """Return the largest convex prices below these: no set is worth more at them.

        A voter at a knot in between is worth at most as much as the better of two at the ends.
        """
        corners: list[int] = []
        for knot in range(price.size):
            while len(corners) > 1 and price[corners[-1]] >= np.interp(
                self.at[corners[-1]], self.at[[corners[-2], knot]], price[[corners[-2], knot]]
            ):
                corners.pop()
            corners.append(knot)
        return np.interp(self.at, self.at[corners], price[corners])


@dataclass(frozen=True, eq=False)
class KnotsProgram:
    """Multisets of voters at knots that tasks take at the best prices, in fractions of tasks.

    Attributes
    ----------
    known
        The multisets of every kind.
    group, labels
        Group of every multiset that is taken, and its voters at the knots of the kind.
    tasks
        How many tasks of the group take it.
    loads
        Labels of every worker on every kind, of shape (workers, kinds).
    prices, of_label
        Convex prices of the knots of every kind, and that of any label.
    """

    known: list[KnotsOfKind]
    group: Integers
    labels: list[Floats]
    tasks: Floats
    loads: Floats
    prices: list[Floats]
    of_label: float


def bound_by_knots(
    groups: Groups,
    relaxation: Relaxation,
    most_sets: int,
    deadline: Deadline,
    before: KnotsProgram | None = None,
) -> tuple[DualBound, KnotsProgram] | None:
    """Return the best bound that prices linear between knots prove, and the program behind it.

    At most so many multisets are tried, of all groups. The bound is in units of the sum of tasks.
    Workers whom the program `before` has for nothing share a knot. None with few workers or many
    kinds, if sets are too large, or if the deadline struck.
    """
    plan, kinds = groups.plan, np.unique(groups.plan.factors.kind)
    most = int(groups.members.max_workers_per_task.max())
    most_sets = min(most_sets, OUTCOMES // plan.n_classes**most)
    count = _most_knots(most_sets // groups.size, most)
    n_prices = relaxation.n_workers * kinds.size if kinds.size > 1 else 0
    is_small = relaxation.n_workers < least_workers(plan.n_classes)
    if is_small or count is None or kinds.size > MAX_KINDS or n_prices > MAX_PRICES:
        return None
    known = []
    for place, kind in enumerate(kinds.tolist()):
        least = 0.0
        if before is not None:  # workers at a price of 0 share a knot
            is_free = before.prices[place] <= CLOSE
            least = float(before.known[place].at[is_free].max(initial=0.0))
        one = KnotsOfKind.of(groups, kind, count, most, least, deadline)
        if one is None:
            return None
        known.append(one)
    caps = relaxation.caps.astype(np.float64)
    program = _least_prices(known, caps, groups.weight, deadline)
    if program is None:
        return None
    value = np.empty(groups.size)
    for one, price in zip(known, program.prices, strict=True):
        value[one.groups] = one.best(price, program.of_label)[0]
    found = np.append(_of_workers(known, program.prices), program.of_label)
    bound = float(found @ relaxation.caps + groups.weight @ value)
    return DualBound(found, bound, True, relaxation.nobody(), value), program


def least_workers(n_classes: int) -> int:
    """Return the number of workers from which on knots are tried."""
    return MIN_WORKERS if n_classes == 2 else MIN_WORKERS_MANY


def _of_workers(known: list[KnotsOfKind], prices: list[Floats]) -> Floats:
    """Return the price of every worker, the highest of their prices on all kinds."""
    of_kinds = [one.share @ price for one, price in zip(known, prices, strict=True)]
    return np.max(of_kinds, axis=0)


def _most_knots(sets: int, most: int) -> int | None:
    """Return the largest number of knots with at most so many multisets; None below `MIN_KNOTS`."""
    count = MIN_KNOTS - 1
    while count < MAX_KNOTS and comb(count + 1 + most, most) <= sets and most > 0:
        count += 1
    return count if count >= MIN_KNOTS else None


def _knots(quality: Floats, count: int) -> Floats:
    """Return qualities of workers halfway between even steps and quantiles; all if they are few."""
    if np.unique(quality).size <= count:  # or there are none
        return np.unique(quality)
    part = np.linspace(0.0, 1.0, count)
    even = quality.min() + part * (quality.max() - quality.min())
    wanted, ordered = 0.5 * (even + np.quantile(quality, part)), np.sort(quality)
    place = np.searchsorted(ordered, wanted).clip(1, quality.size - 1)
    is_below = wanted - ordered[place - 1] < ordered[place] - wanted
    return np.unique(np.append(ordered[place - is_below], ordered[[0, -1]]))


def _least_prices(
    known: list[KnotsOfKind],
    caps: Floats,
    weight: Floats,
    deadline: Deadline,
) -> KnotsProgram | None:
    """Minimize the worth of the caps and of the best multisets by cutting planes (Kelley 1960).

    Prices alternate between those of the program over the cuts and their mean with the best ones.
    Return them and the dual: which multisets tasks take; None if the deadline struck before there
    is one.
    """
    cuts = _Cuts(known, caps, weight)
    point, best, found = np.zeros(cuts.cost.size), np.inf, np.zeros(cuts.cost.size)
    for turn in range(ROUNDS):
        bound = cuts.add_at(point)
        if bound < best:
            best, found = bound, point
        if turn and deadline.has_passed:
            break
        solved = cuts.solve(deadline)
        if solved is None or best - solved.fun <= CLOSE * weight.sum():
            break
        is_price = np.arange(point.size) < cuts.of_groups.start
        point = np.where(is_price, solved.x.clip(0.0, 1.0), 0.0)
        if turn % 2:
            point = 0.5 * (point + found)
    return cuts.program(found) if cuts.dual.size else None


class _Cuts:
    """The linear program over the multisets that were best at some prices, a cut for each.

    The variables are the price of any label, those of the knots, the values of groups, and those of
    workers if there are several kinds. With one, the price of a worker is a mean of two knots.
    """

    def __init__(self, known: list[KnotsOfKind], caps: Floats, weight: Floats) -> None:
        from scipy.sparse import csr_array

        ends = np.cumsum([1, *(one.at.size for one in known)])
        pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        self.places = [slice(a, b) for a, b in pairs]
        size = int(ends[-1]) + weight.size
        if len(known) == 1:
            self.links = csr_array((0, size))
            self.cost = np.concatenate([caps[-1:], known[0].share.T @ caps[:-1], weight])
        else:
            self.links = _links(known, self.places, size)
            none = np.zeros(size - weight.size - 1)
            self.cost = np.concatenate([caps[-1:], none, weight, caps[:-1]])
        self.known, self.caps, self.weight = known, caps, weight
        self.of_groups = slice(size - weight.size, size)
        self.bounds = [(0.0, 1.0)] * self.of_groups.start + [(None, None)] * weight.size
        self.bounds += [(0.0, 1.0)] * (self.cost.size - size)
        self.rows: list[Floats] = []
        self.right: list[Floats] = []
        self.taken: list[tuple[int, Floats]] = []  # group and labels of every cut
        self.dual = np.empty(0)

    def add_at(self, point: Floats) -> float:
        """Add the best multisets at some prices; return the bound that the prices prove."""
        prices = [point[place] for place in self.places]
        bound = float(point[0] * self.caps[-1] + _of_workers(self.known, prices) @ self.caps[:-1])
        for one, place in zip(self.known, self.places, strict=True):
            value, gain, labels = one.best(point[place], point[0])
            bound += float(self.weight[one.groups] @ value)
            cut = np.zeros((value.size, self.cost.size))
            cut[:, 0], cut[:, place] = -labels.sum(axis=1), -labels
            cut[np.arange(value.size), self.of_groups.start + one.groups] = -1.0
            self.rows.append(cut)
            self.right.append(-gain)
            self.taken.extend(zip(one.groups.tolist(), labels, strict=True))
        return bound

    def solve(self, deadline: Deadline) -> Any:
        """Solve the program over all cuts and keep its dual; None if it is not solved in time."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        solved = linprog(
            self.cost,
            A_ub=vstack([self.links, csr_array(np.vstack(self.rows))]),
            b_ub=np.concatenate([np.zeros(self.links.shape[0]), *self.right]),
            bounds=self.bounds,
            method="highs",
            options={"time_limit": max(0.01, min(deadline.left, 1e6))},
        )
        if solved.status != 0:
            return None
        self.dual = -solved.ineqlin.marginals
        return solved

    def program(self, point: Floats) -> KnotsProgram:
        """Return the prices at a point, convex, with the multisets of the dual."""
        loads, tasks = np.split(self.dual, [self.links.shape[0]])
        is_one = len(self.known) == 1
        used = np.flatnonzero(tasks)
        pairs = zip(self.known, self.places, strict=True)
        return KnotsProgram(
            self.known,
            np.array([self.taken[cut][0] for cut in used]),
            [self.taken[cut][1] for cut in used],
            tasks[used],
            self.caps[:-1, None] if is_one else loads.reshape(len(self.known), -1).T,
            [one.convex(point[place]) for one, place in pairs],
            float(point[0]),
        )


def _links(known: list[KnotsOfKind], places: list[slice], size: int) -> csr_array:
    """Return rows by which no price of a worker is below theirs on any kind."""
    from scipy.sparse import block_array, csr_array, eye_array

    n_workers = known[0].share.shape[0]
    rows = []
    for one, place in zip(known, places, strict=True):
        own = np.zeros((n_workers, size))
        own[:, place] = one.share
        rows.append([csr_array(own), -eye_array(n_workers)])
    return csr_array(block_array(rows))
