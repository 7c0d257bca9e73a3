"""One BLAS thread per unit: the number of threads can change the last bit of a product."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_LOCK = threading.Lock()
_HOLDERS: set[object] = set()
_LIMITS: list[threadpool_limits] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in the whole process while the context is open.

    Several threads may hold the limit; the last one to leave lifts it. Each sets the limit again,
    because a library with its own BLAS may have been imported in between.
    """
    holder = object()
    with _LOCK:
        _LIMITS.append(threadpool_limits(1, "blas"))
        _HOLDERS.add(holder)
    try:
        yield
    finally:
        with _LOCK:
            _HOLDERS.remove(holder)
            while _LIMITS and not _HOLDERS:
                _LIMITS.pop().restore_original_limits()


def one_blas_thread_from_now_on() -> None:
    """Limit BLAS to one thread in a process that runs nothing but units."""
    threadpool_limits(1, "blas")
