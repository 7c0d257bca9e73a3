"""The kernels of votes on two classes as plain Python, each alone against all outcomes."""

import itertools
import math

import numpy as np
import pytest

from crowd_tvcs.accuracy.kernels import outcome_lists, two_class_table

EXACT = {"rel": 0, "abs": 1e-12}
TEAMS = [[], [0.7], [0.3, 0.8], [0.6, 0.6, 0.9], [0.55, 0.2, 0.7, 0.9], [0.8, 0.7, 0.7, 0.6, 0.9]]
PRIORS = [0.5, 0.3, 0.9]


pytestmark = pytest.mark.usefixtures("plain")


def outcomes(voters):
    """Chance of every pattern of answers given label 1, and given label 0."""
    for answers in itertools.product((0, 1), repeat=len(voters)):
        pairs = [(q, 1.0 - q) if a else (1.0 - q, q) for q, a in zip(voters, answers, strict=True)]
        yield math.prod(one for one, _ in pairs), math.prod(zero for _, zero in pairs)


def accuracy(voters, prior=0.5):
    return sum(max(prior * one, (1.0 - prior) * zero) for one, zero in outcomes(voters))


def smooth(voters, prior):
    joint = [(prior * one, (1.0 - prior) * zero) for one, zero in outcomes(voters)]
    return sum((a * a + b * b) / (a + b) for a, b in joint)


def folded(voters):
    right, wrong = np.full(len(voters), np.nan), np.full(len(voters), np.nan)
    count = outcome_lists.fold(np.array(voters), right, wrong)
    return right[:count], wrong[:count]


def listed(voters, limit, spread=False):
    """The list of the outcomes of voters; what was not written is nan."""
    buffers = np.full((2, 3, 2 * limit + 2), np.nan)
    at, size = outcome_lists.list_outcomes(*folded(voters), limit, spread, buffers)
    return buffers[at], size


def test_voters_are_folded():
    right, wrong = folded([0.7, 0.5, 0.2, 0.0001])
    assert right.tolist() == [0.7, 0.8, 0.9999]
    assert wrong.tolist() == pytest.approx([0.3, 0.2, 0.0001])
    scratch = np.empty(2)
    assert outcome_lists.fold(np.array([0.7, 1.0]), scratch, scratch) == -1
    assert outcome_lists.fold(np.array([0.0, 0.7]), scratch, scratch) == -1


@pytest.mark.parametrize("voters", TEAMS)
def test_a_list_holds_every_outcome_in_order(voters):
    found, size = listed(voters, 32)
    expected = sorted((math.log(one / zero), one, zero) for one, zero in outcomes(voters))
    assert size == 2 ** len(voters)
    assert found[:, :size].T == pytest.approx(np.array(expected), **EXACT)
    assert np.isnan(found[:, size:]).all()


def test_in_a_long_list_equal_outcomes_are_joined():
    found, size = listed([0.7] * 3, 4)
    assert size == 4
    assert found[1, :4] == pytest.approx([0.027, 3 * 0.063, 3 * 0.147, 0.343], **EXACT)
    assert found[2, :4] == pytest.approx(found[1, 3::-1], **EXACT)
    odds = math.log(7 / 3)
    assert found[0, :4] == pytest.approx([-3 * odds, -odds, odds, 3 * odds], **EXACT)


LONG = [0.9, 0.84, 0.77, 0.71, 0.66, 0.58]


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("limit", [4, 6, 8, 10, 16, 32])
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_a_halved_list_is_that_of_a_vote_that_is_no_better_or_no_worse(n, limit, spread):
    voters = LONG[:n]
    found, size = listed(voters, limit, spread)
    assert size <= limit
    assert size >= min(limit, 2**n) / 2
    odds, one, zero = found[:, :size]
    assert one.sum() == pytest.approx(1.0, **EXACT)
    assert zero.sum() == pytest.approx(1.0, **EXACT)
    assert (np.diff(odds) > 0.0).all()
    assert odds == pytest.approx(np.log(one / zero), abs=1e-9)
    assert odds == pytest.approx(-odds[::-1], **EXACT)
    assert one == pytest.approx(zero[::-1], **EXACT)
    for prior in (0.5, 0.4, 0.2):
        coarse = np.maximum(prior * one, (1.0 - prior) * zero).sum()
        exact = accuracy(voters, prior)
        assert coarse >= exact - 1e-12 if spread else coarse <= exact + 1e-12
        assert coarse == pytest.approx(exact, abs=0.02 if limit > 6 else 0.05)


