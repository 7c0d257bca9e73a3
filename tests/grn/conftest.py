import warnings
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


@pytest.fixture
def write(tmp_path):
    """Write a table as a file: a text as it is, a data frame separated by tabs."""

    def make(table, name="x.tsv"):
        path = tmp_path / name
        if isinstance(table, str):
            path.write_text(table)
        else:
            table.to_csv(path, sep="\t", index=False)
        return path

    return make


@pytest.fixture
def quietly():
    """Say nothing of warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
