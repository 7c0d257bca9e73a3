"""Gold that is no random sample of the tasks shows itself in the answers."""

import numpy as np
import pytest
from pytest import approx

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.voting.little_gold import vote_with_gold
from crowd_tvcs.skills.voting.random_gold import _probability, sample_doubt


def answered(classes, workers=3):
    """Tasks with so many equal answers each."""
    rows = [(f"t{j:04d}", f"w{i}", str(y)) for j, y in enumerate(classes) for i in range(workers)]
    return Answers.of(rows, classes=["0", "1", "2"])


def known_at(places, truth):
    known = np.full(truth.size, -1)
    known[places] = truth[places]
    return known


def test_gold_of_one_class_is_no_random_sample_where_there_are_others(rng):
    truth = rng.integers(0, 3, 600)
    answers = answered(truth)
    of_one = np.flatnonzero(truth == 1)[:30]
    found = sample_doubt(answers, known_at(of_one, truth))
    assert found.startswith("the gold is no random sample of the tasks: most answers are 1 on a")
    assert "share of 1.00 of the gold tasks and" in found
    balanced = np.concatenate([np.flatnonzero(truth == y)[:30] for y in range(3)])
    assert not sample_doubt(answers, known_at(balanced, truth))
    rare = np.where(rng.random(600) < 0.05, 1, 0)  # balanced gold is selected here
    balanced = np.concatenate([np.flatnonzero(rare == y)[:15] for y in range(2)])
    assert sample_doubt(answered(rare), known_at(balanced, rare))
    assert not sample_doubt(answered(rare), known_at(np.flatnonzero(rare == 0)[:20], rare))


def test_a_random_sample_raises_no_doubt(rng):
    for _ in range(200):
        truth = rng.choice(3, 300, p=[0.9, 0.08, 0.02])
        places = rng.permutation(300)[: rng.integers(5, 150)]
        assert not sample_doubt(answered(truth, 1), known_at(places, truth))


def test_all_tasks_or_none_in_gold_raise_no_doubt():
    truth = np.array([0, 1, 2, 0])
    for places in (np.arange(4), np.arange(0)):
        assert not sample_doubt(answered(truth), known_at(places, truth))


@pytest.mark.parametrize(("here", "there"), [(0, 4), (3, 2), (5, 0), (0, 0)])
def test_the_probability_is_that_of_drawn_samples(rng, here, there):
    tasks = np.arange(25) < here + there
    drawn = np.array([rng.permutation(tasks)[:10].sum() for _ in range(20_000)])
    expected = min(1.0, 2.0 * min((drawn <= here).mean(), (drawn >= here).mean()))
    assert _probability(here, there, 10, 15) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("n_gold", [13, 14])
def test_where_all_answers_tie_no_share_of_right_labels_is_estimated(n_gold):
    """Judged without its fold none of this gold would be right, though half of all labels are."""
    rows = [(f"t{j:02d}", f"w{i}", str(i % 2)) for j in range(20) for i in range(4)]
    answers, gold = Answers.of(rows), Gold({f"t{j:02d}": str(j % 2) for j in range(n_gold)})
    votes, _, share = vote_with_gold(answers, gold, estimate_quality(answers, gold))
    assert votes.confidence[n_gold:] == approx(0.5, abs=0.05)
    assert share is None
