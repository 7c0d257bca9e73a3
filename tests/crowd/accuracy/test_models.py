"""How workers answer, what teams are worth, and the gradient: by hand, or by a slow twin."""

import itertools
from math import comb

import numpy as np
import pytest
from scipy.stats import multinomial

from crowd_tvcs.accuracy import many_classes
from crowd_tvcs.accuracy.gradient import ClassGradient
from crowd_tvcs.accuracy.many_classes import (
    VoteScore,
    accuracy_of_classes,
    count_chances,
    exact_voters,
    large_team,
    table_size,
)
from crowd_tvcs.accuracy.model import (
    answer_model,
    checked_classes,
    checked_confusion,
    checked_prior,
    even_matrices,
    model_of,
)
from tests.crowd.gains import gains_of_classes

EXACT = {"rel": 0, "abs": 1e-12}
PRIOR = np.array([0.5, 0.3, 0.2])
UNEVEN = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.25, 0.05, 0.7]])


def joint(matrices, prior):
    """Chances of everybody's answers with every class, of shape (classes, outcomes)."""
    table = np.asarray(prior)[:, None]
    for matrix in matrices:
        table = (table[:, :, None] * matrix[:, None, :]).reshape(len(prior), -1)
    return table


def test_even_matrices_by_hand():
    found = even_matrices(np.array([[0.7, 0.4]]), 4)
    assert found.shape == (1, 2, 4, 4)
    assert found[0, 0, 1] == pytest.approx([0.1, 0.7, 0.1, 0.1])
    assert found[0, 1, 3] == pytest.approx([0.2, 0.2, 0.2, 0.4])


def test_a_model_of_accuracies_has_every_matrix_once():
    quality = np.array([[0.7, 0.5], [0.5, 0.2], [0.25, 0.7]])
    model = answer_model(quality, np.full((2, 4), 0.25), None)
    assert model.kind.tolist() == [[3, 2], [2, 0], [1, 3]]
    assert model.kind.dtype == np.int64
    assert model.matrices[:, 0, 0].tolist() == [0.2, 0.25, 0.5, 0.7]
    assert model.n_classes == 4
    assert model.is_even.tolist() == [False, True, True, True]  # below a guess, another is more
    assert model.informativeness == pytest.approx([4 * 0.8 / 3 / 4 - 0.25, 0.0, 0.25, 0.45])
    assert model.informativeness[1] == 0.0
    # Of what tells least as much: .2 right, and .8 / 3 of each other.
    assert model.reach == pytest.approx([1.0 - 3 * 0.2, 0.25, 0.5, 0.7], abs=1e-9)


def test_a_model_of_matrices_goes_before_accuracies():
    silent = np.array([[0.2, 0.8, 0.0]] * 3)
    confusion = np.array([even_matrices(np.array(0.6), 3), UNEVEN, silent])
    model = answer_model(np.full((3, 2), 0.9), np.array([PRIOR, PRIOR]), confusion)
    assert model.kind.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert model.is_even.tolist() == [True, False, False]
    columns = UNEVEN.sum(axis=0)
    least = (UNEVEN / columns).min()
    assert model.reach == pytest.approx([0.6, 1.0 - 2 * least, 1 / 3], abs=1e-9)
    result = (UNEVEN.max(axis=0).sum() - 1.0) / 3
    assert model.informativeness == pytest.approx([0.6 - 1 / 3, result, 0.0], **EXACT)
    assert model.informativeness[2] == 0.0
    assert model_of(np.array([[[0.0, 1.0], [0.5, 0.5]]]), model.kind, PRIOR[None, :2]).reach == 1.0
    assert model.prior.flags.writeable
    assert model.prior is not PRIOR


@pytest.mark.parametrize("wrong", [True, 2.0, "2", None])
def test_classes_are_counted(wrong):
    with pytest.raises(TypeError, match="n_classes must be an integer, found"):
        checked_classes(wrong)


def test_there_are_2_to_100_classes():
    assert checked_classes(np.int64(2)) == 2
    assert type(checked_classes(np.int64(2))) is int
    assert checked_classes(100) == 100
    for wrong in (1, 101, 0, -2):
        with pytest.raises(ValueError, match=f"n_classes must be from 2 to 100, found {wrong}"):
            checked_classes(wrong)


