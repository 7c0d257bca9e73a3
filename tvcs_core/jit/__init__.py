"""Kernels: compiled by numba at their first call, linked to each other, kept on disk.

No kernel lives here, and nothing here depends on one: see the folders named ``kernels``.
"""

from tvcs_core.jit.compiling import compiling_seconds
from tvcs_core.jit.folder import has_kept
from tvcs_core.jit.kernel import Kernel, by_python, kernel

__all__ = ["Kernel", "by_python", "compiling_seconds", "has_kept", "kernel"]
