"""Crowds in factors as they are read: the table of kinds, the kind of every task, limits."""

import numpy as np
import pytest

from crowd_tvcs import Quality
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.factors.tables import read_factored_plan, read_factors
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.tables import read_plan
from tvcs_core.files.errors import DataError

KINDS = "worker,cats,dogs\nann,0.9,0.6\nbob,0.7,0.8\n"
TASKS = "task,kind,prior,min_workers,max_workers\nt1,dogs,0.3,1,2\nt2,cats,,,\nt3,dogs,,0,1\n"


def read(folder, kinds=KINDS, tasks=TASKS):
    for name, text in (("kinds.csv", kinds), ("tasks.csv", tasks)):
        (folder / name).write_text(text, encoding="utf-8")
    return read_factors(folder / "kinds.csv", folder / "tasks.csv")


@pytest.mark.parametrize("n", [0, 1, 7])
def test_pairs_are_excluded_as_in_a_set_of_pairs(n):
    """Also before the first and behind the last of those that are."""
    workers, tasks = ["ann", "bob", "cid"], [f"t{j}" for j in range(5)]
    every = np.array([(w, t) for t in range(5) for w in range(3)])
    some = np.random.default_rng(n).permutation(every[1:-1])[:n]
    quality = Quality(np.full((3, 1), 0.8), workers, ["k"])
    factors = Factors(quality, tasks, np.zeros(5, int), excluded=(some[:, 1], some[:, 0]))
    found = factors.excludes(every[:, 1], every[:, 0])
    assert found.tolist() == [tuple(pair) in set(map(tuple, some)) for pair in every]
    assert (factors.allows(every[:, 0], every[:, 1]) == ~found).all()


def test_the_tables_say_the_same_as_a_table_of_workers_and_tasks(tmp_path):
    found = read(tmp_path)
    assert found.fits
    assert found.factors.tasks == ("t1", "t2", "t3")
    assert found.factors.kind.tolist() == [1, 0, 1]
    plan = read_factored_plan(found, max_workers_per_task=2, prior=0.6, budget=4)
    dense = read_plan(
        found.factors.quality(), tasks=tmp_path / "tasks.csv", has_kinds=True,
        max_workers_per_task=2, prior=0.6, budget=4,
    )  # fmt: skip
    assert dense.quality.values.tolist() == [[0.6, 0.9, 0.6], [0.8, 0.7, 0.8]]
    for name in ("prior", "min_workers_per_task", "max_workers_per_task", "max_tasks_per_worker"):
        assert getattr(plan, name).tolist() == getattr(dense, name).tolist(), name
    assert plan.budget == dense.budget == 4
    assert "2 workers x 2 kinds; 3 tasks" in found.layout


def test_a_long_table_of_kinds_leaves_out_what_may_not_be(tmp_path):
    long = "kind,worker,quality\ncats,ann,0.9\ndogs,ann,0.6\ncats,bob,0.7\n"
    factors = read(tmp_path, long).factors
    assert factors.table.allowed.tolist() == [[True, True], [True, False]]
    assert factors.quality().allowed.tolist() == [[True, True, True], [False, True, False]]
    assert Plan(factors).max_workers_per_task.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("kinds", "tasks", "words"),
    [
        (KINDS, "task,kind\nt1,cats\nt2,birds\n", ":3, column 'kind': must be a kind of kinds.csv"),
        (KINDS, "task,kind\nt1,cats\nt2,dogs\nt1,dogs\n", "'t1' is there already, in line 2"),
        (KINDS, "task\nt1\n", "must have one column 'kind'"),
        (KINDS, "task,kind\n", "must have a row below the header"),
        (KINDS, "task,kind\nt1,\n", ":2, column 'kind': must be a name"),
        (KINDS, "task,kind\n,cats\n", ":2, column 'task': must be a name"),
        (KINDS + "ann,0.5,0.5\n", TASKS, "'ann' is there already, in line"),
        ("worker,cats,cats\nann,0.9,0.6\n", TASKS, "'cats' is there already, in column 2"),
        ("worker,cats,dogs\nann,0.9,1.2\n", TASKS, ":2, column 'dogs': a quality must be in"),
        ("worker,cats,dogs\nann,0.9,\n", TASKS, "found an empty cell"),
        ("worker,cats,dogs\n", TASKS, "must have a row below the header"),
        ("", TASKS, "the file is empty"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_in_one_line(tmp_path, kinds, tasks, words):
    with pytest.raises(DataError) as error:
        read(tmp_path, kinds, tasks)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("tasks", "options", "words"),
    [
        ("task,kind,prior\nt1,cats,1.5\n", {}, ":2, column 'prior': must be a probability"),
        ("task,kind,prior\nt1,cats,high\n", {}, ":2, column 'prior': must be a probability"),
        ("task,kind,max_workers\nt1,cats,-1\n", {}, "must be an integer >= 0"),
        ("task,kind,size\nt1,cats,3\n", {}, "the columns may be"),
        ("task,kind\nt1,cats\n", {"prior": 2.0}, "prior must be in [0, 1]"),
        ("task,kind\nt1,cats\n", {"budget": -1}, "budget must be an integer >= 0"),
        ("task,kind,min_workers\nt1,cats,3\n", {}, "2 workers are allowed on it: 1 too few"),
        ("task,kind,min_workers\nt1,cats,2\n", {"budget": 1}, "1 too few"),
        (
            "task,kind,prior=a,prior=b,prior=c\nt1,cats,.5,.5,\n",
            {"classes": 3},
            "the chances of the classes must be 3 that add up to 1",
        ),
    ],
)
def test_bad_demands_are_refused(tmp_path, tasks, options, words):
    found = read(tmp_path, tasks=tasks)
    with pytest.raises((DataError, ValueError)) as error:
        read_factored_plan(found, **options)
    assert words in str(error.value)


def test_costs_and_groups_are_refused_where_no_table_fits(tmp_path):
    (tmp_path / "workers.csv").write_text("worker,cost\nann,1\nbob,2\n")
    with pytest.raises(DataError, match="the column cost is for crowds"):
        read_factored_plan(read(tmp_path), workers=tmp_path / "workers.csv")
    (tmp_path / "workers.csv").write_text("worker,max_tasks\nbob,1\n")
    plan = read_factored_plan(read(tmp_path), workers=tmp_path / "workers.csv")
    assert plan.max_tasks_per_worker.tolist() == [3, 1]
