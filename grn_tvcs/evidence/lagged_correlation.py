"""Lagged correlation: a regulator's level with its target's level, or change, one step later.

Computed over all steps within series, on a log scale. With levels it is the time-lagged correlation
of Schmitt, Raab and Stephanopoulos, Genome Research 14, 1654 (2004), at a lag of one step; changes
also remove the target's own earlier level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.evidence.correlation import unit_columns
from grn_tvcs.evidence.samples import LOG_OFFSET
from grn_tvcs.expression.expression import Expression
from grn_tvcs.stability.model import transitions

RESPONSES = ("level", "change")


def lagged_correlation(
    expression: Expression,
    response: str = "level",
    log_offset: float = LOG_OFFSET,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return Pearson's correlation, ``[regulator, target]``; 0 with constant genes and itself.

    Parameters
    ----------
    expression
        Series with their scale; steady-state samples have no next sample.
    response
        The target's ``"level"`` after the step, or its ``"change"`` in it.
    log_offset
        As in `transitions`.
    rows
        Regulators of the result; all genes by default.
    """
    if response not in RESPONSES:
        raise ValueError(f"response must be one of {', '.join(RESPONSES)}, found {response!r}")
    steps = transitions(expression, log_offset)
    after = steps.following if response == "level" else steps.following - steps.own
    rows = np.arange(after.shape[1]) if rows is None else rows
    r = unit_columns(steps.own[:, rows]).T @ unit_columns(after)
    r[np.arange(len(rows)), rows] = 0.0
    return np.asarray(r)
