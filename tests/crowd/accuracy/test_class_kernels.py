"""The kernels of votes on more classes as plain Python, each alone against all outcomes."""

import itertools

import numpy as np
import pytest

from crowd_tvcs.accuracy.kernels import many_class_table
from crowd_tvcs.accuracy.model import even_matrices

EXACT = {"rel": 0, "abs": 1e-12}
pytestmark = pytest.mark.usefixtures("plain")

K = 3
PRIOR = np.array([0.5, 0.3, 0.2])
UNEVEN = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.25, 0.05, 0.7]])
SILENT = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]])
MATRICES = np.array([*even_matrices(np.array([0.5, 0.8, 0.95]), K), UNEVEN, SILENT])
IS_EVEN = np.array([True, True, True, False, False])


def joint_of(kinds, prior=PRIOR):
    """Chances of every pattern of answers with every class, of shape (classes, outcomes)."""
    columns = [
        np.prod([prior, *(MATRICES[k][:, a] for k, a in zip(kinds, answered, strict=True))], axis=0)
        for answered in itertools.product(range(K), repeat=len(kinds))
    ]
    return np.array(columns).T


def best(kinds, prior=PRIOR):
    return joint_of(kinds, prior).max(axis=0).sum()


def classes_of(fixed, kinds, chosen, skip=None, limit=81, room=243):
    root = many_class_table.Root(PRIOR, np.array(fixed, dtype=np.int64))
    chosen = np.array(chosen, dtype=np.int64)
    t = np.full((2, K, room), np.nan)
    skip = chosen.size if skip is None else skip
    kinds = np.array(kinds, dtype=np.int64)
    size = many_class_table.tabulate(root, kinds, chosen, skip, MATRICES, limit, t)
    return t[0], size


@pytest.mark.parametrize(
    ("fixed", "chosen", "skip"),
    [([], [], None), ([3], [], None), ([], [1], None), ([0], [2, 0], None), ([1, 3], [0, 2], 1),
     ([0], [1, 2, 3], 0), ([], [1, 0, 2], 1)],
)  # fmt: skip
def test_a_table_of_more_classes_holds_every_outcome(fixed, chosen, skip):
    kinds = [4, 3, 2, 1]
    t, size = classes_of(fixed, kinds, chosen, skip)
    team = [*fixed, *(kinds[c] for s, c in enumerate(chosen) if s != skip)]
    expected = joint_of(team)
    assert size == K ** len(team)
    order, wanted = np.lexsort(t[:, :size].round(12)), np.lexsort(expected.round(12))
    assert t[:, :size][:, order] == pytest.approx(expected[:, wanted], **EXACT)
    assert many_class_table.total(t, size) == pytest.approx(best(team), **EXACT)
    assert many_class_table.truth(t, size) == pytest.approx(posterior_of_truth(expected), **EXACT)
    scratch = np.full(size, np.nan)
    for kind, matrix in enumerate(MATRICES):
        after = joint_of([*team, kind])
        found = many_class_table.total_after(t, size, matrix, scratch)
        assert found == pytest.approx(after.max(axis=0).sum(), **EXACT)
        found = many_class_table.truth_after(t, size, matrix)
        assert found == pytest.approx(posterior_of_truth(after), **EXACT)


def posterior_of_truth(joint):
    mass = joint.sum(axis=0)
    return ((joint**2).sum(axis=0)[mass > 0] / mass[mass > 0]).sum()


def test_outcomes_that_cannot_be_add_no_truth():
    t, size = classes_of([4], [], [])
    assert size == 3
    assert t[:, 2].tolist() == [0.0, 0.0, 0.0]
    assert many_class_table.truth(t, size) == pytest.approx(posterior_of_truth(t[:, :3]), **EXACT)


