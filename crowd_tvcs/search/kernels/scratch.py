"""Records of scratch for the best set of one task: one thread has each of its own.

There are n workers and K classes; D is 2 more than the voters whose table is exact. The fields and
their units are described in `crowd_tvcs.search.kernels.records`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.accuracy.kernels.many_class_table import GainScratch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Shortlist(NamedTuple):
    """The c candidates of one task whom an optimal set may need, by falling quality.

    Attributes
    ----------
    quality, price, worker
        (c,): as in `Candidates`, and what a label of theirs costs.
    group
        (c,): number of their group, -1 for none; (0,) without groups.
    """

    quality: Floats
    price: Floats
    worker: Integers
    group: Integers

    @classmethod
    def empty(cls, n: int, *, has_groups: bool = False) -> Shortlist:
        """Make room for n voters."""
        worker, group = np.empty(n, dtype=np.int64), np.empty(n * has_groups, dtype=np.int64)
        return cls(np.empty(n), np.empty(n), worker, group)


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
    price
        (D, n + 1): prices of the voters, infinite for mates of those of the node; for groups alone.
    """

    outcomes: Integers
    spent: Floats
    added: Integers
    following: Integers
    fresh: Integers
    reach: Floats
    price: Floats

    @classmethod
    def empty(cls, n: int, depths: int) -> Nodes:
        """Make room for so many depths and n voters."""
        outcomes, added, following, fresh = (np.empty(depths, dtype=np.int64) for _ in range(4))
        reach, price = np.empty((depths, n + 1)), np.empty((depths, n + 1))
        return cls(outcomes, np.empty(depths), added, following, fresh, reach, price)


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
    """Scratch for bounds on the value of more voters; c voters are on the shortlist.

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
        (D, 2): of the plane above them, one for every depth; first 0 if there is none yet.
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

    See `crowd_tvcs.accuracy.kernels.two_class_table`.

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
        The state of the search, and its bounds.
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
    """

    asked: Floats
    short: Shortlist
    tried: Integers


class ManyClassBranchScratch(NamedTuple):
    """Scratch for branch and bound with K classes; other fields are as in `BranchScratch`.

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
    """Scratch for the best set of a task of K classes; other fields are as in `Scratch`.

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
