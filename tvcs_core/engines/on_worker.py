"""What runs at the workers of a Dask cluster, and what they are asked before."""

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

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
LARGEST_REUSED = 32 << 20  # bytes: the most that glibc takes for the second of them

# An expression of the standard library alone: a worker without tvcs can answer it.
PROBE = (
    "(lambda m, s: {**{p: next((d.version for d in m.distributions(name=p)), '') "
    f"for p in {PACKAGES!r}}}, 'Python': '%d.%d' % s.version_info[:2]}})"
    "(__import__('importlib.metadata').metadata, __import__('sys'))"
)


class SharedState(WorkerPlugin):
    """The state of a job: every worker has it, those too that come later."""

    def __init__(self, payload: bytes) -> None:
        self.payload = payload

    @cached_property
    def job(self) -> Any:
        """Unit and state, unpickled when the first unit is done."""
        return pickle.loads(self.payload)

    def __getstate__(self) -> dict[str, Any]:
        return {"payload": self.payload}


def do_unit(name: str, index: int, expected: str) -> Any:
    """Do a unit of the job whose state was registered as `name`.

    `expected` is the digest of the sources that the client has: a worker that came late was not
    asked before.
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
    """Keep freed memory for the next array, as a process does that no nanny of Dask started.

    The nanny has glibc hand memory back at every chance (``MALLOC_TRIM_THRESHOLD_``), which also
    holds the size from which memory is mapped anew at 128 kB. So each larger array gets pages that
    the system has to clear first: units that make and drop arrays take three to five times the
    processor. Both limits are set to what glibc comes to by itself, at most.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, LARGEST_REUSED)
        mallopt(M_TRIM_THRESHOLD, 2 * LARGEST_REUSED)


class OtherSources(Exception):
    """A worker that runs another tvcs than the client."""


def sources_digest() -> str:
    """A hash of the sources of all our packages."""
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
    """What the compiler calls the processor of this machine."""
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())
