"""What else could solve the projection: OR-Tools' flow and SciPy's HiGHS, given the same gains.

OR-Tools is imported where it is used: pages of results are written without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array


def clock(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of this thread, and the answer."""
    began = time.thread_time()
    answer = call()
    return time.thread_time() - began, answer


def network(row, col, gains, a, b, total, *, bits=46):
    """The projection as a flow from a source over rows and columns to a sink; costs have `bits`.

    The arc of entry e has number n + e. What the total does not need goes from source to sink.
    """
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    n, m, p = a.size, b.size, gains.size
    source, sink, units = n + m, n + m + 1, int(min(total, a.sum(), b.sum()))
    cost = -np.rint(gains * (2.0**bits / gains.max())).astype(np.int64)
    solver = SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(
        np.concatenate([np.full(n, source), row, np.arange(n, n + m), [source]]).astype("i4"),
        np.concatenate([np.arange(n), n + col, np.full(m, sink), [sink]]).astype("i4"),
        np.concatenate([a, np.ones(p, np.int64), b, [units]]),
        np.concatenate([np.zeros(n, np.int64), cost, np.zeros(m + 1, np.int64)]),
    )
    solver.set_node_supply(source, units)
    solver.set_node_supply(sink, -units)
    return solver


def taken(solver, n, p):
    """Which of the p entries between n rows and the columns the flow takes."""
    return solver.flows(np.arange(n, n + p)) > 0


def flow(row, col, gains, a, b, total, *, bits=46):
    """OR-Tools' minimum cost flow: (seconds to build, seconds to solve, kept gain)."""
    building, solver = clock(lambda: network(row, col, gains, a, b, total, bits=bits))
    solving, status = clock(solver.solve)
    if status != solver.OPTIMAL:
        raise RuntimeError(
            f"OR-Tools ended with status {status}: costs of {bits} bits are too long"
        )
    return building, solving, gains[taken(solver, a.size, gains.size)].sum()


def places(n, m):
    """Row and column of every entry of a matrix."""
    return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)


def flow_of_matrix(gains, a, b, total):
    return flow(*places(*gains.shape), gains.ravel(), a, b, total)


def program(gains, a, b, total):
    """The projection as a linear program: a call of HiGHS that gives x, entry by entry."""
    n, m = gains.shape
    row, col = places(n, m)
    entries = np.arange(n * m)
    groups = np.concatenate([row, n + col, np.full(n * m, n + m)])
    ones = np.ones(3 * n * m)
    A = csr_array((ones, (groups, np.tile(entries, 3))), shape=(n + m + 1, n * m))
    caps = np.concatenate([a, b, [total]])
    return lambda: linprog(-gains.ravel(), A_ub=A, b_ub=caps, bounds=(0, 1), method="highs").x
