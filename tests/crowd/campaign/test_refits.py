"""When a campaign's model is fitted to whoever labelled: undone answers, races, failures."""

import json
import shutil
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sqlalchemy import update

from benchmarks.speed import campaign as speed
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.campaign import Campaign, estimates, stored_model
from crowd_tvcs.campaign.desk import gold as of_gold
from crowd_tvcs.campaign.desk import tables
from crowd_tvcs.campaign.desk.gold import Learner, learn_of_labels, mix_in
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.errors import StoreError
from crowd_tvcs.skills.dependence import BEST_FIRST, Dependence
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.held_out import orders
from tests.crowd.campaign.test_dependence import one_by_one, start

TASKS = [f"t{j:02d}" for j in range(60)]


def hold_to_the_history(campaign):
    """The model, and what the store says of every task, follow from the answers that there are."""
    state = campaign.state()
    known = {task: state.classes[label] for task, label in state.gold.items()}
    result = Answers.of(
        state.gold_answers,
        tasks=sorted(known),
        workers=[w.name for w in state.workers],
        classes=state.classes,
    )
    size = stored_model.fitted_to(len(state.given))
    first = state.answers.select(np.arange(len(state.given)) < size) if size else None
    fitted = estimate_quality(result, Gold(known, state.classes), like=first).dependence
    assert (state.model.labels, state.model.choice) == (size, fitted.choice)
    assert state.model.steps == pytest.approx(fitted.steps)
    kept = [t.confidence for t in state.tasks]
    assert kept == pytest.approx(state.posterior.max(axis=1), abs=1e-12)


@pytest.mark.parametrize("labels", [20, 22])
def test_an_answer_that_was_taken_back_is_not_fitted_to(tmp_path, rng, labels):
    """The 20th, and one of the first 20 when there are more; then another label comes."""
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        one_by_one(campaign, ["w5", "w4"], 19)
        campaign.submit("w0", campaign.next("w0").task, "a")
        one_by_one(campaign, ["w5", "w4"], labels)
        hold_to_the_history(campaign)
        campaign.undo("w0")
        hold_to_the_history(campaign)
        one_by_one(campaign, ["w5", "w4"], 23)
        hold_to_the_history(campaign)
        campaign.undo("w4")  # none of the first 20
        hold_to_the_history(campaign)


def test_a_desk_that_learns_beside_learns_of_what_was_taken_back(tmp_path, rng):
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        campaign.learns_in_background = True
        campaign.submit("w0", campaign.next("w0").task, "a")
        one_by_one(campaign, ["w5", "w4"], 25)
        assert learn_of_labels(campaign.store)
        campaign.undo("w0")
        assert learn_of_labels(campaign.store)
        hold_to_the_history(campaign)
        assert not learn_of_labels(campaign.store)


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something happen once while estimates are computed; return how often they were."""
    compute, times = estimates.estimated, []

    def during(act):
        def computed(*given):
            found = compute(*given)
            times.append(1)
            if len(times) == 1:
                act()
            return found

        monkeypatch.setattr(estimates, "estimated", computed)
        return times

    return during


def test_two_answers_taken_back_one_of_them_while_the_model_is_fitted(tmp_path, rng, meanwhile):
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        campaign.learns_in_background = True
        campaign.submit("w0", campaign.next("w0").task, "a")
        campaign.submit("w1", campaign.next("w1").task, "a")
        one_by_one(campaign, ["w5", "w4"], 25)
        assert learn_of_labels(campaign.store)
        campaign.undo("w0")
        meanwhile(lambda: campaign.undo("w1"))
        assert learn_of_labels(campaign.store)
        hold_to_the_history(campaign)


def test_gold_that_comes_while_the_model_is_fitted_is_not_lost(tmp_path, rng, meanwhile):
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        one_by_one(campaign, ["w5", "w4"], 19)
        gold = {f"n{j}": "a" for j in range(30)}
        result = [(task, worker, "ab"[worker == "w5"]) for task in gold for worker in ("w0", "w5")]
        meanwhile(lambda: campaign.add(gold=gold, gold_answers=result))
        one_by_one(campaign, ["w5", "w4"], 20)
        assert campaign.state().model.gold == 90
        hold_to_the_history(campaign)


def test_one_worker_waits_for_the_fit_not_all_who_come_meanwhile(tmp_path, rng, meanwhile):
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        one_by_one(campaign, ["w5", "w4"], 19)
        times = meanwhile(lambda: one_by_one(campaign, ["w3", "w2"], 24))
        one_by_one(campaign, ["w5", "w4"], 20)
        assert len(times) == 1
        assert campaign.state().settings.answers == 24
        hold_to_the_history(campaign)


def test_a_model_of_gold_is_due_with_the_20th():
    text = json.dumps(Dependence(source="gold").as_json())
    assert [stored_model.is_due(text, n) for n in (0, 19, 20)] == [False, False, True]


@pytest.mark.parametrize(
    ("part", "damaged"), [("temperature", "../erature"), ('"steps": [', '"steps": 1, "x": [')]
)
def test_a_model_that_is_damaged_in_the_store_is_refused_in_a_line(tmp_path, rng, part, damaged):
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        task = campaign.next("w3").task
        with campaign.store.write() as (connection, settings, _):
            assert part in settings.dependence
            text = settings.dependence.replace(part, damaged)
            connection.execute(update(schema.campaign).values(dependence=text))
        acts = (
            lambda: campaign.submit("w3", task, "a"),
            lambda: campaign.state().model,
            lambda: stored_model.is_due('{"labels": 20}', 20),
        )
        for act in acts:
            with pytest.raises(ValueError, match="model of dependence that the store keeps is dam"):
                act()


def test_an_answer_is_taken_though_the_model_cannot_be_fitted_now(tmp_path, rng, monkeypatch):
    """And who comes after so many more labels fits it."""
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        one_by_one(campaign, ["w5", "w4"], 19)
        with monkeypatch.context() as patched:

            def locked(*_):
                raise StoreError("c.db: database is locked")

            patched.setattr(estimates, "estimated", locked)
            task = campaign.next("w3").task
            assert campaign.submit("w3", task, "a").reason == "accepted"
        assert campaign.state().model.labels == 0
        one_by_one(campaign, ["w5", "w4"], 20 + stored_model.SPARE - 1)
        assert campaign.state().model.labels == 40  # by whose label was the 40th
        hold_to_the_history(campaign)


def test_a_campaign_that_lacks_its_fit_is_fitted_by_who_comes(tmp_path, rng):
    """As one of a program that did not fit, or whose fit was killed."""
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        campaign.learns_in_background = True
        one_by_one(campaign, ["w5", "w4"], 40 + stored_model.SPARE - 1)
        campaign.learns_in_background = False
        assert campaign.state().model.labels == 0
        one_by_one(campaign, ["w5", "w4"], 40 + stored_model.SPARE)
        hold_to_the_history(campaign)


KILLED = """
import os, signal, sys
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk import gold

