"""Records of the search: arrays that travel together, by name.

The kernels (`tvcs_core.jit`) take them as they are. A kernel is compiled for one type of every
field: float64, int64 or bool, in C order, writable. Every array of a record that is passed on is
counted twice (about 10 ns), so functions that are called for every node or voter take the arrays
they need.

There are n workers, m tasks and K classes. Arrays that only one thread writes on are in `scratch`.
Accuracies, prices and values (accuracy minus prices) are in units of the expected accuracy of one
task, chances in [0, 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    cost
        (n,): what a label of every worker costs, in the mean cost; (0,) without money.
    owed
        (m,): the least that the task must spend; (0,) without money.
    group
        (n,): number of the group of every worker, -1 for none; (0,) without groups. No task has
        candidates who are mates of workers that are forced on it.
    """

    quality: Floats
    worker: Integers
    size: Integers
    need: Integers
    cap: Integers
    fixed: Floats | Integers
    n_fixed: Integers
    base: Floats
    cost: Floats
    owed: Floats
    group: Integers


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
    """The values of the sets of the tasks at the prices.

    Attributes
    ----------
    value
        (m,): accuracy minus prices; -inf if nobody can be had and somebody must.
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
    money
        (1,): of the mean cost of a label; (0,) without money.
    money_share
        The part of the money that falls to one task.
    """

    price: Floats
    step: float
    share: Floats
    money: Floats
    money_share: float


class Room(NamedTuple):
    """The rest of the caps while tasks take their sets one after the other.

    Attributes
    ----------
    labels
        (n + 1,): that every worker may give yet, then that the budget allows; (0,) if not kept.
    owed
        (1,): labels that the tasks to come must have; below 0: no room is kept, nobody is refused.
    money
        (2,): what may be spent yet, and the least that the tasks to come must; (0,) without money.
    """

    labels: Integers
    owed: Integers
    money: Floats


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


class Climb(NamedTuple):
    """The state of a greedy assignment.

    Attributes
    ----------
    sets
        Chosen workers, a mask; the accuracies are not kept up.
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
    money
        (1,): what may be spent yet; not looked at without money.
    """

    held: Integers
    load: Integers
    room: Integers
    rank: Integers
    better: Floats
    money: Floats
