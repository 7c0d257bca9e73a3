"""Reliability on gold: parts by confidence, and the confidence at which a target is shown."""

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.belief.intervals import wilson
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.reliability import (
    MIN_CONFIDENT_GOLD,
    calibration_bins,
    confidence_threshold,
    describe_evidence,
    gold_confidences,
    predictive,
    target_evidence,
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


def test_gold_that_cannot_confirm_a_target_gives_an_interval_and_what_would_settle_it(rng):
    claim, hit = gold_like(rng, 30, 1.0)
    claim[20:] = 0.8  # ten of thirty are never sure
    found = target_evidence(claim, hit, 0.95, 30)
    assert (found.sure, found.right) == (20, 1.0)
    assert found.more >= 30  # 20 more sure ones, of 30, if none of them is wrong
    assert (found.low, found.high) == wilson(1.0, 20)
    more_claim, more_hit = gold_like(rng, 60, 1.0)
    more_claim[40:] = 0.8
    assert confidence_threshold(more_claim, more_hit, 0.95) == 0.95
    words = describe_evidence(found, 0.95)
    assert "between 0.84 and 1.00 of the labels with this confidence are right, by 20" in words
    assert (
        f"about {found.more} more gold tasks, answered like these, would settle it in four" in words
    )


def test_several_orders_of_the_answers_of_a_task_are_one_task(rng):
    claim, hit = gold_like(rng, 30, 0.9)
    once = target_evidence(claim, hit, 0.95, 30)
    twice = target_evidence(np.vstack([claim, claim]), np.vstack([hit, hit]), 0.95, 30)
    assert once == twice


def test_few_confident_gold_tasks_give_no_interval(rng):
    """Of a single one that is wrong the interval lay below every target."""
    claim, hit = gold_like(rng, 30, 0.0)
    claim[3:] = 0.8
    found = target_evidence(claim, hit, 0.95, 30)
    assert found.sure == 3
    assert found.more > 70  # ten of a hundred, if the share stays
    assert np.isnan([found.right, found.low, found.high]).all()
    words = describe_evidence(found, 0.95)
    assert "only 3 of the gold tasks reach this confidence, too few" in words
    assert f"about {found.more} more gold tasks would do" in words


@pytest.mark.parametrize(
    ("n", "right", "target", "words"),
    [
        (60, 0.8, 0.95, "gold contradicts the target"),
        (30, 0.9, 0.95, "more gold tasks, answered like these, would settle it"),
        (4000, 0.95, 0.95, "choose a target further from that share"),
        (40, 0.5, 0.98, "no gold task reaches this confidence"),
    ],
)
def test_each_case_has_its_remedy(rng, n, right, target, words):
    found = target_evidence(*gold_like(rng, n, right), target, n)
    assert words in describe_evidence(found, target)
    assert "no task is considered finished" in describe_evidence(found, target)


def test_so_many_more_gold_tasks_settle_a_target_in_four_cases_of_five(rng):
    """Of true shares that are as likely as the evidence says."""
    settled = []
    for n, right in ((20, 1.0), (60, 59 / 60), (50, 0.9), (20, 0.85), (40, 0.8)):
        found = target_evidence(*gold_like(rng, n, right), 0.95, n)
        wrong = round((1 - right) * n)
        more = found.more or 0
        for share in rng.beta(wrong + 0.5, n - wrong + 0.5, size=200):
            errors = wrong + rng.binomial(more, share)
            claim, hit = gold_like(rng, n + more, 1 - errors / (n + more))
            then = target_evidence(claim, hit, 0.95, n + more)
            settled.append(then.high < 0.95 or confidence_threshold(claim, hit, 0.95) < 1.0)
    assert 0.78 < np.mean(settled) < 0.9


def test_predictive_probabilities_are_those_of_drawn_shares(rng):
    drawn = rng.binomial(7, rng.beta(2.5, 8.5, size=200_000))
    expected = np.bincount(drawn, minlength=8) / drawn.size
    assert predictive(2.0, 10.0, 7) == pytest.approx(expected, abs=0.005)
    assert predictive(2.0, 10.0, 0) == pytest.approx([1.0])
