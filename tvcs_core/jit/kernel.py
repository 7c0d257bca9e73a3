"""The one decorator for kernels: serial `njit` without the GIL, compiled once per machine.

numba is imported at the first call of a kernel and not before, so ``import tvcs_core`` does
not wait for it.
"""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tvcs_core.jit.folder import folder_for
from tvcs_core.jit.uninterrupted import uninterrupted

_LOCK = threading.Lock()
_BY_PYTHON: set[int] = set()  # the threads that run kernels without compiling them


class Kernel:
    """A function that numba compiles at its first call, from Python or from a kernel.

    It must be called with one signature only. It may call kernels of its own package and of
    tvcs_core. Where "kernels" is no part of its module's name it is compiled without a cache.

    Attributes
    ----------
    py_func
        The function as it was written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._both: tuple[Any, Any] | None = None

    def __call__(self, *args: Any) -> Any:
        """Run it, compiled but `by_python`."""
        if _BY_PYTHON and threading.get_ident() in _BY_PYTHON:
            return self.py_func(*args)
        return self.dispatcher(*args)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The function for Python to call; the plain one under ``NUMBA_DISABLE_JIT=1``."""
        return self._part_and_entry()[1]

    @property
    def signatures(self) -> list[Any]:
        """The argument types it was called with so far."""
        of_both = (getattr(x, "signatures", ()) for x in self._both or ())
        return list(dict.fromkeys(types for found in of_both for types in found))

    @property
    def _numba_type_(self) -> Any:
        """The type that a calling kernel sees (numba asks by this name)."""
        return self._part_and_entry()[0]._numba_type_

    def _part_and_entry(self) -> tuple[Any, Any]:
        with _LOCK:
            if self._both is None:
                self._both = _dispatchers(self.py_func)
        return self._both


kernel = Kernel


@contextlib.contextmanager
def by_python() -> Iterator[None]:
    """Run kernels as plain Python functions, in this thread and within the block.

    They find the same, some hundred times slower, and like compiled ones they warn of nothing.
    """
    me = threading.get_ident()
    _BY_PYTHON.add(me)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _BY_PYTHON.discard(me)


def _dispatchers(function: Callable[..., Any]) -> tuple[Any, Any]:
    """Return the part for other kernels to link, and the function for Python to call."""
    with uninterrupted():  # its parts in C make an ImportError of Ctrl-C
        from numba import config, njit

    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        silent = np.errstate(all="ignore")(function)  # as compiled ones are
        return silent, silent
    # Another numba than they were written for is used without them.
    try:
        from tvcs_core.jit.linking import linked

        part, entry = linked(function)
    except (ImportError, AttributeError):
        part, entry = njit(nogil=True)(function), njit(nogil=True)(function)
    with contextlib.suppress(ImportError, AttributeError):
        from tvcs_core.jit.cache import SealedCache

        entry._cache = SealedCache(function, folder_for(function))
    return part, entry
