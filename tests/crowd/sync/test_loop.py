"""A campaign and Label Studio kept in step: who sees what, what is taken, and what goes wrong."""

from collections import Counter

import pytest

from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.sync import leasing, loop
from crowd_tvcs.sync.connection import ToolError, ToolUnavailableError
from tests.crowd.sync import studio as fake
from tests.crowd.sync.conftest import ANN, BOB, CY, TASKS, answers, audit
from tests.makers.campaigns import rows_of


def truth(task):
    return "yes" if TASKS.index(task) % 2 else "no"


def work(studio, sync, people, steps=60):
    """People answer the first task of their tab, in turn, until nobody has one."""
    for _ in range(steps):
        sync.step(studio.clock)
        shown = [(who, tab[0]) for who in people if (tab := studio.tab(who))]
        if not shown:
            return
        for who, task in shown:
            studio.annotate(who, task, truth(task))
    pytest.fail("the campaign does not end")


def test_everybody_sees_what_next_gives_and_the_answers_come_in(campaign, studio, keep):
    sync = keep(campaign)
    assert studio.project["show_collab_predictions"] is True  # nothing is told, so it stays
    sync.step(studio.clock)
    tabs = {who: set(studio.tab(who)) for who in (ANN, BOB)}
    assert [len(tab) for tab in tabs.values()] == [2, 2]
    given = {
        (who, task) for task, names in leasing.open_tasks(campaign.store).items() for who in names
    }
    assert given == {(who, task) for who, tab in tabs.items() for task in tab}
    work(studio, sync, (ANN, BOB))
    found = answers(campaign)
    assert len(found) == 2 * len(TASKS)
    assert all(label == truth(task) for _, task, label in found)
    keys = [detail for who, what, task, detail in audit(campaign) if what == "answer"]
    assert len(set(keys)) == len(keys) == len(found)


def test_who_has_a_task_is_sorted_as_python_sorts(begin):
    """A database may sort capitals otherwise, and a task would be marked anew with every look."""
    names = ["b", "B", "a", "C"]
    campaign = begin(workers=names, tasks=["t"], qualities=dict.fromkeys(names, 0.8))
    for name in names:
        campaign.next(name)
    assert leasing.open_tasks(campaign.store) == {"t": ["B", "C", "a", "b"]}


def test_no_cap_is_broken_and_who_has_no_account_holds_nothing(make, studio, keep):
    campaign = make(budget=7, max_tasks_per_worker=4)
    sync = keep(campaign, batch=3)
    sync.step(studio.clock)
    assert CY not in {who for names in leasing.open_tasks(campaign.store).values() for who in names}
    work(studio, sync, (ANN, BOB))
    found = answers(campaign)
    assert len(found) == 7
    assert max(Counter(who for who, _, _ in found).values()) <= 4
    assert max(Counter(task for _, task, _ in found).values()) <= 2
    assert studio.tab(ANN) == studio.tab(BOB) == []


def test_an_annotation_that_is_seen_again_changes_nothing(campaign, studio, keep):
    sync = keep(campaign)
    sync.step(studio.clock)
    studio.annotate(ANN, studio.tab(ANN)[0], "yes")
    sync.step(studio.clock)
    before = answers(campaign), audit(campaign), leasing.open_tasks(campaign.store)
    calls = len(studio.calls)
    sync.step(studio.clock)
    keep(campaign).step(studio.clock)  # another process, which reads everything
    assert (answers(campaign), audit(campaign), leasing.open_tasks(campaign.store)) == before
    assert {verb for verb, _ in studio.calls[calls:]} == {"GET"}
    assert len(before[0]) == 1


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_step_may_be_cut_short_at_any_request(how, make, studio, keep):
    """Every request fails once, undone or done without an answer; a new process goes on."""
    campaign, failed = make(), set()

    def fails(number):
        verb, path = studio.calls[-1]
        place = (verb, path, sum(call == (verb, path) for call in studio.calls))
        if len(failed) < 60 and (verb, path) not in failed and place[2] == 1:
            failed.add((verb, path))
            return how
        return ""

    studio.fails = fails
    for _ in range(200):
        try:
            sync = keep(campaign)
            sync.step(studio.clock)
        except ToolUnavailableError:
            continue
        shown = [(who, tab[0]) for who in (ANN, BOB) if (tab := studio.tab(who))]
        if not shown:
            break
        for who, task in shown:
            studio.annotate(who, task, truth(task))
    assert len(failed) > 10
    found = answers(campaign)
    assert len(found) == 2 * len(TASKS)
    names = Counter(task["data"]["task"] for task in studio.tasks.values())
    assert names == dict.fromkeys(TASKS, 1)
    assert sorted(view["data"]["title"] for view in studio.views.values()) == [ANN, BOB]


