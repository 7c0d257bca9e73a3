"""The paragraph on methods says what was run, whatever was run, and nothing else."""

import re
import warnings

import numpy as np
import pytest

from grn_tvcs import METHODS, Rules, infer
from grn_tvcs.combine.blend.blend import LEAD, WEIGHTS, used_rankings
from grn_tvcs.combine.blend.texts import blend_sentence
from grn_tvcs.combine.evidence_scores import RATES
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.provenance import Provenance
from grn_tvcs.network.verdict import LEARNED_RANKING
from grn_tvcs.report.methods_text import describe_values, methods_paragraph
from grn_tvcs.report.references import REFERENCES, cited
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example

DESIGNS = {
    "series": Design(8, 8, 3, 8),
    "one series": Design(8, 8, 1, 12),
    "rest": Design(8, 8, 0, 2, n_steady=20),
    "series and rest": Design(8, 8, 3, 8, n_steady=10),
    "cells": Design(8, 8, 2, 8, interval=10.0, cells=8),
    "knock-outs": Design(8, 8, 3, 8, knocked_out=1.0),
    "knock-downs": Design(8, 8, 3, 8, knocked_down=1.0),
    "list": Design(8, 3, 3, 8),
}
QUICK = {"resamples": 4, "trees": 5, "splits": 4, "calibrate": 0}
CITED = re.compile(r"[A-Z][\w-]+(?: and [A-Z][\w-]+| et al\.)?, [12][0-9]{3}")


def run(method, name, seed=1, **caps):
    made = draw_example(DESIGNS[name], "mid", seed)
    known = METHODS[method]
    steady = made.steady if known.takes_steady_states else None
    options = {name: value for name, value in QUICK.items() if name in known.options}
    rules = Rules(regulators=made.rules.regulators, **caps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = infer(
            made.expression, method, regulators=rules.regulators, steady=steady, rng=0,
            **caps, **options,
        )  # fmt: skip
    message = methods_paragraph(
        network,
        Provenance(made.expression, network.provenance.rules, method, seed=0, steady=steady),
    )
    return made, network, message


def able(method, name):
    if name in ("rest",) and METHODS[method].needs_series:
        return False
    return method != "knock-outs" or name.startswith("knock")


CASES = [(method, name) for method in METHODS for name in DESIGNS if able(method, name)]


@pytest.mark.parametrize(("method", "name"), CASES)
def test_every_sentence_is_true_of_what_was_run(method, name):
    made, network, message = run(method, name)
    assert f"(method {method}, seed 0)" in message
    # Probabilities are described only if there are some.
    assert ("score of an edge is the estimated probability" in message) == (
        network.confidence is not None
    )
    assert "at most" not in message  # no cap was given
    assert "honest" not in message
    if not made.expression.series:
        for word in ("lagged", "time series", "rates of change", "regression was", "halves"):
            assert word not in message
        assert "no sample has a time" in message.lower()
    effects = "Steady states were used" in message
    assert effects == (name.startswith("knock") and METHODS[method].takes_steady_states)
    n_known = int(np.count_nonzero(network.signs[network.selected]))
    if n_known:
        assert f"are given for {n_known} of {int(network.selected.sum())} selected edge" in message
    else:
        assert "The data supported no sign of an edge" in message
    assert ("of a given list could regulate" in message) == (name == "list")
    n_edges = int(network.selected.sum())
    assert f"{n_edges} w{'as' if n_edges == 1 else 'ere'} selected by the largest scores" in message
    assert ("on a log scale" in message.split(". ")[1]) == METHODS[method].takes_logs
    assert ("on a log scale" in describe_values(made.expression, method)) == METHODS[
        method
    ].takes_logs
    assert "  " not in message
    assert message.endswith(".")
    # Every citation has its reference.
    assert {text.strip("(") for text in CITED.findall(message)} <= set(REFERENCES)
    assert len(cited(message)) == len(set(CITED.findall(message)))
    assert cited(message)


def test_caps_are_named_where_they_are_given():
    _, _, message = run("lagged-correlation", "series", max_in_degree=1, max_out_degree=2)
    assert "under at most 1 regulator of a gene and 2 targets of a regulator, found by" in message
    assert any(full.startswith("H. Yang") for full in cited(message))


@pytest.mark.parametrize("name", ["series", "rest", "knock-outs", "knock-downs"])
def test_a_steady_table_is_not_described_by_evidence_it_lacks(name, monkeypatch):
    from grn_tvcs.combine.domain_check import TraitDistribution

    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *_: True)
    made, network, message = run("combined", name)
    verdict = network.verdict.describe()
    assert network.confidence is None
    assert "probability that it is true" not in message
    if name.startswith("knock"):
        assert verdict.endswith(LEARNED_RANKING)
        assert "was trained on simulated networks" in message
        assert "effects of knock-outs and knock-downs" in message
    else:
        found = WEIGHTS if made.expression.series else WEIGHTS.keys() - {RATES, LEAD}
        assert verdict.endswith(blend_sentence(used_rankings(found, 1.0)))
        assert "weighted sum of their log ranks" in message
        assert "partial information decomposition (Chan et al., 2017) (weight" in message
        assert ("predict rates of change" in message) == bool(made.expression.series)
        assert ("lagged regression" in message) == bool(made.expression.series)
        assert ("difference of the absolute lagged" in message) == bool(made.expression.series)
    assert "ranked by" not in message  # the description of the method has it


@pytest.mark.parametrize("name", ["series", "cells"])
def test_signs_of_cells_are_beyond_noise(name):
    expression = draw_example(DESIGNS[name], "mid", 1).expression
    network = infer(expression, "pcc", rng=0, max_edges=8)
    network = network.replace(signs=np.ones(network.pairs.shape, np.int8))
    message = methods_paragraph(network, Provenance(expression, Rules(max_edges=8), "pcc", seed=0))
    assert "partial correlation agreed with the method" in message
    assert ("the first beyond noise" in message) == (name == "cells")


def test_a_list_of_prior_edges_is_named_where_it_says_signs():
    made = draw_example(DESIGNS["rest"], "mid", 1)
    n = len(made.expression.genes)
    prior = Prior(made.expression.genes, made.is_edge.astype(float), made.signs)
    network = infer(made.expression, prior=prior, rng=0, calibrate=0, max_edges=n)
    message = methods_paragraph(
        network, Provenance(made.expression, Rules(max_edges=n), "combined", seed=0)
    )
    assert network.signs[network.selected].any()
    assert "the prior edges gave a sign" in message
