"""Figures of workers: by an index that answers are in once, and gold by its own tasks."""

import numpy as np
import pytest
from sqlalchemy import make_url

from benchmarks.speed.campaign import psycopg_of
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk import answer_speed, worker_activity
from crowd_tvcs.campaign.store.gold import AMONG_OTHERS, RIGHT

QUALITIES = {"ann": 0.9, "bob": 0.8}


@pytest.fixture
def campaign(place):
    tasks = [f"t{j}" for j in range(9)]
    with Campaign.create(place, workers=QUALITIES, tasks=tasks, qualities=QUALITIES) as made:
        yield made


def test_medians_are_those_of_the_seconds_and_the_index_changes_nothing(campaign, rng):
    took = {name: rng.exponential(8.0, size) for name, size in (("ann", 8), ("bob", 7))}
    for name, seconds in took.items():
        for k, one in enumerate(seconds):
            now = 1000.0 + 60.0 * k
            campaign.submit(name, campaign.next(name, now=now).task, "1", now=now + one)
    campaign.next("bob", now=9000.0)
    plain = worker_activity.list_worker_activity(campaign.store)
    revision = campaign.state().settings.revision
    for _ in range(2):
        assert worker_activity.make_index(campaign.store) == ""
    assert campaign.state().settings.revision == revision  # a plan that is made now still fits
    found = {seat.name: seat for seat in worker_activity.list_worker_activity(campaign.store)}
    assert list(found.values()) == plain
    for name, seconds in took.items():
        assert found[name].seconds == pytest.approx(np.median(seconds))
    assert (found["ann"].open, found["bob"].open) == (0, 1)
    assert found["ann"].last_seen == pytest.approx(1420.0 + took["ann"][-1])
    assert found["bob"].last_seen == 9000.0


def test_who_does_not_own_the_tables_goes_on_without_the_index(server, database):
    tables = "ALL TABLES IN SCHEMA public TO tvcs_desk"
    with (
        psycopg_of(server) as boss,
        Campaign.create(database, workers=QUALITIES, tasks=["t1"], qualities=QUALITIES) as owner,
    ):
        boss.execute("CREATE ROLE tvcs_desk LOGIN")
        try:
            with owner.store.outside() as connection:
                connection.exec_driver_sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables}")
            url = make_url(database).set(username="tvcs_desk").render_as_string(False)
            with Campaign(url) as desk:
                assert "must be owner of table pair" in worker_activity.make_index(desk.store)
                assert worker_activity.make_index(owner.store) == ""
                assert worker_activity.make_index(desk.store) == ""  # it is there
                assert [seat.name for seat in worker_activity.list_worker_activity(desk.store)] == [
                    "ann",
                    "bob",
                ]
        finally:
            with owner.store.outside() as connection:
                connection.exec_driver_sql("DROP OWNED BY tvcs_desk")
            boss.execute("DROP ROLE tvcs_desk")


def test_no_answer_is_read_but_in_the_index_and_for_gold_only_its_own(begin):
    """Else 100,000 answers take the database five times as long."""
    campaign = begin(workers=QUALITIES, tasks=["t1"], qualities=QUALITIES)
    worker_activity.make_index(campaign.store)
    read = (
        worker_activity._given(1.0),
        worker_activity._MIDDLE.statement,
        answer_speed._SECONDS.statement,
    )
    for statement in read:
        (step,) = [one for one in _plan(campaign, statement) if " pair " in f"{one} "]
        assert step.split(" USING ")[1].startswith("COVERING INDEX pair_given")
    for of_gold in (AMONG_OTHERS, RIGHT):
        steps = _plan(campaign, of_gold)
        assert not [step for step in steps if step.startswith("SCAN pair")]


def _plan(campaign, statement):
    """What SQLite does, step by step."""
    with campaign.store.read() as (connection, _):
        done = statement.compile(connection.engine)
        given = done.params | dict.fromkeys(
            {"who", "before", "wanted", "step"} & done.params.keys(), 1
        )
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {done}", given)
        return [row[3] for row in rows]
