"""What no plan can be made of is refused, with the argument's name and what was found."""

import math

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.plan.checks import common_error_settings

WORKERS, TASKS = ("ann", "bob"), ("t1", "t2", "t3")
VALUES = np.full((2, 3), 0.8)
QUALITY = Quality(VALUES, WORKERS, TASKS)
KINDS = Factors(QUALITY, ["a", "b"], [0, 2])
SHARES = "error_shares must be 2 chances >= 0 that add up to 1"

QUALITIES = [
    ({"values": np.full((3, 2), 0.8)}, ValueError, r"values must have shape \(2, 3\), one row per"),
    (
        {"values": np.where(VALUES, [0.8, 1.5, math.nan], 0)},
        ValueError,
        "'ann' on task 't2' is 1.5",
    ),
    (
        {"values": np.where(VALUES, [0.8, 0.8, math.nan], 0)},
        ValueError,
        "'ann' on task 't3' is nan",
    ),
    ({"allowed": np.ones((2, 3))}, TypeError, "allowed must be booleans, found float64"),
    (
        {"allowed": np.ones((3, 2), bool)},
        ValueError,
        r"allowed must have shape \(2, 3\), found \(3",
    ),
    ({"tasks": ()}, ValueError, "tasks must hold at least one name, found none"),
]
OF_KINDS = [
    ({"kind": [0.0, 2.0]}, "kind must be 2 integers, one per task, found float64 of shape"),
    ({"kind": [0]}, r"kind must be 2 integers, one per task, found int64 of shape \(1,\)"),
    ({"tasks": ["a", "a"]}, "tasks must differ, found more than once: 'a'"),
    ({"kind": [0, 3]}, "kind must be from 0 to 2, but that of task 'b' is 3"),
    ({"kind": [-1, 0]}, "kind must be from 0 to 2, but that of task 'a' is -1"),
    ({"excluded": ([0], [1], [1])}, "excluded must be two arrays, tasks and workers, found 3"),
    ({"excluded": ([0, 1], [1])}, r"workers of excluded must be integers, one per pair.*\(1,\)"),
    ({"excluded": ([0.5], [1])}, "tasks of excluded must be integers, one per pair, found float64"),
    ({"excluded": ([2], [1])}, "tasks of excluded must be from 0 to 1, found 2"),
    ({"excluded": ([0], [-1])}, "workers of excluded must be from 0 to 1, found -1"),
]
PLANS = [
    ({"max_workers_per_task": -2}, ValueError, "max_workers_per_task must be an integer >= 0"),
    ({"max_workers_per_task": 1.5}, TypeError, "max_workers_per_task must be an integer >= 0, or"),
    (
        {"max_tasks_per_worker": [1, 2, 3]},
        ValueError,
        r"one integer or 2 of them, found shape \(3,",
    ),
    (
        {"max_tasks_per_worker": [[1, 2]]},
        ValueError,
        r"one integer or 2 of them, found shape \(1, 2",
    ),
    ({"max_tasks_per_worker": [1, -2]}, ValueError, "left out for none, found -2 for 'bob'"),
    ({"budget": 3.0}, TypeError, "budget must be an integer >= 0, or None for no cap, found 3.0"),
    ({"budget": True}, TypeError, "budget must be an integer >= 0, or None for no cap, found True"),
    (
        {"budget": -1},
        ValueError,
        "budget must be an integer >= 0, or left out for no cap, found -1",
    ),
    ({"prior": [0.5, 0.5]}, ValueError, r"prior must be one number or 3 of them, found shape \(2,"),
    ({"prior": [0.5, 0.5, 1.5]}, ValueError, "but that of task 't3' is 1.5"),
    ({"prior": [0.5, math.nan, 0.5]}, ValueError, "but that of task 't2' is nan"),
    (
        {"min_workers_per_task": [0, 3, 0]},
        ValueError,
        "'t2' is 3, but 2 workers are allowed on it: 1",
    ),
    (
        {"forced": np.ones((2, 3))},
        TypeError,
        r"forced must be booleans, one for every worker \(row\)",
    ),
    ({"forced": np.ones((3, 2), bool)}, ValueError, r"forced must have shape \(2, 3\), found"),
    ({"common_error": "0.1"}, TypeError, "common_error must be a number >= 0 and below 1"),
    ({"common_error": True}, TypeError, "common_error must be a number >= 0 and below 1"),
    (
        {"common_error": 1.0},
        ValueError,
        "common_error must be a number >= 0 and below 1, found 1.0",
    ),
    ({"common_error": math.nan}, ValueError, "common_error must be a number >= 0 and below 1"),
    ({"common_error": -0.1}, ValueError, "common_error must be a number >= 0 and below 1"),
    ({"common_error": [0.1]}, TypeError, "common_error must be a number >= 0 and below 1"),
    ({"common_error": None}, TypeError, "common_error must be a number >= 0 and below 1"),
    ({"error_shares": [1.0]}, ValueError, SHARES),
    ({"error_shares": [-0.5, 1.5]}, ValueError, SHARES),
    ({"error_shares": [0.5, 0.4]}, ValueError, SHARES),
    ({"error_shares": [0.6, 0.6]}, ValueError, SHARES),
    ({"error_shares": [[0.5, 0.5]]}, ValueError, SHARES),
    ({"error_shares": [0.5, math.nan]}, ValueError, SHARES),
    ({"class_prior": [0.5, 0.5]}, ValueError, "class_prior is for more than two classes; with two"),
    ({"n_classes": 3, "prior": 0.6}, ValueError, "prior is for two classes; with more say class_p"),
]


