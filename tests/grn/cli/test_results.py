import json

import numpy as np
import pytest

from grn_tvcs import (
    Expression,
    infer,
    read_network,
    read_reference,
    score,
)
from grn_tvcs.network.edge_files import reference_in
from tests.makers.commands import check_done, check_refused, grn_tvcs
from tests.makers.tables import rows_of


@pytest.fixture(scope="module")
def more(small, tmp_path_factory):
    """The true edges, and three that do not count."""
    path = tmp_path_factory.mktemp("more") / "more.tsv"
    text = (small / "goldstandard.tsv").read_text()
    path.write_text(text + f"{text.splitlines()[1]}\nG1\tG1\t?\nG1\tOther\t?\n")
    return path


@pytest.mark.filterwarnings("always:.*left out 1 edge")
@pytest.mark.parametrize("pairs", ["all", "linked"])
def test_a_reference_is_scored_and_uncounted_edges_are_reported(small, more, tmp_path, pairs):
    words = ["infer", small / "timeseries.tsv", "--reference", more, "--pairs", pairs]
    done = check_done(grn_tvcs(*words, "--out", tmp_path / "out", "--option", "resamples=6"))
    rows = rows_of(tmp_path / "out" / "scores.tsv")
    assert [(row["cut"], row["pairs"]) for row in rows] == [("caps", pairs), ("top-n", pairs)]
    network = infer(Expression.of(small / "timeseries.tsv"), resamples=6, rng=0)
    true = read_reference(small / "goldstandard.tsv", network.genes)
    for row in rows:
        found = score(network, true, pairs=pairs, cut=row["cut"])
        assert float(row["AUPR"]) == pytest.approx(found.aupr, rel=1e-5)
        assert float(row["MCC"]) == pytest.approx(found.mcc, rel=1e-4)
        assert int(row["n_pairs"]) == found.n_pairs
        left_out = [row[f"left_out_{kind}"] for kind in ("self_loops", "unknown_genes", "repeats")]
        assert left_out == ["1", "1", "1"]
    assert done.stderr.count("left out 1 edge") == 3
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["left_out_of_reference"]["unknown_genes"] == ["G1 -> Other"]
    assert [given["file"] for given in record["inputs"]] == ["timeseries.tsv", "more.tsv"]
    assert len(record["scores"]) == 2
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Agreement with the reference" in page
    assert "left out 1 edge of a gene on itself: G1" in page
    assert f"--pairs {pairs}" in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\ty\n", "found none; it names x, y; the network has G1, G2"),
        ("g1\tg1\n", "found none; it names g1; the network has G1, G2"),
    ],
)
def test_a_reference_of_other_genes_is_refused_before_the_work(
    small, tmp_path, monkeypatch, text, message
):
    monkeypatch.setattr("grn_tvcs.cli.work.infer", lambda *_, **__: pytest.fail("has begun"))
    (tmp_path / "gold.tsv").write_text(text)
    words = ["infer", small / "timeseries.tsv", "--out", tmp_path / "out"]
    assert message in check_refused(grn_tvcs(*words, "--reference", tmp_path / "gold.tsv"))
    assert not (tmp_path / "out").exists()


def test_without_a_reference_there_are_no_scores(small, tmp_path):
    done = grn_tvcs(
        "infer", small / "timeseries.tsv", "--out", tmp_path / "out", "--option", "resamples=2"
    )
    assert done.exit_code == 0
    assert not (tmp_path / "out" / "scores.tsv").exists()
    assert "--pairs" not in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("method", ["tigress", "aracne"])
def test_what_a_method_selects_itself_is_kept_beside_the_caps(small, tmp_path, method):
    out = tmp_path / "out"
    words = ["infer", small / "timeseries.tsv", "--out", out, "--method", method, "--max-edges", 3]
    check_done(grn_tvcs(*words, "--reference", small / "goldstandard.tsv"))
    rows = {row["cut"]: row for row in rows_of(out / "scores.tsv")}
    network = infer(Expression.of(small / "timeseries.tsv"), method, max_edges=3, rng=0)
    assert network.own is not None
    n_own = int(network.own.sum())
    assert n_own != 3
    assert int(rows["caps"]["n_selected"]) == 3
    assert int(rows["own"]["n_selected"]) == n_own
    scored = grn_tvcs(
        "score", out / "edges.tsv", small / "goldstandard.tsv", "--cut", "own", "--json"
    )
    assert json.loads(scored.stdout)["n_selected"] == n_own
    again = read_network(out / "edges.tsv", network.genes)
    assert np.array_equal(again.own, network.own)
    assert again.select_by_method().n_selected == n_own


def test_methods_that_only_rank_select_nothing_themselves(small):
    network = infer(Expression.of(small / "timeseries.tsv"), "pcc", max_edges=3)
    assert network.own is None
    assert network.select_by_method().n_selected == (network.scores > 0).sum()


def test_a_reference_tells_what_it_left_out_by_reason(more):
    with pytest.warns(UserWarning, match="left out 1 edge") as warned:
        found = reference_in(more, [f"G{i}" for i in range(1, 9)])
    assert {kind: len(names) for kind, names in found.left_out.items()} == {
        "self_loops": 1,
        "unknown_genes": 1,
        "repeats": 1,
    }
    assert len(warned) == 3


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("x.tsv", "Time\tperturbed\tA\n0\t0\t1\n1\t0\t2\n", Expression.of),
        ("x.tsv", "Time\tA\tB\n0\t1\t2\n1\t\t3\n2\t1\t3\n",
         lambda path: Expression.of(path, missing="interpolate")),
        ("x.tsv", "A\tB\nA\tA\n", lambda path: read_reference(path, ["A", "B"])),
        ("x.tsv", "A\tB\t1\nA\tA\t1\n", lambda path: read_network(path, ["A", "B"])),
    ],
)  # fmt: skip
def test_a_warning_points_to_the_line_of_the_user(tmp_path, name, text, read):
    (tmp_path / name).write_text(text)
    with pytest.warns(UserWarning, match=r"never changes|filled|left out") as message:
        read(tmp_path / name)
    assert {warning.filename for warning in message} == {__file__}
