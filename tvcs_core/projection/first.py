"""The first projection of a process that finds no kernel kept: by Python, where the table is small.

Kernels are compiled in about ten seconds; the same functions, run by Python, project a table of
20 x 20 in some hundredths of one, with the same bits. Who projects once waits for no compiler; the
second projection of the process compiles, and from then on kernels are kept.
"""

import math

from tvcs_core.constraint import TVCS
from tvcs_core.jit import has_kept

FEW = 22_500  # entries that Python projects in less time than compiling takes, in the worst case

_is_first = True


def is_due() -> bool:
    """Whether this process has projected nothing yet."""
    return _is_first


def is_by_python(constraint: TVCS) -> bool:
    """Whether the first projection is run by Python; no later one is."""
    global _is_first
    _is_first = False
    return math.prod(constraint.shape) <= FEW and not has_kept("tvcs_core.projection.kernels")
