"""Price a task again, in plain NumPy: code that shares nothing with the method it checks.

The best set of a task is searched size by size. All sets of one size that may still grow
into a better one are kept at once, as the rows of a table of outcomes; m1 and m0 are the
probabilities of an outcome with label 1 and with label 0, prior included.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MAX_EXACT_VOTERS = 22  # voters whose 2^22 outcomes are enumerated: 32 MB
BEFORE_GRID = 14  # voters of a larger team before its posteriors are moved to the grid
MAX_JOINING_LOSS = 1e-4  # accuracy that the method may lose by joining outcomes of larger teams
MAX_SETS = 200_000  # sets of a task, beyond which its pricing is given up
MAX_ARRAY_NUMBERS = 4_000_000  # numbers in the largest array: 32 MB
MAX_KNOTS = 64
LINEAR_WITHIN = 1e-12  # accuracy by which a price may be off a line, being rounded
SLOPES = 200  # intervals of slopes, at each of which others may beat a worker
# Posteriors, dense near 1/2, where the vote changes, and next to 0 and 1.
GRID = np.concatenate([[0.0], 0.5 + 0.5 * np.tanh(np.linspace(-18.0, 18.0, 36_001)), [1.0]])
GRID = np.unique(GRID)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
NOBODY: Floats = np.empty(0)


def accuracy(quality: Floats, prior: float) -> tuple[float, float]:
    """Bounds below and above the expected accuracy of the vote, outcome by outcome.

    They are the same up to `MAX_EXACT_VOTERS` voters. Beyond, outcomes are moved to a grid of
    posteriors: for the upper one to the two points around them, such that their mean stays
    (max is convex); for the lower one those between two points are joined.
    """
    n_exact = quality.size if quality.size <= MAX_EXACT_VOTERS else BEFORE_GRID
    m1, m0 = np.array([prior]), np.array([1.0 - prior])
    for q in quality[:n_exact]:
        m1, m0 = np.append(m1 * q, m1 * (1.0 - q)), np.append(m0 * (1.0 - q), m0 * q)
    low = high = m1, m0
    for q in quality[n_exact:]:
        low = _joined(*(np.append(m * a, m * b) for m, a, b in _ways(low, q)))
        high = _spread(*(np.append(m * a, m * b) for m, a, b in _ways(high, q)))
    return float(np.maximum(*low).sum()), float(np.maximum(*high).sum())


def _ways(m: tuple[Floats, Floats], q: float) -> tuple[tuple[Floats, float, float], ...]:
    return (m[0], q, 1.0 - q), (m[1], 1.0 - q, q)


def _joined(m1: Floats, m0: Floats) -> tuple[Floats, Floats]:
    cell = np.searchsorted(GRID, m1 / np.maximum(m1 + m0, 1e-300))
    out = np.zeros((2, GRID.size + 1))
    np.add.at(out[0], cell, m1)
    np.add.at(out[1], cell, m0)
    return out[0], out[1]


def _spread(m1: Floats, m0: Floats) -> tuple[Floats, Floats]:
    mass = m1 + m0
    posterior = m1 / np.maximum(mass, 1e-300)
    above = np.clip(np.searchsorted(GRID, posterior), 1, GRID.size - 1)
    width = GRID[above] - GRID[above - 1]
    up = np.clip((posterior - GRID[above - 1]) / width, 0.0, 1.0)
    masses = np.bincount(above, mass * up, GRID.size)
    masses += np.bincount(above - 1, mass * (1.0 - up), GRID.size)
    return masses * GRID, masses * (1.0 - GRID)


@dataclass(frozen=True)
class Priced:
    """The largest accuracy minus prices of a task, or the least that it is known to be.

    Attributes
    ----------
    value
        That number.
    exact
        False if the search was given up.
    """

    value: float
    exact: bool


def price_task(
    quality: Floats,
    price: Floats,
    cap: int,
    prior: float,
    known: float = -np.inf,
    *,
    least: int = 0,
    fixed: Floats = NOBODY,
    group: Integers | None = None,
    repeated: bool = False,
) -> Priced:
    """Maximise accuracy(fixed and S) - sum of `price` over S; sets S of least..cap workers.

    `quality` and `price` are those of the allowed workers, `fixed` the qualities of the workers who
    label the task in any case. `known` is the value of some such set, as a start. A worker of
    quality q < 1/2 counts as one of 1 - q, because the vote inverts their answers. S has at most
    one worker of each number >= 0 in `group`. With `repeated`, and no groups, S may have a worker
    several times.
    """
    group = np.full(quality.size, -1) if group is None else group
    q, fixed = np.maximum(quality, 1.0 - quality), np.maximum(fixed, 1.0 - fixed)
    fixed = fixed[fixed > 0.5]
    alone = accuracy(fixed, prior)
    value = max(known, alone[0]) if least == 0 else known
    if alone[0] == 1.0 or cap == 0:
        cheap = np.sort(-best_of_each(-price[None, :], group)[0])[:least]  # who may work together
        return Priced(alone[1] - float(cheap.sum()), alone[0] == alone[1])
    equals = 1 if repeated else cap
    kept = not_replaceable(q, price, equals, least, group, 0.5)
    if (group < 0).all():
        kept = kept[are_ever_among(q[kept], price[kept], equals)]
    q, p, group = q[kept], price[kept], group[kept]
    mates = (group[:, None] == group) & (group >= 0)
    cheapest = np.sort(np.repeat(p, cap if repeated else 1))[:cap].cumsum()
    affordable = int((1.0 - cheapest > value).sum())  # an accuracy is at most 1
    cap = min(cap, max(least, affordable))
    if fixed.size + min(cap, 2) > MAX_EXACT_VOTERS:
        return Priced(value, cap == 0)
    m1, m0 = np.array([[prior]]), np.array([[1.0 - prior]])
    for voter in fixed:
        m1, m0 = _add(m1, np.array([voter])), _add(m0, 1.0 - np.array([voter]))
    spent, last, barred = np.zeros(1), np.full(1, -1), np.zeros((1, q.size), dtype=bool)
    for size in range(1, cap + 1):
        after = _after_one_more(m1, m0, q) - spent[:, None] - p
        after[(np.arange(q.size) < last[:, None] + (not repeated)) | barred] = -np.inf
        if size >= least:
            value = max(value, float(after.max(initial=-np.inf)))
        row, column = np.nonzero(after > -np.inf)
        if size == cap or not row.size:
            break
        if row.size * 2 ** (size + fixed.size) > 40 * MAX_ARRAY_NUMBERS:
            return Priced(value, False)
        m1, m0 = _add(m1[row], q[column]), _add(m0[row], 1.0 - q[column])
        spent, last, barred = spent[row] + p[column], column, barred[row] | mates[column]
        may = np.zeros(last.size, dtype=bool)
        step = max(1, MAX_ARRAY_NUMBERS // max(q.size, m1.shape[1]))
        for at in range(0, last.size, step):
            some = slice(at, at + step)
            sets = Sets(m1[some], m0[some], last[some], barred[some], value + spent[some])
            more = cap - size, least - size
            may[some] = _may_exceed(sets, q, p, group, *more, repeated=repeated)
        m1, m0, spent, last, barred = m1[may], m0[may], spent[may], last[may], barred[may]
        if last.size > MAX_SETS:
            return Priced(value, False)
    return Priced(value, True)


def not_replaceable(
    q: Floats,
    price: Floats,
    cap: int,
    least: int,
    group: Integers,
    useless: float,
    serves: NDArray[np.bool_] | None = None,
) -> NDArray[np.intp]:
    """Return the workers that some best set needs, best first.

    A worker can be replaced in any set if `cap` groups have a worker as good and as cheap, or if a
    worker of the same group is (a worker without a group is a group alone). No worker adds more
    than q - `useless`, which matters if no worker must be added. Only workers in `serves` can
    replace others.
    """
    kept: list[int] = []
    order = np.lexsort((price, -q)).tolist()
    if serves is None and (group < 0).all():
        prices: list[float] = []  # of those kept, the least first
        for i in order:
            few = bisect_right(prices, price[i]) < cap
            if few and (price[i] < q[i] - useless or least > 0):
                insort(prices, price[i])
                kept.append(i)
        return np.array(kept, dtype=np.intp)
    for i in order:
        as_cheap = [k for k in kept if price[k] <= price[i] and (serves is None or serves[k])]
        of = {(int(group[k]), k if group[k] < 0 else -1) for k in as_cheap}
        if group[i] >= 0 and (int(group[i]), -1) in of:
            continue
        if len(of) < cap and (price[i] < q[i] - useless or least > 0):
            kept.append(i)
    return np.array(kept, dtype=np.intp)


def are_ever_among(q: Floats, price: Floats, cap: int) -> NDArray[np.bool_]:
    """Mark workers whom fewer than `cap` others beat by m * quality - price at some m in [0, 1].

    For fixed other members of a best set the accuracy is convex in the quality of a member, with a
    slope m in [0, 1] there. A worker who beats the member at m would do better in their place,
    unless they are in the set too. A worker who beats another at both ends of an interval of slopes
    does so between them.
    """
    out, ends = np.zeros(q.size, dtype=bool), np.linspace(0.0, 1.0, SLOPES + 1)
    before = np.zeros((q.size, q.size), dtype=bool)
    for at, slope in enumerate(ends):
        worth = slope * q - price
        beats = worth[None, :] > worth[:, None]
        if at:
            out |= (beats & before).sum(axis=1) < cap
        before = beats
    return out


def best_of_each(values: Floats, group: Integers) -> Floats:
    """Keep the columns of workers without a group, and of each group the maximum of every row."""
    if (group < 0).all():
        return values
    named = np.unique(group[group >= 0])
    best = [values[:, group == name].max(axis=1) for name in named]
    return np.column_stack([values[:, group < 0], *best])


def _add(m: Floats, chance: Floats) -> Floats:
    return np.hstack([m * chance[:, None], m * (1.0 - chance)[:, None]])


def _after_one_more(m1: Floats, m0: Floats, q: Floats) -> Floats:
    """Accuracy of every row's set with every worker; of shape (sets, workers)."""
    out = np.empty((m1.shape[0], q.size))
    for i, chance in enumerate(q):
        agree = np.maximum(m1 * chance, m0 * (1.0 - chance)).sum(axis=1)
        out[:, i] = agree + np.maximum(m1 * (1.0 - chance), m0 * chance).sum(axis=1)
    return out


@dataclass(frozen=True)
class Sets:
    """Sets of equally many workers, to which workers after the last may still be added.

    Attributes
    ----------
    m1, m0
        Probabilities of every outcome of a set with label 1 and 0; (sets, outcomes).
    last, barred
        The last worker of each, and the workers who may not join it.
    value
        Value that accuracy minus the prices of joining workers must exceed.
    """

    m1: Floats
    m0: Floats
    last: Integers
    barred: NDArray[np.bool_]
    value: Floats


def _may_exceed(
    sets: Sets, q: Floats, p: Floats, group: Integers, more: int, least: int, *, repeated: bool
) -> NDArray[np.bool_]:
    """Whether a set with least..more workers after its last may be worth more than its `value`.

    Accuracy is convex in the quality of a voter. So a worker of quality q is worth at most as much
    as a copy of the best one left, of quality Q, that is present with probability (q - 1/2) / (Q -
    1/2). With g[k] the accuracy after k such copies, any line above g bounds all mixtures. Of each
    group the best worker counts, and none if the set has a worker of the group.
    """
    out = np.zeros(sets.last.size, dtype=bool)
    rows = np.flatnonzero(repeated | (q.size - 1 - sets.last >= max(least, 1)))
    if not rows.size:
        return out
    first = np.maximum(sets.last[rows] + (not repeated), 0)
    g = _copies(sets.m1[rows], sets.m0[rows], q[first], more)
    left = g[:, -1] > sets.value[rows]
    for a, b in combinations(range(more + 1), 2):
        rows, first, g = rows[left], first[left], g[left]
        slope = (g[:, b] - g[:, a]) / (b - a)
        height = (g - slope[:, None] * np.arange(more + 1)).max(axis=1)
        worth = (slope / np.maximum(q[first] - 0.5, 1e-300))[:, None] * (q - 0.5) - p
        worth[(np.arange(q.size) < first[:, None]) | sets.barred[rows]] = -np.inf
        worth = np.repeat(best_of_each(worth, group), more if repeated else 1, axis=1)
        worth = -np.sort(-_largest(worth, more), axis=1)
        worth[:, max(0, least) :] = np.maximum(worth[:, max(0, least) :], 0.0)
        left = height + worth.sum(axis=1) > sets.value[rows]
    out[rows[left]] = True
    return out


