"""Small campaigns in stores of their own."""

import pytest

from crowd_tvcs.campaign import Campaign


@pytest.fixture
def begin(tmp_path):
    """Make a campaign of three workers and three tasks, or of what is given; closed in the end."""
    made = []

    def _begin(**options):
        workers = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
        options = {"workers": workers, "tasks": ["t1", "t2", "t3"], "qualities": workers} | options
        made.append(Campaign.create(tmp_path / f"begun{len(made)}.db", **options))
        return made[-1]

    yield _begin
    for campaign in made:
        campaign.close()
