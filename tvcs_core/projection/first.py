"""The first projection of a process without cached kernels, run by the Python interpreter.

Compiling the kernels takes about ten seconds. The same functions, interpreted, project a 20 x 20
table in some hundredths of a second, with identical results. So a single small projection does not
wait for the compiler; the second projection of a process compiles and caches the kernels.
"""

import math

from tvcs_core.constraint import TVCS
from tvcs_core.jit import has_kept

# Entries that the interpreter projects faster than the compiler runs, in the slowest case measured.
MAX_INTERPRETED_ENTRIES = 22_500

_is_first = True


def is_due() -> bool:
    """Return whether this process has not projected yet."""
    return _is_first


def is_by_python(constraint: TVCS) -> bool:
    """Return whether to interpret the kernels, which only the first projection may do."""
    global _is_first
    _is_first = False
    return math.prod(constraint.shape) <= MAX_INTERPRETED_ENTRIES and not has_kept(
        "tvcs_core.projection.kernels"
    )
