"""Samples used by sources of evidence that ignore time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import log_levels, scale_of
from grn_tvcs.expression.steady_states import SteadyStates

# Fraction of a gene's largest level that is added before the logarithm; 0.1 to 0.4 perform alike
# (`benchmarks.networks.defaults`).
LOG_OFFSET = 0.2


def all_levels(
    expression: Expression, steady: SteadyStates | None = None, *, unbinned: bool = False
) -> NDArray[np.float64]:
    """Return the levels of all samples: of the series, and of steady states if there are any.

    This is the single definition of the samples that count without time. With `unbinned`, cells
    that were averaged in bins count as they were before. Evidence that is learned from simulated
    tables, or compared with them, uses bins.
    """
    levels = expression.unbinned_levels if unbinned else expression.levels
    return levels if steady is None else np.concatenate([levels, steady.levels])


def all_log_levels(
    expression: Expression,
    steady: SteadyStates | None = None,
    log_offset: float = LOG_OFFSET,
    *,
    unbinned: bool = False,
) -> NDArray[np.float64]:
    """Return the same on a log scale, ``log(x / max + log_offset)``; log values stay."""
    levels = all_levels(expression, steady, unbinned=unbinned)
    return log_levels(levels, log_offset, scale_of(expression))
