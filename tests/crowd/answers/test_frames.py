"""Tables in memory in place of files: DataFrames, arrays, mappings, Series; JSON is no table."""

import numpy as np
import pandas as pd
import pytest

from crowd_tvcs import (
    Answers,
    Gold,
    Plan,
    Quality,
    assign,
    datasets,
    estimate_quality,
    read_answers,
    read_gold,
    read_quality,
    vote,
)
from crowd_tvcs.agreement.agreement import measure
from crowd_tvcs.answers.columns import open_table
from tvcs_core import DataError

CROWD = datasets.crowd40()
ANSWERS, GOLD = CROWD.answers, CROWD.gold
TABLE = ANSWERS.to_frame()
LABELS = pd.Series(GOLD.labels)
WIDE = pd.DataFrame(
    [[0.9, 0.6, 0.7], [0.7, 0.8, 0.55]], index=["ann", "bob"], columns=["t1", "t2", "t3"]
)


def same(one, other):
    """Whether two Answers or Gold hold the same."""
    if isinstance(one, Gold):
        return one.labels == other.labels and one.classes == other.classes
    return one.rows() == other.rows() and one.classes == other.classes


def test_answers_and_gold_of_frames_are_those_of_their_files(tmp_path):
    TABLE.to_csv(tmp_path / "answers.csv", index=False)
    assert same(read_answers(TABLE), read_answers(tmp_path / "answers.csv"))
    shuffled = TABLE.sample(frac=1.0, random_state=0).rename(columns={"task": "Task ID"})
    assert same(read_answers(shuffled), ANSWERS)
    for given in (
        LABELS,
        GOLD.labels,
        LABELS.rename_axis("task").to_frame("truth"),
        LABELS.rename_axis("item").reset_index(name="label"),
    ):
        assert same(read_gold(given), read_gold(LABELS.to_dict()))


def test_numbers_are_names_as_files_write_them():
    answers = pd.DataFrame({"task": [1, 1, 2], "worker": [7, 8, 7], "label": [1.0, 0.0, 0.0]})
    assert read_answers(answers).rows() == [("1", "7", "1"), ("1", "8", "0"), ("2", "7", "0")]
    assert read_gold({1: 1, 2: 0}).labels == {"1": "1", "2": "0"}


@pytest.mark.parametrize(
    "given",
    [
        WIDE,
        WIDE.rename_axis("worker"),
        WIDE.rename_axis("worker").reset_index(),
        WIDE.rename_axis(index="worker", columns="task").stack().rename("quality").to_frame(),
        WIDE.rename_axis(index="annotator", columns="item").stack().reset_index(name="quality"),
    ],
)
def test_plan_takes_qualities_in_a_frame(given):
    plan = Plan(given, max_workers_per_task=1)
    assert (plan.quality.workers, plan.quality.tasks) == (("ann", "bob"), ("t1", "t2", "t3"))
    np.testing.assert_array_equal(plan.quality.values, WIDE.to_numpy())
    of_frame = read_quality(given)
    assert "a DataFrame" in of_frame.layout
    assert assign(plan).pairs() == [("ann", "t1"), ("ann", "t3"), ("bob", "t2")]


def test_plan_takes_an_array():
    plan = Plan(WIDE.to_numpy(), max_workers_per_task=1)
    assert (plan.quality.workers, plan.quality.tasks) == (("0", "1"), ("0", "1", "2"))
    with pytest.raises(ValueError, match=r"two dimensions.*found shape \(3,\)"):
        Plan([0.9, 0.8, 0.7])


def test_pair_that_a_long_frame_lacks_is_not_allowed():
    long = WIDE.rename_axis(index="worker", columns="task").stack().reset_index(name="quality")
    assert Plan(long.iloc[:-1]).quality.allowed.tolist() == [[True] * 3, [True, True, False]]


