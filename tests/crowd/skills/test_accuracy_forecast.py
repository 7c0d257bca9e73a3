"""What gold foresees of plans: gaps, intervals, and simulated crowds whose truth is known."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from pytest import approx

from benchmarks.crowd.plan_claims import drawn, judged
from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.intervals import prediction_interval, wilson
from crowd_tvcs.skills.accuracy_forecast import ForecastModel, shrunken_gap
from crowd_tvcs.skills.common_error import MAX_COMPARED_TASKS, fit_forecast
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence, read_dependence
from crowd_tvcs.verification.forecast import recompute_forecast
from crowd_tvcs.verification.record_checks import read_forecast_model
from tvcs_core.files.errors import DataError

TOLD = ForecastModel(100, (1, 2, 3, 5), (0.9, 0.85, 0.8, 0.8), 0.6, (0.0, -0.02, 0.05, 0.03))


@pytest.mark.parametrize(
    ("n", "quality", "moved"),
    [
        (1, 0.9, 0.0),
        (2, 0.85, -0.02),
        (3, 0.8, 0.05),
        (3, 0.99, 0.05),  # better than those that were measured
        (3, 0.7, 0.025),  # half way to usual workers
        (3, 0.6, 0.0),
        (3, 0.5, 0.0),
        (4, 0.8, 0.05 - 0.02 * np.log(4 / 3) / np.log(5 / 3)),
        (8, 0.8, 0.03),
        (0, 0.0, 0.0),
    ],
)
def test_gaps_count_as_far_as_the_workers_are_those_they_were_measured_of(n, quality, moved):
    tasks = np.full(50, 0.7)
    result = TOLD.forecast_accuracy(tasks, np.full(50, n), np.full(50, quality))
    assert result.accuracy == approx(0.7 + moved)
    assert (result.low, result.high) == approx(prediction_interval(result.accuracy, 100, 50))
    half = TOLD.forecast_accuracy(tasks, np.where(np.arange(50) < 25, n, 0), np.full(50, quality))
    assert half.accuracy == approx(0.7 + moved / 2)


def test_a_plan_tells_its_pairs(rng):
    support = rng.random((6, 40)) < 0.5
    quality = rng.random((6, 40))
    n = support.sum(axis=0)
    means = [q[s].mean() if s.any() else 0.0 for q, s in zip(quality.T, support.T, strict=True)]
    accuracy = rng.random(40)
    result = TOLD.forecast_plan(quality, support, accuracy)
    assert result == approx(TOLD.forecast_accuracy(accuracy, n, np.array(means)))


def test_what_is_foreseen_is_a_share():
    near = replace(TOLD, gaps=(0.4,) * 4)
    result = near.forecast_accuracy(np.full(9, 0.9), np.full(9, 3), np.full(9, 0.8))
    assert result.accuracy == 1.0
    assert result.low < result.high == approx(1.0)


@pytest.mark.parametrize("usual", [0.8, np.nextafter(0.8, 1), np.nextafter(0.8, 0), 0.792, 0.83])
def test_usual_workers_who_are_the_best_there_are_count_in_full(usual):
    alike = replace(TOLD, usual=float(usual))
    for mean in (0.7, np.nextafter(usual, 0), np.nextafter(usual, 1), 0.9):
        quality, support = np.full((3, 1), mean), np.ones((3, 1), dtype=bool)
        result = alike.forecast_plan(quality, support, np.array([0.7]))
        assert result.accuracy == approx(0.75)
        again = recompute_forecast(asdict(alike), quality, support, np.array([0.7]))
        assert result._asdict() == approx(again)


def test_gaps_are_of_numbers_of_answers_that_half_of_gold_has():
    accuracy = np.full((5, 40), 0.8)
    n_answers = np.where(np.arange(40) < 20, 3, 2)
    hits = {k: np.ones(40) for k in (1, 2, 3, 5)}
    assert fit_forecast(accuracy, hits, n_answers, 0.7, 0.1, 2).labels == (1, 2, 3)
    n_answers[0] = 2
    assert fit_forecast(accuracy, hits, n_answers, 0.7, 0.1, 2).labels == (1, 2)
    few = np.where(np.arange(40) < 10, 1, 0)
    assert fit_forecast(accuracy, hits, few, 0.7, 0.1, 2).labels == (1,)


def test_much_gold_is_compared_with_what_is_reached_of_the_same_tasks():
    """Every other task is easy: neither the easy ones alone are looked at, nor other ones."""
    n = MAX_COMPARED_TASKS + 200
    easy = np.arange(n) % 2 == 0
    accuracy = np.where(easy, 1.0, 0.6)[None, :]
    found = fit_forecast(accuracy, {1: accuracy[0]}, np.ones(n, dtype=int), 0.7, 0.0, 2)
    assert found.gold_tasks == n
    assert found.gaps == approx((0.0,))
    hits = np.where(easy, 1.0, 0.0)  # .3 less than expected of all
    found = fit_forecast(accuracy, {1: hits}, np.ones(n, dtype=int), 0.7, 0.0, 2)
    assert found.gaps[0] == approx(-0.3, abs=0.03)


def test_the_interval_knows_both_draws():
    """The variances of the shares of gold tasks and of tasks add up: 60 and 60 are worth 30."""
    assert prediction_interval(0.8, 60, 60) == wilson(0.8, 30)
    widths = [
        np.diff(prediction_interval(0.8, gold, tasks))[0] for gold, tasks in ((60, 60), (60, 9000))
    ]
    assert widths[0] > widths[1] > np.diff(wilson(0.8, 60))[0]


def test_a_gap_within_its_interval_is_taken_for_chance():
    low, high = wilson(0.8, 100)
    half = (high - low) / 2
    assert shrunken_gap(0.8, 0.8 - 0.99 * half, 100) == 0.0
    assert shrunken_gap(0.8, 0.8 + 0.99 * half, 100) == 0.0
    assert shrunken_gap(0.8, 0.8, 100) == 0.0
    assert shrunken_gap(0.8, 0.8 - 2 * half, 100) == approx(1.5 * half)
    assert shrunken_gap(0.8, 0.8 + 2 * half, 100) == approx(-1.5 * half)


def test_it_is_kept():
    model = Dependence(forecast_model=TOLD)
    text = json.loads(json.dumps(model.as_json()))
    assert Dependence.from_json(text) == model
    assert ForecastModel.from_json(text["forecast_model"]) == TOLD
    assert Dependence.from_json(text | {"forecast_model": None}) == Dependence()


DAMAGED = [
    {"gold_tasks": 0}, {"gold_tasks": -5}, {"gold_tasks": True}, {"gold_tasks": 50.0},
    {"gold_tasks": 10**400}, {"gold_tasks": "50"},
    {"labels": [0, 2, 3, 5]}, {"labels": [5, 3, 2, 1]}, {"labels": [1, 2, 2, 5]},
    {"labels": [True, 2, 3, 5]}, {"labels": [1.0, 2, 3, 5]}, {"labels": "1235"}, {"labels": None},
    {"labels": [], "best": [], "gaps": []},
    {"gaps": [0.1]}, {"gaps": [float("nan")] * 4}, {"gaps": [float("inf")] * 4},
    {"gaps": ["a"] * 4}, {"gaps": [True] * 4}, {"gaps": 0.1},
    {"best": [0.8] * 5}, {"best": [1.1, 0.8, 0.8, 0.8]}, {"best": [-0.1, 0.8, 0.8, 0.8]},
    {"usual": float("inf")}, {"usual": "x"}, {"usual": 2}, {"usual": None}, {"z": 1},
]  # fmt: skip


MEASURED = {
    "labels": 1,
    "tasks": 9,
    "mean_confidence": 0.8,
    "accuracy": 0.9,
    "low": 0.5,
    "high": 1.0,
}


@pytest.mark.parametrize("change", [*DAMAGED, [1, 2], "abc", False, {"usual": ...}], ids=str)
def test_a_damaged_one_is_refused(change, tmp_path):
    document = json.loads(json.dumps(Dependence(forecast_model=TOLD).as_json()))
    if change == {"usual": ...}:
        del document["forecast_model"]["usual"]
    elif isinstance(change, dict):
        document["forecast_model"].update(change)
    else:
        document["forecast_model"] = change
    with pytest.raises(ValueError, match="forecast_model"):
        ForecastModel.from_json(document["forecast_model"])
    path = tmp_path / "d.json"
    path.write_text(json.dumps(document))
    for read in (read_dependence, read_forecast_model):
        with pytest.raises(DataError, match=r"d\.json"):
            read(path)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"plan_error": 1}, "plan_error must be a number >= 0 and below 1"),
        ({"temperature": 0}, "temperature must be a number > 0, found 0"),
        ({"labels": "x"}, "labels must be an integer, found 'x'"),
        ({"plan_error": float("nan")}, "plan_error must be"),
        ({"measured": [MEASURED | {"low": None}]}, "measured.low must be a number from 0 to 1"),
        ({"measured": [MEASURED | {"mean_confidence": 1.5}]}, "measured.mean_confidence must be"),
        ({"measured": [MEASURED | {"tasks": -3}]}, "measured.tasks must be an integer >= 1"),
        ({"measured": [MEASURED | {"labels": 0}]}, "measured.labels must be an integer >= 1"),
        ({"measured": [MEASURED | {"z": 0}]}, "of crowd-tvcs quality$"),
    ],
)
def test_damaged_numbers_are_refused_with_their_file(change, what, tmp_path):
    path = tmp_path / "d.json"
    document = Dependence(measured=(CalibrationBin(**MEASURED),), plan_error=0.2).as_json()
    path.write_text(json.dumps(document))
    assert read_dependence(path).as_json() == document
    path.write_text(json.dumps(document | change))
    with pytest.raises(DataError, match=rf"d\.json: .*{what}"):
        read_dependence(path)


def shared_out(rng, n_tasks=400):
    """Three workers who each err on tasks of their own, a quarter, and six others who guess more.

    Of three answers of the best two are right at least, which nobody who knows each of them alone
    can foresee.
    """
    truth = rng.integers(0, 3, n_tasks)
    right = rng.random((9, n_tasks)) < 0.5
    right[:3] = rng.integers(0, 4, n_tasks) != np.arange(3)[:, None]
    label = np.where(right, truth, (truth + rng.integers(1, 3, right.shape)) % 3)
    names, classes = [f"t{j:03}" for j in range(n_tasks)], ["a", "b", "c"]
    of = np.tile(np.arange(n_tasks), 9), np.repeat(np.arange(9), n_tasks), label.ravel()
    known = {name: classes[y] for name, y in zip(names, truth.tolist(), strict=True)}
    return Answers(names, [f"w{i}" for i in range(9)], classes, *of), Gold(known, classes)


def test_workers_whose_errors_are_shared_out_reach_more_and_gold_foresees_it(rng):
    _, plans = judged(*shared_out(rng), 0, 0.4, anybody=False)
    three = plans[2]
    assert three.reached > 0.97 > 0.9 > three.expected
    assert abs(three.forecast.accuracy - three.reached) < 0.05
    assert three.forecast.low <= three.reached
    # One answer is what it is: nothing stands out.
    assert plans[0].forecast.accuracy == approx(plans[0].expected, abs=0.02)


def test_labels_of_any_workers_are_not_moved_by_what_the_best_reach(rng):
    _, plans = judged(*shared_out(rng), 0, 0.4, anybody=True)
    for one in plans:
        assert one.forecast.accuracy == approx(one.expected, abs=0.03)


@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_the_interval_holds_what_is_reached_of_simulated_crowds(alike):
    found = [judged(*drawn(2, alike, n), n, 0.2, anybody=False)[1] for n in range(5)]
    result = [one for plans in found for one in plans]
    held = np.mean([one.forecast.low <= one.reached <= one.forecast.high for one in result])
    assert held >= 0.75  # plans of one crowd share its gold: .89 of 16 crowds with .3
    assert np.mean([abs(one.forecast.accuracy - one.reached) for one in result]) < 0.05
