"""Correlation of a regulator with what its target does next.

Over all steps from a sample to the next in its series, on a log scale: the regulator's level before
the step with the target's level after it, or with the target's change. The first is the time-lagged
correlation of Schmitt, Raab and Stephanopoulos, Genome Research 14, 1654 (2004), at a lag of one
step; the second takes out what the target was before.
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
    """Pearson's correlation, ``[regulator, target]``; 0 with what is constant and with itself.

    Parameters
    ----------
    expression
        Series with their scale; samples at rest have no next one.
    response
        What the target shows: its ``"level"`` after the step, or its ``"change"`` in it.
    log_offset
        As in `transitions`.
    rows
        Genes that are wanted as regulators; all by default.

    Raises
    ------
    ValueError
        If `response` is neither of the two.
    """
    if response not in RESPONSES:
        raise ValueError(f"response must be one of {', '.join(RESPONSES)}, found {response!r}")
    steps = transitions(expression, log_offset)
    after = steps.following if response == "level" else steps.following - steps.own
    rows = np.arange(after.shape[1]) if rows is None else rows
    r = unit_columns(steps.own[:, rows]).T @ unit_columns(after)
    r[np.arange(len(rows)), rows] = 0.0
    return np.asarray(r)
