"""The verdict: how many edges are supported, in numbers and in words."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import Network, Rules
from grn_tvcs.network.verdict import Verdict, about, verdict_of

CHANCES = np.array([0.9, 0.6, 0.5, 0.4999, 0.99, 0.0])
SCORES = np.array([5.0, 4.0, 3.0, 2.0, 0.0, 1.0])


def test_supported_are_the_edges_with_a_score_that_are_as_likely_true_as_not():
    verdict = verdict_of(CHANCES, SCORES, Verdict(more=(2, 7)))
    assert (verdict.n_edges, verdict.n_scored, verdict.more) == (3, 5, (2, 7))
    assert verdict.expected_true == pytest.approx(0.9 + 0.6 + 0.5)
    assert verdict.false_discovery == pytest.approx(1 - 2.0 / 3)
    facts = verdict.facts()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["more"] == {"series": 2, "n_edges": 7}


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (
            Verdict(35, 29.2, 870, (2, 61)),
            "This experiment supports about 35 edges (of which about 29 should be true); two more "
            "series would support about 61.",
        ),
        (
            Verdict(134, 101.7, 9900),
            "This experiment supports about 130 edges (of which about 100 should be true).",
        ),
        (
            Verdict(7, 5.4, 90, (1, 9)),
            "This experiment supports 7 edges (of which 5 should be true); one more series would "
            "support 9.",
        ),
        (
            Verdict(7, 5.4, 90, (1, 9), remedy="Knock it out.", hub="lexA"),
            "This experiment supports 7 edges (of which 5 should be true if lexA drives its "
            "targets); one more series would support 9. Knock it out.",
        ),
        (Verdict(1, 0.62, 90), "This experiment supports 1 edge, with a chance of 62%."),
        (
            Verdict(0, 0.0, 90, (20, 4)),
            "This experiment supports no edge: none of the 90 with a score is as likely true as "
            "false; 20 more series would support 4.",
        ),
        (
            Verdict(0, 0.0, 90, (2, 0)),
            "This experiment supports no edge: none of the 90 with a score is as likely true as "
            "false; two more series would support none either.",
        ),
        (
            Verdict(35, 29.0, 870, (2, 35)),
            "This experiment supports about 35 edges (of which about 29 should be true); two more "
            "series would support as many.",
        ),
        (Verdict(why_not="No probability: the simulator does not describe these data."),
         "No probability: the simulator does not describe these data."),
    ],
)  # fmt: skip
def test_a_verdict_is_put_in_words(verdict, message):
    assert verdict.describe() == message


def test_numbers_are_exact_below_10_and_have_two_digits_above():
    shown = [about(n) for n in (0, 9, 10, 35, 99, 104, 1049, 9900)]
    assert shown == [
        "0", "9", "about 10", "about 35", "about 99", "about 100", "about 1,000", "about 9,900",
    ]  # fmt: skip


def test_why_not_is_all_that_is_recorded_where_nothing_is_known():
    verdict = Verdict(why_not="There is no time.")
    assert not verdict.is_known
    assert verdict.false_discovery is None
    assert verdict.facts() == {"why_not": "There is no time."}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_edges": 3, "n_scored": 2}, "n_edges <= n_scored, found 0.0, 3 and 2"),
        ({"n_edges": 1, "n_scored": 2, "expected_true": 1.5}, "expected_true <= n_edges"),
        ({"n_edges": 1, "n_scored": 2, "expected_true": float("nan")}, "expected_true <= n_edges"),
        ({"more": (0, 3)}, "series >= 1 and edges >= 0"),
    ],
)
def test_a_verdict_that_cannot_be_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Verdict(**given)


def test_a_judged_network_keeps_its_forecast_of_more_series_and_its_verdict_under_caps():
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.1, 1.0, (6, 6))
    np.fill_diagonal(scores, 0.0)
    chances = rng.uniform(size=(6, 6))
    kept = Verdict(more=(2, 20), remedy="Knock it out.", hub="B")
    first = Network.of(tuple("ABCDEF"), scores, confidence=chances, verdict=kept)
    network = first.with_verdict()
    assert np.array_equal(network.confidence, chances.round(6) * (scores > 0))
    assert network.verdict == verdict_of(chances.round(6), scores, first.verdict)
    assert network.with_verdict().verdict == network.verdict
    assert (network.verdict.more, network.verdict.remedy, network.verdict.hub) == (
        (2, 20), "Knock it out.", "B",
    )  # fmt: skip
    assert network.verdict.facts()["hub"] == "B"
    assert network.select_under_caps(Rules(max_edges=3)).verdict is network.verdict
    assert network.select_top(2).select_by_method().verdict is network.verdict


def test_a_verdict_and_its_file_agree_where_rounding_decides():
    scores = 1 - np.eye(2)
    network = Network.of(("A", "B"), scores, confidence=np.full((2, 2), 0.49999999)).with_verdict()
    assert network.verdict.n_edges == 2 == int((network.confidence >= 0.5)[scores > 0].sum())


def test_a_network_without_a_confidence_is_not_judged():
    plain = Network.of(("A", "B"), 1 - np.eye(2))
    assert plain.with_verdict() is plain
    result = replace(plain, verdict=Verdict(why_not="Too few samples."))
    assert result.with_verdict().verdict.why_not == "Too few samples."


def test_a_silent_verdict_says_why_what_helps_and_what_ranks_the_edges():
    verdict = Verdict(why_not="No time.", remedy="Give a time.", ranking="Edges are ranked.")
    assert verdict.describe() == "No time. Give a time. Edges are ranked."
    assert verdict.facts() == {
        "why_not": "No time.", "remedy": "Give a time.", "ranking": "Edges are ranked.",
    }  # fmt: skip
    none = Verdict(0, 0.0, 90, (2, 0), remedy="Knock out.")
    assert none.describe().endswith("two more series would support none either. Knock out.")


def test_a_table_that_looks_like_one_without_an_edge_selects_none():
    why = Verdict(why_not="No time.", remedy="Give a time.", null_probability=0.97)
    assert why.describe() == (
        "No time. Tables without any edge, such as genes that each answer one stimulus, look like "
        "this one (with a probability of 97%), so no edge is selected unless you give "
        "their number. Give a time."
    )
    assert why.facts()["null_probability"] == 0.97
    rules = Rules().with_number(30, why)
    assert (rules.max_edges, rules.chosen_by) == (0, "null")
    assert Rules(max_edges=3).with_number(30, why).max_edges == 3
    some = Verdict(why_not="No time.", null_probability=0.96)
    assert (some.describe(), some.facts()) == ("No time.", {"why_not": "No time."})
    assert Rules().with_number(30, some).max_edges == 3
    assert not Verdict(3, 2.0, 90, null_probability=1.0).is_null  # probabilities stand there
