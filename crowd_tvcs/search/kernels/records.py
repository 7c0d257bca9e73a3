"""Records of the search: arrays that travel together, by name.

The kernels (`tvcs_core.jit`) take them as they are; a NamedTuple costs nothing there. A kernel is
compiled for one type of every field: float64, int64 or bool, in C order, writable.

There are n workers, m tasks and K classes; D is 2 more than the voters whose table is exact.
Accuracies, prices and values (accuracy minus prices) are in units of the expected accuracy of
one task, chances in [0, 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.many_class_table import GainScratch

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Candidates(NamedTuple):
    """Workers who may label each task beside those who label it in any case, best first.

    Attributes
    ----------
    quality
        (m, n): folded qualities, in [1/2, 1], falling; with K classes the reach - 1/K + 1/2.
    worker
        (m, n): whose qualities these are.
    size
        (m,): how many of a row are candidates; the rest is not looked at.
    need, cap
        (m,): how many of them the task must and may have.
    fixed
        (m, most): of two classes the folded prior and then the folded qualities of the workers who
        are forced on the task; of K classes the kinds of these.
    n_fixed
        (m,): how many of a row of `fixed` count.
    base
        (m,): accuracy of the forced workers alone.
    """

    quality: Floats
    worker: Integers
    size: Integers
    need: Integers
    cap: Integers
    fixed: Floats | Integers
    n_fixed: Integers
    base: Floats


class AnswerCounts(NamedTuple):
    """How often each class can be answered by a voters, for a = 0, 1, 2, ...

    Attributes
    ----------
    begin
        (most + 2,): entries begin[a] to begin[a + 1] are of a voters.
    number
        (entries, K): how many of them give each answer.
    ways
        (entries,): in how many ways they may, the multinomial coefficient.
    """

    begin: Integers
    number: Integers
    ways: Floats


class Model(NamedTuple):
    """How the candidates of tasks of K classes answer (see `crowd_tvcs.accuracy.model`).

    Attributes
    ----------
    kind
        (m, n): which matrix is that of a candidate, in the order of `Candidates.worker`.
    prior
        (m, K): chance of every class before any answer.
    matrices
        (kinds, K, K): chance of every answer (last) given the truth.
    is_even
        (kinds,): whether all mistakes have the same chance.
    counts
        Of answers, for the bound by copies.
    exact, limit
        Voters and outcomes of a table in which no outcomes are joined.
    """

    kind: Integers
    prior: Floats
    matrices: Floats
    is_even: Bools
    counts: AnswerCounts
    exact: int
    limit: int


class TaskSets(NamedTuple):
    """One set of workers per task, beside the forced ones.

    Attributes
    ----------
    workers
        (m, most): those of task j in the first sizes[j] places of row j.
    sizes
        (m,): how many.
    accuracy
        (m,): with the forced workers.
    """

    workers: Integers
    sizes: Integers
    accuracy: Floats

    def copy(self) -> TaskSets:
        """Copy everything."""
        return TaskSets(self.workers.copy(), self.sizes.copy(), self.accuracy.copy())

    def of_tasks(self, tasks: Integers) -> TaskSets:
        """Return the sets of these tasks alone, in this order."""
        return TaskSets(self.workers[tasks], self.sizes[tasks], self.accuracy[tasks])

    def pairs(self) -> tuple[Integers, Integers]:
        """Return task and place of every worker, task by task."""
        tasks, places = np.nonzero(np.arange(self.workers.shape[1]) < self.sizes[:, None])
        return tasks, places

    def loads(self, n_workers: int) -> Integers:
        """Return the labels of every worker beside the forced ones, then of all."""
        loads = np.bincount(self.workers[self.pairs()], minlength=n_workers)
        return np.append(loads, loads.sum()).astype(np.int64)


class TaskValues(NamedTuple):
    """What the sets of the tasks are worth at the prices.

    Attributes
    ----------
    value
        (m,): accuracy minus prices; -inf where nobody can be had and somebody must.
    proved
        (m,): whether no set of the task is worth more, but for rounding.
    """

    value: Floats
    proved: Bools


class Prices(NamedTuple):
    """The multipliers of the Lagrangian relaxation, and how they move after every task.

    Attributes
    ----------
    price
        (n + 1,): of a label of every worker, then of any label (of the budget).
    step
        By which the price of a worker whom a task takes rises; 0: prices stay.
    share
        (n + 1,): the part of every cap that falls to one task; a price falls by step * share.
    """

    price: Floats
    step: float
    share: Floats


class Room(NamedTuple):
    """What the caps leave while tasks take their sets one after the other.

    Attributes
    ----------
    labels
        (n + 1,): that every worker may give yet, then that the budget allows; (0,) if not kept.
    owed
        (1,): labels that the tasks to come must have; below 0: no room is kept, nobody is refused.
    """

    labels: Integers
    owed: Integers


class Limit(NamedTuple):
    """When a search is broken off.

    Attributes
    ----------
    steps
        After so many nodes of branch and bound, or exchanges.
    stop
        (1,): when this is not 0; it may change at any time.
    """

    steps: int
    stop: Integers


class Shortlist(NamedTuple):
    """The c candidates of one task whom an optimal set may need, by falling quality.

    Attributes
    ----------
    quality, price, worker
        (c,): as in `Candidates`, and what a label of theirs costs.
    """

    quality: Floats
    price: Floats
    worker: Integers

    @classmethod
    def empty(cls, n: int) -> Shortlist:
        """Make room for n voters."""
        return cls(np.empty(n), np.empty(n), np.empty(n, dtype=np.int64))


class Nodes(NamedTuple):
    """The nodes of branch and bound from the root to where the search is, one per depth d.

    A node is a set of d voters, whose table is kept beside; its children have one voter more, who
    comes later in the shortlist.

    Attributes
    ----------
    outcomes
        (D,): size of the node's table.
    spent
        (D,): prices of its voters.
    added
        (D,): the voter who made the next node of it.
    following
        (D,): the next voter to add.
    fresh
        (D,): the voter from whom on `reach` is out of date.
    reach
        (D, n + 1): a bound for what sets below the node with voter i are worth, beside `spent`.
    """

    outcomes: Integers
    spent: Floats
    added: Integers
    following: Integers
    fresh: Integers
    reach: Floats

    @classmethod
    def empty(cls, n: int, depths: int) -> Nodes:
        """Make room for so many depths and n voters."""
        outcomes, added, following, fresh = (np.empty(depths, dtype=np.int64) for _ in range(4))
        reach = np.empty((depths, n + 1))
        return cls(outcomes, np.empty(depths), added, following, fresh, reach)


class Held(NamedTuple):
    """The best few so far, in order.

    Attributes
    ----------
    values
        (n + 2,) or more: the least costs, or the largest values.
    whose
        (n + 2,) or more: the voters, where that matters.
    """

    values: Floats
    whose: Integers


class BoundScratch(NamedTuple):
    """Scratch for bounds on what more voters can be worth; c voters are on the shortlist.

    Attributes
    ----------
    gain
        (n + 2,): what each voter adds.
    chance
        (n + 2,) or more: binomial chances, or powers of them.
    copies
        (n + 2,) or more: accuracy after 0, 1, 2, ... more copies of one voter.
    held
        The best so far.
    cheapest
        (n + 2, most): entry [i, a] is the sum of the a least prices from voter i on.
    """

    gain: Floats
    chance: Floats
    copies: Floats
    held: Held
    cheapest: Floats

    @classmethod
    def empty(cls, n: int, size: int, most: int) -> BoundScratch:
        """Make room for n voters: `most` are summed, `size` are copies or held."""
        held = Held(np.empty(size), np.empty(size, dtype=np.int64))
        return cls(np.empty(n + 2), np.empty(size), np.empty(size), held, np.empty((n + 2, most)))


class GradeScratch(NamedTuple):
    """Scratch for the bound by two grades of quality.

    Attributes
    ----------
    chance
        (2, D, D): of grade, number of voters and number of those who are right.
    accuracy
        (D, D): after a more voters of the upper grade and b of the lower one.
    slopes
        (D, 2): of the plane above them, one for every depth; first 0 where there is none yet.
    """

    chance: Floats
    accuracy: Floats
    slopes: Floats

    @classmethod
    def empty(cls, depths: int) -> GradeScratch:
        """Make room for so many depths."""
        slopes = np.zeros((depths, 2))
        return cls(np.empty((2, depths, depths)), np.empty((depths, depths)), slopes)


class Tables(NamedTuple):
    """Tables of outcomes of two classes, one per row.

    See `crowd_tvcs.accuracy.kernels.outcome_lists`.

    Attributes
    ----------
    t, f
        (rows, outcomes): chance of an outcome with the label it speaks for, and with the other.
    """

    t: Floats
    f: Floats

    @classmethod
    def empty(cls, rows: int, outcomes: int) -> Tables:
        """Make room for so many tables."""
        return cls(np.empty((rows, outcomes)), np.empty((rows, outcomes)))


class BranchScratch(NamedTuple):
    """Scratch for branch and bound with two classes.

    Attributes
    ----------
    tables
        One per depth.
    chosen
        (n,): places in the shortlist of the incumbent.
    nodes, bounds, grades
        What the search keeps, and its bounds.
    """

    tables: Tables
    chosen: Integers
    nodes: Nodes
    bounds: BoundScratch
    grades: GradeScratch


class Scratch(NamedTuple):
    """Scratch for the best set of a task of two classes.

    Attributes
    ----------
    asked
        (n,): price of a worker's label for the task at hand, infinite for whom it cannot have.
    short
        Three arrays of n, for the shortlist.
    tried
        (n,): places in the shortlist of a set that is tried.
    beaten
        (INTERVALS + 1,): see `crowd_tvcs.search.kernels.bounds.drop_beaten`.
    """

    asked: Floats
    short: Shortlist
    tried: Integers
    beaten: Integers


class ManyClassBranchScratch(NamedTuple):
    """Scratch for branch and bound with K classes; what is not said is as in `BranchScratch`.

    Attributes
    ----------
    tables
        (exact + 1, K, limit): one per depth.
    gains
        For `crowd_tvcs.accuracy.kernels.many_class_table.fill_gains`.
    """

    tables: Floats
    chosen: Integers
    nodes: Nodes
    bounds: BoundScratch
    gains: GainScratch


class ManyClassScratch(NamedTuple):
    """Scratch for the best set of a task of K classes; what is not said is as in `Scratch`.

    Attributes
    ----------
    kinds
        (n,): of the voters on the shortlist.
    pair
        (2, K, K * limit): two tables, to build one from the other.
    branch
        For branch and bound.
    """

    asked: Floats
    short: Shortlist
    kinds: Integers
    tried: Integers
    pair: Floats
    branch: ManyClassBranchScratch


class Measure(NamedTuple):
    """By what gain to choose: see `crowd_tvcs.search.kernels.greedy.fill_scores`."""

    exact: bool
    sharp: bool


class Climb(NamedTuple):
    """The state of a greedy assignment.

    Attributes
    ----------
    sets
        Who is chosen, by worker; the accuracies are not kept up.
    places
        (m, most): the same by place among the candidates.
    room
        (n + 1,): labels left for every worker, then in the budget.
    tree
        (2 * 2^h,): in every node the largest value below it; the leaves are the tasks.
    best
        (m,): place of the best candidate of every task.
    scores
        (m, n): of every candidate.
    gain
        (n,): scratch.
    """

    sets: TaskSets
    places: Integers
    room: Integers
    tree: Floats
    best: Integers
    scores: Floats
    gain: Floats


class Places(NamedTuple):
    """The places that workers may exchange; place s of task j has the number j * most + s.

    Attributes
    ----------
    held
        (n, largest cap): the places of worker i are the first load[i] of row i.
    load, room
        (n,): how many these are, and how many more there may be.
    rank
        (m, n): place of every worker among the candidates of every task.
    better
        (m * most, n): what the task of a place would gain if another worker were there; -inf for
        who may not be there.
    """

    held: Integers
    load: Integers
    room: Integers
    rank: Integers
    better: Floats
