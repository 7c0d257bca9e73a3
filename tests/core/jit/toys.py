"""A package of two kernel files that call each other, and what became of them in the cache."""

from pathlib import Path

import numpy as np

from tvcs_core.jit import folder

INNER = """
from tvcs_core.jit import kernel

@kernel
def twice(x):
    return 2 * x
"""
OUTER = """
from tvcs_core.jit import kernel
from toy.low.kernels import inner
from toy.low.kernels.inner import twice

@kernel
def run(values):
    total = 0.0
    for v in values:
        total += twice(v) + inner.twice(v)
    return total
"""
INNER_FILE, OUTER_FILE = "low/kernels/inner.py", "high/kernels.py"
VALUES = np.arange(4.0)


def was_cached(run) -> bool:
    """Whether the last call loaded what it needed."""
    stats = run.dispatcher.stats
    return sum(stats.cache_hits.values()) == 1 and not stats.cache_misses


def sealed_file(name="run") -> Path:
    [path] = folder.cache_folder("toy").glob(f"toy.*.{name}-*.kernel")
    return path


def check_healed(toy) -> None:
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)
