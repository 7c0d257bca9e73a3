"""Flags and their evidence: p-values, adjusted for the number of workers tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowd_tvcs.arrays import Floats

DEFAULT_FDR = 0.05  # false discovery rate of the flags of a kind
MAX_EXACT_TRIALS = 400  # trials; beyond, the normal approximation saves quadratic time


@dataclass(frozen=True)
class Flag:
    """Suspicious behaviour of a worker, with its evidence.

    Attributes
    ----------
    worker
        Name of the worker.
    kind
        A name of `crowd_tvcs.behaviour.worker_review.KINDS`.
    answers
        Number of answers that it rests on.
    p_value
        Probability of at least so strong evidence by chance.
    evidence
        Counts, in words.
    other
        The other worker of a copying pair; else empty.
    adjusted
        p-value after Benjamini and Hochberg (1995), over all workers tested for this kind.
    """

    worker: str
    kind: str
    answers: int
    p_value: float
    evidence: str
    other: str = ""
    adjusted: float = 1.0


def significant_flags(tested: Sequence[Flag], fdr: float) -> list[Flag]:
    """Return the tested flags with an adjusted p-value of at most `fdr`."""
    from scipy.stats import false_discovery_control

    adjusted = false_discovery_control([flag.p_value for flag in tested]).tolist()
    found = [replace(flag, adjusted=p) for flag, p in zip(tested, adjusted, strict=True)]
    return [flag for flag in found if flag.adjusted <= fdr]


def prob_at_least(count: int, chances: Floats) -> float:
    """Return the probability of at least `count` successes in independent trials.

    Each trial has its own probability (Poisson binomial): exact by convolution, or normal.
    """
    if count <= 0:
        return 1.0
    mean, variance = float(chances.sum()), float((chances * (1.0 - chances)).sum())
    if chances.size > MAX_EXACT_TRIALS:
        from scipy.special import ndtr

        return float(ndtr(-(count - 0.5 - mean) / np.sqrt(max(variance, 1e-12))))
    law = np.zeros(chances.size + 1)
    law[0] = 1.0
    for k, p in enumerate(chances.tolist(), start=1):
        law[1 : k + 1] = law[1 : k + 1] * (1.0 - p) + law[:k] * p
        law[0] *= 1.0 - p
    return float(min(1.0, law[count:].sum()))


def prob_at_most(count: int, trials: int, chance: float) -> float:
    """Return the probability of at most `count` successes in binomial trials."""
    from scipy.special import bdtr

    return float(bdtr(count, trials, min(max(chance, 0.0), 1.0))) if count < trials else 1.0


def p_value_text(p: float) -> str:
    """Format a p-value."""
    return "p < 1e-6" if p < 1e-6 else f"p = {p:.2g}"
