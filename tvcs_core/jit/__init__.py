"""Kernels: compiled by numba at their first call, linked to each other, kept on disk.

No kernel lives here, and nothing here knows what one computes: see the folders named ``kernels``.
"""

from tvcs_core.jit.compiling import compiling_seconds
from tvcs_core.jit.kernel import Kernel, kernel

__all__ = ["Kernel", "compiling_seconds", "kernel"]
