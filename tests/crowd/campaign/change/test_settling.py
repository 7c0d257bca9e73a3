"""Labels that the operator settles: the result, gold, and no measure of the crowd."""

import pytest

from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.campaign import Campaign, RejectedError, summary, task_statuses
from crowd_tvcs.campaign.desk.figures import figures
from crowd_tvcs.campaign.desk.tables import labels
from tests.makers.campaigns import rows_of, tables
from tests.makers.commands import run_done, run_refused


@pytest.mark.parametrize("model", ["dependent", "independent"])
def test_a_settled_label_is_the_result_and_gold_and_measures_nothing(begin, model):
    campaign = begin(model=model)
    for name in ("ann", "bob"):
        campaign.submit(name, campaign.next(name).task, "1")
    campaign.add(gold={"t2": "1"})
    before = tables(campaign, "audit")
    campaign.settle("t1", "0")
    state = campaign.state()
    row = task_statuses(state)[0]
    assert (row.label, row.confidence, row.answers, row.verdict) == ("0", 1.0, 1, "settled")
    assert labels(campaign.store)[1][0] == ["t1", "0", 1.0, 1]
    assert state.posterior[0].tolist() == [1.0, 0.0]
    assert list(state.gold) == ["t2"]
    record = summary(state, task_statuses(state))
    found = figures(campaign.store)
    assert (
        (record["measured"], record["measured_on"]) == (found.measured, found.measured_on) == (1, 1)
    )
    assert found.expected_accuracy == pytest.approx(record["expected_accuracy"])
    assert campaign.reopen() == 0
    with pytest.raises(RejectedError, match="is settled, so it stays closed; take its label back"):
        campaign.close_tasks(["t1"], False)
    assert campaign.next("cy").task != "t1"
    campaign.skip("cy", campaign.next("cy").task)
    campaign.settle("t1", "1")
    assert labels(campaign.store)[1][0][1] == "1"
    campaign.settle("t1", None)
    after = tables(campaign, "audit")
    assert after["task"] == before["task"] or model == "independent"
    assert after["gold"] == before["gold"]


def test_an_unanswered_task_may_be_settled(begin):
    campaign = begin()
    campaign.settle("t3", "1")
    row = task_statuses(campaign.state())[2]
    assert (row.label, row.confidence, row.answers) == ("1", 1.0, 0)
    assert labels(campaign.store)[1][2] == ["t3", "1", 1.0, 0]
    assert figures(campaign.store).unlabelled == 2


@pytest.mark.parametrize(
    ("task", "label", "message"),
    [
        ("t9", "1", "there is no task 't9' in this campaign"),
        ("t1", "x", "label must be one of '0', '1', found 'x'"),
        ("t1", None, "task 't1' is not settled, so there is nothing to take back"),
        ("t2", "1", "the label of task 't2' is known by gold already: '0'; settle it with this"),
    ],
)
def test_what_cannot_be_settled(begin, task, label, message):
    campaign = begin()
    campaign.add(gold={"t2": "0"})
    before = tables(campaign)
    with pytest.raises(RejectedError) as error:
        campaign.settle(task, label)
    assert message in str(error.value)
    assert tables(campaign) == before


def test_the_command(begin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begin("s.db").close()
    words = ["campaign", "settle", "s.db", "--task", "t1"]
    run_done(*words, "--label", "1")
    assert run_refused(*words) == "error: give --label, or --take-back\n"
    assert run_done(*words, "--take-back").stderr == "task 't1': its answers decide again\n"
    with Campaign("s.db") as campaign:
        rows = rows_of(campaign, "SELECT what, task, detail FROM audit")
    assert rows == [("settle", "t1", "1"), ("settle", "t1", "taken back")]


def test_labels_that_are_all_settled_are_gold_without_a_warning(begin, tmp_path):
    """Those of a vote are not, and have the same columns."""
    campaign, out = begin(), tmp_path / "gold.csv"
    campaign.settle("t1", "1")
    words = ["campaign", "export-labels", campaign.store.place, "--out", out]
    run_done(*words)
    assert read_gold(out).labels == {"t1": "1"}
    campaign.submit("ann", campaign.next("ann").task, "1")
    run_done(*words)
    with pytest.warns(UserWarning, match="of a vote, whose labels are no gold"):
        read_gold(out)
