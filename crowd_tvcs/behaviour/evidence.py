"""Flags and what they rest on: p-values, corrected for how many workers were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05  # expected share of false ones among the flags of a kind
EXACT = 400  # trials up to which a sum is counted exactly

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Flag:
    """Something that a worker does, or may do, and why one thinks so.

    Attributes
    ----------
    worker
        Who.
    kind
        What: a name of `crowd_tvcs.behaviour.overview.KINDS`.
    answers
        How many answers it rests on.
    p_value
        How likely so much would be by chance.
    evidence
        Counts, in words.
    other
        The other of two who copy; else empty.
    adjusted
        The p-value after Benjamini and Hochberg, over all workers that were tested for this.
    """

    worker: str
    kind: str
    answers: int
    p_value: float
    evidence: str
    other: str = ""
    adjusted: float = 1.0


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjust p-values: those up to q are wrong in at most the share q, on average.

    Examples
    --------
    >>> benjamini_hochberg([.01, .04, .03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[::-1]
    ranks = np.arange(p.size, 0, -1)
    out = np.empty(p.size)
    out[order] = np.minimum.accumulate(np.minimum(1.0, p[order] * p.size / ranks))
    return out


def judged(tested: Sequence[Flag], level: float) -> list[Flag]:
    """Of all that were tested for one thing those whose adjusted p-value is at most `level`."""
    adjusted = benjamini_hochberg([flag.p_value for flag in tested]).tolist()
    found = [replace(flag, adjusted=p) for flag, p in zip(tested, adjusted, strict=True)]
    return [flag for flag in found if flag.adjusted <= level]


def at_least(count: int, chances: Floats) -> float:
    """Chance that at least `count` of independent trials succeed, each with its own chance."""
    if count <= 0:
        return 1.0
    mean, variance = float(chances.sum()), float((chances * (1.0 - chances)).sum())
    if chances.size > EXACT:
        from scipy.special import ndtr

        return float(ndtr(-(count - 0.5 - mean) / np.sqrt(max(variance, 1e-12))))
    law = np.zeros(chances.size + 1)
    law[0] = 1.0
    for k, p in enumerate(chances.tolist(), start=1):
        law[1 : k + 1] = law[1 : k + 1] * (1.0 - p) + law[:k] * p
        law[0] *= 1.0 - p
    return float(min(1.0, law[count:].sum()))


def at_most(count: int, trials: int, chance: float) -> float:
    """Chance that at most `count` of the trials succeed."""
    from scipy.special import bdtr

    return float(bdtr(count, trials, min(max(chance, 0.0), 1.0))) if count < trials else 1.0


def chance_text(p: float) -> str:
    """Write a p-value."""
    return "p < 1e-6" if p < 1e-6 else f"p = {p:.2g}"
