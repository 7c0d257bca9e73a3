"""The samples that parts without time stand on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import guess_scale, log_levels
from grn_tvcs.expression.steady_states import SteadyStates

LOG_OFFSET = 0.2  # part of a gene's largest level that is added before the logarithm


def levels_of_all(
    expression: Expression, steady: SteadyStates | None = None
) -> NDArray[np.float64]:
    """Levels in the samples of the series, and in those at rest where there are any.

    The one place that says which samples count where time does not.
    """
    if steady is None:
        return expression.levels
    return np.concatenate([expression.levels, steady.levels])


def logs_of_all(
    expression: Expression, steady: SteadyStates | None = None, log_offset: float = LOG_OFFSET
) -> NDArray[np.float64]:
    """The same on a log scale: ``log(x / max + log_offset)``, logarithms as they are."""
    scale = expression.scale or guess_scale(expression.levels).scale
    return log_levels(levels_of_all(expression, steady), log_offset, scale)
