"""Compressive sampling matching pursuit (Needell and Tropp 2009, Algorithm 2.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tvcs_core.problem import Problem


def cosamp(problem: Problem, W: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Identify, merge, estimate, prune, and refit on the pruned support.

    The proxy of the source is minus the gradient of least squares, so steps 1 to 5 equal those
    of GradMP on any loss. The refit is the source's remark on debiasing (section 5.1): supports
    around which GradMP only cycles become fixed points.
    """
    while True:
        proxy = problem.inward(W, problem.gradient(W))  # 1. signal proxy, up to its sign
        identified = problem.project_doubled(proxy).support  # 2. identification
        merged = identified | (W != 0)  # 3. support merger
        b = problem.minimize_on(merged)  # 4. estimation
        pruned = problem.project(b).support  # 5. pruning
        W = problem.minimize_on(pruned)  # 6. sample update, refitted
        yield W
