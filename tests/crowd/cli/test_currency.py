"""A limit of money in another currency than the costs is refused, by all commands with both."""

from pathlib import Path

import pytest

from tests.makers.commands import run_done, run_refused


@pytest.mark.parametrize("money", ["5 EUR", "€5"])
def test_money_in_another_currency_than_the_costs_is_refused(money, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text("worker,t1,t2\nann,.9,.8\nbob,.6,.7\n")
    Path("w.csv").write_text("worker,cost\nann,2\nbob,$1\n")
    for words in (
        ("assign", "q.csv", "--out", "o"),
        ("campaign", "init", "c.db", "--quality", "q.csv"),
    ):
        err = run_refused(*words, "--workers", "w.csv", "--money", money)
        assert err.splitlines()[-1].startswith("error: w.csv:3, column 'cost': must be in ")
        run_done(*words, "--workers", "w.csv", "--money", "$5")


@pytest.mark.parametrize(
    "words", [("campaign", "review", "c.db", "--value"), ("serve", "c.db", "--label-cost")]
)
def test_an_amount_beside_the_costs_of_a_campaign_has_no_currency(words):
    err = run_refused(*words, "5 EUR")
    assert "the campaign keeps no currency, found '5 EUR'; leave out EUR" in err