@pytest.mark.parametrize(("limit", "expected"), [(9, 9), (8, 5), (5, 5), (4, 3), (3, 3), (2, 2)])
def test_outcomes_of_one_class_and_like_confidence_are_joined(limit, expected):
    t, size = classes_of([0, 3], [], [])
    key = 2.0 * t[:, :9].argmax(axis=0) + t[:, :9].max(axis=0) / t[:, :9].sum(axis=0)
    assert np.unique(key.round(9)).size == 9
    ordered = t[:, :9][:, np.argsort(key)]
    out = np.full((K, 9), np.nan)
    found = many_class_table.join(t, size, limit, out)
    each = -(-9 // limit)
    joined = [ordered[:, k : k + each].sum(axis=1) for k in range(0, 9, each)]
    assert found == len(joined) == expected
    assert out[:, :found].T == pytest.approx(np.array(joined), **EXACT)
    mass = np.zeros((K, 2))
    mass[1, 0] = 1.0  # the other outcome cannot be
    assert many_class_table.join(mass, 2, 1, out) == 1
    assert out[:, 0].tolist() == [0.0, 1.0, 0.0]


def test_a_table_of_more_classes_that_is_too_long_is_joined():
    team = [0, 3, 1, 1]
    for chosen in ([0], [0, 1], [0, 1, 2], [0, 1, 2, 3]):
        t, size = classes_of([], team, chosen, limit=9, room=27)
        assert size <= 9
        assert t[:, :size].sum(axis=1) == pytest.approx(PRIOR, **EXACT)
        exact = best([team[c] for c in chosen])
        found = many_class_table.total(t, size)
        assert exact - 0.05 < found <= exact + 1e-12
        assert found > best([team[c] for c in chosen[:-1]])


@pytest.mark.parametrize(
    "candidates", [[], [0], [0, 1, 2], [2, 1, 0], [3], [0, 3, 3, 4, 4, 1], [4, 3, 4], [2, 2]]
)
@pytest.mark.parametrize("team", [[], [0], [1, 3]])
def test_gains_of_more_classes_are_differences(team, candidates):
    t, size = classes_of(team, [], [])
    n = len(candidates)
    scratch = many_class_table.GainScratch(*np.full((2, n), np.nan), np.full(size, np.nan))
    out = np.full(n, np.nan)
    kinds = np.array(candidates, dtype=np.int64)
    many_class_table.fill_gains(t, size, MATRICES, IS_EVEN, kinds, scratch, out)
    more = [best([*team, kind]) - best(team) for kind in candidates]
    assert out == pytest.approx(more, **EXACT)


def test_with_two_classes_gains_are_those_of_two():
    q, prior = np.array([0.6, 0.8, 0.9]), 0.3
    root = many_class_table.Root(np.array([1.0 - prior, prior]), np.empty(0, dtype=np.int64))
    t, kinds = np.full((2, 2, 8), np.nan), np.arange(3)
    matrices = even_matrices(q, 2)
    size = many_class_table.tabulate(root, kinds, kinds[:1], 1, matrices, 8, t)
    scratch = many_class_table.GainScratch(*np.full((2, 3), np.nan), np.full(size, np.nan))
    out = np.full(3, np.nan)
    many_class_table.fill_gains(t[0], size, matrices, q > 0.0, kinds, scratch, out)
    two = [[0.6 * 0.7, 0.4 * 0.3], [0.4 * 0.7, 0.6 * 0.3]]
    more = [
        sum(max(a * one, b * (1 - one)) + max(a * (1 - one), b * one) - max(a, b) for a, b in two)
        for one in q
    ]
    assert out == pytest.approx(more, **EXACT)


def test_votes_of_more_classes_are_sums_over_all_outcomes():
    teams = [[1], [], [0, 3], [2, 1, 4], [3]]
    priors = np.array([PRIOR, PRIOR[::-1], [1.0, 0.0, 0.0], PRIOR, PRIOR])
    start = np.concatenate([[0], np.cumsum([len(team) for team in teams])])
    voters = np.array([kind for team in teams for kind in team])
    out = np.full(5, -7.0)
    t, scratch = np.full((2, K, 9), np.nan), np.full(9, np.nan)
    tasks = np.array([0, 1, 2, 3])
    many_class_table.accuracy_of_tasks(tasks, start, voters, priors, MATRICES, t, scratch, out)
    expected = [best(team, prior) for team, prior in zip(teams[:4], priors, strict=False)]
    assert out == pytest.approx([*expected, -7.0], **EXACT)
