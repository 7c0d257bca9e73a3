"""What several rooms of tests share: the real Label Studio, where there is one."""

import pytest

from tests.crowd.real_studio import running


@pytest.fixture(scope="session")
def real_studio(tmp_path_factory):
    """A running Label Studio, spoken to over HTTP."""
    with running(tmp_path_factory.mktemp("label-studio")) as server:
        yield server
