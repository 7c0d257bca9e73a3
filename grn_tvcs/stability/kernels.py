"""Kernels of the default method: means of the past, and matching pursuit of all targets."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import kernel

# Rows of the effects of edges: variance that is lost when a chosen input is dropped, what one that
# is not chosen would explain if it alone were added, and the coefficients of the chosen ones.
DROPPED, ADDED, WEIGHT = 0, 1, 2
# Rows of what is left: covariance with what is left of the response, what is left of the own
# variance, and 1 + place among the chosen ones (0: not chosen).
COVARIANCE, VARIANCE, PLACE = 0, 1, 2

Floats = NDArray[np.float64]


class Inputs(NamedTuple):
    """Covariances of the inputs of all targets, each scaled to unit variance and weighted.

    Attributes
    ----------
    S
        (inputs, inputs): of the unscaled inputs.
    c
        (targets, inputs): of the unscaled inputs with what is projected out of a target's.
    d
        (targets, inputs): by which an input is multiplied for a target.
    b
        (targets, inputs): of the scaled inputs with the response.
    """

    S: Floats
    c: Floats
    d: Floats
    b: Floats


@kernel
def fade(x, keep, mean):
    """Exponentially weighted mean of the rows up to each; ``keep[t]`` is the weight of the past.

    A row with ``keep[t] == 0`` starts anew.
    """
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            mean[t, j] = x[t, j]
            if keep[t] > 0.0:
                mean[t, j] += keep[t] * (mean[t - 1, j] - x[t, j])


@kernel
def pursue(inputs, allowed, others, ridge, size, effects):
    """Choose up to `size` inputs for each target by orthogonal matching pursuit.

    Target i has inputs of covariance ``d_i d_i' * (S - c_i c_i')``, and `b_i` with the response.
    An input is chosen by its covariance with what is left of the response (Batch-OMP:
    Rubinstein, Zibulevsky and Elad 2008). Filled are the `effects`, (3, targets, inputs), of what
    was chosen, and of those of `others` that were not.
    """
    S = inputs.S
    n_targets, n_inputs = inputs.b.shape
    columns = np.empty((size, n_inputs))  # covariances with the chosen inputs, made orthogonal
    inverse = np.empty((size, size))  # of the Cholesky factor of the chosen inputs
    steps = np.empty(size)  # coefficients of the orthogonal columns
    left = np.empty((3, n_inputs))
    for i in range(n_targets):
        c, d, b = inputs.c[i], inputs.d[i], inputs.b[i]
        for j in range(n_inputs):
            left[COVARIANCE, j] = b[j]
            left[VARIANCE, j] = d[j] * d[j] * (S[j, j] - c[j] * c[j]) + ridge
            left[PLACE, j] = 0.0
        chosen = size
        for n in range(size):
            # Of an input that the chosen ones explain only the ridge is left.
            at = strongest(allowed[i], left, 2.0 * ridge)
            if at < 0:
                chosen = n
                break
            for j in range(n_inputs):
                columns[n, j] = d[j] * d[at] * (S[at, j] - c[j] * c[at])
            columns[n, at] += ridge
            steps[n] = take(at, n, columns, inverse, left)
        for j in range(n_inputs):
            if left[PLACE, j] > 0.0:
                weight, loss = drop(int(left[PLACE, j]) - 1, chosen, inverse, steps)
                effects[WEIGHT, i, j] = weight
                effects[DROPPED, i, j] = loss
            elif others[i, j] and left[VARIANCE, j] > 2.0 * ridge:
                covariance = left[COVARIANCE, j]
                effects[ADDED, i, j] = covariance * covariance / left[VARIANCE, j]


@kernel
def strongest(allowed, left, least):
    """The input of largest covariance with what is left, or -1."""
    best = 0.0
    at = -1
    for j in range(allowed.size):
        size = abs(left[COVARIANCE, j])
        if allowed[j] and left[PLACE, j] == 0.0 and left[VARIANCE, j] > least and size > best:
            best = size
            at = j
    return at


@kernel
def take(at, n, columns, inverse, left):
    """Make column n orthogonal to those before and take it out; return its coefficient there.

    One step of Gram-Schmidt in the metric of the inputs, which gives one column of the Cholesky
    factor; `inverse` gets the next row of its inverse.
    """
    column = columns[n]
    for k in range(n):
        factor = columns[k, at]
        for j in range(column.size):
            column[j] -= factor * columns[k, j]
    root = math.sqrt(column[at])
    for k in range(n):
        inverse[n, k] = 0.0
        for m in range(k, n):
            inverse[n, k] -= columns[m, at] * inverse[m, k]
        inverse[n, k] /= root
    inverse[n, n] = 1.0 / root
    step = left[COVARIANCE, at] / root
    for j in range(column.size):
        column[j] /= root
        left[COVARIANCE, j] -= step * column[j]
        left[VARIANCE, j] -= column[j] * column[j]
    left[PLACE, at] = n + 1.0
    return step


@kernel
def drop(k, n, inverse, steps):
    """Coefficient w of the k-th of n chosen inputs, and what is lost without it, w^2 / inv(G)."""
    weight = 0.0
    spread = 0.0
    for m in range(k, n):
        weight += inverse[m, k] * steps[m]
        spread += inverse[m, k] * inverse[m, k]
    return weight, weight * weight / spread
