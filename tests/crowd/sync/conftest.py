"""A campaign, a small Label Studio with two people, and both kept in step."""

import pytest

from crowd_tvcs.sync.label_studio import LabelStudio
from crowd_tvcs.sync.loop import Settings, Sync
from tests.crowd.sync import studio as fake
from tests.makers.campaigns import making, rows_of

ANN, BOB, CY = "ann@example.com", "bob@example.com", "cy@example.com"
WORKERS = {ANN: 0.9, BOB: 0.8, CY: 0.7}
TASKS = [f"t{j}" for j in range(5)]


@pytest.fixture
def make(tmp_path):
    """Make a campaign; more settings than these may be given."""
    usual = {"workers": WORKERS, "tasks": TASKS, "qualities": WORKERS, "classes": ["yes", "no"]}
    with making(tmp_path, max_workers_per_task=2, lease_seconds=900.0, **usual) as make:
        yield make


@pytest.fixture
def campaign(make):
    return make()


@pytest.fixture
def studio():
    made = fake.Studio()
    made.sign_up(ANN)
    made.sign_up(BOB)
    return made


@pytest.fixture
def address(studio):
    with fake.listening(studio) as found:
        yield f"http://{found}"


@pytest.fixture
def keep(studio, address):
    """Begin to keep a campaign in step, as a new process does."""

    def _keep(campaign, *, message=None, token=fake.TOKEN, **more):
        predictions = bool(more.get("predictions"))
        settings = Settings(**({"batch": 2, "accounts": None, "payloads": {}} | more))
        front = LabelStudio(address, token, fake.PROJECT, predictions=predictions)
        sync = Sync(campaign, front, settings, (message if message is not None else []).append)
        sync.begin()
        return sync

    return _keep


def answers(campaign):
    """(worker, task, label) of every answer in the store."""
    from crowd_tvcs.campaign.store.schema import ANSWERED
    from crowd_tvcs.sync.leasing import pair_states

    return sorted(
        (*pair, label)
        for pair, (state, label) in pair_states(campaign.store).items()
        if state == ANSWERED
    )


def audit(campaign):
    """(who, what, task, detail) of every entry of the audit."""
    return rows_of(campaign, "SELECT who, what, task, detail FROM audit ORDER BY id")
