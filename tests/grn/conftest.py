from pathlib import Path

import pytest

from grn_tvcs import METHODS


@pytest.fixture(scope="session")
def bundled():
    """The small network that comes with the repository."""
    return Path(__file__).parents[2] / "data" / "network30"


@pytest.fixture(autouse=True)
def few_trees(monkeypatch, few_networks):
    """Forests of 20 trees, where a test does not say how many: 1000 take minutes."""
    for method in ("genie3", "dyngenie3"):
        monkeypatch.setitem(METHODS[method].function.__kwdefaults__, "trees", 20)
