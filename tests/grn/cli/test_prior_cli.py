"""`--prior`: read before the work, said after it, recorded where it is given."""

import json

import pytest

from grn_tvcs import simulate, write_expression
from tests.makers.commands import check_done, grn_tvcs

FEW = ("--option", "resamples=4", "--calibrate", "off", "--scale", "levels")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of eight genes, and lists of prior edges."""
    made = simulate(8, 5, 9, n_edges=10, rng=3)
    path = tmp_path_factory.mktemp("prior")
    write_expression(made.expression, path / "e.tsv")
    rows = [f"{edge.regulator},{edge.target},1" for edge in made.network.edges()[:6]]
    (path / "p.csv").write_text("\n".join(["TF,target,weight", *rows, "X1,X2,0.5"]))
    return path


def grn(folder, *words, method="combined", out="out"):
    words = ["--out", folder / out, "--method", method, *words, "--force"]
    return grn_tvcs("infer", folder / "e.tsv", *words)


def record(folder, out):
    return json.loads((folder / out / "run.json").read_text())


@pytest.mark.filterwarnings("default")
def test_prior_edges_are_used_printed_and_recorded(folder):
    done = check_done(grn(folder, "--prior", folder / "p.csv", *FEW, out="with"))
    assert "warning: " in done.stderr
    assert "left out 1 edge with a gene that is not in the table: X1 -> X2" in done.stderr
    assert "6 of 7 prior edges are between genes of the data; " in done.stderr
    result = record(folder, "with")
    assert result["parameters"]["prior"] == "p.csv"
    assert "p.csv" in {one["file"] for one in result["inputs"]}
    assert result["notes"][0].startswith("6 of 7 prior edges")
    assert "6 of 7 prior edges" in (folder / "with" / "report.html").read_text()


def test_a_run_without_prior_edges_has_no_word_of_them(folder):
    assert grn(folder, *FEW, out="without").exit_code == 0
    text = (folder / "without" / "run.json").read_text()
    assert "prior" not in text
    assert "notes" not in record(folder, "without")
