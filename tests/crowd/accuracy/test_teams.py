"""What teams of two classes, or who err together, are worth, and what is no team: by hand."""

import itertools

import numpy as np
import pytest

from crowd_tvcs.accuracy import common_error, many_classes, two_classes
from crowd_tvcs.accuracy.model import even_matrices

EXACT = {"rel": 0, "abs": 1e-12}
UNEVEN = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.25, 0.05, 0.7]])


def test_what_tasks_seem_to_be():
    shares = np.array([[0.5, 0.5], [0.2, 0.8]])
    assert common_error.seeming_prior(shares, shares, 0.3) is shares
    prior = np.array([[0.5, 0.5], [0.9, 0.1]])
    found = common_error.seeming_prior(prior, shares, 0.3)
    assert found[0] == pytest.approx([0.5, 0.5], **EXACT)
    assert found[1] == pytest.approx([1.0, 0.0], **EXACT)  # .1 is less than .3 of .8
    assert common_error.chance_of_equals(np.array([0.5, 0.7, 0.99, 0.0]), 0.2) == pytest.approx(
        [0.5, 0.75, 1.0, 0.0], **EXACT
    )
    chosen = np.array([[True], [True]])
    quality, e = np.array([[0.7], [0.6]]), 0.2
    found = common_error.accuracy_of_equals(quality, chosen, np.array([0.5]), e)
    seeming = 0.5 + (quality - 0.5) / 0.8
    vote = two_classes.expected_accuracy(seeming, chosen)
    assert found == pytest.approx(0.8 * vote + 0.1, **EXACT)


def test_a_model_of_what_tasks_seem_may_differ_by_task():
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2]])
    quality, e = np.array([[0.7, 0.7, 0.5], [0.5, 0.7, 0.5]]), 0.1
    model = common_error.seeming_model(quality, shares, None, e, shares)
    assert model.kind.shape == quality.shape
    for i, j in itertools.product(range(2), range(3)):
        even = even_matrices(quality[i, j], 3)
        expected = common_error.seeming_matrices(even, shares[j], e)
        assert model.matrices[model.kind[i, j]] == pytest.approx(expected, **EXACT)
    assert len(model.matrices) == 3
    equal = np.full((1, 3), 1 / 3)
    model = common_error.seeming_model(quality[:, :1], equal, np.array([UNEVEN] * 2), e, equal)
    expected = common_error.seeming_matrices(UNEVEN, equal[0], e)
    assert model.matrices[model.kind[1, 0]] == pytest.approx(expected, **EXACT)


def test_a_ceiling_by_hand():
    shares, seems = np.array([[0.5, 0.3, 0.2]]), np.array([[0.6, 0.3, 0.1]])
    constant, weights = common_error.ceiling(seems, shares, 0.5)
    assert constant == pytest.approx([0.5 * (0.6 * 0.3 + 0.3 * 0.5 + 0.1 * 0.5)], **EXACT)
    steps = np.array([0.5 + 0.5 * 0.2, 0.5 - 0.5 * 0.2, 0.5 - 0.5 * 0.3])
    assert weights[0] == pytest.approx(steps * seems[0], **EXACT)


@pytest.mark.parametrize("most", [2**20, 1])
def test_votes_on_what_tasks_seem_are_paid_by_what_they_are(monkeypatch, most):
    monkeypatch.setattr(common_error, "MAX_OUTCOMES", most)
    monkeypatch.setattr(many_classes, "MAX_OUTCOMES", max(most, 30))
    shares = np.array([[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3], [0.2, 0.7, 0.1]])
    quality, e = np.array([[0.7, 0.6, 0.5], [0.6, 0.6, 0.9], [0.5, 0.8, 0.6]]), 0.2
    model = common_error.seeming_model(quality, shares, None, e, shares)
    chosen = np.array([[True, True, True], [True, True, False], [False, True, True]])
    found, error = common_error.accuracy_with(model, chosen, e, shares)
    for j in range(3):
        table = shares[j][:, None]
        for matrix in model.matrices[model.kind[chosen[:, j], j]]:
            table = (table[:, :, None] * matrix[:, None, :]).reshape(3, -1)
        paid = (1 - e) * table + e * shares[j][:, None] * table.sum(axis=0)
        assert found[j] == pytest.approx(paid.max(axis=0).sum(), **EXACT)
    assert error.tolist() == [0.0] * 3


