"""The pages of the studies are what their results give; tables are written in one way."""

import importlib
import os
import shutil
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.pages import fill, in_one_cell, standard_error, table
from benchmarks.study import DOCS, RESULTS

STUDIES = {
    "answer_kinds": "benchmarks.answer_kinds.study",
    "campaign": "benchmarks.campaign.study",
    "compare": "benchmarks.two_conditions",
    "confidence": "benchmarks.crowd.confidence",
    "crowd": "benchmarks.crowd.study",
    "history": "benchmarks.speed.history",
    "kinds": "benchmarks.networks.kinds",
    "knockouts": "benchmarks.networks.knockouts",
    "networks": "benchmarks.networks.study",
    "plans": "benchmarks.crowd.plan_claims",
    "projection": "benchmarks.speed.families",
    "real": "benchmarks.real.study",
    "risk": "benchmarks.synthetic.risk",
    "subsets": "benchmarks.synthetic.best_subsets",
    "synthetic": "benchmarks.synthetic.study",
    "without_gold": "benchmarks.without_gold.study",
}


def test_every_folder_of_results_belongs_to_a_study():
    assert {path.name for path in RESULTS.iterdir() if path.is_dir()} == set(STUDIES)


@pytest.mark.parametrize("results", STUDIES)
def test_a_page_is_what_the_results_give(results, tmp_path):
    pytest.importorskip("matplotlib")
    docs = shutil.copytree(DOCS, tmp_path / "docs")
    with patch.dict(os.environ):
        importlib.import_module(STUDIES[results]).write_page(RESULTS / results, docs)
    # The other figures are matplotlib's, and change with its version.
    for path in (*DOCS.rglob("*.md"), DOCS / "figures" / "network-study.svg"):
        assert (docs / path.relative_to(DOCS)).read_bytes() == path.read_bytes(), path.name


def test_a_table_of_plans_says_how_it_was_made_and_goes_into_its_page(
    tmp_path, monkeypatch, capsys
):
    from benchmarks.crowd.plans import table_of_plans

    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table money -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(table_of_plans, "PAGE", page)
    parser = table_of_plans.options("What.\n\nMore.", ratios=(0.1,), methods=["best"])
    args = parser.parse_args(["--tasks", "2000", "--write-docs"])
    table_of_plans.show(args, [("iid", "1")], ("family", "err"), "money", "in turns")
    message = "100 workers x 2,000 tasks, seed 20261121, in turns, time limit 60 s:"
    written = page.read_text(encoding="utf-8")
    assert written.startswith(f"before\n<!-- table money -->\n\n{message}\n\n| family | err |")
    assert "| iid | 1 |" in written
    assert "old" not in written
    assert capsys.readouterr().out.startswith("iid  1\n")


def test_a_table_says_where_its_numbers_are():
    rows = [("a", "1", "x"), ("b", "2", "y")]
    assert table(("name", "n", "of"), rows, words={0, 2}).splitlines() == [
        "| name | n | of |",
        "| --- | ---: | --- |",
        "| a | 1 | x |",
        "| b | 2 | y |",
    ]
    assert table(("name", "n", "of"), rows).splitlines()[1] == "| --- | ---: | ---: |"


def test_a_table_is_put_in_its_place_and_nowhere_else():
    page = "before\n<!-- table a -->\n\nold\n\n<!-- end -->\n<!-- table b -->\nb\n\n<!-- end -->\n"
    filled = fill(page, "a", "new")
    assert filled == page.replace("old", "new")
    assert fill(filled, "a", "new") == filled
    with pytest.raises(ValueError, match="one place for the table c, found 0"):
        fill(page, "c", "new")


def test_figures_of_a_cell():
    values = np.array([0.1, 0.2, 0.4])
    assert standard_error(values) == pytest.approx(np.sqrt(values.var(ddof=1) / 3))
    assert standard_error([0.5]) == 0.0
    assert in_one_cell([0.5, 1.0, 0.09349]) == ".500 / 1.000 / .093"
