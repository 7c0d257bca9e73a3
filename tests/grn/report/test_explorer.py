"""What the scripts of a report are told: edges as columns, truth, time courses, predictions."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.speed.network_report import made
from grn_tvcs import Expression, Network, Rules, score, simulate
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.report import explorer as explorer_module
from grn_tvcs.report.explorer import explorer
from grn_tvcs.report.held_out import _fold_numbers, _in_pieces, predicted
from grn_tvcs.report.report import render
from grn_tvcs.report.time_courses import LETTERS, MAX_SAMPLES, MAX_SERIES, MAX_VALUES, time_courses

GENES = ("A", "B", "C", "D")


def network(**more):
    scores = np.array([[0, 9, 8, 7], [6, 0, 5, 0], [4, 0, 0, 3.123456789], [0, 0, 0, 0]])
    return Network.of(GENES, scores, np.sign(scores - 6).astype(int), **more)


def values_of(text, low, high):
    """Levels from their letters; NaN where there is none."""
    place = {chr(letter): k for k, letter in enumerate(LETTERS.tolist())}
    pairs = zip(text[::2], text[1::2], strict=True)
    steps = np.array([64.0 * place[a] + place[b] for a, b in pairs])
    return np.where(steps == 4095, np.nan, low + (high - low) * steps / 4094)


def test_edges_are_columns_with_those_outside_the_caps_after_their_score():
    chosen = network().select_under_caps(Rules(max_edges=3))
    result = explorer(chosen, [])["edges"]
    names = [GENES[i] + GENES[j] for i, j in zip(result["from"], result["to"], strict=True)]
    assert names == ["AB", "AC", "AD", "BA", "BC", "CA", "CD"]
    assert result["selected"] == "1110000"
    assert result["sign"] == "+++?---"
    assert result["score"][-1] == 3.12346
    assert not {"stability", "confidence", "truth", "evidence"} & set(result)


def test_a_list_that_is_too_long_keeps_the_surest_selected(monkeypatch):
    monkeypatch.setattr(explorer_module, "MAX_EDGES", 2)
    result = explorer(network(), [])
    assert len(result["edges"]["from"]) == 2
    assert result["edges"]["rank"] == [1, 2]
    monkeypatch.undo()
    monkeypatch.setattr(explorer_module, "MAX_SEARCHED_PAIRS", 1)
    chosen = network().select_under_caps(Rules(max_edges=3))
    assert explorer(chosen, [])["edges"]["selected"] == "111"


def test_truth_is_that_of_the_reference_for_the_pairs_that_count():
    names = ("D", "C", "B", "A")  # in another order
    edges = np.zeros((4, 4))
    edges[3, 2] = edges[1, 3] = 1.0  # A to B, C to A
    reference = Network.of(names, edges)
    result = explorer(network(), [], reference)["edges"]
    assert result["truth"] == "tfffftf"
    judged = score(network(), reference, pairs="linked")
    # Of pairs without a true edge either way nothing is said: A to D, B to C, C to D.
    assert explorer(network(), [], reference, judged)["edges"]["truth"] == "tf-f-t-"


def test_levels_come_back_within_half_a_step():
    expression = simulate(10, 4, 9, n_edges=12, rng=0).expression
    known = Network.of(expression.genes, 1 - np.eye(10))
    result = time_courses(expression, known, expression.genes[::-1])
    assert [part[0] for part in result["profiles"]] == list(range(9, -1, -1))
    for number, low, high, text, _, _ in result["profiles"]:
        levels = expression.values[:, number]
        step = (high - low) / 4094
        np.testing.assert_allclose(values_of(text, low, high), levels, atol=step, rtol=1e-6)
    times = [time for part in result["series"] for time in part["times"]]
    np.testing.assert_allclose(times, expression.times)


def test_steady_samples_stand_last_and_are_no_course():
    rest = np.full((3, 2), 0.5)
    expression = Expression(
        np.array([[1.0, 2], [2, 1]]), np.array([0.0, 5]), ("s",) * 2, ("A", "B"), steady_values=rest
    )
    result = time_courses(expression, Network.of(("A", "B"), np.zeros((2, 2))), ("A", "B"))
    assert result["series"][-1]["rest"]
    assert result["series"][-1]["times"] == [1, 2, 3]
    assert result["all_series"] == 2
    _, low, high, text, expected, gain = result["profiles"][0]
    np.testing.assert_allclose(values_of(text, low, high), [1, 2, 0.5, 0.5, 0.5], atol=1e-3)
    assert (expected, gain) == ("", None)


def test_what_a_page_holds_of_large_data_is_bounded():
    n_series, n_points, n_genes = 80, 400, 300
    genes = tuple(f"G{i:03}" for i in range(n_genes))
    series = tuple(f"s{i:02}" for i in range(n_series) for _ in range(n_points))
    values = np.ones((n_series * n_points, n_genes))
    times = np.tile(np.arange(float(n_points)), n_series)
    known = Network.of(genes, np.zeros((n_genes, n_genes)))
    result = time_courses(Expression(values, times, series, genes), known, genes)
    assert len(result["series"]) == MAX_SERIES
    assert result["all_series"] == n_series
    n_samples = sum(len(part["times"]) for part in result["series"])
    assert n_samples <= MAX_SAMPLES
    assert result["series"][0]["times"][-1] == n_points - 1
    assert 0 < 2 * n_samples * len(result["profiles"]) <= MAX_VALUES
    assert result["profiles"][0][0] == 0


def driven(n_series, noise, rng, perturbed=False):
    """A is random; B follows A of the sample before; C is random."""
    draw = np.random.default_rng(rng)
    values, n = [], 12
    for _ in range(n_series):
        a, c = draw.normal(size=(2, n))
        b = np.concatenate([[0.0], 2 * a[:-1]]) + noise * draw.normal(size=n)
        values.append(np.column_stack([a, b, c]))
    on = np.tile(np.arange(n) < 4, n_series) if perturbed else None
    return Expression(
        np.concatenate(values),
        np.tile(np.arange(float(n)), n_series),
        tuple(f"s{k}" for k in range(n_series) for _ in range(n)),
        ("A", "B", "C"),
        perturbed=on,
        scale="log",
    )


@pytest.mark.parametrize("perturbed", [False, True])
def test_a_true_regulator_predicts_held_out_steps_and_a_false_one_does_not(perturbed):
    expression = driven(6, 0.1, 0, perturbed)
    scores = np.zeros((3, 3))
    scores[0, 1] = scores[0, 2] = 1.0
    held_out = predicted(expression, Network.of(("A", "B", "C"), scores), [0, 1, 2])
    assert held_out.n_folds == 6
    # Weights are halved, so three quarters of the squared error go.
    assert 0.6 < held_out.gain[1] < 0.8
    assert held_out.gain[2] < 0.1
    assert np.isnan(held_out.gain[0])
    starts = expression.times == 0
    assert np.isnan(held_out.levels[starts]).all()
    assert not np.isnan(held_out.levels[~starts][:, 1:]).any()


def series_of(*sizes):
    """Expression of series A, B, ... of these numbers of samples."""
    names = [name for name, size in zip("ABCDEFGHIJKL", sizes, strict=False) for _ in range(size)]
    times = np.concatenate([np.arange(size, dtype=float) for size in sizes])
    levels = np.random.default_rng(1).random((len(times), 3)) + 0.1
    return Expression(levels, times, tuple(names), ("A", "B", "C"))


@pytest.mark.parametrize(
    ("sizes", "pieces"),
    [
        ([12], [4, 4, 4]),
        ([12, 12], [4] * 6),
        ([7], [7]),
        ([4, 13], [4, 5, 4, 4]),
        ([12] * 4, [12] * 4),
    ],
)
def test_a_few_long_series_are_cut_into_pieces_that_are_held_out(sizes, pieces):
    cut = _in_pieces(series_of(*sizes))
    assert [rows.stop - rows.start for rows in cut.pieces.values()] == pieces


@pytest.mark.parametrize("n", [4, 10, 12])
def test_each_series_is_held_out_in_one_fold(n):
    made = series_of(*[4] * n)
    fold = _fold_numbers(made)
    of_series = [set(fold[rows].tolist()) for rows in made.pieces.values()]
    assert all(len(one) == 1 for one in of_series)
    assert set.union(*of_series) == set(range(min(n, 10)))


def test_one_short_series_is_not_held_out():
    network = Network.of(("A", "B", "C"), np.ones((3, 3)) - np.eye(3))
    assert predicted(series_of(7), network, [0, 1, 2]) is None
    assert predicted(series_of(8), network, [0, 1, 2]).n_folds == 2


def test_a_prediction_does_not_know_the_series_that_is_held_out():
    expression = driven(4, 0.3, 1)
    scores = np.zeros((3, 3))
    scores[0, 1] = 1.0
    known = Network.of(("A", "B", "C"), scores)
    before = predicted(expression, known, [1]).levels
    changed = expression.values.copy()
    last = np.array([name == "s3" for name in expression.series])
    changed[np.flatnonzero(last)[-1], 1] += 5.0  # the last level of B, after which nothing comes
    again = Expression(changed, expression.times, expression.series, expression.genes, scale="log")
    after = predicted(again, known, [1]).levels
    np.testing.assert_array_equal(after[last], before[last])
    others = ~last & ~np.isnan(before[:, 1])
    assert (after[others, 1] != before[others, 1]).all()


def test_predictions_are_in_the_units_of_the_table_and_names_may_be_in_another_order():
    logs = driven(5, 0.1, 2)
    levels = Expression(np.exp(logs.values), logs.times, logs.series, logs.genes, scale="levels")
    scores = np.zeros((4, 4))
    scores[2, 1] = 1.0
    known = Network.of(("unmeasured", "B", "A", "C"), scores)
    found = predicted(levels, known, [1]).levels
    # The same on the scale of the model, taken back by hand.
    offset, largest = METHODS["tvcs"].options["log_offset"], levels.values.max(axis=0)
    inner = replace(levels, values=np.log(levels.values / largest + offset), scale="log")
    expected = np.exp(predicted(inner, known, [1]).levels) - offset
    there = ~np.isnan(found)
    assert there.sum() == 5 * 11
    np.testing.assert_allclose(found[there], np.maximum(expected * largest, 0)[there], rtol=1e-9)


def test_series_too_few_to_hold_one_out_have_no_prediction(monkeypatch):
    short = Expression(np.eye(3) + 1, np.arange(3.0), ("a",) * 3, ("A", "B", "C"), scale="log")
    known = Network.of(("A", "B", "C"), 1 - np.eye(3))
    assert predicted(short, known, [0, 1]) is None
    assert time_courses(short, known, ("A",))["n_folds"] == 0
    monkeypatch.setattr("grn_tvcs.report.held_out.MAX_WORK", 1)
    assert predicted(driven(4, 0.3, 1), known, [0, 1]) is None


@pytest.mark.parametrize(("genes", "edges", "most"), [(30, 60, 1e6), (2000, 4000, 3e6)])
def test_a_report_is_small(genes, edges, most):
    """The size of the page for 10 series of 21 samples, with all that is known of edges."""
    known, expression, reference = made(genes, edges)
    html = render(
        known, Provenance(expression, Rules(), "tvcs"), source="x", command="x", reference=reference
    )
    assert len(html.encode()) < most
    data = json.loads(html.split('id="data">')[1].split("</script>")[0])
    assert len(data["edges"]["from"]) >= edges
    assert data["all_selected"] == edges
    assert len(data["profiles"]) == genes
