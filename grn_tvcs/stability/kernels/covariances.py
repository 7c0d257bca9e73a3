"""Kernels of the default method: exponential averages, value and gradient of the loss."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Inputs(NamedTuple):
    """Covariances of the inputs of all targets, each scaled to unit variance and weighted.

    Attributes
    ----------
    S, variance
        Covariance of the unscaled inputs, (inputs, inputs), and its diagonal, (inputs,).
    c
        Covariance of the unscaled inputs with the target's own level, (targets, inputs).
    d
        Scale of an input for a target, (targets, inputs); 0 if the pair may not be an edge.
    b
        Covariance of the scaled inputs with the response, (targets, inputs).
    """

    S: Floats
    variance: Floats
    c: Floats
    d: Floats
    b: Floats


class Lists(NamedTuple):
    """Edges by target: those of target i are start[i] to start[i + 1] - 1.

    Attributes
    ----------
    start
        (targets + 1,).
    at
        Input of each edge, rising within a target.
    weight
        Coefficient of each edge.
    """

    start: Ints
    at: Ints
    weight: Floats


@kernel
def exponential_average(x, keep, mean):
    """Fill `mean` with the exponential average of the rows up to each; ``keep[t]`` weighs the past.

    A row with ``keep[t] == 0`` restarts the average.
    """
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            mean[t, j] = x[t, j]
            if keep[t] > 0.0:
                mean[t, j] += keep[t] * (mean[t - 1, j] - x[t, j])


@kernel
def scale_inputs(inputs, weights, own_response, response_scale, flat):
    """Fill in d, and convert b to covariances of scaled inputs and responses.

    Input j of target i keeps the variance ``S_jj - c_ij^2``; d is 0 if that is negligible relative
    to S_jj, or if d is 0 already.
    """
    variance, c, d, b = inputs.variance, inputs.c, inputs.d, inputs.b
    n_targets, n_inputs = b.shape
    for i in range(n_targets):
        for j in range(n_inputs):
            left = variance[j] - c[i, j] * c[i, j]
            is_there = left > flat * variance[j] and d[i, j] != 0.0
            d[i, j] = 1.0 / math.sqrt(left) * weights[j] if is_there else 0.0
            b[i, j] = d[i, j] * (b[i, j] - c[i, j] * own_response[i]) * response_scale[i]


@kernel
def explained_by(inputs, edges):
    """Return the variance explained by the edges, ``w'(2 b - H w)``, summed over targets.

    H is the covariance of the inputs; only products among a target's own few inputs are needed.
    """
    S, start, at, weight = inputs.S, edges.start, edges.at, edges.weight
    total = 0.0
    for i in range(start.size - 1):
        c, d, b = inputs.c[i], inputs.d[i], inputs.b[i]
        for e in range(start[i], start[i + 1]):
            j = at[e]
            curved = 0.0
            for f in range(start[i], start[i + 1]):
                k = at[f]
                curved += (S[j, k] - c[j] * c[k]) * (d[k] * weight[f])
            total += weight[e] * (2.0 * b[j] - d[j] * curved)
    return total


@kernel
def slopes_of(i, inputs, edges, slope):
    """Fill `slope` with the gradient of target i, a sum of one row of S per edge."""
    S, c, d, b = inputs.S, inputs.c[i], inputs.d[i], inputs.b[i]
    slope[:] = 0.0
    along = 0.0
    for e in range(edges.start[i], edges.start[i + 1]):
        j = edges.at[e]
        weight = d[j] * edges.weight[e]
        along += c[j] * weight
        for k in range(slope.size):
            slope[k] += weight * S[j, k]
    for k in range(slope.size):
        slope[k] = d[k] * (slope[k] - c[k] * along) - b[k]


@kernel
def slopes(inputs, edges, out):
    """Fill `out` with the gradient of the loss; (targets, inputs)."""
    for i in range(out.shape[0]):
        slopes_of(i, inputs, edges, out[i])


@kernel
def steepest(inputs, edges, size, start, at, slope):
    """Find the `size` largest gradient entries of each target, with all ties of the last.

    Zeros are excluded. Fills `start` as in `Lists`, and `at` and `slope` up to their size; returns
    the size needed.
    """
    n_targets, n_inputs = inputs.b.shape
    row, best = np.empty(n_inputs), np.empty(size)
    n = np.int64(0)
    for i in range(n_targets):
        slopes_of(i, inputs, edges, row)
        least = largest(row, best)
        start[i] = n
        for j in range(n_inputs):
            if abs(row[j]) >= least and row[j] != 0.0:
                if n < at.size:
                    at[n], slope[n] = j, row[j]
                n += 1
    start[n_targets] = n
    return n


@kernel
def best_of_targets(edges, size, keep):
    """Keep the `size` edges of each target with the largest absolute weights, and all ties.

    Weights of 0 are never kept. Returns the number of edges kept beyond `size`, summed over
    targets.
    """
    best, beyond = np.empty(size), 0
    for i in range(edges.start.size - 1):
        weight = edges.weight[edges.start[i] : edges.start[i + 1]]
        least = largest(weight, best)
        n = 0
        for e in range(weight.size):
            is_kept = abs(weight[e]) >= least and weight[e] != 0.0
            keep[edges.start[i] + e] = is_kept
            n += is_kept
        beyond += max(n - size, 0)
    return beyond


@kernel
def largest(values, best):
    """Fill `best` with the largest absolute values, increasing, and return the first of them."""
    best[:] = 0.0
    for j in range(values.size):
        x = abs(values[j])
        if x > best[0]:
            k = 1
            while k < best.size and x > best[k]:
                best[k - 1] = best[k]
                k += 1
            best[k - 1] = x
    return best[0]
