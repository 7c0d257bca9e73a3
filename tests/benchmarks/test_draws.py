"""The study of draws: nothing changes where the same is drawn, and each part is replaced alone."""

import numpy as np
import pytest

from benchmarks import draws as study
from grn_tvcs.combine.parts import LAGGED, RATES, gather_parts
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from tvcs_core.streams import stream

DESIGN = Design(10, 10, 5, 21)


@pytest.mark.parametrize(
    ("one", "other", "changed"),
    [("", "", 0.0), ("ab", "ab", 0.0), ("ab", "bc", 0.5), ("ab", "", 1.0), ("a", "abcd", 0.75)],
)
def test_a_share_is_of_the_larger_set(one, other, changed):
    assert study.share(frozenset(one), frozenset(other)) == changed


def test_the_same_draws_change_nothing_and_others_do(monkeypatch):
    found = study.shares(DESIGN, "hub", 0, 2)
    assert found.shape == (2 + len(study.DRAWN),)
    assert ((found >= 0) & (found <= 1)).all()
    assert found.any()
    monkeypatch.setattr(study, "stream", lambda _, *names: stream(0, *names))
    assert not study.shares(DESIGN, "hub", 0, 2).any()


def test_one_part_alone_is_replaced():
    made = draw_example(DESIGN, "flat", 0)
    one, other = (gather_parts(made.expression, made.rules, stream(k, "x")) for k in (0, 1))
    for name in (LAGGED, RATES):
        mixed = study.with_part(one, other, name)
        for part in one.scores:
            source = other if part == name else one
            assert np.array_equal(mixed.scores[part], source.scores[part])
        source = other if name == LAGGED else one
        assert mixed.facts[f"{LAGGED} gain"] == source.facts[f"{LAGGED} gain"]
        assert mixed.stability is source.stability
