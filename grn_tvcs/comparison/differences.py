"""How far each edge differs between two conditions, and how far under every exchange of series.

For a target, the square of Student's t of ``past of a regulator x condition`` is taken where the
next level is regressed on what both conditions share (`steps`), on an intercept and the own level
of each condition, and on the regulator. All sums are those of whole series, so that an exchange
adds the same sums up in another way and costs one small system of equations.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.comparison.exchanges import Exchanges
from grn_tvcs.comparison.steps import Steps
from tvcs_core.engines import Engine, Job, Serial, results

UNITS = 64  # at most: many enough for many workers, large enough to be worth a message
OWN = 2  # columns that each condition has for itself: its intercept and the own level
RIDGE = 1e-8  # keeps equations solvable that the steps cannot tell apart
GONE, LOST = 1e-4, 1e-3  # part of a column beyond the others that counts as nothing
MOST_SHARE = 0.999  # of the variance that one difference may explain
LARGEST = 0.99  # correlation in Fisher's z

Array = NDArray[np.float64]


class Sums(NamedTuple):
    """Sums of products over each series; `base` are the columns beside a regulator."""

    base: Array  # (series, base, base)
    base_past: Array  # (series, base, inputs)
    base_next: Array  # (series, base)
    past: Array  # squares; (series, inputs)
    past_next: Array  # (series, inputs)
    next: Array  # squares; (series,)


@dataclass(frozen=True)
class Differences:
    """What was measured of every pair, [regulator, target], beside the exchanges.

    Attributes
    ----------
    t_squared, p
        Of the difference, in units of the mean over all exchanges of a target; and the share of
        exchanges that reach it.
    z, z_p
        Difference of the lagged partial correlations in Fisher's z, in units of its deviation over
        the exchanges; and the share of exchanges that reach it.
    first, second
        The lagged partial correlation in each condition.
    first_error, second_error
        Its standard error, by leaving out one series after the other.
    best
        The largest `t_squared` of each target under every exchange; (exchanges, targets).
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


@dataclass(frozen=True)
class _Work:
    steps: Steps
    exchanges: Exchanges
    block: int


def differences(
    steps: Steps,
    exchanges: Exchanges,
    *,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Differences:
    """Measure all pairs; `progress` is told how many targets are done, and of how many."""
    n_targets = steps.own.shape[1]
    block = max(1, -(-n_targets // UNITS))
    job = Job("targets", _block, _Work(steps, exchanges, block), -(-n_targets // block))
    found = np.zeros((8, len(steps.inputs), n_targets))
    best = np.zeros((len(exchanges.in_first), n_targets))

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
    made = [_target(work.steps, work.exchanges, target) for target in targets]
    return np.stack([one[0] for one in made], axis=2), np.stack([one[1] for one in made], axis=1)


def _target(steps: Steps, exchanges: Exchanges, target: int) -> tuple[Array, Array]:
    """The eight measures of all inputs for a target, and the largest t squared by exchange."""
    sums = sums_of(steps, target)
    in_first = exchanges.in_first.astype(np.float64)
    t_squared = interaction(sums, in_first, steps.common[target], len(steps.past) - steps.n_lost)
    t_squared[:, steps.inputs == target] = 0.0
    usual = t_squared.mean()
    t_squared /= usual if usual > 0 else 1.0
    first, second = partial_correlation(sums, in_first), partial_correlation(sums, 1.0 - in_first)
    apart = np.arctanh(first) - np.arctanh(second)
    size = np.sqrt(np.mean(apart * apart, axis=0))
    z = np.abs(apart) / np.where(size > 0, size, 1.0)
    errors = [
        jackknife(sums, np.flatnonzero(exchanges.in_first[0] == is_first))
        for is_first in (True, False)
    ]
    measures = (
        t_squared[0], exchanges.p_values(t_squared), z[0], exchanges.p_values(z),
        first[0], second[0], *errors,
    )  # fmt: skip
    return np.stack(measures), t_squared.max(axis=1)


def sums_of(steps: Steps, target: int) -> Sums:
    """Sum products over each series; the base is an intercept, the own level, what is common."""
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
    """Square of Student's t of the difference of each input, (exchanges, inputs).

    With signs c = 1 in the first and -1 in the second condition, the columns that are taken out
    are the base and c times its first two; an input that is not of the base is taken out too.
    """
    signs = 2.0 * in_first - 1.0
    n_base, n_inputs = sums.base.shape[1], sums.past.shape[1]
    total = Sums(*(part.sum(axis=0) for part in sums))
    base, base_past, base_next, _, past_next, _ = (
        np.tensordot(signs, part, axes=1) for part in sums
    )
    turned_past = np.tensordot(signs, sums.past, axes=1)
    shape = len(signs), n_base + OWN
    left = np.empty((*shape, shape[1]))
    left[:, :n_base, :n_base] = total.base
    left[:, n_base:, :n_base], left[:, :n_base, n_base:] = base[:, :OWN], base[:, :, :OWN]
    left[:, n_base:, n_base:] = total.base[:OWN, :OWN]
    left += RIDGE * n_steps * np.eye(shape[1])
    y = np.empty((*shape, 1))
    y[:, :n_base, 0], y[:, n_base:, 0] = total.base_next, base_next[:, :OWN]
    x, turned = np.empty((*shape, n_inputs)), np.empty((*shape, n_inputs))
    x[:, :n_base], x[:, n_base:] = total.base_past, base_past[:, :OWN]
    turned[:, :n_base], turned[:, n_base:] = base_past, total.base_past[:OWN]
    solved = np.linalg.solve(left, np.concatenate([y, x, turned], axis=2))
    by_x, by_turned = solved[:, :, 1 : n_inputs + 1], solved[:, :, n_inputs + 1 :]
    # What is left of the products once the columns are taken out; T is the turned input.
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
    explained = np.clip(explained, 0.0, MOST_SHARE)
    freedom = max(n_steps - shape[1] - 2, 1)
    return np.asarray(freedom * explained / (1.0 - explained))


def partial_correlation(sums: Sums, weights: Array) -> Array:
    """Correlation of each input with the next level, the own level taken out; (groups, inputs).

    Parameters
    ----------
    sums
        Of all series.
    weights
        How often each series counts; (groups, series).
    """
    base, base_past, base_next, xx, xy, yy = (np.tensordot(weights, part, axes=1) for part in sums)
    n = np.maximum(base[:, :1, 0], 1.0)  # 0 where every step is of a perturbed part
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
    return np.clip(r, -LARGEST, LARGEST)


def jackknife(sums: Sums, series: NDArray[np.int64]) -> Array:
    """Standard error of the correlation in a condition of `series`, leaving out one at a time."""
    n = series.size
    weights = np.zeros((n, len(sums.next)))
    weights[:, series] = 1.0 - np.eye(n)
    z = np.arctanh(partial_correlation(sums, weights))
    return np.asarray(np.sqrt((n - 1) / n * ((z - z.mean(axis=0)) ** 2).sum(axis=0)))
