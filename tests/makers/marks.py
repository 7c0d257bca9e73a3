"""What a test needs, as marks."""

import os

import pytest

needs_jit = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled without the JIT"
)
