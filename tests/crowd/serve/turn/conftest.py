"""Desks at which a browser is the worker Ann."""

import pytest

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.content import Content, set_content
from crowd_tvcs.serve.desk import Served
from tests.crowd.serve.conftest import PASSWORD, listening
from tests.crowd.serve.turn.files import png


@pytest.fixture
def make_desk(tmp_path):
    """Make a desk of such classes and content; return Ann's link, the campaign and the desk."""
    made = []

    def _make(classes, content, n_tasks, least, lease=900.0, **more):
        tasks = [f"t{j}" for j in range(n_tasks)]
        campaign = Campaign.create(
            tmp_path / f"{len(made)}.db", workers=["ann"], tasks=tasks, qualities={"ann": 0.9},
            classes=list(classes), lease_seconds=lease,
        )  # fmt: skip
        (tmp_path / "media").mkdir(exist_ok=True)
        (tmp_path / "media" / "x.png").write_bytes(png())
        bodies = {name: content or Content(f"Text of {name}.") for name in tasks}
        set_content(campaign.store, bodies, tmp_path)
        served = Served(campaign, PASSWORD, tmp_path / "media", **more)
        served.per_worker.burst = 1000
        served.pages.least = least
        context = listening(served)
        made.append((context, campaign))
        url = context.__enter__()
        return f"{url}/w/{served.links.make(['ann'], now=1.0)['ann']}", campaign, served

    yield _make
    for context, campaign in made:
        context.__exit__(None, None, None)
        campaign.close()
