"""The reliability diagram, and the pages that show it."""

import re

import numpy as np
import pytest

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.report.campaign import accuracy_by_answers, render
from crowd_tvcs.report.reliability import diagram
from crowd_tvcs.skills.dependence import CalibrationBin

WORKERS = ["ann", "bob", "cy"]


def test_what_is_honest_lies_on_the_diagonal_and_what_claims_too_much_below():
    found = diagram(
        [
            CalibrationBin(None, 40, 0.8, 0.8, 0.65, 0.9),
            CalibrationBin(None, 200, 0.9, 0.7, 0.63, 0.76),
        ]
    )
    (x0, y0), (x1, y1) = found["from"], found["to"]
    honest, bold = found["dots"]
    on_line = y0 + (y1 - y0) * (honest["x"] - x0) / (x1 - x0)
    assert honest["y"] == pytest.approx(on_line, abs=0.2)
    assert bold["y"] > y0 + (y1 - y0) * (bold["x"] - x0) / (x1 - x0)  # y counts from above
    assert honest["top"] < honest["y"] < honest["bottom"]
    assert (honest["is_miscalibrated"], bold["is_miscalibrated"]) == (False, True)


def make(path, rng, n_gold=60, **options):
    gold = {f"g{j}": "ab"[rng.integers(2)] for j in range(n_gold)}
    answers = [
        (task, worker, label if rng.random() < 0.85 else "ab"[label == "a"])
        for task, label in gold.items()
        for worker in WORKERS
    ]
    tasks = [f"t{j}" for j in range(8)]
    options = {"classes": ["a", "b"], "target": 0.95, "min_gain": 0.0} | options
    return Campaign.create(
        path, workers=WORKERS, tasks=tasks, gold=gold, gold_answers=answers, **options
    )


def answer(campaign, rng, labels):
    for step in range(labels):
        worker = WORKERS[step % 3]
        task = campaign.next(worker).task
        if task is not None:
            campaign.submit(worker, task, "ab"[rng.integers(2)])


def test_the_page_shows_what_is_claimed_and_reached_on_gold(tmp_path, rng):
    with make(tmp_path / "c.db", rng) as campaign:
        answer(campaign, rng, 12)
        state = campaign.state()
        html = render(state, name="c")
    text = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert html.count("<circle") >= 2
    assert "Calibration on gold tasks" in text
    assert "ten answers carry the information of" in text
    for one in state.model.measured:
        assert f"{one.mean_confidence:.3f} {one.accuracy:.3f} {one.low:.3f}" in text


def test_a_claim_that_gold_contradicts_is_a_warning_on_the_page(tmp_path, rng):
    """By Bayes' rule three workers who always agree are taken to be surer than each."""
    gold = {f"g{j}": "ab"[rng.integers(2)] for j in range(200)}
    message = {t: k if rng.random() < 0.75 else "ab"[k == "a"] for t, k in gold.items()}
    answers = [(task, worker, label) for task, label in message.items() for worker in WORKERS]
    given = {"workers": WORKERS, "tasks": ["t"], "gold": gold, "gold_answers": answers}
    pages = {}
    for model in ("dependent", "independent"):
        with Campaign.create(
            tmp_path / f"{model}.db", classes=["a", "b"], model=model, **given
        ) as campaign:
            pages[model] = render(campaign.state(), name="c")
    assert "warning: with 3 labels per task, mean confidence" in pages["independent"]
    assert "warning: with 3 labels" not in pages["dependent"]


def test_without_gold_the_page_says_that_nothing_is_measured(begin):
    qualities = dict.fromkeys(WORKERS, 0.8)
    campaign = begin(workers=WORKERS, tasks=["t"], qualities=qualities)
    page = render(campaign.state(), name="c")
    assert "There are no gold answers to validate this" in page
    assert "<circle" not in page


def test_the_curve_is_the_posterior_after_every_answer(tmp_path, rng):
    with make(tmp_path / "c.db", rng, max_workers_per_task=3) as campaign:
        campaign.add(gold={"t1": "a", "t4": "b"})
        answer(campaign, rng, 15)
        state = campaign.state()
        expected, measured = accuracy_by_answers(state)
        assert expected.size == len(state.given) + 1
        truth = {"t1": 0, "t4": 1}
        for n in range(len(state.given) + 1):
            inside = np.arange(len(state.given)) < n
            entry = np.flatnonzero(inside)
            chances = state.chances(entry, state.answers.task_of[entry], np.arange(8))
            assert expected[n] == pytest.approx(chances.max(axis=1).mean(), abs=1e-12)
            best = dict(zip(state.quality.tasks, chances.argmax(axis=1).tolist(), strict=True))
            assert measured[n] == np.mean([best[t] == k for t, k in truth.items()])
