"""The studies of stars and of parts: what is drawn, and what leaving a part out changes."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.real.lagged import VARIANTS as RULES
from benchmarks.real.lagged import replaced
from benchmarks.real.parts import VARIANTS, Record, answer, chance_lines, lines_of_change
from benchmarks.real.stars import HOURS, LAYOUTS, NETWORK, NULL, of_layout
from grn_tvcs.combine.blend.blend import WEIGHTS
from grn_tvcs.combine.calibration import Calibration
from grn_tvcs.stability import draws
from tvcs_core.streams import stream


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_listed_genes_regulate_in_networks_and_nothing_in_nulls(layout):
    made = of_layout(layout, NETWORK, stream(0, "a network"))
    assert (made.is_edge.sum(axis=0) == 2).all()
    assert made.is_edge.any(axis=1).sum() <= layout.listed < layout.genes
    assert made.expression.values.shape == (layout.series * HOURS.size, layout.genes)
    assert not of_layout(layout, NULL, stream(0, "a null")).is_edge.any()


@pytest.fixture
def record(rng):
    """A table inside the domain, with one edge that only the whole combination finds."""
    allowed = ~np.eye(5, dtype=bool)
    is_edge = np.zeros((5, 5), dtype=bool)
    is_edge[0, 1] = True
    whole = np.where(is_edge, 3.0, -3.0)
    logits = {"all parts": whole, "trees": -whole, "nets": whole, "first": whole}
    known = Calibration(0.0, 1.0)
    rankings = {name: rng.random((5, 5)) for name in WEIGHTS}
    return Record(
        "one", ((is_edge, allowed),), allowed, logits, rankings, known,
        -50.0, 5, False, False, False, False,
    )  # fmt: skip


def test_a_part_left_out_changes_what_it_decides_alone(record):
    p, is_chance = answer(record)
    assert is_chance
    assert p[0, 1] == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert VARIANTS["without nets"](record)[0][0, 1] < 0.5
    outside = replace(record, is_coexpressed=True)
    assert not answer(outside)[1]
    assert VARIANTS["without the check of co-expression"](outside)[1]
    assert not VARIANTS["without the check of traits"](outside)[1]
    full = chance_lines([record])[0]
    assert full[:5] == ["all parts", "1 of 1", "1", "1", "1"]


def test_changes_are_counted_by_family_and_the_dearest_part_comes_first():
    found = {"all": {"a": 1.0, "b": 2.0}, "x": {"a": 0.5, "b": 2.01}, "y": {"a": 1.1, "b": 2.0}}
    rows = lines_of_change(found)
    assert [row[0] for row in rows] == ["x", "all", "y"]
    assert rows[0][1:] == ["a -0.50", "b +0.01", "1", "0", "-0.245"]


def test_a_rule_is_back_after_it_was_left_out():
    before = draws.even_halves
    with replaced(RULES["halves not spread"][1]):
        halves = draws.even_halves(6, 4, np.random.default_rng(0))
        assert draws.even_halves is not before
    assert draws.even_halves is before
    assert (halves.sum(axis=1) == 3).all()