def _largest(values: Floats, size: int) -> Floats:
    """The `size` largest values of every row, in any order."""
    if values.shape[1] <= size:
        return values
    return np.partition(values, values.shape[1] - size, axis=1)[:, -size:]


def _copies(m1: Floats, m0: Floats, q: Floats, more: int) -> Floats:
    """Accuracy of every row's set after 0, 1, ..., `more` voters of its quality in `q`."""
    out, chance = [np.maximum(m1, m0).sum(axis=1)], q[:, None]
    for size in range(1, more + 1):
        of_size = np.zeros(q.size)
        for agree in range(size + 1):  # outcomes that differ in their order alone are the same
            right, wrong = chance**agree, (1.0 - chance) ** agree
            other = (1.0 - chance) ** (size - agree), chance ** (size - agree)
            both = np.maximum(m1 * (right * other[0]), m0 * (wrong * other[1]))
            of_size += math.comb(size, agree) * both.sum(axis=1)
        out.append(of_size)
    return np.column_stack(out)


def knots_of(quality: Floats, price: Floats, most: int) -> tuple[Floats, Floats] | None:
    """Return qualities of knots and prices there; between knots no worker is cheaper than the line.

    The knots are corners of the lower convex hull of the workers; None if they are more than
    `most`. Accuracy is convex in the quality of a voter, so a worker between two knots is worth at
    most as much as a voter at one of them, less a price linear in between. The best multiset of
    voters at knots bounds all sets.
    """
    if not quality.size:
        return quality, price
    order = np.lexsort((price, quality))
    q, p = quality[order], price[order]
    is_first = np.append(True, np.diff(q) > 0.0)  # the cheapest of equal workers
    q, p = _below(q[is_first], p[is_first])
    knots, end = [0], 0
    while end < q.size - 1:
        begin = knots[-1]
        end = begin + 1
        while end < q.size - 1 and _off(q[begin : end + 2], p[begin : end + 2]) <= LINEAR_WITHIN:
            end += 1
        knots.append(end)
        if len(knots) > most:
            return None
    return q[knots], p[knots] - LINEAR_WITHIN


def _below(q: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the corners of the lower convex hull of points in ascending order of q."""
    kept: list[int] = []
    for new in range(q.size):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (p[b] - p[a]) * (q[new] - q[a]) < (p[new] - p[a]) * (q[b] - q[a]):
                break
            kept.pop()
        kept.append(new)
    return q[kept], p[kept]


def _off(q: Floats, p: Floats) -> float:
    """Return how far prices are from the line between the first and the last."""
    return float(np.abs(np.interp(q, q[[0, -1]], p[[0, -1]]) - p).max())