def test_rows_of_confusion_matrices_are_chances():
    good = np.array([[[0.7, 0.3], [0.2, 0.8 + 9e-7]], [[1.0, 0.0], [0.5, 0.5]]])
    found = checked_confusion(good, 2, 2)
    assert found.sum(axis=2) == pytest.approx(np.ones((2, 2)), **EXACT)
    assert not found.flags.writeable
    assert good.flags.writeable
    for shape in ((1, 2), (2, 3)):
        with pytest.raises(ValueError, match=r"confusion must have shape .* found \(2, 2, 2\)"):
            checked_confusion(good, *shape)
    for row in ([0.5, 0.5 - 2e-6], [0.5, 0.5 + 2e-6], [-0.1, 1.1], [np.nan, 0.5], [1.1, -0.1]):
        wrong = good.copy()
        wrong[1, 0] = row
        with pytest.raises(ValueError, match=r"add up to 1, but row 0 of worker 1 is \["):
            checked_confusion(wrong, 2, 2)
    with pytest.raises(ValueError, match="row 2 of worker 0 is"):
        checked_confusion([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.1, 0.6, 0.5]]], 1, 3)


def test_chances_of_classes():
    assert checked_prior(None, 2, 4).tolist() == [[0.25] * 4] * 2
    assert checked_prior([0.2, 0.8], 3, 2).tolist() == [[0.2, 0.8]] * 3
    rows = checked_prior([[0.2, 0.8 + 9e-7], [1.0, 0.0]], 2, 2)
    assert rows.sum(axis=1) == pytest.approx([1.0, 1.0], **EXACT)
    assert not rows.flags.writeable
    for wrong in ([0.5], [[0.5, 0.5]], 0.5):
        with pytest.raises(ValueError, match=r"class_prior must have shape \(2,\) or \(3, 2\)"):
            checked_prior(wrong, 3, 2)
    for row in ([0.5, 0.5 - 2e-6], [0.5, 0.5 + 2e-6], [-0.1, 1.1], [np.nan, 0.5]):
        with pytest.raises(ValueError, match="chances >= 0 that add up to 1, but those of task 1"):
            checked_prior([[0.5, 0.5], row, row], 3, 2)


@pytest.mark.parametrize(
    ("quality", "assignment", "error", "message"),
    [
        ([0.5], [True], ValueError, "quality must be a matrix of workers x tasks, found 1 axes"),
        ([[0.5]], [[1]], TypeError, "assignment must be booleans, found int64"),
        ([[0.5]], [[True, True]], ValueError, "assignment must have the shape of quality"),
        ([[1.01]], [[True]], ValueError, "quality must be in"),
        ([[-0.01]], [[True]], ValueError, "quality must be in"),
        ([[np.nan]], [[True]], ValueError, "quality must be in"),
    ],
)
def test_what_is_no_team_is_refused(quality, assignment, error, message):
    with pytest.raises(error, match=message):
        accuracy_of_classes(quality, assignment, 3)


def test_teams_are_worth_the_sum_over_all_outcomes():
    quality = np.array([[0.0, 0.7], [1.0, 0.4], [0.6, 1 / 3]])
    chosen = np.array([[True, True], [False, True], [True, True]])
    found, error = accuracy_of_classes(quality, chosen, 3, prior=PRIOR)
    expected = [
        joint(even_matrices(quality[chosen[:, j], j], 3), PRIOR).max(axis=0).sum() for j in range(2)
    ]
    assert found == pytest.approx(expected, **EXACT)
    assert error.tolist() == [0.0, 0.0]
    nobody, _ = accuracy_of_classes(quality, np.zeros((3, 2), dtype=bool), 3, prior=PRIOR)
    assert nobody == pytest.approx([0.5, 0.5], **EXACT)


def test_the_counts_of_equals_are_multinomial():
    found = count_chances(UNEVEN, 4)
    counts = [c for c in itertools.product(range(5), repeat=3) if sum(c) == 4]
    expected = [sorted(multinomial.pmf(c, 4, row) for c in counts) for row in UNEVEN]
    assert found.shape == (3, comb(6, 2))
    for of, row in zip(found, expected, strict=True):
        assert sorted(of) == pytest.approx(row, **EXACT)
    assert count_chances(UNEVEN, 1).tolist() == UNEVEN.tolist()


