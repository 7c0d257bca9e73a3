"""Small campaigns in stores of their own."""

import pytest

from tests.makers.campaigns import making


@pytest.fixture
def begin(tmp_path):
    """Make a campaign of three workers and three tasks, or of what is given; closed in the end."""
    workers = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
    usual = {"workers": workers, "tasks": ["t1", "t2", "t3"], "qualities": workers}
    with making(tmp_path, **usual) as begin:
        yield begin
