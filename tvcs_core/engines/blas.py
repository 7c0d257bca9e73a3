"""One BLAS thread for each unit: how many there are may change the last bit of a product."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import threadpool_limits

# What a process that computes nothing but units is started with.
LIBRARIES = ("OPENBLAS", "MKL", "OMP", "BLIS")
ENVIRONMENT = dict.fromkeys([f"{name}_NUM_THREADS" for name in LIBRARIES], "1")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread while the context lasts; without a context, for good."""
    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits
