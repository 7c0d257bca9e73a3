"""Every method of a campaign refuses what cannot be by the argument's name, and changes nothing."""

import shutil
import sqlite3
from contextlib import ExitStack, closing

import numpy as np
import pytest

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.change.payouts import Payout

WRONG = [
    *(None, True, False, -1, 0, 2.5, float("nan"), float("inf"), 10**30, 10**400, b"x", object()),
    *([], {}, [None], [[]], [5], ["a", 5], {5: 5}, {"ann": "x"}, {"ann": 2.0}, {"ann": True}),
    *({"ann": float("nan")}, np.array([1.0]), np.array("ann"), [("t1", "ann")], [(1, 2, 3)]),
    *("", "nobody", "nul\0", "half\ud800", ["nul\0"], ["half\ud800"], {"half\ud800": "1"}),
    *([("half\ud800", "ann", "1")], [("t1", "nul\0", "1")], [("t1", "ann", "1")] * 2),
]
RIGHT = {
    "plan": {"labels": 1, "method": "greedy", "min_gain": None, "quick": False},
    "add_answers": {"lines": [("t2", "bob", "1")]},
    "feedback": {"worker": "bob", "task": "t2"},
    "add": {
        "workers": (),
        "tasks": ["new"],
        "qualities": None,
        "kinds": None,
        "gold": None,
        "gold_answers": (),
    },
    "review_tasks": {"min_gain": None, "value": None, "target": None, "close": True},
    "reopen": {},
    "release": {"number": 1},
    "pending_pairs": {"number": None},
    "next": {"worker": "ann", "now": None},
    "submit": {"worker": "ann", "task": "t1", "label": "1", "now": None},
    "submit_and_next": {"worker": "ann", "task": "t1", "label": "1", "now": None},
    "skip": {"worker": "ann", "task": "t1", "reason": "", "now": None},
    "undo": {"worker": "bob", "now": None},
    "pause": {"is_paused": True, "now": None},
    "block": {"worker": "ann", "is_blocked": True, "now": None},
    "change": {
        "budget": 10,
        "money": None,
        "max_workers_per_task": 3,
        "max_tasks_per_worker": 3,
        "min_quality": 0.1,
        "target": 0.9,
        "min_gain": None,
        "lease_seconds": 60.0,
        "new_classes": ("2",),
        "prior": None,
        "worker_caps": {"ann": 2},
        "task_caps": {"t1": 2},
        "task_minimums": {"t1": 1},
        "now": None,
    },
    "settle": {"task": "t1", "label": "1", "now": None},
    "payouts": {},
    "mark_paid": {"payouts": [Payout("ann", 0, 0, 0, 0.0, 0.0, 0.0, 0.0, "")], "now": None},
    "close_tasks": {"tasks": ["t1"], "is_closed": True, "now": None},
}
# What else an error may name: one of them, or what a table of them holds.
ALSO = {
    "lines": ("answer", "task"),
    "workers": ("worker",),
    "tasks": ("task",),
    "qualities": ("quality",),
    "gold_answers": ("answer", "gold"),
    "number": ("round",),
    "max_workers_per_task": ("cannot be cut down to 0 workers",),
    "max_tasks_per_worker": ("cannot be cut down to 0 tasks",),
    "label": ("is not settled",),
}


@pytest.mark.parametrize(
    ("method", "argument"), [(method, given) for method, right in RIGHT.items() for given in right]
)
def test_a_wrong_argument_is_named_and_changes_nothing(method, argument, under_way):
    campaign, path = under_way()
    before, refused = rows(path), 0
    words = (argument, *ALSO.get(argument, ()))
    for wrong in WRONG:
        message = error_of(campaign, method, RIGHT[method] | {argument: wrong})
        if message is None:  # what it takes leaves a campaign that can be read
            campaign.review_tasks()
            campaign, path = under_way()
        else:
            assert any(word in message for word in words), message
            assert "\n" not in message
            refused += 1
        assert rows(path) == before
    assert refused > len(WRONG) / 2


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A store in which Ann has one task, and Bob has answered another."""
    path, workers = tmp_path_factory.mktemp("stored") / "c.db", {"ann": 0.9, "bob": 0.8, "cy": 0.7}
    with Campaign.create(
        path, workers=workers, tasks=["t1", "t2", "t3"], qualities=workers
    ) as campaign:
        tasks = [campaign.next(name, now=1000.0).task for name in ("ann", "bob")]
        assert tasks == ["t1", "t2"]
        campaign.submit("bob", "t2", "1", now=1010.0)
    return path


@pytest.fixture
def under_way(stored, tmp_path):
    """Open one copy of that store after another; they are closed in the end."""
    with ExitStack() as open_ones:
        copies = (shutil.copy(stored, tmp_path / f"{k}.db") for k in range(len(WRONG) + 1))

        def opened():
            path = next(copies)
            return open_ones.enter_context(Campaign(path)), path

        yield opened


def rows(path):
    """Every row of every table of a store, read without the package."""
    with closing(sqlite3.connect(path)) as store:
        names = store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: store.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names}


def error_of(campaign, method, given):
    """What a call is refused with; None if it is not."""
    try:
        getattr(campaign, method)(**given)
    except UnicodeError:  # a ValueError, but none of ours
        raise
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def test_every_method_is_tried():
    public = {
        name for name in dir(Campaign) if name[0] != "_" and callable(getattr(Campaign, name))
    }
    assert public == {*RIGHT, "create", "state", "close"}
