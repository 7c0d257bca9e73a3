"""The first projections of a process without cached kernels, run by the Python interpreter.

Compiling the kernels takes about ten seconds. The same functions, interpreted, project a 20 x 20
table in some hundredths of a second, with identical results. So a few small projections do not
wait for the compiler; after some seconds' worth of them a process compiles and caches the kernels.
"""

import contextlib
import math
from collections.abc import Iterator

from tvcs_core.constraint import TVCS
from tvcs_core.jit import by_python, has_kept

# Entries that the interpreter projects faster than the compiler runs, in the slowest case measured.
MAX_INTERPRETED_ENTRIES = 22_500
# The twelve projections of a first `crowd-tvcs assign` of 40 x 120 make 650,000 to 700,000 calls of
# kernels in 1.4 to 2.1 s, and 11 s compiled. Seconds would decide by the load of the machine.
MAX_INTERPRETED_CALLS = 800_000

_calls: float = 0  # of kernels by the interpreter; infinite once this process compiles


def is_due() -> bool:
    """Return whether this process may still interpret projections."""
    return _calls < MAX_INTERPRETED_CALLS


def is_by_python(constraint: TVCS) -> bool:
    """Return whether to interpret the kernels; once this is False it stays so."""
    size = math.prod(constraint.shape)
    if size <= MAX_INTERPRETED_ENTRIES and not has_kept("tvcs_core.projection.kernels"):
        return True
    stop()
    return False


def stop() -> None:
    """Compile from now on."""
    global _calls
    _calls = math.inf


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Run kernels as plain Python functions within the block, and count their calls."""
    global _calls
    with by_python() as calls:
        yield
    _calls += next(calls)
