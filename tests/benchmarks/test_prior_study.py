"""The study of prior edges: its lists are as wrong as they say, its table puts the worst first."""

import numpy as np
import pytest

from benchmarks.networks.priors import FAULTS, Row, draw_prior, judged, table
from grn_tvcs import Expression
from grn_tvcs.simulation.kinds import draw_topology


@pytest.mark.parametrize("fault", FAULTS)
def test_a_list_is_as_wrong_as_it_says(fault):
    rng = np.random.default_rng(0)
    truth = draw_topology("flat", 40, rng)
    is_edge = truth.selected
    half = is_edge.sum() // 2
    for wrong in FAULTS[fault]:
        listed = draw_prior(truth, wrong, fault, rng).weights > 0
        n_wrong = (listed & ~is_edge).sum()
        assert n_wrong / listed.sum() == pytest.approx(wrong, abs=0.01)
        assert (listed & is_edge).sum() == (0 if wrong == 1 else half)
        if fault == "turned around":
            assert is_edge.T[listed & ~is_edge].all()


def test_every_list_is_inferred_with_and_the_worst_stands_first():
    rng = np.random.default_rng(1)
    truth = draw_topology("hub", 6, rng)
    made = Expression(rng.random((24, 6)), np.tile(np.arange(12.0), 2), ("a",) * 12 + ("b",) * 12,
                      truth.genes)  # fmt: skip
    words = {"resamples": 2, "calibrate": 0}
    rows = list(judged(truth, made, "hub", 0, "combined", words, rng))
    assert [(row.fault, row.wrong) for row in rows] == [
        (fault, wrong) for fault, shares in FAULTS.items() for wrong in shares
    ]
    assert all(row.odds_ratio >= 1 for row in rows)
    gains = [Row(6, kind, 1, "anywhere", 1.0, 3, 0.5, aupr, 2.0)
             for kind, aupr in (("a", 0.6), ("b", 0.3), ("c", 0.5))]  # fmt: skip
    lines = table(gains).splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["b", "c", "a"]
    assert lines[0] == "| 6 | b | anywhere | 100 % | 0.500 | 0.300 | -0.200 | 2.0 |"
