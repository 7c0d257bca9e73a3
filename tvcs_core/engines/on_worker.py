"""Code that runs on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import pickle
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from tvcs_core.engines.blas import one_blas_thread_from_now_on
from tvcs_core.engines.journal import PACKAGES

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # parameter numbers of mallopt(3)
MAX_MMAP_THRESHOLD = 32 << 20  # bytes; glibc never raises its own threshold above this

# An expression of the standard library alone, so that a worker without tvcs can evaluate it.
PROBE = (
    "(lambda m, s: {**{p: next((d.version for d in m.distributions(name=p)), '') "
    f"for p in {PACKAGES!r}}}, 'Python': '%d.%d' % s.version_info[:2]}})"
    "(__import__('importlib.metadata').metadata, __import__('sys'))"
)


class SharedState(WorkerPlugin):
    """The state of a job; Dask installs it on all workers, including later ones."""

    def __init__(self, payload: bytes) -> None:
        self.payload = payload

    @cached_property
    def job(self) -> Any:
        """Unit and state, unpickled at the first unit."""
        return pickle.loads(self.payload)

    def __getstate__(self) -> dict[str, Any]:
        return {"payload": self.payload}


def do_unit(name: str, index: int, expected: str) -> Any:
    """Run a unit of the job whose state was registered as `name`.

    `expected` is the digest of the client's sources, checked because a worker that joined late was
    not checked at the start.
    """
    if sources_digest() != expected:
        raise OtherSources
    reuse_memory()
    shared: Any = get_worker().plugins[name]
    unit, state = shared.job
    one_blas_thread_from_now_on()
    return unit(state, index)


@cache
def reuse_memory() -> None:
    """Make glibc keep freed memory for the next array, as in a process not started by Dask's nanny.

    The nanny sets ``MALLOC_TRIM_THRESHOLD_``, which makes glibc return memory at every chance and
    fixes the size above which memory is mapped anew at 128 kB. The system then clears new pages
    for every larger array: units that allocate arrays take three to five times the processor time.
    Both thresholds are set to the largest values that glibc reaches by itself.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)
        mallopt(M_TRIM_THRESHOLD, 2 * MAX_MMAP_THRESHOLD)


class OtherSources(Exception):
    """A worker runs other sources of tvcs than the client."""


def sources_digest() -> str:
    """Return a hash of the sources of all packages of tvcs."""
    global _DIGEST
    if not _DIGEST:
        root, digest = Path(__file__).parents[2], hashlib.sha256()
        for package in ("tvcs_core", "grn_tvcs", "crowd_tvcs"):
            for path in sorted((root / package).rglob("*.py")):
                digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
                digest.update(path.read_bytes())
        _DIGEST = digest.hexdigest()
    return _DIGEST


_DIGEST = ""


def processor() -> str:
    """Return the compiler's name of this machine's processor."""
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())