def test_values_of_a_plan_go_by_name():
    quality = Quality(WIDE.to_numpy(), list(WIDE.index), list(WIDE.columns))
    by_name = Plan(
        quality,
        max_tasks_per_worker=pd.Series({"bob": 1, "ann": 2}),
        max_workers_per_task={"t3": 2, "t1": 1, "t2": 0},
        prior=pd.Series({"t3": 0.3, "t2": 0.2, "t1": 0.1}),
        cost={"bob": 2.0, "ann": 1.0},
        group=pd.Series({"bob": "b", "ann": "b"}),
    )
    assert by_name.max_tasks_per_worker.tolist() == [2, 1]
    assert by_name.max_workers_per_task.tolist() == [1, 0, 2]
    assert by_name.prior.tolist() == [0.1, 0.2, 0.3]
    assert by_name.cost.tolist() == [1.0, 2.0]
    assert by_name.group == ("b", "b")
    assert Plan(quality, max_tasks_per_worker=pd.Series([2, 1])).max_tasks_per_worker[0] == 2


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        ({"ann": 1}, "max_tasks_per_worker must have a value of 'bob'"),
        ({"ann": 1, "bob": 1, "cy": 1}, "a value of 'cy', which is none of the names"),
    ],
)
def test_names_that_do_not_fit_are_refused(caps, said):
    with pytest.raises(ValueError, match=said):
        Plan(WIDE, max_tasks_per_worker=caps)


def test_skills_and_agreement_of_a_frame_are_those_of_answers():
    np.testing.assert_array_equal(
        estimate_quality(TABLE, LABELS).mean, estimate_quality(ANSWERS, GOLD).mean
    )
    assert measure(TABLE, bootstrap=0).alpha.value == measure(ANSWERS, bootstrap=0).alpha.value


def test_votes_of_a_frame_are_those_of_answers():
    assert vote(TABLE).method == "unsupervised"
    assert vote(TABLE).labels == vote(ANSWERS, "unsupervised").labels
    one, other = vote(TABLE, gold=LABELS), vote(ANSWERS, gold=GOLD)
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


@pytest.mark.parametrize(
    ("bad", "kind", "said"),
    [
        (["t1"], TypeError, "answers must be Answers, a path or a DataFrame .*, found list"),
        (TABLE.drop(columns="worker"), ValueError, "the DataFrame: must have one column 'worker'"),
        (
            TABLE.assign(label=[None, *TABLE["label"][1:]]),
            ValueError,
            "the DataFrame:1, column 'label': must be a name, found an empty cell",
        ),
        (pd.concat([TABLE, TABLE]), ValueError, "in line 1 already"),
    ],
)
def test_bad_tables_are_refused(bad, kind, said):
    with pytest.raises(kind, match=said):
        vote(bad)


def test_skills_and_priors_go_by_name():
    accuracy = pd.Series(np.linspace(0.55, 0.95, len(ANSWERS.workers)), index=ANSWERS.workers)
    in_turn = vote(ANSWERS, skill=accuracy.to_numpy(), prior=[0.3, 0.7])
    one, other = ANSWERS.classes
    for skill in (accuracy[::-1], accuracy.to_dict()):
        votes = vote(TABLE, skill=skill, prior={other: 0.7, one: 0.3})
        pd.testing.assert_frame_equal(votes.to_frame(), in_turn.to_frame())
    with pytest.raises(ValueError, match="skill must have a value of"):
        vote(ANSWERS, skill=accuracy[1:])
    of_pairs = pd.DataFrame(dict.fromkeys(ANSWERS.tasks, accuracy)).iloc[::-1, ::-1]
    votes = vote(ANSWERS, skill=of_pairs, prior=[0.3, 0.7])
    pd.testing.assert_frame_equal(votes.to_frame(), in_turn.to_frame())


def test_numbers_that_are_names_go_by_name():
    """Names of numbers are sorted as text: 0, 1, 10, 11, 2."""
    workers = sorted(map(str, range(12)))
    accuracy = pd.Series(np.linspace(0.4, 0.95, 12))
    cost = Plan(np.full((12, 1), 0.7), cost=accuracy).cost  # in the order of an array
    np.testing.assert_array_equal(cost, accuracy)
    quality = Quality(np.full((12, 1), 0.7), workers, ["t"])
    assert Plan(quality, cost=accuracy).cost[workers.index("10")] == accuracy[10]
    named = Quality(np.full((12, 1), 0.7), [f"w{name}" for name in workers], ["t"])
    np.testing.assert_array_equal(Plan(named, cost=accuracy).cost, accuracy)
    with pytest.raises(ValueError, match="cost must have one value of each name, found two of 'a"):
        Plan(WIDE, cost=pd.Series([1.0, 2.0, 3.0], index=["ann", "ann", "bob"]))