@pytest.mark.parametrize(("change", "error", "message"), QUALITIES)
def test_a_table_that_is_none(change, error, message):
    with pytest.raises(error, match=message):
        Quality(**{"values": VALUES, "workers": WORKERS, "tasks": TASKS} | change)


@pytest.mark.parametrize(("change", "message"), OF_KINDS)
def test_kinds_that_are_none(change, message):
    with pytest.raises(ValueError, match=message):
        Factors(**{"table": QUALITY, "tasks": ["a", "b"], "kind": [0, 2]} | change)


@pytest.mark.parametrize(("change", "error", "message"), PLANS)
def test_a_plan_that_is_none(change, error, message):
    with pytest.raises(error, match=message):
        Plan(QUALITY, **change)


def test_what_is_not_of_this_kind_of_plan():
    with pytest.raises(TypeError, match="is no table of workers x tasks"):
        Plan(KINDS).table  # noqa: B018
    with pytest.raises(TypeError, match="is not given by kinds of tasks"):
        Plan(QUALITY).factors  # noqa: B018


def test_a_forced_pair_that_is_not_allowed_is_named():
    allowed, forced = np.ones((2, 3), bool), np.zeros((2, 3), bool)
    allowed[1, 2], forced[1, 2] = False, True
    with pytest.raises(ValueError, match="worker 'bob' may not label task 't3'"):
        Plan(Quality(VALUES, WORKERS, TASKS, allowed), forced=forced)


def test_minimums_of_tasks_with_excluded_pairs_are_refused():
    excluding = Factors(QUALITY, ["a", "b"], [0, 2], excluded=([1], [0]))
    assert Plan(excluding, min_workers_per_task=[1, 0]).min_workers_per_task.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"must be 0 of tasks of excluded pairs, .* 'b' is 1"):
        Plan(excluding, min_workers_per_task=[0, 1])


@pytest.mark.parametrize("shares", [[1.0], [0.5, 0.5], [0.0, 1.0], [0.2, 0.3, 0.5], [1 / 3] * 3])
@pytest.mark.parametrize("error", [0, 0.3, math.nextafter(1.0, 0.0)])
def test_a_common_error_and_shares_that_add_up_are_taken(error, shares):
    for off in (0.0, 5e-7, -5e-7):  # what is written with few digits does not add up to the last
        given = [*shares[:-1], shares[-1] + off]
        if min(given) < 0:
            continue
        found = dict(common_error_settings(error, given, len(shares)))
        assert found["common_error"] == error
        assert found["error_shares"] == pytest.approx(shares, abs=1e-6)
        assert found["error_shares"].sum() == pytest.approx(1.0, abs=1e-15)
    assert dict(common_error_settings(error, None, 2)) == {
        "common_error": error, "error_shares": None,
    }  # fmt: skip
    for wrong in ([*shares[:-1], shares[-1] + 2e-6], [*shares, 0.0], shares[:-1]):
        with pytest.raises(ValueError, match="that add up to 1"):
            common_error_settings(error, wrong, len(shares))
