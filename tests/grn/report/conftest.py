"""One simulated table for the reports of its networks."""

import pytest

from grn_tvcs import simulate


@pytest.fixture(scope="session")
def expression():
    return simulate(10, 4, 9, n_edges=12, rng=0).expression