def test_a_late_annotation_is_taken_while_there_is_room_and_refused_once_there_is_none(
    make, studio, keep
):
    campaign = make(lease_seconds=60.0, max_workers_per_task=1)
    sync = keep(campaign, batch=1)
    sync.step(studio.clock)
    (late,) = studio.tab(ANN)
    (lost,) = studio.tab(BOB)
    studio.clock += 120.0
    campaign.next(CY, now=studio.clock)  # lets the leases lapse, and takes one of the tasks
    (taken,) = leasing.open_tasks(campaign.store)
    first, second = (ANN, late), (BOB, lost)
    room, full = (second, first) if taken == late else (first, second)
    assert taken == full[1]
    studio.annotate(*room, "yes")
    studio.annotate(*full, "yes")
    message = []
    sync.log = message.append
    sync.step(studio.clock)
    assert sync.counts["accepted late"] == 1
    assert answers(campaign) == [(*room, "yes")]
    refused = [(who, task) for who, what, task, _ in audit(campaign) if what == "refused"]
    assert refused == [full]
    assert "was given up, and the task has its 1 worker" in message[-1]
    sync.step(studio.clock)
    keep(campaign, batch=1, message=message).step(studio.clock)
    assert len([1 for _, what, _, _ in audit(campaign) if what == "refused"]) == 1
    assert sum("refused" in line for line in message) == 1


def test_who_answers_what_they_were_not_given_is_refused_and_taken_once_they_are(
    campaign, studio, keep
):
    sync = keep(campaign, batch=1)
    sync.step(studio.clock)
    others = next(task for task in TASKS if task not in studio.tab(ANN))
    studio.annotate(ANN, others, "yes")
    sync.step(studio.clock)
    assert answers(campaign) == []
    assert [what for _, what, _, _ in audit(campaign)] == ["refused"]
    for _ in range(2 * len(TASKS)):
        if tab := studio.tab(ANN):
            studio.annotate(ANN, tab[0], truth(tab[0]))
        sync.step(studio.clock)
    assert (ANN, others, "yes") in answers(campaign)
    assert len([task for who, task, _ in answers(campaign) if who == ANN]) == len(TASKS)


def test_another_answer_of_the_same_worker_is_refused_and_the_first_stays(campaign, studio, keep):
    sync = keep(campaign)
    sync.step(studio.clock)
    task = studio.tab(ANN)[0]
    studio.annotate(ANN, task, "yes")
    studio.annotate(ANN, task, "no")
    sync.step(studio.clock)
    assert answers(campaign) == [(ANN, task, "yes")]
    assert [what for _, what, _, _ in audit(campaign)] == ["answer", "refused"]


def test_what_is_skipped_or_left_empty_is_not_given_to_them_again(campaign, studio, keep):
    sync = keep(campaign)
    sync.step(studio.clock)
    skipped, empty = studio.tab(ANN)
    studio.annotate(ANN, skipped, None)
    studio.annotate(ANN, empty, "yes", result=[])
    work(studio, sync, (ANN,))
    mine = {task for who, task, _ in answers(campaign) if who == ANN}
    assert mine == set(TASKS) - {skipped, empty}
    assert sum(what == "skip" for _, what, _, _ in audit(campaign)) == 2


