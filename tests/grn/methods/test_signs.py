"""A sign is known where something supports it: agreement of evidence, a changed gene, or a list."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from grn_tvcs import Expression, SteadyStates, infer
from grn_tvcs.combine import signs as module
from grn_tvcs.combine.signs import supported_signs
from grn_tvcs.evidence.partial_correlation import partial_correlation
from grn_tvcs.evidence.samples import all_log_levels
from grn_tvcs.network.pairs import Pairs
from grn_tvcs.network.prior import Prior
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.stability.model import transitions

N = 7


@pytest.fixture(scope="module")
def made():
    return draw_example(Design(N, N, 4, 9), "mid", 3).expression


def of_signs(signs):
    everything = np.arange(N)
    scores = (signs != 0).astype(float)
    return Pairs(everything, everything, scores, signs.astype(np.int8), scores > 0)


def drawn(seed=0):
    signs = np.random.default_rng(seed).integers(-1, 2, (N, N))
    np.fill_diagonal(signs, 0)
    return signs


def test_the_method_must_agree_with_the_next_change_with_ranks_and_beyond_others(made):
    signs = drawn()
    found = supported_signs(of_signs(signs), made)
    steps = transitions(made, 0.05)
    change = steps.following - steps.own
    partial = partial_correlation(all_log_levels(made))
    expected = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            if i == j:
                continue
            others = (
                np.corrcoef(steps.own[:, i], change[:, j])[0, 1],
                spearmanr(made.levels[:, i], made.levels[:, j]).statistic,
                partial[i, j],
            )
            if all(np.sign(r) == signs[i, j] for r in others):
                expected[i, j] = signs[i, j]
    assert np.array_equal(found, expected)
    assert 0 < np.count_nonzero(found) < np.count_nonzero(signs)


def test_in_cells_both_lagged_correlations_must_be_far_from_0():
    bulk = draw_example(Design(N, N, 8, 21), "mid", 1).expression
    steps = transitions(bulk, 0.05)
    z_change, z_level = (
        np.arctanh(np.corrcoef(steps.own, after, rowvar=False)[:N, N:])
        for after in (steps.following - steps.own, steps.following)
    )
    signs = np.sign(z_change) * ~np.eye(N, dtype=bool)
    agree = supported_signs(of_signs(signs), bulk)
    strength = signs * (z_change + z_level / 2) * np.sqrt(len(steps.own) - 3)
    expected = np.where(strength >= 4.5, agree, 0)
    cells = replace(bulk, cells=np.full(len(bulk.times), 8.0))
    assert np.array_equal(supported_signs(of_signs(signs), cells), expected)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(agree)


def test_blocks_change_no_sign(made, monkeypatch):
    whole = supported_signs(of_signs(drawn(1)), made)
    monkeypatch.setattr(module, "CHUNK_PAIRS", 2 * N)
    assert np.array_equal(supported_signs(of_signs(drawn(1)), made), whole)


def test_one_series_and_steady_samples_support_no_sign(made):
    rows = made.pieces["01"]
    one = Expression(
        made.values[rows], made.times[rows], made.series[rows], made.genes, scale="levels"
    )
    assert not supported_signs(of_signs(drawn()), one).any()
    rest = draw_example(Design(N, N, 0, 2, n_steady=30), "mid", 3).expression
    assert not supported_signs(of_signs(drawn()), rest).any()
    for method in ("pcc", "spearman", "combined"):
        options = {"calibrate": 0} if method == "combined" else {}
        assert not infer(rest, method, rng=0, **options).signs.any()


def changed(made, levels):
    rows = [made.levels.mean(axis=0)] * 4 + [levels]
    return SteadyStates(
        np.array(rows), ("", "", "", "", made.genes[0]), np.array([False] * 4 + [True]), made.genes
    )


def test_a_target_that_moved_as_its_regulator_was_changed_says_the_sign(made):
    levels = made.levels.mean(axis=0)
    levels[0] = 0.0
    levels[1] *= 0.001  # fell: activated
    levels[2] = made.levels.max() * 50  # rose: repressed
    found = supported_signs(of_signs(np.zeros((N, N))), made, changed(made, levels))
    assert (found[0, 1], found[0, 2]) == (1, -1)
    assert not found[1:].any()
    # The change itself is believed before the series.
    against = supported_signs(of_signs(np.where(np.arange(N) == 1, -1, 0) * np.ones((N, 1))), made,
                        changed(made, levels))  # fmt: skip
    assert against[0, 1] == 1


def test_a_list_says_signs_that_the_data_do_not_and_takes_back_what_they_contradict(made):
    signs = drawn()
    known = supported_signs(of_signs(signs), made)
    edge, other = np.argwhere(known)[0], np.argwhere((known == 0) & ~np.eye(N, dtype=bool))[0]
    weights, listed = np.zeros((N, N)), np.zeros((N, N), np.int8)
    weights[tuple(edge)] = weights[tuple(other)] = 1.0
    listed[tuple(edge)], listed[tuple(other)] = -known[tuple(edge)], 1
    found = supported_signs(of_signs(signs), made, prior=Prior(made.genes, weights, listed))
    assert found[tuple(edge)] == 0
    assert found[tuple(other)] == 1


def stimulated(n_series=4, n_points=25):
    """As SOS: what represses all is repressed by itself, and a stimulus lifts it for some time."""
    rng = np.random.default_rng(0)
    genes = ("lexA", *(f"target{k}" for k in range(6)))
    rows = []
    for s in range(n_series):
        x, active = np.full(len(genes), 0.2), 1.0
        for t in range(n_points * 5):
            stimulus = (1 + s / 4) * np.exp(-(((t - 30) / 20) ** 2))
            active = x[0] / (1 + 8 * stimulus)
            x = x + 0.1 * (1 / (1 + (active / np.linspace(0.1, 0.4, len(genes))) ** 2) - x)
            if t % 5 == 0:
                rows.append(x * np.exp(0.05 * rng.standard_normal(x.size)))
    names = tuple(f"s{s}" for s in range(n_series) for _ in range(n_points))
    times = np.tile(np.arange(float(n_points)), n_series)
    return Expression(np.array(rows), times, names, genes, scale="levels")


def test_genes_that_rise_together_after_a_stimulus_are_not_called_activated():
    expression = stimulated()
    n = len(expression.genes)
    assert (spearmanr(expression.values).statistic > 0).all()  # correlation says activation
    for method in ("combined", "tvcs", "pcc", "spearman", "partial-correlation"):
        options = {"calibrate": 0} if method == "combined" else {}
        network = infer(expression, method, rng=0, max_edges=n * (n - 1), **options)
        at = network.genes.index("lexA")
        assert not (network.signs[at] > 0).any(), method


@pytest.mark.slow
def test_signs_that_are_known_are_right():
    known = right = right_by_ranks = n_true = 0
    for seed in range(12):
        made = draw_example(Design(20, 20, 5, 12), ("flat", "mid", "hub")[seed % 3], 100 + seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = infer(made.expression, calibrate=0, rng=0, max_edges=40)
        counts = network.selected & (made.signs != 0)
        message, true = network.signs[counts], made.signs[counts]
        rho = spearmanr(made.expression.levels).statistic
        n_true += int(counts.sum())
        right_by_ranks += int((np.sign(rho[counts]) == true).sum())
        known += int(np.count_nonzero(message))
        right += int((message == true).sum())
    assert known >= 0.25 * n_true
    assert right >= 0.9 * known
    assert right / known > right_by_ranks / n_true


def test_series_of_one_response_give_no_sign(made):
    """All genes of every series rise and fall together, whoever represses whom."""
    rng = np.random.default_rng(0)
    course = np.array([0.0, 1.0, 2.0, 1.5, 1.0, 0.6, 0.3, 0.1])
    series = tuple(name for name in "pqr" for _ in course)
    values = np.tile(course, 3)[:, None] * np.linspace(1, 2, N) + rng.normal(0, 0.05, (24, N))
    one = Expression(values, np.tile(np.arange(8.0), 3), series, made.genes, scale="log")
    assert not module.have_signs(one)
    assert not supported_signs(of_signs(drawn()), one).any()
    assert module.have_signs(made)
    mixed = np.concatenate([part[:, rng.permutation(N)] * rng.choice((-1, 1), N)
                            for part in np.split(values, 3)])  # fmt: skip
    other = Expression(mixed, one.times, series, made.genes, scale="log")
    assert module.have_signs(other)
