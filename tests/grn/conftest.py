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
    """Write a file: a text or bytes as they are, a data frame separated by tabs. Its path."""

    def make(content, name="x.tsv"):
        path = tmp_path / name
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content.to_csv(path, sep="\t", index=False)
        return path

    return make


@pytest.fixture
def quietly():
    """Say nothing of warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
