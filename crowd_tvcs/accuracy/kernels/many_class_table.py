"""Kernels of outcome tables with K classes.

A table t has a row per class: t[y, e] is the joint probability of outcome e (all answers) and the
truth y. The Bayes vote of outcome e takes the largest entry of column e, so the expected accuracy
is the sum of the largest entries. `matrices` and kinds are those of
`crowd_tvcs.accuracy.model.AnswerModel`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import kernel


class Root(NamedTuple):
    """Start of the table of a task.

    Attributes
    ----------
    prior
        (K,): probability of every class before any answer.
    fixed
        Kinds of the fixed voters of the task.
    """

    prior: NDArray[np.float64]
    fixed: NDArray[np.int64]


class GainScratch(NamedTuple):
    """Scratch for the gains of c voters.

    Attributes
    ----------
    right, wrong
        (c,) or more: probability of the right and of any other answer, of even voters.
    best
        (outcomes,): the largest entry of every outcome.
    """

    right: NDArray[np.float64]
    wrong: NDArray[np.float64]
    best: NDArray[np.float64]


@kernel
def add_voter(t, size, matrix, out):
    """Fill `out` with the table after one more voter; return its size."""
    n_classes = matrix.shape[0]
    for y in range(n_classes):
        for answer in range(n_classes):
            chance = matrix[y, answer]
            for e in range(size):
                out[y, answer * size + e] = t[y, e] * chance
    return size * n_classes


@kernel
def total(t, size):
    """Return the sum of the largest entry of every outcome."""
    out = 0.0
    for e in range(size):
        best = t[0, e]
        for y in range(1, t.shape[0]):
            best = max(best, t[y, e])
        out += best
    return out


@kernel
def total_after(t, size, matrix, best):
    """Return the expected accuracy after one more voter, without their table; `best` is scratch."""
    n_classes = matrix.shape[0]
    out = 0.0
    for answer in range(n_classes):
        chance = matrix[0, answer]
        for e in range(size):
            best[e] = t[0, e] * chance
        for y in range(1, n_classes):
            chance = matrix[y, answer]
            for e in range(size):
                here = t[y, e] * chance
                best[e] = here if here > best[e] else best[e]
        for e in range(size):
            out += best[e]
    return out


@kernel
def truth_after(t, size, matrix):
    """Return the expected posterior probability of the truth after one more voter."""
    n_classes = matrix.shape[0]
    out = 0.0
    for answer in range(n_classes):
        for e in range(size):
            mass = 0.0
            square = 0.0
            for y in range(n_classes):
                here = t[y, e] * matrix[y, answer]
                mass += here
                square += here * here
            if mass > 0.0:
                out += square / mass
    return out


@kernel
def truth(t, size):
    """Return the expected posterior probability of the truth."""
    out = 0.0
    for e in range(size):
        mass = 0.0
        square = 0.0
        for y in range(t.shape[0]):
            mass += t[y, e]
            square += t[y, e] * t[y, e]
        if mass > 0.0:
            out += square / mass
    return out


@kernel
def join(t, size, limit, out):
    """Fill `out` with a table of at most `limit` outcomes, similar ones merged; return its size.

    Outcomes of the same leading class and of similar confidence are merged. A vote that cannot
    distinguish them is never more accurate, so the total only falls.
    """
    n_classes = t.shape[0]
    key = np.empty(size)
    for e in range(size):
        mass = 0.0
        best = 0
        for y in range(n_classes):
            mass += t[y, e]
            if t[y, e] > t[best, e]:
                best = y
        key[e] = 2.0 * best + (t[best, e] / mass if mass > 0.0 else 0.0)
    order = np.argsort(key)
    together = (size + limit - 1) // limit
    count = (size + together - 1) // together
    for y in range(n_classes):
        for e in range(count):
            out[y, e] = 0.0
        for e in range(size):
            out[y, e // together] += t[y, order[e]]
    return count


@kernel
def copy(t, size, out):
    """Copy a table."""
    for y in range(t.shape[0]):
        for e in range(size):
            out[y, e] = t[y, e]


@kernel
def tabulate(root, kinds, chosen, skip, matrices, limit, t):
    """Build the table of the fixed voters and of kinds[chosen] without index `skip`, in t[0].

    If `skip` is the size of `chosen` no voter is left out. `t` has two tables of more than `limit`
    times K outcomes. Outcomes are merged beyond `limit`; up to it the table is exact. Return its
    size.
    """
    n_fixed = root.fixed.size
    for y in range(root.prior.size):
        t[0, y, 0] = root.prior[y]
    size = np.int64(1)
    at = 0
    for s in range(n_fixed + chosen.size):
        if s - n_fixed == skip:
            continue
        kind = root.fixed[s] if s < n_fixed else kinds[chosen[s - n_fixed]]
        size = add_voter(t[at], size, matrices[kind], t[1 - at])
        at = 1 - at
        if size > limit:
            size = join(t[at], size, limit, t[1 - at])
            at = 1 - at
    if at == 1:
        copy(t[1], size, t[0])
    return size


@kernel
def fill_gains(t, size, matrices, is_even, kinds, scratch, out):
    """Fill `out` with the increase of the expected accuracy by each of the voters `kinds` alone.

    If the class of largest probability b leads an outcome, an even voter of accuracy q adds to it
    the sum over the other classes y of (t[y] q - b (1 - q) / (K - 1))+. `scratch` is a
    `GainScratch`.
    """
    right, wrong = scratch.right, scratch.wrong
    n_classes = matrices.shape[1]
    surest = 0.0
    rest = 1.0
    all_even = True
    for i in range(kinds.size):
        kind = kinds[i]
        right[i] = matrices[kind, 0, 0] if is_even[kind] else 0.0
        wrong[i] = matrices[kind, 0, 1] if is_even[kind] else 1.0
        if right[i] > surest:
            surest = right[i]
            rest = wrong[i]
        all_even = all_even and is_even[kind]
        out[i] = 0.0
    for e in range(size):
        lead = 0
        for y in range(1, n_classes):
            if t[y, e] > t[lead, e]:
                lead = y
        b = t[lead, e]
        for y in range(n_classes):
            here = t[y, e]
            # t[y] q <= b (1 - q) / (K - 1) for the most accurate even voter holds for all of them:
            # the gain increases in q.
            if y == lead or here * surest <= b * rest:
                continue
            for i in range(kinds.size):
                more = here * right[i] - b * wrong[i]
                out[i] += more if more > 0.0 else 0.0
    if all_even:
        return
    # Uneven voters are evaluated outcome by outcome; equal ones are adjacent.
    now = total(t, size)
    for i in range(kinds.size):
        if is_even[kinds[i]]:
            continue
        if i > 0 and kinds[i] == kinds[i - 1]:
            out[i] = out[i - 1]
        else:
            out[i] = max(0.0, total_after(t, size, matrices[kinds[i]], scratch.best) - now)


@kernel
def accuracy_of_tasks(tasks, start, voters, prior, matrices, t, best, out):
    """Fill `out` with the expected accuracy of every one of `tasks`, outcome by outcome.

    The voters of task j are the kinds voters[start[j]:start[j + 1]]; each table of `t` holds the
    outcomes of all of them but one.
    """
    n_classes = matrices.shape[1]
    for j in tasks:
        for y in range(n_classes):
            t[0, y, 0] = prior[j, y]
        size = np.int64(1)
        at = 0
        for v in range(start[j], start[j + 1] - 1):
            size = add_voter(t[at], size, matrices[voters[v]], t[1 - at])
            at = 1 - at
        if start[j + 1] > start[j]:
            out[j] = total_after(t[at], size, matrices[voters[start[j + 1] - 1]], best)
        else:
            out[j] = total(t[at], size)
