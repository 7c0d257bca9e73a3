"""Crowds without names of their own."""

import numpy as np

from crowd_tvcs import Quality


def named(values, allowed=None):
    """The quality of workers w0, w1, ... on tasks t0, t1, ...: an array of workers x tasks."""
    values = np.asarray(values, dtype=float)
    n, m = values.shape
    return Quality(values, [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)], allowed)


def drawn(n, m, seed=0, low=0.5, high=0.9, allowed=None):
    """The same, of qualities that are drawn between two numbers."""
    return named(np.random.default_rng(seed).uniform(low, high, (n, m)), allowed)
