"""Samples at rest and methods: which of them need series, use both, or cannot tell a direction.

A sample at rest is no step: it says how levels go together, not what comes first. So lag is known
from series alone, and methods whose score is the same both ways know no direction either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grn_tvcs.expression.warned import warn_user
from grn_tvcs.methods.table import METHODS

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression

FEWEST_SAMPLES = 3  # of two samples all genes are correlated


def need_no_time() -> str:
    """Name the methods that samples at rest are enough for."""
    return ", ".join(name for name, method in METHODS.items() if not method.needs_series)


def refuse_unsuited(expression: Expression, method: str) -> None:
    """Refuse a method that needs series where all samples are at rest, and too few of these.

    Raises
    ------
    ValueError
        Naming the methods that need no time, or the number of samples.
    """
    if expression.series:
        return
    if METHODS[method].needs_series:
        raise ValueError(
            f"{method} needs time series, but no sample has a time (a column Time); methods that "
            f"need none: {need_no_time()}"
        )
    if expression.n_at_rest < FEWEST_SAMPLES:
        raise ValueError(
            f"expression must have at least {FEWEST_SAMPLES} samples at rest or a time series (a "
            f"column Time), found {expression.n_at_rest} at rest"
        )


def used_by(expression: Expression, method: str) -> Expression:
    """The samples that the method uses; a warning says how many it leaves out."""
    if METHODS[method].uses_rest or expression.at_rest is None:
        return expression
    warn_user(
        f"{method} uses time series alone and leaves {expression.n_at_rest} samples at rest out; "
        f"methods that use both: {', '.join(name for name, m in METHODS.items() if m.uses_rest)}"
    )
    return expression.of_series()


def unknowable(expression: Expression, method: str) -> str | None:
    """Say what cannot be known of edges from samples at rest alone; None where there are series."""
    if expression.series:
        return None
    lag = "No sample has a time, so which gene moves first, and by what lag, cannot be known."
    if METHODS[method].is_symmetric:
        return f"{lag} {method} gives both directions of a pair one score: direction is not known."
    return f"{lag} The direction of an edge says which gene predicts the other better, no more."
