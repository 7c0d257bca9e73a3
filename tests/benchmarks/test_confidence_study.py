"""The studies of confidence and of draws: numbers from what is known; tables without edges."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import confidence as study
from benchmarks import draws, universal
from grn_tvcs.combine.evidence_scores import LAGGED, RATES, compute_evidence
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from tvcs_core.streams import stream

DESIGN, TEN = Design(6, 6, 2, 5), Design(10, 10, 5, 21)


@pytest.fixture
def said(monkeypatch):
    """A method that says what it is told to, of every pair; None: it says nothing."""
    result = []

    def infer(expression, **more):
        value = result.pop(0)
        n = len(expression.genes)
        return SimpleNamespace(confidence=None if value is None else np.full((n, n), value))

    monkeypatch.setattr(study, "infer", infer)
    return result


def test_pairs_of_all_networks_count_together_and_tables_without_confidence_do_not(said):
    said += [0.6, None, 0.6, 0.05]
    error, cells = study.networks_line(DESIGN, 4, 0)
    _, n, described, pairs, shown, by_chance, supported, should_be, are_true = cells
    assert (n, described, pairs, supported) == ("4", "3", "60", "60")
    assert float(should_be) == 36
    assert error == pytest.approx(abs(0.6 - int(are_true) / 60))
    assert shown == f"{error:.3f}"
    # The mean size of a share of 60 around .6: sqrt(2 / pi) standard deviations.
    assert float(by_chance) == pytest.approx((2 / np.pi * 0.24 / 60) ** 0.5, abs=0.01)


def test_nothing_described_is_a_row_without_numbers(said):
    said += [None, None]
    error, cells = study.networks_line(DESIGN, 2, 0)
    assert error < 0
    assert cells == [DESIGN.key, "2", "0", *[""] * 6]


def test_the_largest_confidence_of_tables_without_edges(said):
    said += [0.31, None, 0.3, 0.4]
    assert study.null_line("walk", DESIGN, 4, 0) == (
        0.4, ["walk", DESIGN.key, "4", "3", "0.400", "2 of 4"]
    )  # fmt: skip


def test_a_shuffled_table_keeps_the_values_of_each_gene_and_no_order():
    design = Design(6, 6, 2, 12, n_steady=20)
    made = draw_example(design, "hub", 1).expression
    other = universal.shuffled(made, np.random.default_rng(0))
    for one, two in ((made.values, other.values), (made.steady_values, other.steady_values)):
        assert np.array_equal(np.sort(one, axis=0), np.sort(two, axis=0))
        assert not np.array_equal(one, two)
    orders = {tuple(np.argsort(column).tolist()) for column in other.values.T}
    assert len(orders) == 6


@pytest.mark.parametrize(("number", "n_networks", "n_without"), [(0, 1, 5), (1, 0, 4)])
def test_tables_to_learn_from_are_of_each_null_and_some_networks(number, n_networks, n_without):
    networks, without = universal.more_tables(3, (number, DESIGN))
    assert (len(networks), len(without)) == (n_networks, n_without)
    again = universal.more_tables(3, (number, DESIGN))
    assert np.array_equal(np.array(without), np.array(again[1]), equal_nan=True)
    assert len({row.tobytes() for row in (*networks, *without)}) == n_networks + n_without


@pytest.mark.parametrize(
    ("one", "other", "changed"),
    [("", "", 0.0), ("ab", "ab", 0.0), ("ab", "bc", 0.5), ("ab", "", 1.0), ("a", "abcd", 0.75)],
)
def test_a_share_is_of_the_larger_set(one, other, changed):
    assert draws.share(frozenset(one), frozenset(other)) == changed


def test_the_same_draws_change_nothing_and_others_do(monkeypatch):
    found = draws.shares(TEN, "hub", 0, 2)
    assert found.shape == (2 + len(draws.DRAWN),)
    assert ((found >= 0) & (found <= 1)).all()
    assert found.any()
    monkeypatch.setattr(draws, "stream", lambda _, *names: stream(0, *names))
    assert not draws.shares(TEN, "hub", 0, 2).any()


def test_one_part_alone_is_replaced():
    made = draw_example(TEN, "flat", 0)
    one, other = (compute_evidence(made.expression, made.rules, stream(k, "x")) for k in (0, 1))
    for name in (LAGGED, RATES):
        mixed = draws.with_part(one, other, name)
        for part in one.scores:
            source = other if part == name else one
            assert np.array_equal(mixed.scores[part], source.scores[part])
        source = other if name == LAGGED else one
        assert mixed.facts[f"{LAGGED} gain"] == source.facts[f"{LAGGED} gain"]
        assert mixed.stability is source.stability
