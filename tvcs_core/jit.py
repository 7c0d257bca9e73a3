"""The one decorator for kernels: lazy, serial `njit` without the GIL, cached."""

from numba import njit


def kernel(function):
    """Compile `function` at its first call; it must be called with one signature only."""
    return njit(nogil=True, cache=True)(function)