def test_neighbours_are_joined_in_pairs():
    every, _ = listed([0.9, 0.8, 0.6], 8)
    found, size = listed([0.9, 0.8, 0.6], 4)
    assert size == 4
    for row in (1, 2):
        lower = [every[row, 0] + every[row, 1], every[row, 2] + every[row, 3]]
        assert found[row, :2] == pytest.approx(lower, **EXACT)
    # Of three in the lower half the last stays alone.
    every, size = listed([0.9, 0.8, 0.8], 6)
    assert size == 6
    found, size = listed([0.9, 0.8, 0.8], 4)
    assert size == 4
    assert found[1, :2] == pytest.approx([every[1, 0] + every[1, 1], every[1, 2]], **EXACT)
    assert found[0, 1] == every[0, 2]


def test_every_second_outcome_is_spread_over_its_neighbours():
    every, _ = listed([0.9, 0.8, 0.6], 8)
    found, size = listed([0.9, 0.8, 0.6], 4, spread=True)
    assert size == 4
    # Of 0, 1, 2, 3 below and their mirrors 4 ... 7 above, 0 and 2 stay, and 5 and 7.
    assert found[0, :4].tolist() == every[0, [0, 2, 5, 7]].tolist()
    every, size = listed([0.9, 0.8, 0.8], 6)
    found, size = listed([0.9, 0.8, 0.8], 4, spread=True)
    assert size == 4
    assert found[0, :4].tolist() == every[0, [0, 2, 3, 5]].tolist()


@pytest.mark.parametrize("limit", [4, 8])
def test_outcomes_that_cannot_be_are_joined_and_spread(limit):
    """Voters so sure that chances are 0: logs of them must not be taken."""
    voters = [1.0 - 1e-16, 1.0 - 1e-15, 1.0 - 1e-14, 0.9]
    for spread in (False, True):
        found, size = listed(voters, limit, spread)
        assert np.isfinite(found[:, :size]).all()
        assert found[1, :size].sum() == pytest.approx(1.0, **EXACT)


def of_tasks(kernel, teams, priors, limit=32, spread=False):
    start = np.concatenate([[0], np.cumsum([len(team) for team in teams])])
    voters = np.array([q for team in teams for q in team])
    most = max(map(len, teams))
    out = np.full(len(teams), np.nan)
    right, wrong = np.empty((2, most))
    buffers = np.full((2, 2, 3, 2 * limit + 2), np.nan)
    kernel(start, voters, np.array(priors), limit, spread, right, wrong, buffers, out)
    return out


def test_votes_of_tasks_are_sums_over_all_outcomes():
    cases = list(itertools.product(TEAMS, PRIORS))
    cases += [([0.7, 0.6], 0.0), ([0.7, 0.6], 1.0), ([1.0, 0.6], 0.4), ([0.0], 0.4), ([0.5], 0.4)]
    teams, priors = map(list, zip(*cases, strict=True))
    sure = [prior in (0.0, 1.0) or bool({0.0, 1.0} & set(team)) for team, prior in cases]
    for kernel, twin in (
        (outcome_lists.accuracy_of_tasks, accuracy), (outcome_lists.smooth_of_tasks, smooth)
    ):  # fmt: skip
        expected = [
            1.0 if is_sure else twin(*case) for case, is_sure in zip(cases, sure, strict=True)
        ]
        assert of_tasks(kernel, teams, priors) == pytest.approx(expected, **EXACT)


def test_votes_of_coarse_lists_bound_the_accuracy():
    teams, priors = [LONG + LONG[::-1]] * 2, [0.5, 0.35]
    exact = [accuracy(team, prior) for team, prior in zip(teams, priors, strict=True)]
    low = of_tasks(outcome_lists.accuracy_of_tasks, teams, priors, 8)
    high = of_tasks(outcome_lists.accuracy_of_tasks, teams, priors, 8, spread=True)
    assert (low < np.array(exact) + 1e-12).all()
    assert (high > np.array(exact) - 1e-12).all()
    assert high - low == pytest.approx([0.0, 0.0], abs=0.02)


def table_of(fixed, q, chosen, skip=None, room=64):
    t, f = np.full((2, 2, room), np.nan)
    chosen = np.array(chosen, dtype=np.int64)
    skip = chosen.size if skip is None else skip
    size = two_class_table.tabulate(np.array(fixed), np.array(q), chosen, skip, t, f)
    return t[0, :size], f[0, :size]


QUALITY = [0.9, 0.6, 0.75, 0.5]