@pytest.mark.parametrize("most", [2**20, 20, 9, 7, 3])
def test_a_large_team_of_equals_is_counted_exactly(monkeypatch, most):
    """Three have 27 outcomes and 18 counts, two equal ones 9 and 6: else they are sampled."""
    monkeypatch.setattr(many_classes, "MAX_OUTCOMES", most)
    monkeypatch.setattr(many_classes, "SAMPLES", 4096)
    quality = np.array([[0.5], [0.5], [0.8]])
    matrices = even_matrices(quality[:, 0], 3)
    exact = joint(matrices, PRIOR).max(axis=0).sum()
    found, error = accuracy_of_classes(quality, quality > 0, 3, prior=PRIOR)
    assert (error[0] == 0.0) == (most > 9)
    assert found[0] == pytest.approx(exact, abs=max(1e-12, 5 * error[0]))
    two, none = accuracy_of_classes(quality[:2], quality[:2] > 0, 3, prior=PRIOR)
    assert (none[0] == 0.0) == (most > 3)
    exact = joint(matrices[:2], PRIOR).max(axis=0).sum()
    assert two[0] == pytest.approx(exact, abs=max(1e-12, 5 * none[0]))


def sampled(model, kinds, prior, workers, score=None):
    """The slow twin of a sampled team: one draw after the other."""
    samples = many_classes.SAMPLES
    mass = prior.sum()
    truth = np.random.default_rng(20).random(samples)
    draws = [np.random.default_rng([20, 1 + w]).random(samples) for w in workers]
    values = []
    for s in range(samples):
        y = int((np.cumsum(prior / mass)[:-1] <= truth[s]).sum())
        chances = prior.copy()
        for kind, draw in zip(kinds, draws, strict=True):
            matrix = model.matrices[kind]
            answered = int((np.cumsum(matrix[y])[:-1] <= draw[s]).sum())
            chances = chances * matrix[:, answered]
        best = chances.max() * mass
        if score is not None:
            e = score.common_error
            best = ((1.0 - e) * chances + e * score.shares * chances.sum()).max()
        values.append(best / chances.sum())
    return np.mean(values), np.std(values) / np.sqrt(samples)


@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("score", [None, VoteScore(0.3, np.array([0.2, 0.2, 0.6]))])
def test_a_sampled_team_is_that_of_a_slow_twin(monkeypatch, score, scale):
    monkeypatch.setattr(many_classes, "MAX_OUTCOMES", 1)
    monkeypatch.setattr(many_classes, "SAMPLES", 200)
    model = model_of(np.array([UNEVEN, np.eye(3), even_matrices(np.array(0.6), 3)]),
                     np.zeros((3, 1), dtype=np.int64), PRIOR[None])  # fmt: skip
    for kinds in ([0, 2], [2, 0, 0], [0, 1]):
        kinds, workers = np.array(kinds), np.arange(len(kinds)) + 4
        prior = PRIOR * (1.0 if score is not None else scale)
        found = large_team(model, kinds, prior, workers, score)
        assert found == pytest.approx(sampled(model, kinds, prior, workers, score), abs=1e-9)
    assert large_team(model, np.array([0, 2]), np.zeros(3), np.arange(2)) == (0.0, 0.0)


def test_what_a_vote_pays_where_workers_err_together():
    score = VoteScore(0.4, np.array([0.5, 0.25, 0.25]))
    table = np.array([[0.2, 0.0], [0.1, 0.3], [0.0, 0.4]])
    expected = [0.6 * 0.2 + 0.4 * 0.5 * 0.3, 0.6 * 0.4 + 0.4 * 0.25 * 0.7]
    assert score.best(table) == pytest.approx(expected, **EXACT)


def test_tables_hold_16384_outcomes_and_a_million_numbers_at_most():
    found = {k: exact_voters(k) for k in (2, 3, 4, 10, 16, 100)}
    assert found == {2: 14, 3: 8, 4: 7, 10: 4, 16: 3, 100: 1}
    for k, n in found.items():
        assert table_size(k) == k**n
        assert n == 1 or (k**n <= 2**14 and k ** (n + 2) <= 2**20)


