"""`grn-tvcs infer` on some genes, for some targets, and with the top of its edges."""

import json

import pytest

from grn_tvcs import read_network, simulate, write_expression
from tests.makers.commands import check_done, grn_tvcs

FAST = ("--method", "tvcs", "--option", "resamples=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("genes")
    made = simulate(14, 4, 9, n_edges=16, rng=4)
    write_expression(made.expression, folder / "x.tsv")
    edges = [f"{e.regulator}\t{e.target}" for e in made.network.edges()]
    (folder / "true.tsv").write_text("\n".join(edges) + "\n")
    lists = {
        "ten": made.expression.genes[:10], "regulators": ("G3", "G14"), "targets": ("G2", "G5"),
        "odd": ("G1", "G1", "zz", "G2", "G3"), "one": ("G1",), "none": (), "strange": ("p", "q"),
    }  # fmt: skip
    for name, genes in lists.items():
        (folder / f"{name}.txt").write_text("".join(f"{gene}\n" for gene in genes))
    knockouts = ["\t".join(made.expression.genes)]
    knockouts += ["\t".join(["0.5"] * 14)] * 14
    (folder / "knockouts.tsv").write_text("\n".join(knockouts) + "\n")
    return folder


def infer(folder, out, *words):
    words = [str(folder / word) if word.endswith((".txt", ".tsv")) else word for word in words]
    args = ["infer", str(folder / "x.tsv"), "--out", str(out), *FAST, *words]
    return grn_tvcs(*args)


def record_of(out):
    return json.loads((out / "run.json").read_text())


def test_genes_of_a_file_are_used_and_omissions_reported(folder, tmp_path):
    done = check_done(infer(folder, tmp_path / "out", "--genes", "ten.txt"))
    [line] = [line for line in done.stderr.splitlines() if "left out" in line]
    assert line == "10 of 14 genes are used: 10 that ten.txt names; left out: G11, G12, G13, G14"
    record = record_of(tmp_path / "out")
    assert record["genes"] == sorted(record["genes"])
    assert len(record["genes"]) == 10
    assert record["parameters"]["genes"] == "ten.txt"
    assert [given["file"] for given in record["inputs"]] == ["x.tsv", "ten.txt"]
    assert "10 of 14 genes are used" in (tmp_path / "out" / "report.html").read_text()


def test_the_most_variable_are_used_with_regulators_and_targets_that_are_named(folder, tmp_path):
    given = ("--regulators", "regulators.txt", "--targets", "targets.txt")
    check_done(infer(folder, tmp_path / "out", "--top-variable", "3", *given))
    genes = record_of(tmp_path / "out")["genes"]
    assert {"G3", "G14", "G2", "G5"} <= set(genes)
    assert len(genes) <= 7
    rows = (tmp_path / "out" / "edges.tsv").read_text().splitlines()[1:]
    assert {row.split("\t")[1] for row in rows} <= {"G2", "G5"}
    assert {row.split("\t")[0] for row in rows} <= {"G3", "G14"}


def test_more_variable_genes_than_there_are_keep_all(folder, tmp_path):
    done = infer(folder, tmp_path / "out", "--top-variable", "99")
    assert "there are 14 genes, and all are kept" in done.stderr
    assert len(record_of(tmp_path / "out")["genes"]) == 14


def test_names_that_are_no_genes_or_stand_twice_are_reported(folder, tmp_path):
    done = infer(folder, tmp_path / "out", "--genes", "odd.txt")
    assert "1 of 4 names are no genes of the expression file: zz" in done.stderr
    assert "named more than once, counted once: G1" in done.stderr
    assert record_of(tmp_path / "out")["genes"] == ["G1", "G2", "G3"]


def test_names_of_a_table_that_are_no_genes_are_named(folder, tmp_path):
    (folder / "table.txt").write_text("g3\tZn\nYGL035C\tZn\nG5\t\n")
    message = infer(folder, tmp_path / "o", "--regulators", "table.txt").output
    assert "2 of 3 names are genes, in column 1: 1 as written" in message
    assert "; left out: YGL035C" in message
    (folder / "edges.txt").write_text("TF\ttarget\nG3\tG1\nG3\tG2\nG5\tG4\n")
    infer(folder, tmp_path / "p", "--regulators", "edges.txt", "--targets", "edges.txt")
    edges = read_network(tmp_path / "p" / "edges.tsv").edges()
    assert {edge.regulator for edge in edges} <= {"G3", "G5"}
    assert {edge.target for edge in edges} <= {"G1", "G2", "G4"}
    (folder / "edges.txt").write_text("TF\ttarget\nYGL035C\tG1\nYGL036C\tG2\n")
    message = infer(folder, tmp_path / "q", "--regulators", "edges.txt").output
    assert "found none: here stands YGL035C, YGL036C; there" in message


def test_experiments_of_genes_that_are_left_out_go_with_them(folder, tmp_path):
    done = infer(folder, tmp_path / "out", "--genes", "ten.txt", "--knockouts", "knockouts.tsv")
    assert done.exit_code == 0, done.stderr
    assert "G14, with the experiments that changed them" in done.stderr


def test_the_top_is_the_head_of_all_edges_and_the_report_says_so(folder, tmp_path):
    infer(folder, tmp_path / "all", "--max-edges", "9")
    check_done(infer(folder, tmp_path / "top", "--max-edges", "9", "--top", "20"))
    rows = [(tmp_path / name / "edges.tsv").read_text().splitlines() for name in ("all", "top")]
    assert len(rows[1]) < len(rows[0])
    assert rows[1][:21] == rows[0][:21]
    selected = [[row for row in some if row.split("\t")[5] == "1"] for some in rows]
    assert selected[0] == selected[1]
    page = (tmp_path / "top" / "report.html").read_text()
    assert "The 20 top edges and all selected ones are in edges.tsv." in page
    assert "All scored edges are in edges.tsv." in (tmp_path / "all" / "report.html").read_text()


def test_compressed_edges_are_scored_and_converted_as_they_are(folder, tmp_path):
    for name, words in (("plain", ()), ("packed", ("--compress",))):
        assert infer(folder, tmp_path / name, *words).exit_code == 0
    packed = tmp_path / "packed" / "edges.tsv.gz"
    assert not (tmp_path / "packed" / "edges.tsv").exists()
    message = [
        grn_tvcs("score", path, folder / "true.tsv")
        for path in (tmp_path / "plain" / "edges.tsv", packed)
    ]
    assert message[0].exit_code == 0
    assert message[0].stdout == message[1].stdout
    to = tmp_path / "n.sif"
    check_done(grn_tvcs("convert", packed, "--to", "sif", "--out", to))
    assert to.read_bytes() == (tmp_path / "packed" / "network.sif").read_bytes()
    genes = record_of(tmp_path / "packed")["genes"]
    assert read_network(packed, genes).edges()
    assert "edges.tsv.gz" in (tmp_path / "packed" / "report.html").read_text()


def test_the_edges_of_an_earlier_run_do_not_stay_in_another_form(folder, tmp_path):
    for words in ((), ("--compress", "--force"), ("--force",)):
        assert infer(folder, tmp_path / "out", *words).exit_code == 0
        [edges] = (tmp_path / "out").glob("edges.tsv*")
        assert (edges.suffix == ".gz") == ("--compress" in words)