@pytest.mark.parametrize("prior", [0.5, 0.7])
@pytest.mark.parametrize(
    ("fixed", "chosen", "skip"),
    [([], [], None), ([], [0], None), ([0.8], [1, 2], None), ([0.8, 0.65], [], None),
     ([], [0, 1, 2, 3], 1), ([0.8], [2, 0, 1], 0), ([], [3, 0, 1], 2), ([0.5], [0, 1, 2], 3)],
)  # fmt: skip
def test_a_table_of_two_classes_holds_every_outcome(prior, fixed, chosen, skip):
    t, f = table_of([prior, *fixed], QUALITY, chosen, skip)
    voters = fixed + [QUALITY[k] for s, k in enumerate(chosen) if s != skip]
    joint = [(prior * one, (1.0 - prior) * zero) for one, zero in outcomes(voters)]
    # Outcomes are together that are the same up to a change of labels, and of who tells nothing.
    expected, found = {}, {}
    for a, b in joint:
        key = round(max(a, b) / (a + b), 9)
        expected[key] = expected.get(key, 0.0) + a + b
    for a, b in zip(t, f, strict=True):
        key = round(a / (a + b), 9)
        found[key] = found.get(key, 0.0) + a + b
    assert found == pytest.approx(expected, **EXACT)
    assert (t >= f).all()
    assert two_class_table.total(t, t.size) == pytest.approx(accuracy(voters, prior), **EXACT)
    result = sum(q != 0.5 for q in voters)
    assert t.size == (2 ** max(0, result - 1) if prior == 0.5 else 2**result)


def test_a_table_is_exact_for_12_voters_and_joined_has_room_for_one_more():
    assert two_class_table.TABLE == 2**two_class_table.EXACT == 4096
    assert 2 * two_class_table.HALF == two_class_table.TABLE
    voters = np.linspace(0.55, 0.9, 13).tolist()
    t, _ = table_of([0.6], voters, list(range(12)), room=2 * 4096)
    assert t.size == 4096
    assert t.sum() == pytest.approx(accuracy(voters[:12], 0.6), **EXACT)
    t, _ = table_of([0.6], voters, list(range(13)), room=2 * 4096)
    assert t.size <= 2048


@pytest.mark.parametrize("fixed", [[0.7], [0.7, 0.8, 0.65, 0.6], [0.7, *LONG]])
def test_a_table_that_is_too_long_is_joined_and_never_better(monkeypatch, fixed):
    monkeypatch.setattr(two_class_table, "TABLE", 8)
    monkeypatch.setattr(two_class_table, "HALF", 4)
    for n in range(5):
        chosen = list(range(n))
        t, f = table_of(fixed, LONG, chosen, room=16)
        assert t.size <= 8
        assert t.sum() + f.sum() == pytest.approx(1.0, **EXACT)
        assert (t >= f).all()
        exact = accuracy(fixed[1:] + LONG[:n], fixed[0])
        assert exact - 0.05 < t.sum() <= exact + 1e-12
        if len(fixed) + n <= 4:
            assert t.size == 2 ** (len(fixed) + n - 1)
            assert t.sum() == pytest.approx(exact, **EXACT)


def test_outcomes_of_like_confidence_are_joined():
    t, f = np.array([0.3, 0.1, 0.2, 0.05, 0.0, 0.15]), np.array([0.0, 0.1, 0.12, 0.03, 0.0, 0.02])
    out_t, out_f = np.full((2, 6), np.nan)
    cells = {}
    for a, b in zip(t, f, strict=True):
        if a + b > 0:
            cell = min(5, int((a - b) / (a + b) * 6))
            cells.setdefault(cell, []).append((a, b))
    size = two_class_table.join(t, f, t.size, 6, out_t, out_f)
    expected = np.array([np.sum(cells[cell], axis=0) for cell in sorted(cells)])
    assert size == len(expected) == 4
    assert out_t[:size] == pytest.approx(expected[:, 0], **EXACT)
    assert out_f[:size] == pytest.approx(expected[:, 1], **EXACT)


def test_gains_of_two_classes_are_differences():
    q = np.array([0.5, 0.6, 0.75, 0.95, 1.0])
    for voters in ([], [0.7], [0.6, 0.8, 0.9]):
        t, f = table_of([0.6, *voters], q, [])
        out = np.full(5, -7.0)
        two_class_table.fill_gains(t, f, t.size, q, 1, 4, out)
        more = [accuracy([*voters, one], 0.6) - accuracy(voters, 0.6) for one in q[1:4]]
        assert out == pytest.approx([-7.0, *more, -7.0], **EXACT)
