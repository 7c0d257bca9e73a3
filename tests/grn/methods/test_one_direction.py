"""Tables of one common stimulus: no chance is given, the table is ranked, and every output says so.

`one_stimulus.tsv` has no edge at all: 30 genes of which some answer a transient stimulus, each by
itself, in three conditions at seven uneven times; logarithms of means of replicates. With the list
G00 to G09 as regulators 19 edges were once supported, of which 11 should have been true.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grn_tvcs import Expression, infer
from grn_tvcs.combine.blend.blend import WEIGHTS, used_rankings
from grn_tvcs.combine.blend.texts import blend_sentence
from grn_tvcs.combine.coexpression import Coexpression
from grn_tvcs.combine.direction import shared_direction
from grn_tvcs.combine.domain_check import TraitDistribution
from grn_tvcs.expression.steady_states import WILD_TYPE, SteadyStates
from grn_tvcs.network.verdict import NULL, SURELY_NULL
from tests.makers.commands import check_done, grn_tvcs

TABLE = Path(__file__).with_name("one_stimulus.tsv")
LISTED = tuple(f"G{j:02d}" for j in range(10))
FEW = {"resamples": 12, "calibrate": 2}
SENTENCE = "all series move along one direction, as after a common stimulus"


@pytest.fixture(scope="module")
def expression():
    return replace(Expression.of(TABLE), scale="log")


@pytest.fixture(scope="module")
def network(expression):
    return infer(expression, regulators=LISTED, rng=0, **FEW)


def test_a_common_stimulus_gives_no_chance_but_a_ranking(network):
    assert network.confidence is None
    assert SENTENCE in network.verdict.describe()
    assert "cannot show which gene causes it" in network.verdict.describe()
    assert "learned combination" not in network.verdict.describe()
    assert network.verdict.describe().endswith(blend_sentence(used_rankings(WEIGHTS, 0.0)))
    facts = network.verdict.facts()
    null = NULL.format(facts["null_probability"])
    parts = (facts["why_not"], null, facts["remedy"], facts["ranking"])
    assert " ".join(parts) == network.verdict.describe()
    assert "Series under other perturbations, or knock-outs" in facts["remedy"]
    assert (network.scores > 0).sum() > 200


def test_a_table_like_those_without_an_edge_gets_none_selected(network, expression):
    assert network.verdict.null_probability >= SURELY_NULL
    assert network.n_selected == 0
    rules = network.provenance.rules
    assert (rules.max_edges, rules.chosen_by) == (0, "null")
    assert "so no edge is selected" in network.verdict.describe()
    without_list = infer(expression, rng=0, **FEW)
    assert without_list.n_selected == 0
    other = infer(expression, "pcc", regulators=LISTED)  # no verdict
    assert other.n_selected == 3


def test_a_table_without_chances_that_is_not_like_them_keeps_the_top(expression, monkeypatch):
    monkeypatch.setattr("grn_tvcs.methods.combined.null_log_odds", lambda *given: 3.4)  # 0.968
    found = infer(expression, regulators=LISTED, rng=0, **FEW)
    assert SENTENCE in found.verdict.describe()
    assert (found.n_selected, found.provenance.rules.chosen_by) == (3, "few")
    assert "null_probability" not in found.verdict.facts()


def test_no_regulator_has_nearly_all_of_the_top(network):
    top = network.select_top(8)
    assert top.n_selected == 8
    assert top.out_degrees.max() <= 0.6 * top.n_selected


def inside_the_domain(monkeypatch):
    monkeypatch.setattr(TraitDistribution, "relative_distance", lambda *given: 0.0)
    monkeypatch.setattr(Coexpression, "is_excessive", lambda *given: False)


def test_series_that_go_their_own_ways_have_chances(expression, monkeypatch):
    """The same table with the genes of each series in another order."""
    rng, values = np.random.default_rng(3), np.array(expression.values)
    for rows in expression.pieces.values():
        values[rows] = values[rows][:, rng.permutation(30)]
    mixed = replace(expression, values=values)
    assert shared_direction(mixed) < 0.4 < 0.7 < shared_direction(expression)
    inside_the_domain(monkeypatch)
    assert infer(mixed, regulators=LISTED, rng=0, **FEW).confidence is not None
    assert infer(expression, regulators=LISTED, rng=0, **FEW).confidence is None


def test_knock_outs_can_tell_who_causes_what(expression, monkeypatch):
    levels = np.array(expression.values[:1]) + 0.1 * np.random.default_rng(0).normal(size=(11, 30))
    steady = SteadyStates(levels, (WILD_TYPE, *LISTED), np.arange(11) > 0, tuple(expression.genes))
    inside_the_domain(monkeypatch)
    found = infer(expression, regulators=LISTED, steady=steady, rng=0, **FEW)
    assert found.confidence is not None
    assert found.verdict.n_edges == 0  # they move nothing


def test_without_networks_of_the_design_nothing_is_asked(expression):
    found = infer(expression, regulators=LISTED, rng=0, resamples=12, calibrate=0)
    assert "calibrate='off'" in found.verdict.describe()


def test_the_command_says_it_everywhere(network, tmp_path):
    listed = tmp_path / "regulators.txt"
    listed.write_text("\n".join(LISTED))
    words = ["--scale", "log", "--regulators", listed, "--option", "resamples=12"]
    out = tmp_path / "out"
    words += ["--calibrate", "2", "--out", out]
    done = check_done(grn_tvcs("infer", TABLE, *words))
    assert SENTENCE in done.stderr
    assert "should be true" not in done.stderr
    record = json.loads((out / "run.json").read_text())
    remedy = record["verdict"].pop("remedy")
    assert "knock-outs of the regulators (--knockouts, --wildtype)" in remedy
    known = network.verdict.facts()
    assert "(read_steady_states(knockouts, wildtype))" in known.pop("remedy")
    assert record["verdict"] == known
    page = (out / "report.html").read_text()
    assert page.count(SENTENCE) == 2  # at the top, and in the methods to paste
    head, *rows = (out / "edges.tsv").read_text().splitlines()
    assert "confidence" not in head
    assert len(rows) > 200
    assert (record["max_edges_used"], record["max_edges_chosen_by"]) == (0, "null")
    assert "looks like one without any edge. --max-edges N selects N." in done.stderr
    words += ["--force", "--max-edges", "5"]
    done = grn_tvcs("infer", TABLE, *words)
    assert json.loads((out / "run.json").read_text())["selected"] == 5
