"""The samples that a method uses: series, steady states or both; what they cannot show.

A steady-state sample is no step: it shows how levels correlate, not which change comes first. Lags
are therefore known from series only, and symmetric methods give no direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.methods.table import METHODS
from tvcs_core.arguments import option_name, option_words
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression

MIN_STEPS = 6  # steps from sample to sample and steady-state samples; with fewer a warning
MIN_SAMPLES = 3  # over two samples, the correlation of any two genes is 1 or -1


def need_no_time() -> str:
    """Return the names of the methods for which steady-state samples suffice."""
    return ", ".join(name for name, method in METHODS.items() if not method.needs_series)


def refuse_unsuited(expression: Expression, method: str) -> None:
    """Raise if a method needs series and there are none, or if steady-state samples are too few."""
    if expression.series:
        return
    if METHODS[method].needs_series:
        raise ValueError(
            f"{method} needs time series, but no sample has a time (a column Time); methods that "
            f"need none: {need_no_time()}"
        )
    if expression.n_steady < MIN_SAMPLES:
        raise ValueError(
            f"expression must have at least {MIN_SAMPLES} steady-state samples or a time series (a "
            f"column Time), found {expression.n_steady} in steady state"
        )


def used_by(expression: Expression, method: str, *, calibrates: bool = False) -> Expression:
    """Return the samples that the method uses; warn of ignored and few ones, refuse unsuited data.

    If networks are to be simulated, few steps are refused.
    """
    refuse_unsuited(expression, method)
    if not METHODS[method].uses_steady_samples and expression.n_steady:
        both = ", ".join(name for name, m in METHODS.items() if m.uses_steady_samples)
        warn_user(
            f"{method} uses only time series and ignores {expression.n_steady} steady-state "
            f"samples; methods that use both: {both}"
        )
        expression = expression.of_series()
    n_steps, n_rest = expression.n_steps, expression.n_steady
    if n_steps + n_rest >= MIN_STEPS:
        return expression
    steps = plural(n_steps, "step from sample to sample", "steps from sample to sample")
    rest = plural(n_rest, "steady-state sample")
    found = " and ".join(text for n, text in ((n_steps, steps), (n_rest, rest)) if n)
    are = "is" if n_steps + n_rest == 1 else "are"
    if calibrates:
        raise ValueError(
            f"calibrate: {found} {are} too few for edge probabilities; give {MIN_STEPS} or more, "
            f"or {option_words({'calibrate': 'off'})}"
        )
    warn_user(f"{found} {are} too few to tell regulators apart")
    return expression


def unknowable(expression: Expression, method: str) -> str | None:
    """Describe the limits of steady-state samples for edges; None if there are series."""
    if expression.series:
        return None
    lag = (
        f"No sample has a time (a column Time, or {option_name('pseudotime')} for single cells), "
        "so the order and lag of changes are unknown."
    )
    if METHODS[method].is_symmetric:
        return f"{lag} {method} scores both directions of a pair equally, so direction is unknown."
    return f"{lag} The direction of an edge only shows which gene predicts the other better."
