"""The first projections of a process without cached kernels, run by the Python interpreter.

Compiling the kernels takes about ten seconds. The same functions, interpreted, project a 20 x 20
table in some hundredths of a second, with identical results. So a few small projections do not
wait for the compiler; after some seconds of them a process compiles and caches the kernels.
"""

import contextlib
import math
from collections.abc import Iterator
from time import thread_time

from tvcs_core.constraint import TVCS
from tvcs_core.jit import by_python, has_kept

# Entries that the interpreter projects faster than the compiler runs, in the slowest case measured.
MAX_INTERPRETED_ENTRIES = 22_500
# The twelve projections of a first `crowd-tvcs assign` of 40 x 120 take 1.4 to 2.1 s, and 11 s
# compiled.
MAX_INTERPRETED_SECONDS = 4.0

_spent = 0.0  # seconds of processor in the interpreter; infinite once this process compiles


def is_due() -> bool:
    """Return whether this process may still interpret projections."""
    return _spent < MAX_INTERPRETED_SECONDS


def is_by_python(constraint: TVCS) -> bool:
    """Return whether to interpret the kernels; once this is False it stays so."""
    size = math.prod(constraint.shape)
    if size <= MAX_INTERPRETED_ENTRIES and not has_kept("tvcs_core.projection.kernels"):
        return True
    stop()
    return False


def stop() -> None:
    """Compile from now on."""
    global _spent
    _spent = math.inf


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Run kernels as plain Python functions within the block, and count the time of processor."""
    global _spent
    began = thread_time()
    with by_python():
        yield
    _spent += thread_time() - began
