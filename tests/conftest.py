"""Settings that every test shares."""

import os
import signal
import sys

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("TVCS_HYPOTHESIS", "quick"))


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    import numpy as np

    return np.random.default_rng(20261121)


@pytest.fixture
def sigint_of_a_terminal():
    """Programs started meanwhile can be interrupted, even where pytest runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def every_kernel_has_one_signature():
    """After all tests: no kernel was compiled twice for arguments of other types.

    A kernel that comes from the cache within another one has no signature to look at, so only a
    run with an empty cache checks them all: that is what `.ci/run` does.
    """
    yield
    from tvcs_core.jit import Kernel

    packages = ("tvcs_core", "grn_tvcs", "crowd_tvcs")
    ours = [module for name, module in sys.modules.items() if name.startswith(packages)]
    kernels = {k for m in ours for k in vars(m).values() if isinstance(k, Kernel)}
    twice = sorted(k.__qualname__ for k in kernels if len(k.signatures) > 1)
    assert not twice, f"kernels with more than one signature: {', '.join(twice)}"
