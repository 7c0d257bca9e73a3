"""Kernels of the default method: means of the past, and matching pursuit of all targets."""

import math

from tvcs_core.jit import kernel


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
def pursue(
    S, c, d, b, allowed, others, ridge, columns, inverse, steps, left, dropped, added, weights
):
    """Choose as many inputs for each target as `steps` is long, by orthogonal matching pursuit.

    Target i has inputs of covariance ``d_i d_i' * (S - c_i c_i')``, and `b_i` with the response.
    An input is chosen by its covariance with what is left of the response (Batch-OMP:
    Rubinstein, Zibulevsky and Elad 2008). Filled are the variance that is lost when a chosen
    input is dropped, what one of `others` would add, and the coefficients.
    """
    n_targets, n_inputs = b.shape
    for i in range(n_targets):
        for j in range(n_inputs):
            left[0, j] = b[i, j]  # covariance with what is left of the response
            left[1, j] = d[i, j] * d[i, j] * (S[j, j] - c[i, j] * c[i, j]) + ridge  # and its own
            left[2, j] = 0.0  # 1 + place among the chosen ones
        chosen = steps.size
        for n in range(steps.size):
            at = strongest(allowed[i], left, 2.0 * ridge)
            if at < 0:
                chosen = n
                break
            for j in range(n_inputs):
                columns[n, j] = d[i, j] * d[i, at] * (S[at, j] - c[i, j] * c[i, at])
            columns[n, at] += ridge
            steps[n] = take(at, n, columns, inverse, left)
        for j in range(n_inputs):
            if left[2, j] > 0.0:
                drop(int(left[2, j]) - 1, chosen, inverse, steps, weights[i, j:], dropped[i, j:])
            elif others[i, j] and left[1, j] > 2.0 * ridge:
                added[i, j] = left[0, j] * left[0, j] / left[1, j]


@kernel
def strongest(allowed, left, least):
    """The input of largest covariance with what is left, or -1."""
    best = 0.0
    at = -1
    for j in range(allowed.size):
        if allowed[j] and left[2, j] == 0.0 and left[1, j] > least and abs(left[0, j]) > best:
            best = abs(left[0, j])
            at = j
    return at


@kernel
def take(at, n, columns, inverse, left):
    """Make column n orthogonal to those before and take it out; return its coefficient there.

    `inverse` is the inverse of the Cholesky factor of the chosen inputs.
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
    step = left[0, at] / root
    for j in range(column.size):
        column[j] /= root
        left[0, j] -= step * column[j]
        left[1, j] -= column[j] * column[j]
    left[2, at] = n + 1.0
    return step


@kernel
def drop(k, n, inverse, steps, weight, gain):
    """Coefficient of the k-th chosen input, and what is lost without it."""
    w = 0.0
    spread = 0.0
    for m in range(k, n):
        w += inverse[m, k] * steps[m]
        spread += inverse[m, k] * inverse[m, k]
    weight[0] = w
    gain[0] = w * w / spread
