"""The state of a campaign, read by column, beside one that is read row by row."""

import math

from sqlalchemy import select

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.schema import ANSWERED, GOLD, pair


def row_by_row(campaign, state):
    """The pairs and answers of a campaign, by a loop over the rows of the store."""
    workers = {row.id: i for i, row in enumerate(state.workers)}
    tasks = {row.id: j for j, row in enumerate(state.tasks)}
    with campaign.store.read() as (connection, _):
        rows = [row for row in connection.execute(select(pair)) if row.task_id in tasks]
    pairs = sorted((tasks[row.task_id], workers[row.worker_id], row.state) for row in rows)
    given = sorted((row for row in rows if row.state == ANSWERED), key=lambda row: row.place)
    answers = [[workers[row.worker_id], tasks[row.task_id], row.label] for row in given]
    times = [(row.answered_at or math.nan, row.seconds or math.nan) for row in given]
    return pairs, answers, times


def test_a_state_is_that_of_the_rows(place):
    """Gold among the tasks has ids behind the others, and is in no state."""
    gold = {f"g{k}": "01"[k % 2] for k in range(4)}
    given = [(task, who, label) for task, label in gold.items() for who in ("ann", "bob")]
    with Campaign.create(
        place, workers=["cy", "bob", "ann"], tasks=["t9", "t2", "t10"], gold=gold,
        gold_answers=given, budget=30,
    ) as campaign:  # fmt: skip
        assert campaign.state().given.shape == (0, 3)
        mix_in(campaign.store, {"g9": "0"}, [])
        campaign.gold_first = 1
        for k, who in enumerate(["bob", "ann", "bob", "cy", "ann", "bob"]):
            task = campaign.next(who, now=10.0 + k).task
            if k == 3:
                campaign.skip(who, task)
            else:
                campaign.submit(who, task, "1", now=10.0 + k + k % 2)
        campaign.next("ann", now=30.0)
        state = campaign.state()
        pairs, answers, times = row_by_row(campaign, state)
        with campaign.store.read() as (connection, _):
            mixed = connection.scalar(select(schema.task.c.id).where(schema.task.c.closed == GOLD))
        assert mixed > max(row.id for row in state.tasks)
        assert list(zip(*(column.tolist() for column in state.pairs), strict=True)) == pairs
        assert state.given.tolist() == answers
        assert repr(list(map(tuple, state.times.tolist()))) == repr(times)
        assert len(answers) > 1


def test_qualities_of_pairs_are_those_of_the_rows(place):
    values, allowed = [[0.9, 0.8], [0.7, 0.6]], [[True, False], [True, True]]
    quality = Quality(values, ["bob", "ann"], ["t2", "t1"], allowed)
    with Campaign.create(
        place, workers=["bob", "ann"], tasks=["t2", "t1"], qualities=quality, budget=2
    ) as campaign:
        found = campaign.state().quality
        assert (found.workers, found.tasks) == (("ann", "bob"), ("t1", "t2"))
        assert found.values.tolist() == [[0.6, 0.7], [0.5, 0.9]]
        assert found.allowed.tolist() == [[True, True], [False, True]]