def test_forced_pairs_go_by_name():
    forced = WIDE > 0.75
    in_turn = Plan(WIDE, forced=forced.to_numpy()).forced
    np.testing.assert_array_equal(Plan(WIDE, forced=forced.iloc[::-1, ::-1]).forced, in_turn)
    with pytest.raises(ValueError, match="forced must have the workers"):
        Plan(WIDE, forced=forced.iloc[1:])
    pairs = pd.DataFrame({"worker": ["ann"], "task": ["t1"]})
    with pytest.raises(ValueError, match="for every pair that must be; found rows '0' and columns"):
        Plan(WIDE, forced=pairs)


def test_missing_groups_and_nullable_booleans_are_as_pandas_keeps_them():
    names = [*"abcd"]
    quality = pd.DataFrame(0.7, index=names, columns=["t1", "t2"])
    texts = pd.Series(["g", "g", None, np.nan], index=names)
    for group in (texts, texts.astype("string"), texts.astype("category")):
        assert Plan(quality, group=group).group == ("g", "g", None, None)
    forced = (quality > 0.8).astype("boolean")
    forced.loc["a", "t1"] = True
    assert Plan(quality, forced=forced).forced.sum() == 1
    forced.loc["b", "t1"] = pd.NA
    with pytest.raises(TypeError, match="forced must be booleans"):
        Plan(quality, forced=forced)


def test_classes_may_be_numbers_as_labels_are():
    rows = pd.DataFrame({"task": [1, 1], "worker": [1, 2], "label": [0, 1]})
    assert read_answers(rows, classes=[0, 1, 2]).classes == ("0", "1", "2")
    gold = read_gold(rows[["task", "label"]].iloc[:1], classes=[0, 1])
    assert gold.labels == {"1": "0"}
    with pytest.raises(ValueError, match=r"every row must be \(task, worker, label\)"):
        Answers.of([("t1", "ann")])


def test_caps_may_be_whole_floats_as_pandas_keeps_them():
    names = list(WIDE.index)
    caps = pd.Series(np.arange(1.0, 1.0 + len(names)), index=names)
    expected = Plan(WIDE, max_tasks_per_worker=caps.astype(int)).max_tasks_per_worker
    np.testing.assert_array_equal(
        Plan(WIDE, max_tasks_per_worker=caps).max_tasks_per_worker, expected
    )
    for wrong in (0.5, np.nan, np.inf):
        with pytest.raises(TypeError, match="max_tasks_per_worker must be an integer >= 0"):
            Plan(WIDE, max_tasks_per_worker=caps.where(caps > 1, wrong))


def test_gold_of_one_class_is_pointed_out_and_no_gold_is_none():
    one = dict.fromkeys(("t1", "t2"), "yes")
    table = pd.DataFrame(
        {"task": ["t1", "t1", "t2"], "worker": ["ann", "bob", "ann"], "label": ["yes", "no", "yes"]}
    )
    for function in (estimate_quality, vote):
        with pytest.warns(UserWarning, match="all 2 gold tasks have the label 'yes'"):
            function(table, gold=one)
    with pytest.raises(ValueError, match="gold must have the label of a task"):
        vote(table, gold={})


def test_tables_where_rows_or_arrays_belong_are_refused():
    with pytest.raises(TypeError, match="read_answers reads one"):
        Answers.of(TABLE)
    with pytest.raises(TypeError, match=r"give skill.to_quality\(tasks\)"):
        Plan(estimate_quality(TABLE, LABELS))
    with pytest.raises(TypeError, match="found a mapping; make it one by"):
        Plan({"ann": [0.9, 0.8], "bob": [0.7, 0.6]})
    with pytest.raises(TypeError, match="cost must be one value, a Series or an array"):
        Plan(WIDE, cost=WIDE)


@pytest.mark.parametrize(
    "text",
    ['{"task": "t1"}', '[{"task": 1}, {"task": 2}]', '\n[ ["a", 1], ["b", 2]]', '{"a":1}\n{'],
)
def test_json_is_refused_as_no_table(tmp_path, text):
    path = tmp_path / "answers.json"
    path.write_text(text)
    with pytest.raises(
        DataError, match=r"must be a table .* row of column names, found JSON; crowd-tvcs import"
    ):
        open_table(path)


@pytest.mark.parametrize("text", ["[x],y\n1,2\n", "{a},b\n1,2\n", "[1],2\n3,4\n"])
def test_names_in_brackets_are_no_json(tmp_path, text):
    path = tmp_path / "names.csv"
    path.write_text(text)
    assert len(open_table(path).rows) == 2
