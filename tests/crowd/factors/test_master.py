"""Central prices of a restricted master problem, held against a simplex method."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from crowd_tvcs.factors.master import Program, central
from crowd_tvcs.search.deadline import Deadline


def program(seed, *, n=8, k=15, per=5, must=0, room=0.8):
    """Sets of 1 to 3 of n workers for k groups; the first `must` groups have to have one."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(k), per)
    matrix = np.zeros((k + n + 1, group.size))
    matrix[group, np.arange(group.size)] = 1.0
    for column in range(group.size):
        workers = rng.choice(n, rng.integers(1, 4), replace=False)
        matrix[k + workers, column] = 1.0
        matrix[k + n, column] = workers.size
    most = np.concatenate([np.ones(k), np.full(n, room * 2 * k / n), [room * 2 * k]])
    is_must = np.arange(most.size) < must
    gain = rng.uniform(0.1, 0.5, group.size)
    return Program(gain, csr_array(matrix), most, is_must, group, k)


def optimum(given):
    """What a simplex method finds, None if there is no solution."""
    must = given.must
    found = linprog(
        -given.gain,
        A_ub=given.matrix[~must],
        b_ub=given.most[~must],
        A_eq=given.matrix[must] if must.any() else None,
        b_eq=given.most[must] if must.any() else None,
        method="highs",
    )
    return -found.fun if found.status == 0 else None


@pytest.mark.parametrize("must", [0, 4])
@pytest.mark.parametrize("seed", range(6))
def test_the_central_solution_is_within_its_gap_of_the_best(seed, must):
    given = program(seed, must=must)
    best, start = optimum(given), np.full(9, 0.02)
    for within in (0.5, 1e-2, 1e-6):
        share, price = central(given, start, within, Deadline.after(None))
        assert best - within - 1e-6 <= given.gain @ share <= best + 1e-3
        # Its prices leave no set a gain, so that they prove a bound.
        assert (given.matrix.T @ price >= given.gain - 1e-9).all()
        assert (price[must:] >= 0.0).all()
        assert best - 1e-6 <= given.most @ price <= best + within + 1e-3


def test_a_program_without_a_solution_has_no_central_one():
    given = program(0, must=15, room=0.2)
    assert optimum(given) is None
    assert central(given, np.full(9, 0.02), 1e-3, Deadline.after(None)) is None
