"""The simulated crowd and the bundled one."""

import json
from pathlib import Path

import numpy as np
import pytest

from crowd_tvcs import read_quality, simulate
from crowd_tvcs.simulation import FAMILIES, write_crowd
from tests.makers.tables import rows_of

BUNDLED = Path(__file__).parents[2] / "data" / "crowd40"


def test_qualities_lie_between_the_limits_and_fill_them():
    crowd = simulate(50, 200, low=0.6, high=0.8, rng=0)
    values = crowd.quality.values
    assert values.shape == (50, 200)
    assert values.min() >= 0.6
    assert values.max() <= 0.8
    assert values.mean() == pytest.approx(0.7, abs=0.005)


def test_gold_answers_are_right_as_often_as_the_qualities_say():
    crowd = simulate(100, 1, low=0.5, high=0.9, n_gold=200, rng=1)
    is_right = crowd.gold_answers == crowd.gold_labels
    assert is_right.mean() == pytest.approx(0.7, abs=0.01)
    assert crowd.gold_labels.mean() == pytest.approx(0.5, abs=0.15)


def test_the_same_seed_gives_the_same_crowd():
    first, again, other = (simulate(5, 6, n_gold=3, rng=seed) for seed in (1, 1, 2))
    assert (first.quality.values == again.quality.values).all()
    assert (first.gold_answers == again.gold_answers).all()
    assert (first.quality.values != other.quality.values).any()


def test_a_crowd_is_read_back_as_it_was_written(tmp_path):
    crowd = simulate(4, 7, n_gold=2, rng=3)
    write_crowd(crowd, tmp_path)
    read = read_quality(tmp_path / "quality.csv").quality
    assert read.workers == crowd.quality.workers
    assert read.tasks == crowd.quality.tasks
    assert (read.values == crowd.quality.values).all()
    answers = rows_of(tmp_path / "answers.csv")
    assert len(answers) == 8
    assert answers[0].keys() == {"task", "worker", "label"}


def test_a_worker_is_equally_good_at_all_tasks_of_worker_and_at_all_of_a_topic():
    constant = simulate(30, 40, family="worker", rng=0).quality.values
    assert (constant == constant[:, :1]).all()
    assert len(np.unique(constant[:, 0])) > 25
    topics = simulate(30, 400, family="topic", rng=0).quality.values
    assert len(np.unique(topics, axis=1).T) == 5
    assert topics.mean() == pytest.approx(4 / 6.2, abs=0.03)


def test_skill_and_difficulty_order_workers_alike_on_every_task():
    values = simulate(20, 30, family="skilldiff", rng=2).quality.values
    order = values.mean(axis=1).argsort()
    assert (np.diff(values[order], axis=0) >= -1e-4).all()
    easier = values.mean(axis=0).argsort()
    assert (np.diff(values[:, easier], axis=1) >= -1e-4).all()
    assert 0.5 <= values.min() < values.max() <= 0.97


@pytest.mark.parametrize("family", FAMILIES)
def test_gold_shows_how_good_a_worker_is_and_recorded_answers_are_as_good_as_he_is(family):
    crowd = simulate(60, 500, family=family, n_gold=500, rng=4)
    skill = crowd.quality.values.mean(axis=1)
    is_right = crowd.answers == crowd.labels
    assert (is_right.mean(axis=1) - skill).std() < 0.03
    assert is_right.mean() == pytest.approx(skill.mean(), abs=0.01)
    assert crowd.labels.mean() == pytest.approx(0.5, abs=0.1)
    shown = (crowd.gold_answers == crowd.gold_labels).mean(axis=1)
    if family != "iid":
        assert np.corrcoef(shown, skill)[0, 1] > 0.85


def test_recorded_answers_are_written_when_asked_for(tmp_path):
    crowd = simulate(2, 3, rng=0)
    write_crowd(crowd, tmp_path, full_answers=True)
    rows = rows_of(tmp_path / "recorded.csv")
    assert [int(row["label"]) for row in rows] == crowd.answers.T.ravel().tolist()
    assert (tmp_path / "labels.csv").read_text().startswith("task,label\nt1,")
    assert not (tmp_path / "answers.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_workers": 0, "n_tasks": 1}, "n_workers must be >= 1, found 0"),
        ({"n_workers": 1, "n_tasks": 1, "n_gold": -1}, "n_gold must be >= 0"),
        ({"n_workers": 1, "n_tasks": 1, "low": 0.9, "high": 0.5}, "low and high must hold"),
        ({"n_workers": 1, "n_tasks": 1, "high": float("nan")}, "low and high must hold"),
        (
            {"n_workers": 1, "n_tasks": 1, "family": "x"},
            "family must be one of iid, worker, skilld",
        ),
        ({"n_workers": 1, "n_tasks": 1, "family": "topic", "low": 0.5}, "are for iid and worker"),
    ],
)
def test_arguments_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(**arguments)


def test_the_bundled_crowd_is_what_its_command_makes(tmp_path):
    run = json.loads((BUNDLED / "run.json").read_text())
    options = run["parameters"]
    crowd = simulate(
        options["workers"],
        options["tasks"],
        family=options["family"],
        low=options["low"],
        high=options["high"],
        n_gold=options["gold"],
        rng=run["seed"],
    )
    write_crowd(crowd, tmp_path)
    assert run["versions"]["tvcs"] != "not installed"
    for name in ("quality.csv", "gold.csv", "answers.csv"):
        assert (tmp_path / name).read_bytes() == (BUNDLED / name).read_bytes()
    assert np.ptp(crowd.quality.values) > 0.39
