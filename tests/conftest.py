"""Settings that every test shares."""

import os

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
