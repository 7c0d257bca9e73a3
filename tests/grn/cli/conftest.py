"""One small set of simulated data for the commands."""

import pytest

from tests.makers.commands import grn_tvcs


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Four series of eight genes, steady states and the true edges, as `simulate` writes them."""
    folder = tmp_path_factory.mktemp("small") / "data"
    sizes = ["--genes", 8, "--series", 4, "--points", 9, "--edges", 9, "--seed", 2]
    assert grn_tvcs("simulate", "--out", folder, *sizes).exit_code == 0
    return folder
