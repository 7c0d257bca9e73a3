"""Reliability on gold: parts by confidence, and the confidence at which a target is shown."""

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.reliability import (
    MIN_CONFIDENT_GOLD,
    calibration_bins,
    confidence_threshold,
    gold_confidences,
)


def gold_like(rng, n, reached, sure=0.97):
    """So many gold tasks that all stop at this confidence, of which a share is right."""
    hit = np.arange(n) < round(reached * n)
    claim = np.tile([0.7, sure, sure], (n, 1))
    return claim, np.tile(rng.permutation(hit)[:, None], (1, 3))


def test_a_target_that_gold_shows_is_taken_as_it_is(rng):
    assert confidence_threshold(*gold_like(rng, 200, 0.97), 0.95) == 0.95


def test_where_gold_shows_it_of_no_confidence_nothing_is_sure(rng):
    assert confidence_threshold(*gold_like(rng, 200, 0.90), 0.95) == 1.0


@pytest.mark.parametrize("n", [10, 39, 49, 100])
def test_few_sure_tasks_show_nothing_even_if_all_are_right(rng, n):
    claim, hit = gold_like(rng, n, 1.0)
    claim[MIN_CONFIDENT_GOLD - 1 :] = 0.8
    assert confidence_threshold(claim, hit, 0.95) == 1.0


def test_what_gold_shows_has_room_for_errors_beyond_the_first_tasks_alone(rng):
    for more, wrong in ((0, 0), (20, 1), (60, 3)):
        n = MIN_CONFIDENT_GOLD + more
        assert confidence_threshold(*gold_like(rng, n, (n - wrong) / n), 0.95) == 0.95
        assert confidence_threshold(*gold_like(rng, n, (n - wrong - 1) / n), 0.95) == 1.0


def test_surer_tasks_may_show_what_all_do_not(rng):
    claim, hit = gold_like(rng, 100, 0.85, sure=0.955)
    surer, right = gold_like(rng, 100, 1.0, sure=0.99)
    found = confidence_threshold(np.vstack([claim, surer]), np.vstack([hit, right]), 0.95)
    assert 0.955 < found < 0.99


@pytest.mark.parametrize("n", [0, 200])
def test_nothing_is_sure_of_a_target_of_1(rng, n):
    assert confidence_threshold(*gold_like(rng, n, 0.5), 1.0) == 1.0


def test_a_task_stops_at_its_first_sure_number_of_answers():
    """It is sure and right by one answer, wrong by two; nobody asks for the second."""
    claim = np.tile([0.97, 0.99], (100, 1))
    hit = np.tile([True, False], (100, 1))
    assert confidence_threshold(claim, hit, 0.95) == 0.95


def test_parts_by_confidence_hold_every_claim_once(rng):
    claim = rng.uniform(0.3, 1.0, (80, 5))
    claim[0] = 1.0
    hit = rng.random((80, 5)) < claim
    parts = calibration_bins(claim, hit)
    claimed = [one.mean_confidence for one in parts]
    assert claimed == sorted(claimed)
    assert all(one.low <= one.accuracy <= one.high for one in parts)
    top = claim >= 0.95
    assert parts[-1].accuracy == pytest.approx(hit[top].mean())
    assert parts[-1].tasks == top.any(axis=1).sum()


def test_claims_of_gold_are_those_that_the_model_measures(rng):
    gold = {f"g{j:03d}": "ab"[rng.integers(2)] for j in range(80)}
    rows = [
        (task, f"w{i}", label if rng.random() < 0.9 - 0.1 * i else "ab"[label == "a"])
        for task, label in gold.items()
        for i in range(4)
    ]
    answers, known = Answers.of(rows), Gold(gold)
    skill = estimate_quality(answers, known)
    claim, hit = gold_confidences(answers, known, skill)
    assert claim.shape == hit.shape == (80, 5)
    for one, c, h in zip(skill.dependence.measured, claim.T, hit.T, strict=True):
        assert c.mean() == pytest.approx(one.mean_confidence, abs=1e-12)
        assert h.mean() == pytest.approx(one.accuracy, abs=1e-12)