def test_people_who_are_no_workers_are_left_out_and_accounts_name_those_who_are(
    campaign, studio, keep
):
    stranger = studio.sign_up("x@example.com")
    sync = keep(campaign, accounts={str(stranger["id"]): CY})
    sync.step(studio.clock)
    held = leasing.open_tasks(campaign.store)
    assert {who for names in held.values() for who in names} == {CY}
    (task, *_) = held
    studio.annotate("x@example.com", task, "yes")
    studio.annotate(ANN, task, "no")
    sync.step(studio.clock)
    assert answers(campaign) == [(CY, task, "yes")]
    assert sync.counts[loop.UNKNOWN_ACCOUNTS] == 1


def test_who_is_away_gets_back_less_and_after_the_others(make, studio, keep):
    campaign = make(lease_seconds=60.0, max_workers_per_task=1, budget=4)
    sync = keep(campaign, batch=4)
    sync.step(studio.clock)
    studio.clock += 30.0
    held = leasing.open_tasks(campaign.store)
    (first,) = {who for names in held.values() for who in names}  # all of the budget
    other = BOB if first == ANN else ANN
    studio.clock += 31.0
    sync.step(studio.clock)
    assert {who for names in leasing.open_tasks(campaign.store).values() for who in names} == {
        other
    }


def test_whoever_answers_keeps_the_rest_of_their_tasks(make, studio, keep):
    """Ann has her second task for 100 s, with a lease of 60, since she answered in between."""
    campaign = make(lease_seconds=60.0)
    sync = keep(campaign, batch=2)
    sync.step(studio.clock)
    first, second = studio.tab(ANN)
    idle = studio.tab(BOB)
    studio.clock += 50.0
    studio.annotate(ANN, first, "yes")
    sync.step(studio.clock)
    studio.clock += 50.0
    since = studio.clock - 60.0
    sync.step(studio.clock)
    assert second in studio.tab(ANN)
    begun = {}
    for who, at in rows_of(campaign, "SELECT worker_id, leased_at FROM pair WHERE state = 2"):
        begun.setdefault(who, []).append(at)
    assert len(idle) == len(begun) == 2
    assert min(begun[1]) <= since < min(begun[2])  # Ann still has the first lease, Bob a new one


def test_what_a_round_issued_is_shown_too(campaign, studio, keep):
    campaign.plan(labels=4, method="greedy")
    issued = {(who, task) for who, task, _ in campaign.pending_pairs()}
    keep(campaign, batch=1).step(studio.clock)
    shown = {(who, task) for who in (ANN, BOB) for task in studio.tab(who)}
    assert {pair for pair in issued if pair[0] != CY} <= shown


def test_predictions_follow_the_answers_and_are_kept_from_annotators(campaign, studio, keep):
    sync = keep(campaign, predictions=True)
    sync.step(studio.clock)
    task = studio.tab(ANN)[0]
    assert studio.project["show_collab_predictions"] is False
    studio.annotate(ANN, task, "yes")
    sync.step(studio.clock)
    (result,) = studio.called(task)["predictions"]
    confidence = leasing.labels_now(campaign.store)[task][1]
    assert result["result"] == [fake.choice("yes")]
    assert result["score"] == pytest.approx(confidence)
    assert result["model_version"] == "tvcs"
    calls = len(studio.calls)
    keep(campaign, predictions=True).step(studio.clock)
    assert not [call for call in studio.calls[calls:] if "predictions" in call[1]]
    keep(campaign).step(studio.clock)
    assert len(studio.called(task)["predictions"]) == 1


def test_a_task_that_was_removed_there_is_added_again(campaign, studio, keep):
    sync = keep(campaign)
    sync.step(studio.clock)
    gone = studio.called(studio.tab(ANN)[0])
    del studio.tasks[gone["id"]]
    campaign.skip(ANN, gone["data"]["task"])
    sync.step(studio.clock)
    assert studio.called(gone["data"]["task"])["data"]["assigned"] == "|"


def test_new_tasks_and_workers_of_the_campaign_are_taken_up(campaign, studio, keep):
    sync = keep(campaign)
    sync.step(studio.clock)
    studio.sign_up("dan@example.com")
    campaign.add(workers=["dan@example.com"], tasks=["new"], qualities={"dan@example.com": 0.95})
    sync.step(studio.clock)
    assert studio.called("new")
    assert len(studio.tab("dan@example.com")) == 2


