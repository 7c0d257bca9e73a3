"""One BLAS thread for each unit: how many there are may change the last bit of a product."""

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
    """Limit BLAS to one thread while the context lasts, in the whole process.

    Threads may hold it side by side: the last one to leave lifts the limit. Each limits anew, since
    a library that brings its own BLAS may have been imported meanwhile.
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
    """Limit BLAS to one thread in a process that computes nothing but units."""
    threadpool_limits(1, "blas")
