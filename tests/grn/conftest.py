from pathlib import Path

import pytest

from grn_tvcs import METHODS


@pytest.fixture(scope="session")
def bundled():
    """The small network that comes with the repository."""
    return Path(__file__).parents[2] / "data" / "network30"


@pytest.fixture(autouse=True)
def few_networks(monkeypatch):
    """Two networks to calibrate a design, where a test does not say how many: 12 take seconds."""
    monkeypatch.setitem(METHODS["combined"].function.__kwdefaults__, "calibrate", 2)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Forests of 20 trees, where a test does not say how many: 1000 take minutes."""
    for method in ("genie3", "dyngenie3"):
        monkeypatch.setitem(METHODS[method].function.__kwdefaults__, "trees", 20)
