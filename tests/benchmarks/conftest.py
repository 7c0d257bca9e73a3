"""What studies are tested with: designs that take moments to calibrate."""

import pytest

from tests.conftest import calibrate_with_few


@pytest.fixture(scope="module", autouse=True)
def few_networks_of_studies():
    """Two networks and few tables to calibrate a design: studies are not asked how many."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        calibrate_with_few(monkeypatch)
        yield
