"""How many threads BLAS has in a command: one.

With more, the last bit of a product depends on the machine's cores, and threads spin while there is
little to do. Units have one wherever they run (`engines`); this is for the code around them.
"""

from __future__ import annotations

from collections.abc import MutableMapping

LIBRARIES = ("OPENBLAS", "MKL", "OMP", "BLIS")
# What a process is started with, for BLAS reads it when NumPy is imported.
ONE_THREAD = dict.fromkeys([f"{name}_NUM_THREADS" for name in LIBRARIES], "1")


def one_thread_unless_told(environment: MutableMapping[str, str]) -> None:
    """Give BLAS one thread in `environment`, unless that sets the threads of any library."""
    if not ONE_THREAD.keys() & environment.keys():
        environment["OPENBLAS_NUM_THREADS"] = environment["MKL_NUM_THREADS"] = "1"
