"""Kernels of orthogonal matching pursuit: variance of a target explained by selected inputs."""

import math
from typing import NamedTuple

import numpy as np

from grn_tvcs.stability.kernels.covariances import Floats, Ints
from tvcs_core.jit import kernel

# Rows of `Scratch.left`: covariance with the residual of the response, residual variance of the
# input, and 1 + position among the chosen inputs (0: not chosen, -1: may not be chosen).
COVARIANCE, VARIANCE, PLACE = 0, 1, 2
# Fractions of variance are summed as multiples of 2^-40; up to rounding they are at most 1.
SHARE_STEPS, MAX_SHARE = 2.0**40, 2.0


class Target(NamedTuple):
    """`Inputs` of one target: c, d and b are (inputs,)."""

    S: Floats
    variance: Floats
    c: Floats
    d: Floats
    b: Floats


class Chosen(NamedTuple):
    """Chosen inputs of each target; only the first ``size[i]`` entries of row i are used.

    Attributes
    ----------
    size
        (targets,).
    at, weight, dropped
        (targets, most): input, its coefficient, and the variance lost without it.
    """

    size: Ints
    at: Ints
    weight: Floats
    dropped: Floats


class Scratch(NamedTuple):
    """Scratch memory for the pursuit of one target.

    Attributes
    ----------
    columns
        (most, inputs): covariances with the chosen inputs, orthogonalised.
    inverse
        (most, most): inverse of the Cholesky factor of the chosen inputs.
    steps
        (most,): coefficients of the orthogonal columns.
    left
        (3, inputs): see `COVARIANCE`, `VARIANCE` and `PLACE`.
    """

    columns: Floats
    inverse: Floats
    steps: Floats
    left: Floats


@kernel
def fit(inputs, edges, ridge):
    """Fill in the weights of the edges by least squares, target by target.

    An input that the others explain gets the weight 0.
    """
    start, at = edges.start, edges.at
    most = np.int64(0)
    for i in range(start.size - 1):
        most = max(most, start[i + 1] - start[i])
    few = Target(
        np.empty((most, most)), np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    )
    scratch = Scratch(
        np.empty((most, most)), np.empty((most, most)), np.empty(most), np.empty((3, most))
    )
    for i in range(start.size - 1):
        first, width = start[i], start[i + 1] - start[i]
        for e in range(width):
            j = at[first + e]
            few.c[e], few.d[e], few.b[e] = inputs.c[i, j], inputs.d[i, j], inputs.b[i, j]
            few.variance[e] = inputs.variance[j]
            for f in range(width):
                few.S[e, f] = inputs.S[j, at[first + f]]
            scratch.left[PLACE, e] = 0.0
        n = choose(few, width, width, ridge, scratch)
        for e in range(width):
            place = int(scratch.left[PLACE, e]) - 1
            edges.weight[first + e] = 0.0
            if place >= 0:
                edges.weight[first + e] = drop(place, n, scratch.inverse, scratch.steps)[0]


@kernel
def pursue(inputs, members, ridge, chosen, added):
    """Select inputs for each target by orthogonal matching pursuit.

    Parameters
    ----------
    members
        `Lists` of the candidate inputs; without a `start`, all of them.
    ridge
        Added to the diagonal of the covariances.
    chosen
        Filled in; its width is the largest number of inputs per target.
    added
        (targets, inputs): adds the variance that each input not chosen would explain if it alone
        were added, in units of ``1 / SHARE_STEPS``.

    Returns
    -------
    int
        Number of terms that are too large for the grid, or NaN.
    """
    n_targets, n_inputs = inputs.b.shape
    size = chosen.at.shape[1]
    scratch = Scratch(
        np.empty((size, n_inputs)), np.empty((size, size)), np.empty(size), np.empty((3, n_inputs))
    )
    left, n_wrong = scratch.left, 0
    for i in range(n_targets):
        left[PLACE] = 0.0
        if members.start.size > 0:
            left[PLACE] = -1.0
            for e in range(members.start[i], members.start[i + 1]):
                left[PLACE, members.at[e]] = 0.0
        target = Target(inputs.S, inputs.variance, inputs.c[i], inputs.d[i], inputs.b[i])
        n = choose(target, n_inputs, size, ridge, scratch)
        k = np.int64(0)
        for j in range(n_inputs):
            if left[PLACE, j] > 0.0:
                weight, loss = drop(int(left[PLACE, j]) - 1, n, scratch.inverse, scratch.steps)
                chosen.at[i, k], chosen.weight[i, k], chosen.dropped[i, k] = j, weight, loss
                k += 1
        chosen.size[i] = n
        n_wrong += add_shares(left, ridge, added[i])
    return n_wrong


@kernel
def add_shares(left, ridge, added):
    """Add the fraction of variance that each input not chosen would explain."""
    n_wrong = 0
    for j in range(added.size):
        # An input that the chosen ones explain has a residual variance of about the ridge.
        is_open = left[PLACE, j] <= 0.0 and left[VARIANCE, j] > 2.0 * ridge
        share = left[COVARIANCE, j] ** 2 / left[VARIANCE, j] if is_open else 0.0
        fits = share <= MAX_SHARE  # false for NaN
        added[j] += np.int64((share if fits else 0.0) * SHARE_STEPS + 0.5)
        n_wrong += not fits
    return n_wrong


@kernel
def choose(target, width, size, ridge, scratch):
    """Select up to `size` of the first `width` inputs by orthogonal matching pursuit.

    The inputs have covariance ``d d' * (S - c c')``, and covariance b with the response. Each step
    selects the largest covariance with the residual (Batch-OMP: Rubinstein, Zibulevsky and Elad
    2008). Returns the number of selected inputs; `PLACE` holds the candidates, then the positions.
    """
    S, c, d, left, columns = target.S, target.c, target.d, scratch.left, scratch.columns
    for j in range(width):
        left[COVARIANCE, j] = target.b[j]
        left[VARIANCE, j] = d[j] * d[j] * (target.variance[j] - c[j] * c[j]) + ridge
    for n in range(size):
        at = strongest(width, left, 2.0 * ridge)
        if at < 0:
            return n
        for j in range(width):
            columns[n, j] = d[j] * d[at] * (S[at, j] - c[j] * c[at])
        columns[n, at] += ridge
        scratch.steps[n] = take(at, n, width, scratch)
    return size


@kernel
def strongest(width, left, least):
    """Return the input with the largest covariance with the residual, or -1."""
    best = 0.0
    at = -1
    for j in range(width):
        size = abs(left[COVARIANCE, j])
        if size > best and left[PLACE, j] == 0.0 and left[VARIANCE, j] > least:
            best = size
            at = j
    return at


@kernel
def take(at, n, width, scratch):
    """Orthogonalise column n to the previous ones; return its coefficient.

    One step of Gram-Schmidt in the metric of the inputs, which gives one column of the Cholesky
    factor; `inverse` gets the next row of its inverse.
    """
    columns, inverse, left = scratch.columns, scratch.inverse, scratch.left
    for k in range(n):
        factor = columns[k, at]
        for j in range(width):
            columns[n, j] -= factor * columns[k, j]
    root = math.sqrt(columns[n, at])
    for k in range(n):
        inverse[n, k] = 0.0
        for m in range(k, n):
            inverse[n, k] -= columns[m, at] * inverse[m, k]
        inverse[n, k] /= root
    inverse[n, n] = 1.0 / root
    step = left[COVARIANCE, at] / root
    for j in range(width):
        columns[n, j] /= root
        left[COVARIANCE, j] -= step * columns[n, j]
        left[VARIANCE, j] -= columns[n, j] * columns[n, j]
    left[PLACE, at] = n + 1.0
    return step


@kernel
def drop(k, n, inverse, steps):
    """Return coefficient w of the k-th of n chosen inputs and the loss without it, w^2 / inv(G)."""
    weight = 0.0
    spread = 0.0
    for m in range(k, n):
        weight += inverse[m, k] * steps[m]
        spread += inverse[m, k] * inverse[m, k]
    return weight, weight * weight / spread
