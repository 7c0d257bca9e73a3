"""The simulated crowd and the bundled one."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from crowd_tvcs import read_quality, simulate
from crowd_tvcs.simulate import write_crowd

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
    with (tmp_path / "answers.csv").open() as file:
        answers = list(csv.DictReader(file))
    assert len(answers) == 8
    assert answers[0].keys() == {"task", "worker", "label"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_workers": 0, "n_tasks": 1}, "n_workers must be >= 1, found 0"),
        ({"n_workers": 1, "n_tasks": 1, "n_gold": -1}, "n_gold must be >= 0"),
        ({"n_workers": 1, "n_tasks": 1, "low": 0.9, "high": 0.5}, "low and high must hold"),
        ({"n_workers": 1, "n_tasks": 1, "high": float("nan")}, "low and high must hold"),
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
        low=options["low"],
        high=options["high"],
        n_gold=options["gold"],
        rng=run["seed"],
    )
    write_crowd(crowd, tmp_path)
    for name in ("quality.csv", "gold.csv", "answers.csv"):
        assert (tmp_path / name).read_bytes() == (BUNDLED / name).read_bytes()
    assert np.ptp(crowd.quality.values) > 0.39