def test_gains_are_differences():
    matrices = np.array([*even_matrices(np.array([0.5, 0.8]), 3), UNEVEN])
    model = model_of(matrices, np.zeros((1, 1), dtype=np.int64), PRIOR[None])
    team, candidates = np.array([0, 2]), np.array([1, 0, 2, 2])
    found = gains_of_classes(team, candidates, model, PRIOR)
    now = joint(matrices[team], PRIOR).max(axis=0).sum()
    more = [joint(matrices[[*team, c]], PRIOR).max(axis=0).sum() - now for c in candidates]
    assert found == pytest.approx(more, **EXACT)


def slope_by_hand(model, X, rng, surest, even):
    """Sample the gradient once, answer by answer, with the same random numbers."""
    k = model.n_classes
    safe = np.maximum(model.matrices, surest)
    safe /= safe.sum(axis=2, keepdims=True)
    out = np.zeros(X.shape)
    for y in range(k):
        draws = rng.random(X.shape)
        for j in range(X.shape[1]):
            logs, Z = [], []
            for i in range(X.shape[0]):
                matrix, draw = safe[model.kind[i, j]], draws[i, j]
                answered = int((np.cumsum(matrix[y])[:-1] <= draw).sum())
                if even:  # right first, then the others in turn
                    q = matrix[0, 0]
                    turn = int((draw - q) / (1.0 - q) * (k - 1))
                    answered = y if draw < q else (y + 1 + min(turn, k - 2)) % k
                Z.append(np.log(matrix[:, answered]))
                logs.append(X[i, j] * Z[-1])
            with np.errstate(divide="ignore"):
                S = np.log(model.prior[j]) + np.sum(logs, axis=0)
            S = np.exp(S - S.max())
            S /= S.sum()
            for i in range(X.shape[0]):
                out[i, j] += model.prior[j, y] * S[y] * (Z[i][y] - S @ Z[i])
    return out


@pytest.mark.parametrize("confusion", [None, np.array([UNEVEN, np.eye(3)])])
def test_a_sampled_gradient_is_that_of_a_slow_twin(confusion):
    rng = np.random.default_rng(3)
    quality = rng.uniform(0.2, 0.9, (2, 40))
    prior = rng.dirichlet(np.ones(3), 40)
    prior[0] = [0.0, 1.0, 0.0]
    model = answer_model(quality, prior, confusion)
    X = rng.uniform(0.0, 1.0, quality.shape)
    gradient = ClassGradient(model, 1e-3)
    found = gradient.sample(X, np.random.default_rng(8))
    expected = slope_by_hand(model, X, np.random.default_rng(8), 1e-3, confusion is None)
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_strength_of_a_worker_is_their_largest_log_ratio():
    prior = np.array([PRIOR])
    model = answer_model(np.array([[0.5], [0.2], [1 / 3]]), prior, None)
    found = ClassGradient(model, 1e-6).strength
    expected = [[np.log(0.5 / 0.25)], [np.log(0.4 / 0.2)], [0.0]]
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    odd = np.array([[0.1, 0.85, 0.05], [0.3, 0.3, 0.4], [0.6, 0.1, 0.3]])
    model = answer_model(np.zeros((3, 1)), prior, np.array([UNEVEN, np.eye(3), odd]))
    found = ClassGradient(model, 0.01).strength
    assert found[2, 0] == pytest.approx(np.log(0.85 / 0.1))
    assert found[0, 0] == pytest.approx(np.log(0.6 / 0.05))
    assert found[1, 0] == pytest.approx(np.log(100.0))


def test_a_task_that_weighs_nothing_has_no_slope():
    model = answer_model(np.array([[0.7]]), np.zeros((1, 3)), None)
    assert ClassGradient(model, 1e-6).sample(np.ones((1, 1)), np.random.default_rng(0)) == 0.0


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_tasks_with_priors_of_their_own_are_as_each_alone(rng, shape):
    quality, chosen = rng.uniform(0.4, 0.95, shape), rng.random(shape) < 0.7
    priors = rng.dirichlet(np.ones(3), shape[1])
    found, error = accuracy_of_classes(quality, chosen, 3, prior=priors)
    for j in range(shape[1]):
        at = np.s_[:, j : j + 1]
        alone, _ = accuracy_of_classes(quality[at], chosen[at], 3, prior=priors[j])
        assert found[j] == pytest.approx(alone[0], abs=1e-12)
    assert found.shape == error.shape == (shape[1],)