gold.CHUNK_TASKS = 25
settle, times = gold.settle_each, []

def killed(*given):
    times.append(1)
    if len(times) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return settle(*given)

gold.settle_each = killed
with Campaign(sys.argv[1]) as campaign:
    campaign.submit("w5", campaign.next("w5").task, "a")
"""
MANY = [f"t{j:03d}" for j in range(120)]


def are_settled(campaign):
    """Of which tasks the store says what its model does."""
    state = campaign.state()
    kept = np.array([t.confidence for t in state.tasks])
    return abs(kept - state.posterior.max(axis=1)) < 1e-12


def make_and_kill(place):
    """A campaign whose 40th label was fitted to by one who was killed as they settled the tasks."""
    rng = np.random.default_rng(20261121)
    with start(place, rng, tasks=MANY, max_workers_per_task=2) as campaign:
        campaign.learns_in_background = True  # nobody fits at the 20th
        one_by_one(campaign, ["w5", "w4"], 39)
        assert are_settled(campaign).all()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert killed.returncode == -signal.SIGKILL


@pytest.fixture(scope="module", params=["SQLite", "PostgreSQL"])
def copy(request, tmp_path_factory):
    """A function that copies such a campaign into a folder, or into a database; its place."""
    if request.param == "SQLite":
        folder = tmp_path_factory.mktemp("killed")
        make_and_kill(folder / "c.db")
        yield lambda to: shutil.copytree(folder, to / "copy") / "c.db"
        return
    server = request.getfixturevalue("server")
    make_and_kill(speed.new_database(server, "killed"))
    with speed.psycopg_of(server) as connection:

        def copy(_):
            connection.execute("DROP DATABASE IF EXISTS copied WITH (FORCE)")
            connection.execute("CREATE DATABASE copied TEMPLATE killed")
            return server.replace("/postgres?", "/copied?")

        yield copy
        for name in ("copied", "killed"):
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def left(copy, tmp_path):
    with Campaign(copy(tmp_path)) as campaign:
        assert campaign.state().model.labels == 40
        assert 0 < are_settled(campaign).sum() < len(MANY)
        yield campaign


def test_who_comes_later_settles_what_one_who_was_killed_left(left, meanwhile):
    """One of them, and without a fit."""
    times = meanwhile(lambda: None)
    one_by_one(left, ["w5", "w4"], 40 + stored_model.SPARE - 1)
    assert not are_settled(left).all()
    one_by_one(left, ["w5", "w4"], 40 + stored_model.SPARE)
    assert times == []
    hold_to_the_history(left)


def test_the_table_of_labels_is_that_of_the_model_that_is_there(left):
    """Also where tasks are not settled by it yet, as `status` shows them."""
    shown = tables.labels(left.store).rows
    found = left.review_tasks()
    assert [row[2] for row in shown] == [one.confidence or "" for one in found]


def test_a_desk_settles_what_one_who_was_killed_left(left, meanwhile):
    times = meanwhile(lambda: None)
    assert learn_of_labels(left.store)
    assert times == []
    hold_to_the_history(left)
    assert not learn_of_labels(left.store)


def test_a_new_model_goes_before_what_is_left_of_the_one_before(left):
    left.learns_in_background = True
    one_by_one(left, ["w5", "w4"], 80)
    assert learn_of_labels(left.store)
    assert left.state().model.labels == 80
    hold_to_the_history(left)


def test_an_answer_that_is_taken_back_leaves_what_is_left(left):
    left.learns_in_background = True
    left.undo("w5")
    assert stored_model.unsettled(left.state().settings.dependence) is not None
    assert learn_of_labels(left.store)
    hold_to_the_history(left)


def test_two_who_settle_share_the_tasks(tmp_path, rng, monkeypatch):
    """The second takes over where the first is, and each task is settled once."""
    place, settled = tmp_path / "c.db", []
    settle = of_gold.settle_each
    monkeypatch.setattr(of_gold, "CHUNK_TASKS", 25)
    with start(place, rng, tasks=MANY) as campaign, Campaign(place) as other:
        campaign.learns_in_background = True
        one_by_one(campaign, ["w5", "w4"], 20)

        def noted(connection, settings, ids):
            settled.append(list(ids))
            return settle(connection, settings, ids)

        write, begun = campaign.store.write, []

        def before(**options):
            begun.append(1)
            if len(begun) == 3:  # the model is written, and some tasks are settled
                assert learn_of_labels(other.store)
            return write(**options)

        monkeypatch.setattr(of_gold, "settle_each", noted)
        monkeypatch.setattr(campaign.store, "write", before)
        assert learn_of_labels(campaign.store)
        assert sorted(j for ids in settled for j in ids) == list(range(1, 121))
        hold_to_the_history(campaign)


def test_tasks_that_cannot_be_settled_now_are_so_by_who_comes(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(of_gold, "CHUNK_TASKS", 25)
    with start(tmp_path / "c.db", rng, tasks=MANY) as campaign:
        campaign.learns_in_background = True
        one_by_one(campaign, ["w5", "w4"], 39)
        campaign.learns_in_background = False
        settle, times = of_gold.settle_each, []

        def locked(*given):
            times.append(1)
            if len(times) == 3:
                raise StoreError("c.db: database is locked")
            return settle(*given)

        with monkeypatch.context() as patched:
            patched.setattr(of_gold, "settle_each", locked)
            one_by_one(campaign, ["w5", "w4"], 40)
        assert not are_settled(campaign).all()
        one_by_one(campaign, ["w5", "w4"], 40 + stored_model.SPARE)
        hold_to_the_history(campaign)


def test_known_labels_of_tasks_say_nothing_of_how_workers_were_chosen(tmp_path, rng):
    """Of gold that is labelled anyway: it gives no quality, and its answers are as the others."""
    with start(tmp_path / "c.db", rng, tasks=TASKS) as campaign:
        one_by_one(campaign, ["w5", "w4"], 20)
        before = campaign.state().model
        assert before.choice < 0.0
        campaign.add(gold=dict.fromkeys(TASKS, "a"))
        assert campaign.state().model.choice == before.choice


@pytest.mark.parametrize("model", ["dependent", "independent"])
def test_calibration_by_little_gold_applies_to_answered_tasks(begin, model):
    """The numbers of a dependent model are the usual ones before and after."""
    campaign = begin(
        qualities=None, gold={"g1": "1"}, gold_answers=[("g1", "bob", "1"), ("g1", "cy", "1")],
        prior=0.5, model=model,
    )  # fmt: skip
    mix_in(campaign.store, {}, ())
    learner = Learner(campaign.store)
    task = campaign.next("ann", now=0.0).task
    before = campaign.submit("ann", task, "1", now=1.0).confidence
    campaign.gold_share = 1.0
    assert campaign.next("ann", now=2.0).task == "g1"
    campaign.submit("ann", "g1", "1", now=3.0)
    assert learner.learn(100.0) is True
    state = campaign.state()
    if model == "dependent":
        assert state.model.source == "little gold"
    kept = [row.confidence for row in state.tasks]
    assert kept == pytest.approx(state.posterior.max(axis=1))
    assert dict(zip(state.quality.tasks, kept, strict=True))[task] != before
    assert max(kept) != before


def test_orders_by_skill_are_drawn_where_one_worker_is_far_from_all_others():
    """In standard deviations: a hundred of them, of which exp is no number any more."""
    skill = np.full(20_000, 0.9)
    skill[7] = 0.1
    task_of = np.arange(skill.size) // 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for choice in (-BEST_FIRST, 0.5 - BEST_FIRST, BEST_FIRST - 0.5):
            for rank in orders(task_of, skill, choice):
                assert sorted(rank[:10]) == list(range(10))
                assert rank[7] == (0 if choice < 0 else 9)
