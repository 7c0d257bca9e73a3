from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def bundled():
    """The small network that comes with the repository."""
    return Path(__file__).parents[2] / "data" / "network30"
