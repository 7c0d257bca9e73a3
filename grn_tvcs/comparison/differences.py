"""Statistics of the difference of each edge between conditions, for all permutations of series.

The statistic of a pair is the square of Student's t of ``past of the regulator x condition``, in
the regression of the target's next level on the common regulators (`steps`), an intercept and own
level per condition, and the regulator. All sums are taken per series, so a permutation only adds
the same sums in another way and costs one small system of equations.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.comparison.permutations import Permutations
from grn_tvcs.comparison.steps import Steps
from tvcs_core.engines import Engine, Job, Serial, results
from tvcs_core.files.display import summary

MAX_UNITS = 64  # blocks of targets: enough for many workers, and large beside their messages
N_OWN_COLUMNS = 2  # columns per condition: intercept and own level
RIDGE = 1e-8  # per step, so that collinear columns can be solved
# Residual fractions of variance that count as 0, of an input and of its product with the condition.
GONE, LOST = 1e-4, 1e-3
MAX_EXPLAINED = 0.999  # largest fraction of variance explained by one difference
MAX_CORRELATION = 0.99  # largest correlation in Fisher's z

Array = NDArray[np.float64]


class Sums(NamedTuple):
    """Sums of products per series; `base` are all columns of the regression but the regulator."""

    base: Array  # (series, base, base)
    base_past: Array  # (series, base, inputs)
    base_next: Array  # (series, base)
    past: Array  # squares; (series, inputs)
    past_next: Array  # (series, inputs)
    next: Array  # squares; (series,)


@dataclass(frozen=True)
class Differences:
    """Statistics of every pair, [regulator, target], with their permutation distribution.

    Attributes
    ----------
    t_squared, p
        Of the difference, divided by the target's mean over all permutations; and the fraction of
        permutations that reach it.
    z, z_p
        Difference of the lagged partial correlations in Fisher's z, divided by its deviation over
        permutations; and the fraction of permutations that reach it.
    first, second
        The lagged partial correlation in each condition.
    first_error, second_error
        Its jackknife standard error over series.
    best
        The largest `t_squared` of each target in every permutation; (permutations, targets).
    """

    t_squared: Array
    p: Array
    z: Array
    z_p: Array
    first: Array
    second: Array
    first_error: Array
    second_error: Array
    best: Array

    __repr__ = summary


@dataclass(frozen=True)
class _Work:
    steps: Steps
    permutations: Permutations
    block: int


def measure_differences(
    steps: Steps,
    permutations: Permutations,
    *,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Differences:
    """Measure all pairs; `progress` is called with the number of finished targets and the total."""
    n_targets = steps.own.shape[1]
    block = max(1, -(-n_targets // MAX_UNITS))
    job = Job("targets", _block, _Work(steps, permutations, block), -(-n_targets // block))
    found = np.zeros((8, len(steps.inputs), n_targets))
    best = np.zeros((len(permutations.in_first), n_targets))

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(min(done * block, n_targets), n_targets)

    with closing(results([job], engine or Serial(), progress=tell)) as done:
        for _, unit, (columns, largest) in done:
            targets = slice(unit * block, (unit + 1) * block)
            found[:, :, targets], best[:, targets] = columns, largest
    t_squared, p, z, z_p, first, second, first_error, second_error = found
    return Differences(t_squared, p, z, z_p, first, second, first_error, second_error, best)


def _block(work: _Work, unit: int) -> tuple[Array, Array]:
    targets = range(work.steps.own.shape[1])[unit * work.block : (unit + 1) * work.block]
    made = [_target(work.steps, work.permutations, target) for target in targets]
    return np.stack([one[0] for one in made], axis=2), np.stack([one[1] for one in made], axis=1)


def _target(steps: Steps, permutations: Permutations, target: int) -> tuple[Array, Array]:
    """Return the eight statistics of all inputs for a target, and the largest t squared by draw."""
    sums = sums_of(steps, target)
    in_first = permutations.in_first.astype(np.float64)
    t_squared = interaction(sums, in_first, steps.common[target], len(steps.past) - steps.n_lost)
    t_squared[:, steps.inputs == target] = 0.0
    usual = t_squared.mean()
    t_squared /= usual if usual > 0 else 1.0
    first, second = partial_correlation(sums, in_first), partial_correlation(sums, 1.0 - in_first)
    apart = np.arctanh(first) - np.arctanh(second)
    size = np.sqrt(np.mean(apart * apart, axis=0))
    z = np.abs(apart) / np.where(size > 0, size, 1.0)
    errors = [
        jackknife(sums, np.flatnonzero(permutations.in_first[0] == is_first))
        for is_first in (True, False)
    ]
    measures = (
        t_squared[0], permutations.p_values(t_squared), z[0], permutations.p_values(z),
        first[0], second[0], *errors,
    )  # fmt: skip
    return np.stack(measures), t_squared.max(axis=1)


def sums_of(steps: Steps, target: int) -> Sums:
    """Sum products over each series; the base is intercept, own level and common regulators."""
    past, y = steps.past, steps.following[:, target]
    common = past[:, list(steps.common[target])]
    base = np.column_stack([steps.ones, steps.own[:, target], common])

    def by_series(products: Array) -> Array:
        return np.asarray(np.add.reduceat(products, steps.starts, axis=0))

    return Sums(
        by_series(base[:, :, None] * base[:, None, :]),
        np.stack([by_series(column[:, None] * past) for column in base.T], axis=1),
        by_series(base * y[:, None]),
        by_series(past * past),
        by_series(past * y[:, None]),
        by_series(y * y),
    )


def interaction(sums: Sums, in_first: Array, common: tuple[int, ...], n_steps: int) -> Array:
    """Return the square of Student's t of the difference of each input, (permutations, inputs).

    With c = 1 in the first and -1 in the second condition, the base and c times its first two
    columns are projected out, and so is the input itself unless it belongs to the base.
    """
    signs = 2.0 * in_first - 1.0
    n_base, n_inputs = sums.base.shape[1], sums.past.shape[1]
    total = Sums(*(part.sum(axis=0) for part in sums))
    base, base_past, base_next, _, past_next, _ = (
        np.tensordot(signs, part, axes=1) for part in sums
    )
    turned_past = np.tensordot(signs, sums.past, axes=1)
    shape = len(signs), n_base + N_OWN_COLUMNS
    left = np.empty((*shape, shape[1]))
    left[:, :n_base, :n_base] = total.base
    left[:, n_base:, :n_base], left[:, :n_base, n_base:] = (
        base[:, :N_OWN_COLUMNS],
        base[:, :, :N_OWN_COLUMNS],
    )
    left[:, n_base:, n_base:] = total.base[:N_OWN_COLUMNS, :N_OWN_COLUMNS]
    left += RIDGE * n_steps * np.eye(shape[1])
    y = np.empty((*shape, 1))
    y[:, :n_base, 0], y[:, n_base:, 0] = total.base_next, base_next[:, :N_OWN_COLUMNS]
    x, turned = np.empty((*shape, n_inputs)), np.empty((*shape, n_inputs))
    x[:, :n_base], x[:, n_base:] = total.base_past, base_past[:, :N_OWN_COLUMNS]
    turned[:, :n_base], turned[:, n_base:] = base_past, total.base_past[:N_OWN_COLUMNS]
    solved = np.linalg.solve(left, np.concatenate([y, x, turned], axis=2))
    by_x, by_turned = solved[:, :, 1 : n_inputs + 1], solved[:, :, n_inputs + 1 :]
    # Residual products after projecting out the columns (Frisch, Waugh and Lovell); T is c times
    # the input. With the input projected out too, t squared follows from the partial correlation.
    yy = total.next - (y * solved[:, :, :1]).sum(axis=1)
    xx, xT = total.past - (x * by_x).sum(axis=1), turned_past - (x * by_turned).sum(axis=1)
    TT = total.past - (turned * by_turned).sum(axis=1)
    xy, Ty = total.past_next - (y * by_x).sum(axis=1), past_next - (y * by_turned).sum(axis=1)
    is_apart = xx > GONE * n_steps
    is_apart[:, list(common)] = False
    share = np.where(is_apart, 1.0 / np.where(is_apart, xx, 1.0), 0.0)
    TT, Ty, yy = TT - xT * xT * share, Ty - xT * xy * share, yy - xy * xy * share
    is_known = (TT > LOST * n_steps) & (yy > LOST)
    explained = np.where(is_known, Ty * Ty / np.where(is_known, TT * yy, 1.0), 0.0)
    explained = np.clip(explained, 0.0, MAX_EXPLAINED)
    freedom = max(n_steps - shape[1] - 2, 1)
    return np.asarray(freedom * explained / (1.0 - explained))


def partial_correlation(sums: Sums, weights: Array) -> Array:
    """Return the correlation of inputs with the next level, given the own level; (groups, inputs).

    Parameters
    ----------
    sums
        Of all series.
    weights
        Weight of each series; (groups, series).
    """
    base, base_past, base_next, xx, xy, yy = (np.tensordot(weights, part, axes=1) for part in sums)
    n = np.maximum(base[:, :1, 0], 1.0)  # 0 if every step belongs to a perturbed part
    mean_x, mean_own, mean_y = base_past[:, 0] / n, base[:, :1, 1] / n, base_next[:, :1] / n
    xx = xx - n * mean_x**2
    own = np.maximum(base[:, 1:2, 1] - n * mean_own**2, 1e-12)
    yy = yy[:, None] - n * mean_y**2
    x_own, own_y = (
        base_past[:, 1] - n * mean_x * mean_own,
        base_next[:, 1:2] - n * mean_own * mean_y,
    )
    xy = xy - n * mean_x * mean_y
    left = np.maximum(xx - x_own**2 / own, 0.0) * np.maximum(yy - own_y**2 / own, 0.0)
    is_known = left > 1e-12
    r = np.where(is_known, (xy - x_own * own_y / own) / np.sqrt(np.where(is_known, left, 1.0)), 0.0)
    return np.clip(r, -MAX_CORRELATION, MAX_CORRELATION)


def jackknife(sums: Sums, series: NDArray[np.int64]) -> Array:
    """Return the jackknife standard error of Fisher's z in the condition of `series`."""
    n = series.size
    weights = np.zeros((n, len(sums.next)))
    weights[:, series] = 1.0 - np.eye(n)
    z = np.arctanh(partial_correlation(sums, weights))
    return np.asarray(np.sqrt((n - 1) / n * ((z - z.mean(axis=0)) ** 2).sum(axis=0)))