def test_only_what_changed_is_read_again(campaign, studio, keep):
    sync = keep(campaign, batch=1)
    sync.step(studio.clock)
    studio.clock += 100.0
    task = studio.tab(ANN)[0]
    studio.annotate(ANN, task, "yes")
    sync.step(studio.clock)
    studio.clock += 100.0
    studio.annotate(BOB, studio.tab(BOB)[0], "yes")
    changed = {one.task for one in sync.tool.read(sync._since)[0]}
    assert task in changed
    assert len(changed) <= 3 < len(TASKS)  # Ann's two, which were touched last, and Bob's
    assert len(sync.tool.read(None)[0]) == len(TASKS)


def test_what_was_stamped_before_and_seen_later_is_read_too(campaign, studio, keep):
    """Of two at once the server may stamp one first and show it last."""
    sync = keep(campaign)
    sync.step(studio.clock)
    task = studio.tab(ANN)[0]
    studio.clock += 100.0
    stamp = studio.stamp()
    studio.annotate(BOB, studio.tab(BOB)[-1], "yes")
    sync.step(studio.clock)
    studio.annotate(ANN, task, "yes")
    studio.called(task)["updated_at"] = stamp
    sync.step(studio.clock)
    assert (ANN, task, "yes") in answers(campaign)


def test_what_people_who_left_held_is_free_again(make, studio, keep):
    campaign = make(lease_seconds=60.0)
    sync = keep(campaign)
    sync.step(studio.clock)
    studio.users.clear()
    studio.clock += 61.0
    sync.step(studio.clock)
    assert leasing.open_tasks(campaign.store) == {}
    assert {task["data"]["assigned"] for task in studio.tasks.values()} == {"|"}


def test_a_personal_token_is_changed_for_one_that_ends_and_again(campaign, studio, keep):
    studio.tokens = set()
    sync = keep(campaign, token=fake.PERSONAL)
    sync.step(studio.clock)
    studio.tokens = set()  # as after some minutes
    sync.step(studio.clock)
    assert studio.refreshed == 2
    with pytest.raises(ToolError, match="the token is not valid"):
        keep(campaign, token="no.such.token")


def test_gold_of_a_desk_is_not_shown_elsewhere(campaign, studio, keep):
    mix_in(campaign.store, {"gold-7": "yes"}, ())
    campaign.gold_share = 0.5
    while (task := campaign.next(ANN).task) is not None:
        campaign.submit(ANN, task, "yes")
    sync = keep(campaign, predictions=True)
    sync.step(studio.clock)
    assert len(studio.tasks) == len(TASKS)
    assert set(leasing.labels_now(campaign.store)) == set(TASKS)


def test_a_look_that_changes_nothing_stands_in_no_plan_s_way(campaign, studio, keep):
    campaign.pause()
    sync = keep(campaign)
    sync.step(studio.clock)
    before = campaign.state().settings.revision
    sync.step(studio.clock)
    assert campaign.next(BOB).task is None
    assert campaign.state().settings.revision == before


def test_workers_who_come_later_are_looked_at_too(campaign, studio, keep):
    sync = keep(campaign)
    sync.step(studio.clock)
    campaign.add(workers=["a|b"])
    calls = studio.fails
    studio.fails = lambda number: "undone"
    with pytest.raises(ToolUnavailableError):
        sync.step(studio.clock)
    studio.fails = calls
    with pytest.raises(ValueError, match=r"a\|b"):
        sync.step(studio.clock)


def test_who_could_not_begin_has_nothing_to_take_back(campaign, studio, keep, monkeypatch):
    sync = keep(campaign)
    sync.webhook_url = "http://127.0.0.1:1/"

    def check(*_):
        raise ValueError("no project")

    monkeypatch.setattr(sync.tool, "check", check)
    monkeypatch.setattr(sync.tool, "set_webhook", None)  # not asked for
    with pytest.raises(ValueError, match="no project"):
        loop.run(sync, every=0.0, once=True, patience=0.0)
