"""What a verdict says where there are no edge probabilities."""

from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates, infer
from grn_tvcs.combine.domain_check import TRAITS, TraitDistribution
from grn_tvcs.methods import combined
from grn_tvcs.network import verdict as silence

GENES = tuple("ABCDE")


def walks(n_series):
    rng = np.random.default_rng(0)
    values = np.exp(np.cumsum(rng.normal(0, 0.3, (8 * n_series, 5)), axis=0))
    names = tuple(str(k) for k in range(n_series) for _ in range(8))
    return Expression(values, np.tile(np.arange(8.0), n_series), names, GENES, scale="levels")


REST = replace(
    walks(1), values=np.empty((0, 5)), times=np.empty(0), series=(),
    steady_values=walks(2).values, guessed_from="values up to 3",
)  # fmt: skip
CHANGED = SteadyStates(np.ones((2, 5)), ("", "A"), np.array([False, True]), GENES)


@pytest.mark.parametrize(
    ("why", "data", "steady", "helps"),
    [
        (
            silence.TOO_COEXPRESSED,
            walks(2),
            None,
            "likely regulators (read_steady_states(knockouts",
        ),
        (silence.TOO_COEXPRESSED, walks(2), CHANGED, "Knock-outs of further regulators would"),
        (silence.TOO_COEXPRESSED, REST, None, "Time series of the same genes (a table"),
        (silence.TOO_COEXPRESSED, REST, None, "are not levels, as was guessed, give scale."),
        (silence.ONE_DIRECTION, walks(2), None, "Series under other perturbations, or knock-outs"),
        (silence.NOT_CALIBRATED, walks(2), None, "Without calibrate='off'"),
    ],
)
def test_what_would_help_depends_on_the_reason_and_on_what_is_there(why, data, steady, helps):
    verdict = silence.silent_verdict(why, data, steady, silence.describe_ranking(["trees", "CLR"]))
    assert helps in verdict.remedy
    assert (
        verdict.describe()
        == f"{why} {verdict.remedy} Edges are ranked by the sum of trees and CLR."
    )


@pytest.mark.parametrize(
    ("n_edges", "steady", "helps"),
    [
        ({"A": 4, "B": 3}, None, "Most of the supported edges have one regulator, A. A gene that"),
        ({"A": 4, "B": 3}, CHANGED, ""),  # A was changed
        ({"A": 3, "B": 3}, None, ""),
        ({"A": 2, "B": 0}, None, ""),
        ({"A": 0, "B": 0}, None, "would help most."),
        ({"A": 0, "B": 0}, CHANGED, "Knock-outs of further regulators would help most."),
    ],
)
def test_a_regulator_of_most_edges_may_stand_for_one_that_is_not_measured(n_edges, steady, helps):
    remedy = silence.remedy_of(n_edges, walks(2), steady)
    assert bool(remedy) == bool(helps)
    assert helps in remedy
    assert silence.main_regulator(n_edges, steady) == ("A" if "one regulator" in helps else "")
    total = sum(n_edges.values())
    verdict = silence.Verdict(total, 0.0, 20, remedy=remedy)
    assert verdict.describe().endswith(remedy)


def test_parts_of_a_ranking_are_named_in_one_place():
    assert silence.describe_ranking(["a"]) == "Edges are ranked by the sum of a."
    assert silence.describe_ranking(["a", "b", "c"], "the sum of log ranks") == (
        "Edges are ranked by the sum of log ranks of a, b and c."
    )
    assert set(TRAITS) <= set(silence.TRAITS)


def test_the_trait_that_is_farthest_off_is_named(monkeypatch):
    wrong = dict.fromkeys(TRAITS, np.nan) | {"skewness": -40.0, "kurtosis": 1.0}
    monkeypatch.setattr(combined, "traits", lambda *_: wrong)
    monkeypatch.setattr(TraitDistribution, "is_out_of_domain", lambda *_: True)
    network = infer(walks(4), rng=0, calibrate=0, resamples=4)
    assert "most of all in the skewness of levels (smaller here)" in network.verdict.why_not
    assert network.verdict.ranking.startswith("Edges are ranked by a blend of lagged regression")
