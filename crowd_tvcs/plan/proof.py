"""The one definition of "certified", and the words for it in commands and reports.

A bound is a number that no assignment within the caps and demands can exceed. It is finite, at most
1, and proved: recomputed from the prices (and branches) that come with it by code that shares
nothing with the method. The gap is the bound minus the expected accuracy, at least 0.

An assignment is *certified* if its gap is known and at most `CERTIFIED_WITHIN`, and its accuracy is
computed, not sampled. It is *proved to be the largest* if moreover the gap is at most `CLOSED`,
which is rounding. With a larger gap, or a sampled accuracy, the bound is known and the assignment
is not certified.

This module imports nothing of the package, so that checks of proofs may share it.
"""

from __future__ import annotations

import math

CERTIFIED_WITHIN = 1e-3  # gap of the mean expected accuracy: one task in a thousand
CLOSED = 1e-9  # gap of the mean expected accuracy that is rounding

LARGEST = "proved to be the largest"
NEARLY = "a gap of at most {:.2%} of the error"  # the other reason for which a search ends


def usable(bound: float | None) -> float | None:
    """Return a bound as reports show it: at most 1; None if it is not a finite number >= 0."""
    if bound is None or not 0.0 <= bound < float("inf"):
        return None
    return min(1.0, bound)


def gap_between(accuracy: float, bound: float | None) -> float | None:
    """Bound minus accuracy, at least 0; None without a bound."""
    return None if bound is None else max(0.0, bound - accuracy)


def nearly(gap: float, error: float) -> str:
    """State a gap as a part of the error, rounded up; none of an error of 0."""
    part = gap / error if error > 0.0 else 0.0
    return NEARLY.format(math.ceil(1e4 * part) / 1e4)


def is_certified(accuracy: float, bound: float | None, standard_error: float = 0.0) -> bool:
    """Whether the accuracy is proved to be within `CERTIFIED_WITHIN` of the largest."""
    return _is_within(CERTIFIED_WITHIN, accuracy, bound, standard_error)


def is_largest(accuracy: float, bound: float | None, standard_error: float = 0.0) -> bool:
    """Whether no assignment has a larger accuracy, but for rounding."""
    return _is_within(CLOSED, accuracy, bound, standard_error)


def _is_within(most: float, accuracy: float, bound: float | None, standard_error: float) -> bool:
    # An accuracy beyond its bound contradicts it: one of the two is wrong, and nothing is proved.
    return (
        bound is not None
        and usable(bound) == bound
        and standard_error == 0.0
        and -CLOSED <= bound - accuracy <= most
    )


def statement(accuracy: float, bound: float | None, standard_error: float = 0.0) -> str:
    """State the proved gap in one sentence; for the command line, reports and `verify` alike."""
    if bound is None:
        return "not certified: no bound was proved"
    most = f"no plan can have more than {bound:.6f}"
    if standard_error > 0.0:
        return f"not certified: the accuracy is sampled, which proves nothing; {most}"
    if not bound - accuracy >= -CLOSED:
        return f"not certified: the accuracy {accuracy:.6f} is above the bound {bound:.6f}"
    if is_largest(accuracy, bound):
        return f"certified, {LARGEST}: {most}"
    gap = bound - accuracy
    if is_certified(accuracy, bound):
        of_error = f"the gap is {gap / max(1.0 - accuracy, 1e-300):.3%} of the error"
        return f"certified within {CERTIFIED_WITHIN:g}: {most}, {of_error}"
    return f"not certified: {most}, but the gap of {gap:.6f} is above {CERTIFIED_WITHIN:g}"
