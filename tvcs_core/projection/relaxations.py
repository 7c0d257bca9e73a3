"""Three solvers of the linear relaxation of the projection (paper, equation 5).

max <gain, x>  subject to  A x <= s, 0 <= x <= 1. Its vertices are integer (Theorem 1), so rounding
gives a support. Row g of A is the indicator of group g, so a product with A or its transpose costs
O(p + |G|). Two of the solvers only approach a vertex: their supports satisfy all caps, and
`project` measures the gap. docs/studies/paper-route.md compares them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.projection.exact import PricedSupport
from tvcs_core.streams import stream

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Gains are raised by at most this random fraction, which makes the best vertex unique (paper, 3.2).
PERTURBATION = 1e-6
# Iterations between two tests for stopping or restarting, each of which costs more than one.
CHECK_EVERY = 20
TOLERANCE = 1e-6  # relative gap at which pgd and pdhg stop
MAX_ITER = {"pgd": 20_000, "pdhg": 50_000}  # convergence can need far more
METHODS = ("lp", *MAX_ITER)


class Program(NamedTuple):
    """The linear program over the variables with a positive gain.

    Attributes
    ----------
    row_of, col_of
        Group of every variable. Groups are numbered rows first, then columns, then the total, and
        last one group without a cap for variables that are in no group.
    gains
        The objective, between 0 and 1.
    caps
        The vector s: one cap for every group but the last.
    """

    row_of: Labels
    col_of: Labels
    gains: Floats
    caps: Floats

    def times(self, x: Floats) -> Floats:
        """Return the product A x."""
        n = self.caps.size
        sums: Floats = np.bincount(self.row_of, x, n + 1).astype(np.float64, copy=False)
        sums += np.bincount(self.col_of, x, n + 1)
        sums[n - 1] = x.sum()
        return sums[:n]

    def transposed_times(self, y: Floats) -> Floats:
        """Return the product of the transpose of A with y."""
        prices = np.append(y, 0.0)
        return prices[self.row_of] + prices[self.col_of] + y[-1]

    def group_sizes(self) -> Floats:
        """Return the number of variables in every group."""
        return self.times(np.ones(self.gains.size))

    def rounded(self, x: Floats) -> NDArray[np.bool_]:
        """Round x, and drop the entries of least gain from overfull groups."""
        mask = x > 0.5
        caps = np.append(self.caps, np.inf)
        for group in (self.row_of, self.col_of, np.full(x.size, self.caps.size - 1)):
            sizes = np.bincount(group[mask], minlength=caps.size)
            if (sizes > caps).any():
                kept = np.flatnonzero(mask)
                kept = kept[np.lexsort((-self.gains[kept], group[kept]))]
                rank = np.arange(kept.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
                mask[kept[rank >= caps[group[kept]]]] = False
        return mask

    def bound(self, y: Floats) -> float:
        """Return the dual bound of the prices y >= 0 on the objective of every feasible x."""
        reduced = self.gains - self.transposed_times(y)
        return float(self.caps @ y + np.maximum(reduced, 0.0).sum())

    def is_proved(self, x: Floats, y: Floats, tol: float) -> bool:
        """Return whether x, rounded, has a relative gap of at most `tol`."""
        kept = float(self.gains[self.rounded(x)].sum())
        return self.bound(y) - kept <= tol * kept


def program_of(
    row_of: Labels, col_of: Labels, gains: Floats, row_caps: Labels, col_caps: Labels, total: int
) -> Program:
    """Number all groups consecutively and scale the gains by a power of two."""
    n_rows, n_groups = row_caps.size, row_caps.size + col_caps.size + 1
    return Program(
        np.where(row_of < 0, n_groups, row_of),
        np.where(col_of < 0, n_groups, n_rows + col_of),
        np.ldexp(gains, -_exponent(gains)),
        np.concatenate([row_caps, col_caps, [total]]).astype(np.float64),
    )


def solve(
    method: str,
    row_of: Labels,
    col_of: Labels,
    gains: Floats,
    row_caps: Labels,
    col_caps: Labels,
    total: int,
    max_iter: int | None = None,
) -> PricedSupport:
    """Solve the linear program by `method`, round x, and scale the prices back.

    Parameters
    ----------
    method
        ``"lp"``, the dual simplex of HiGHS; ``"pgd"``, the paper's projected gradient descent
        (equation 6, Theorem 2); or ``"pdhg"``, the restarted primal-dual hybrid gradient method,
        as in PDLP.
    row_of, col_of
        Group of every variable in the two views, -1 for none.
    gains
        Gain of each variable, >= 0.
    row_caps, col_caps, total
        The caps.
    max_iter
        Limit on the iterations of pgd and pdhg; by default that in `MAX_ITER`.
    """
    mask = np.zeros(gains.size, dtype=np.bool_)
    duals, iterations = np.zeros(row_caps.size + col_caps.size + 1), 0
    free = np.flatnonzero(gains > 0)
    if free.size:
        program = program_of(row_of[free], col_of[free], gains[free], row_caps, col_caps, total)
        if method == "lp":
            x, y, iterations = highs(program)
        else:
            limit = MAX_ITER[method] if max_iter is None else max_iter
            x, y, iterations = iterated(method, program, limit)
        mask[free] = program.rounded(x)
        duals = np.ldexp(y, _exponent(gains))
    n_rows = row_caps.size
    stats = {"iterations": iterations}
    return PricedSupport(mask, duals[:n_rows], duals[n_rows:-1], float(duals[-1]), stats)


def iterated(method: str, program: Program, max_iter: int) -> tuple[Floats, Floats, int]:
    """Return x, its prices y, and the number of iterations until the gap is small enough."""
    steps = projected_gradient if method == "pgd" else primal_dual_hybrid_gradient
    for iteration, (x, y, *_) in enumerate(steps(perturbed(program, 0))):
        is_time = iteration % CHECK_EVERY == 0
        if iteration >= max_iter or (is_time and program.is_proved(x, y, TOLERANCE)):
            return x, y, iteration
    raise AssertionError("the iterates have no end")


def perturbed(program: Program, rng: int | np.random.Generator) -> Program:
    """Return the program with every gain raised by a random fraction, so that no vertices tie."""
    noise = stream(rng, "ties of a relaxation").random(program.gains.size)
    return program._replace(gains=program.gains * (1 + PERTURBATION * noise))


def projected_gradient(program: Program) -> Iterator[tuple[Floats, ...]]:
    """Yield x, the prices y of the groups and the prices t of the box: the iterates of Theorem 2.

    Minimises half the squared norms of three residuals (equation 6) from 0 with step 1/L: equal
    objectives, dual feasibility and primal feasibility.
    """
    gains, caps = program.gains, program.caps
    x, y, t = np.zeros(gains.size), np.zeros(caps.size), np.zeros(gains.size)
    step = 1 / lipschitz(program)
    while True:
        yield x, y, t
        x, y, t = gradient_step(program, step, x, y, t)


def gradient_step(
    program: Program, step: float, x: Floats, y: Floats, t: Floats
) -> tuple[Floats, Floats, Floats]:
    """Take one projected gradient step on equation 6, in O(p + |G|)."""
    gains, caps = program.gains, program.caps
    gap = caps @ y + t.sum() - gains @ x
    short = np.maximum(gains - program.transposed_times(y) - t, 0.0)
    over = np.maximum(program.times(x) - caps, 0.0)
    return (
        np.clip(x - step * (program.transposed_times(over) - gap * gains), 0.0, 1.0),
        np.maximum(y - step * (gap * caps - program.times(short)), 0.0),
        np.maximum(t - step * (gap - short), 0.0),
    )


def lipschitz(program: Program) -> float:
    """Return an upper bound on L: the sum of the squared norms of the residuals' matrices.

    The first is one row, (-gains, caps, 1). The other two share no variable, and the squared norm
    of A is at most the sum over the three views of their largest group.
    """
    gains, caps, sizes = program.gains, program.caps, program.group_sizes()
    in_rows = np.bincount(program.row_of, minlength=caps.size + 1)[:-1].max(initial=0)
    in_cols = np.bincount(program.col_of, minlength=caps.size + 1)[:-1].max(initial=0)
    objective = gains @ gains + caps @ caps + gains.size
    return float(objective + 1 + sizes[-1] + in_rows + in_cols)


def primal_dual_hybrid_gradient(program: Program) -> Iterator[tuple[Floats, ...]]:
    """Yield x and the prices y of the groups, with steps adapted to the group sizes.

    At regular intervals the better of the iterate and the mean since the last restart is tested.
    If its residual has decreased enough, the method restarts there (Applegate et al., 2021). Primal
    and dual steps are then balanced by the distances that x and y have moved.
    """
    gains, caps = program.gains, program.caps
    x, y = np.zeros(gains.size), np.zeros(caps.size)
    balance = max(float(np.linalg.norm(gains)), 1e-9) / max(float(np.linalg.norm(caps)), 1.0)
    dual_step = 1 / np.maximum(program.group_sizes(), 1.0)
    start = (x, y, _residual(program, x, y, balance))
    sum_x, sum_y, length, passed, last = np.zeros_like(x), np.zeros_like(y), 0, 0, math.inf
    while True:
        yield x, y
        new_x = np.clip(x + (gains - program.transposed_times(y)) / (3 * balance), 0.0, 1.0)
        over = program.times(2 * new_x - x) - caps
        x, y = new_x, np.maximum(y + balance * dual_step * over, 0.0)
        sum_x, sum_y, length, passed = sum_x + x, sum_y + y, length + 1, passed + 1
        if length % CHECK_EVERY:
            continue
        mean = (sum_x / length, sum_y / length)
        residual, better_x, better_y = min(
            ((_residual(program, *at, balance), *at) for at in ((x, y), mean)), key=lambda r: r[0]
        )
        if (
            residual <= 0.2 * start[2]
            or (residual <= 0.8 * start[2] and residual > last)
            or length >= 0.36 * passed
        ):
            x, y = better_x, better_y
            moved_x = math.sqrt(3) * float(np.linalg.norm(x - start[0]))
            moved_y = float(np.linalg.norm((y - start[1]) / np.sqrt(dual_step)))
            if moved_x > 0 and moved_y > 0:
                balance = math.sqrt(balance * moved_y / moved_x)
            start = (x, y, _residual(program, x, y, balance))
            sum_x, sum_y, length, last = np.zeros_like(x), np.zeros_like(y), 0, math.inf
        else:
            last = residual


def _residual(program: Program, x: Floats, y: Floats, balance: float) -> float:
    """Return a norm of the violation of the caps and of the difference of the objectives."""
    over = np.maximum(program.times(x) - program.caps, 0.0)
    gap = program.bound(y) - float(program.gains @ x)
    return math.hypot(math.sqrt(balance) * float(np.linalg.norm(over)), gap)


def highs(program: Program) -> tuple[Floats, Floats, int]:
    """Return a vertex x, its prices y and the number of pivots of the dual simplex."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n_groups, p = program.caps.size, program.gains.size
    group = np.concatenate([program.row_of, program.col_of, np.full(p, n_groups - 1)])
    variable = np.tile(np.arange(p), 3)
    entry = np.flatnonzero(group < n_groups)
    matrix = coo_array((np.ones(entry.size), (group[entry], variable[entry])), shape=(n_groups, p))
    result = linprog(
        -program.gains, A_ub=matrix.tocsr(), b_ub=program.caps, bounds=(0, 1), method="highs-ds"
    )
    if result.x is None:
        raise RuntimeError(f"HiGHS did not solve the linear program: {result.message}")
    return result.x, np.maximum(-result.ineqlin.marginals, 0.0), int(result.nit)


def _exponent(gains: Floats) -> int:
    return math.frexp(float(gains.max()))[1]
