"""The same loop with Argilla: what is its own."""

import pytest

from crowd_tvcs.sync import leasing
from crowd_tvcs.sync.argilla import Argilla
from crowd_tvcs.sync.connection import ToolError
from crowd_tvcs.sync.loop import Settings, Sync
from tests.crowd.sync.argilla_desk import KEY, NAME, ArgillaDesk
from tests.crowd.sync.conftest import answers, audit
from tests.crowd.sync.studio import listening

WORKERS = {"ann": 0.9, "bob": 0.8}
TASKS = ["t0", "t1", "t2"]


@pytest.fixture
def campaign(begin):
    return begin(workers=WORKERS, tasks=TASKS, qualities=WORKERS, classes=["yes", "no"])


@pytest.fixture
def desk():
    made = ArgillaDesk()
    for name in WORKERS:
        made.sign_up(name)
    return made


@pytest.fixture
def keep(desk, campaign):
    with listening(desk) as address:

        def _keep(key=KEY, **more):
            front = Argilla(f"http://{address}", key, NAME, **more)
            settings = Settings(2, None, {}, bool(more.get("predictions")))
            sync = Sync(campaign, front, settings, [].append)
            sync.begin()
            return sync

        yield _keep


def test_people_label_a_campaign_by_the_metadata_that_names_them(desk, campaign, keep):
    sync = keep(predictions=True)
    for _ in range(8):
        sync.step(desk.clock)
        for name in WORKERS:
            for task in desk.tab(name)[:1]:
                desk.annotate(name, task, "yes")
    assert len(answers(campaign)) == len(TASKS) * len(WORKERS)
    assert desk.tab("ann") == desk.tab("bob") == []
    assert desk.datasets[0]["distribution"]["min_submitted"] == 2
    result = desk.called("t0")["metadata"]
    assert (result["tvcs_label"], result["tvcs_confidence"]) == leasing.labels_now(campaign.store)[
        "t0"
    ]
    hidden = {one["name"]: one["visible_for_annotators"] for one in desk.properties}
    assert hidden == {"assigned": True, "tvcs_label": False, "tvcs_confidence": False}
    before = answers(campaign), audit(campaign), len(desk.records)
    calls = len(desk.calls)
    keep(predictions=True).step(desk.clock)
    assert (answers(campaign), audit(campaign), len(desk.records)) == before
    assert {verb for verb, _ in desk.calls[calls:]} == {"GET"}


def test_a_discarded_record_is_a_skip_and_a_draft_is_nothing(desk, campaign, keep):
    sync = keep()
    sync.step(desk.clock)
    skipped, drafted = desk.tab("ann")
    desk.annotate("ann", skipped, None)
    desk.annotate("ann", drafted, "no", status="draft")
    sync.step(desk.clock)
    assert answers(campaign) == []
    assert [(who, what, task) for who, what, task, _ in audit(campaign)] == [
        ("ann", "skip", skipped)
    ]
    assert drafted in leasing.open_tasks(campaign.store)


def test_calls_are_made_and_taken_back_by_what_they_are_for(desk, keep):
    sync = keep()
    sync.tool.set_webhook("http://127.0.0.1:9/killed")
    desk.hooks["other"] = {"id": "other", "description": "somebody's", "url": "http://x"}
    sync.tool.set_webhook("http://127.0.0.1:9/now")
    assert {hook["url"] for hook in desk.hooks.values()} == {"http://x", "http://127.0.0.1:9/now"}
    sync.tool.set_webhook(None)
    assert list(desk.hooks) == ["other"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda desk: setattr(desk, "version", "1.29.0"), "is Argilla 1.29.0; version 2 is"),
        (lambda desk: desk.datasets.clear(), "--dataset: there is no dataset"),
        (lambda desk: desk.datasets.append(desk.datasets[0]), "choose with --workspace"),
        (lambda desk: desk.datasets[0].update(status="draft"), "must be published"),
        (lambda desk: desk.question["settings"].update(type="rating"), "must have one label quest"),
        (lambda desk: desk.question["settings"].update(options=[{"value": "cat"}]),
         "must be the classes of the campaign, yes, no; found cat"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_in_step_is_refused_in_words(change, what, desk, keep):
    change(desk)
    with pytest.raises(ValueError, match=what):
        keep()
    assert not [call for call in desk.calls if call[0] != "GET"]


def test_a_record_shows_the_columns_that_are_fields(desk, campaign, keep):
    sync = keep()
    payloads = {task: {"text": f"words of {task}", "hint": "h"} for task in TASKS}
    sync.settings = Settings(2, None, payloads)
    sync.step(desk.clock)
    assert desk.called("t2")["fields"] == {"text": "words of t2"}


def test_a_wrong_key_is_reported(keep):
    with pytest.raises(ToolError, match="the API key is not valid"):
        keep(key="other")


def test_a_task_without_a_field_of_the_dataset_is_named(desk, campaign, keep):
    sync = keep()
    sync.settings = Settings(2, None, {"t1": {"words": "x"}})
    with pytest.raises(ValueError, match="shows the field 'text', but task 't1' has only words"):
        sync.step(desk.clock)