def test_teams_given_by_their_voters():
    start, voters = np.array([0, 2, 2, 5]), np.array([0.7, 0.6, 0.8, 0.7, 0.4])
    found = two_classes.accuracy_of_teams(start, voters, np.array([0.5, 0.2, 0.6]))
    three = two_classes.expected_accuracy(voters[2:, None], np.ones((3, 1), dtype=bool), 0.6)
    assert found == pytest.approx([0.7, 0.8, three[0]], **EXACT)
    exact = [
        two_classes.expected_accuracy([[0.7], [0.6]], [[True], [True]], p)[0] for p in (0.5, 0.9)
    ]
    bounds = two_classes.accuracy_bounds([[0.7], [0.6]], [[True], [True]], 0.9)
    assert exact[0] == pytest.approx(0.7)
    assert bounds[0] == bounds[1] == exact[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [1.01]), r"candidates must be in \[0, 1\], but candidates\[0\] is 1.01"),
        (([0.5, -0.1], [0.5]), r"voters must be in \[0, 1\], but voters\[1\] is -0.1"),
        (([[0.5]], [0.5]), "voters must be a list of qualities, found 2 axes"),
        (([0.5], 0.5), "candidates must be a list of qualities, found 0 axes"),
        (([0.5], [0.5], 1.01), r"prior must be in \[0, 1\], found 1.01"),
        (([0.5], [0.5], -0.01), r"prior must be in \[0, 1\], found -0.01"),
    ],
)
def test_gains_of_what_is_no_voter_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        two_classes.gains(*arguments)


def test_priors_of_other_shapes_are_refused():
    quality, chosen = np.full((2, 3), 0.7), np.ones((2, 3), dtype=bool)
    for wrong in ([0.5, 0.5], [[0.5, 0.5, 0.5]]):
        with pytest.raises(ValueError, match="prior must be one number or 3 of them, one per task"):
            two_classes.smooth_accuracy(quality, chosen, wrong)
    with pytest.raises(ValueError, match=r"but prior is 1.5"):
        two_classes.smooth_accuracy(quality, chosen, 1.5)
    with pytest.raises(ValueError, match=r"but prior\[2\] is nan"):
        two_classes.smooth_accuracy(quality, chosen, [0.5, 0.5, np.nan])
    with pytest.raises(ValueError, match="n_samples must be >= 1, found 0"):
        two_classes.sampled_accuracy(quality, chosen, n_samples=0)


@pytest.mark.parametrize("n_samples", [1, 256, 257, 600])
def test_samples_are_drawn_in_parts_and_weighted_by_the_prior(n_samples):
    """Votes of one worker are right as often as they are; of nobody, where the prior is."""
    quality, chosen = np.array([[1.0, 0.0, 0.7]]), np.array([[True, True, False]])
    found = two_classes.sampled_accuracy(quality, chosen, 0.3, n_samples=n_samples, rng=1)
    assert found == pytest.approx([1.0, 1.0, 0.7], **EXACT)
    one = two_classes.sampled_accuracy([[0.8]], [[True]], [0.5], n_samples=n_samples, rng=1)
    assert 0.0 <= one[0] <= 1.0
    assert abs(one[0] - 0.8) <= 3.0 / np.sqrt(n_samples)


def test_of_many_voters_the_accuracy_is_the_lower_bound():
    quality = np.random.default_rng(4).uniform(0.5, 0.8, (26, 1))
    everybody = np.ones((26, 1), dtype=bool)
    low, high = two_classes.accuracy_bounds(quality, everybody, 0.4)
    assert two_classes.expected_accuracy(quality, everybody, 0.4) == low < high


def test_the_smooth_accuracy_of_two_by_hand():
    everybody = [[True], [True]]
    found = two_classes.smooth_accuracy([[0.7], [0.6]], everybody)
    agree, differ = (0.42**2 + 0.12**2) / 0.54, (0.28**2 + 0.18**2) / 0.46
    assert found == pytest.approx([agree + differ], **EXACT)
    assert two_classes.smooth_accuracy([[1.0], [0.6]], everybody, 0.5).tolist() == [1.0]
    assert two_classes.smooth_accuracy([[0.7], [0.6]], everybody, 0.0).tolist() == [1.0]


def test_where_the_label_is_known_nobody_gains():
    assert two_classes.gains([0.7], [0.9, 0.6], 0.0).tolist() == [0.0, 0.0]
    assert two_classes.gains([0.7], [0.9, 0.6], 1.0).tolist() == [0.0, 0.0]
    assert two_classes.gains([1.0], [0.9]).tolist() == [0.0]
