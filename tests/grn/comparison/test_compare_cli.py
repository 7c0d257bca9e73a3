"""The command `grn-tvcs compare`: two tables, one with a column, two finished folders."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from grn_tvcs import infer, subset_genes, write_expression
from grn_tvcs.cli.compare import CompareOptions, _designs
from grn_tvcs.comparison.permutations import MIN_SERIES
from grn_tvcs.network.edge_table import write_edges
from tests.grn.comparison.conftest import GENES
from tests.grn.comparison.test_comparison import table_of_both
from tests.makers.commands import grn_tvcs


def run(*words):
    """Exit code and what is said, in one line for each message."""
    done = grn_tvcs("compare", *words)
    return done.exit_code, done.stderr


def tables(files):
    return files / "wild.tsv", files / "mutant.tsv", "--scale", "log"


def test_two_tables_give_edges_genes_a_report_and_a_record(files):
    out = files / "out"
    code, claimed = run(*tables(files), "--fdr", "0.3", "--out", out)
    assert code == 0, claimed
    assert "1 edge differs: 1 gained" in claimed
    assert {path.name for path in out.iterdir()} == {
        "differences.tsv", "genes.tsv", "report.html", "run.json",
    }  # fmt: skip
    first = (out / "differences.tsv").read_text().splitlines()[1].split("\t")
    assert first[:5] == ["1", "G1", "G7", "gained", "1"]
    record = json.loads((out / "run.json").read_text())
    assert [file["file"] for file in record["inputs"]] == ["wild.tsv", "mutant.tsv"]
    assert record["conditions"] == ["wild", "mutant"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "grn-tvcs compare wild.tsv mutant.tsv --out DIR --fdr 0.3" in page
    code, claimed = run(*tables(files), "--out", out)
    assert code == 2
    assert "give --force" in claimed
    again = files / "again"
    words = ("--fdr", "0.3", "--threads", "2", "--out", again)
    assert run(*tables(files), *words)[0] == 0
    for name in ("differences.tsv", "genes.tsv", "report.html", "run.json"):
        assert (again / name).read_bytes() == (out / name).read_bytes(), name


def test_one_table_with_a_column_gives_the_same(files, conditions):
    both = table_of_both(conditions, files / "both.csv")
    out = files / "out"
    words = ("--condition-column", "state", "--conditions", "wild,mutant", "--scale", "log")
    code, claimed = run(both, *words, "--fdr", "0.3", "--out", out)
    assert code == 0, claimed
    first = (out / "differences.tsv").read_text().splitlines()[1].split("\t")
    assert first[:5] == ["1", "G1", "G7", "gained", "1"]
    assert json.loads((out / "run.json").read_text())["conditions"] == ["wild", "mutant"]


@pytest.fixture
def finished(files, conditions):
    """Two folders as infer leaves them."""
    for name, part in zip(("one", "two"), conditions, strict=True):
        folder = files / name
        folder.mkdir()
        network = infer(part, "pcc", max_edges=4)
        write_edges(network, folder / "edges.tsv")
        record = {
            "command": "grn-tvcs infer",
            "parameters": {"method": "pcc"},
            "versions": {"tvcs": "1"},
            "genes": list(network.genes),
        }
        (folder / "run.json").write_text(json.dumps(record))
    return files


def change(path, **facts):
    """Write other facts into a record."""
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


def test_two_finished_folders_are_not_tested_and_it_says_so(finished):
    out = finished / "out"
    code, claimed = run(finished / "one", finished / "two", "--out", out)
    assert code == 0, claimed
    assert "no false discovery" in claimed
    names = {"differences.tsv", "report.html", "run.json"}
    assert {path.name for path in out.iterdir()} == names
    assert f"open {out / 'report.html'}" in claimed
    header, *rows = [
        line.split("\t") for line in (out / "differences.tsv").read_text().splitlines()
    ]
    assert header[:3] == ["regulator", "target", "kind"]
    selected = [
        {
            tuple(line.split("\t")[:2])
            for line in (finished / name / "edges.tsv").read_text().splitlines()[1:]
            if line.split("\t")[5] == "1"
        }
        for name in ("one", "two")
    ]
    one, two = selected
    found = {tuple(row[:2]): row[2] for row in rows}
    assert set(found) == one | two
    assert {pair for pair, kind in found.items() if kind == "gained"} == two - one
    assert {pair for pair, kind in found.items() if kind == "lost"} == one - two
    record = json.loads((out / "run.json").read_text())
    assert [file["file"] for file in record["inputs"]] == ["run.json", "run.json"]


def test_the_report_of_two_finished_folders_draws_every_edge_without_probabilities(finished):
    code, claimed = run(finished / "one", finished / "two", "--out", finished / "out")
    assert code == 0, claimed
    rows = [
        line.split("\t")
        for line in (finished / "out" / "differences.tsv").read_text().splitlines()[1:]
    ]
    page = (finished / "out" / "report.html").read_text()
    result = [
        f"{regulator} to {target}: {kind}, score {a} in one and {b} in two"
        for regulator, target, kind, _, _, a, b, *_ in rows
    ]
    assert rows
    assert [page.count(f"<title>{words}</title>") for words in result] == [1] * len(rows)
    assert page.count("<line class=") == len(rows)
    kinds = ", ".join(
        f"{sum(row[2] == kind for row in rows)} {kind}"
        for kind in ("gained", "lost", "reversed", "unchanged")
    )
    assert f"{kinds} of {len(rows)} edges" in page
    assert "these differences are not tested" in page
    assert "probability 0." not in page
    assert "grn-tvcs compare one two --out DIR" in page


def test_the_report_names_the_folder_that_one_stands_in(finished, monkeypatch):
    monkeypatch.chdir(finished / "one")
    code, claimed = run(".", "../two", "--out", finished / "out")
    assert code == 0, claimed
    page = (finished / "out" / "report.html").read_text()
    assert "grn-tvcs compare one two --out DIR" in page


def test_finished_folders_are_called_by_the_names_given(finished):
    words = (finished / "one", finished / "two", "--conditions", "wild <type>_b,mutant")
    code, claimed = run(*words, "--out", finished / "out")
    assert code == 0, claimed
    page = (finished / "out" / "report.html").read_text()
    assert "wild &lt;type&gt;_b and mutant: comparison of two finished" in page
    assert "<th>score in wild &lt;type&gt;_b</th><th>score in mutant</th>" in page
    record = json.loads((finished / "out" / "run.json").read_text())
    assert record["parameters"] == {"conditions": "wild <type>_b,mutant"}
    code, claimed = run(finished / "one", finished / "one", "--out", finished / "again")
    assert code == 0, claimed
    assert (
        "the first and the second: comparison of two"
        in (finished / "again" / "report.html").read_text()
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"parameters": {"method": "clr"}}, "same method .* found clr and there pcc; infer both"),
        ({"versions": {"tvcs": "2"}}, "same version of tvcs .* found 2 and there 1; infer both"),
        ({"genes": ["G1", "G2"]}, "at least half of the genes .* found 2 of 2"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_finished_folders_that_are_not_alike_are_refused(finished, facts, message):
    change(finished / "two" / "run.json", **facts)
    code, claimed = run(finished / "one", finished / "two", "--out", finished / "out")
    assert code == 2
    assert re.search(message, claimed), claimed
    assert not (finished / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--scale", "log"), "--scale is for tables; finished folders have their edges already"),
        (("--fdr", ".1"), "--fdr is for tables"),
        (("--regulators", "one/edges.tsv"), "--regulators is for tables"),
        (("--ignore", "G1"), "--ignore is for tables"),
        (("--genes", "one/edges.tsv"), "--genes is for tables"),
        (("--top-variable", "3"), "--top-variable is for tables"),
        (("--out", "two", "--force"), "--out must be another folder than the two, found two"),
    ],
)
def test_of_finished_folders_no_option_is_left_unheeded(finished, monkeypatch, words, message):
    monkeypatch.chdir(finished)
    record = (finished / "two" / "run.json").read_bytes()
    code, claimed = run("one", "two", "--out", "out", *words)
    assert (code, message in claimed) == (2, True), claimed
    assert not (finished / "out").exists()
    assert (finished / "two" / "run.json").read_bytes() == record


def test_the_column_may_stand_in_a_sheet_of_samples(files):
    """An error of the column names the sheet, its line and the column there."""
    (files / "levels.tsv").write_text("sample\tA\tB\ns1\t1\t2\ns2\t2\t1\n", encoding="utf-8")
    sheet = files / "sheet.csv"
    sheet.write_text("sample,time,state\ns1,0,wild\ns2,1,\n", encoding="utf-8")
    words = ("--samples", sheet, "--condition-column", "state", "--out", files / "out")
    code, claimed = run(files / "levels.tsv", *words)
    assert (code, f"{sheet}:3, column 'state': every sample needs a condition" in claimed) == (
        2,
        True,
    )
    sheet.write_text("sample,time,state\ns1,0,wild\ns2,1,mutant\n", encoding="utf-8")
    code, claimed = run(files / "levels.tsv", *words)
    assert (code, "series must have at least 2 time points" in claimed) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("wild.tsv",), "give the table of the second condition too, or --condition-column"),
        (("wild.tsv", "mutant.tsv", "--condition-column", "x"), "not both"),
        (("wild.tsv", "."), "finished folders, but . is a folder and wild.tsv a file"),
        ((".", "nowhere"), "but . is a folder and nowhere not there"),
        ((".", "--condition-column", "x"), "a finished folder has no column of conditions"),
        (("wild.tsv", "wild.tsv"), "give two different tables"),
        (("wild.tsv", "mutant.tsv", "--conditions", "a"), "two different names with a comma"),
        (("wild.tsv", "mutant.tsv", "--conditions", "a,b,c"), "must be two different names"),
        (("wild.tsv", "--condition-column", "x", "--conditions", "a"), "two or more different na"),
        (("wild.tsv", "mutant.tsv", "--permutations", "3"), "permutations must be >= 34, found 3"),
        (("wild.tsv", "mutant.tsv", "--fdr", "2"), "fdr must be above 0"),
        (("wild.tsv", "mutant.tsv", "--seed", "-1"), "--seed must be >= 0"),
        (("wild.tsv", "mutant.tsv", "--workers", "0"), "--workers must be >= 1"),
        (("wild.tsv", "--condition-column", "strain"), "no column 'strain' for --condition-column"),
        (
            ("wild.tsv", "--condition-column", "x", "--pseudotime", "wild.tsv"),
            "a table and pseudotimes for each condition",
        ),
        (("wild.tsv", "one.tsv"), "one has 1; 4 per condition are needed to find anything"),
        (("wild.tsv", "nowhere.tsv"), "nowhere.tsv: No such file"),
        (("wild.tsv", "mutant.tsv", "--top-variable", "1"), "--top-variable must be >= 2, found 1"),
        (("wild.tsv", "mutant.tsv", "--genes", "strange.txt"), "must name at least 2 genes of the"),
    ],
)
def test_what_cannot_be_done_is_one_line_that_names_the_remedy(
    files, conditions, monkeypatch, words, message
):
    monkeypatch.chdir(files)
    (files / "strange.txt").write_text("p\nq\n")
    b = conditions[1]
    write_expression(b.part([name == "01" for name in b.series]), files / "one.tsv")
    code, claimed = run(*words, "--scale", "log", "--out", "out")
    assert code == 2
    assert message in claimed.splitlines()[-1]
    assert claimed.splitlines()[-1].startswith("error: ")
    assert not (files / "out").exists()


def test_an_undirected_edge_of_two_finished_folders_is_unchanged_whichever_way_it_stands(tmp_path):
    from grn_tvcs import Network, Rules
    from grn_tvcs.comparison.finished import compare_edges, read_finished

    undirected = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], bool)
    runs = []
    for name, up in (("one", 3.0), ("two", 1.0)):
        scores = np.array([[0, up, 1.5], [2, 0, 0], [0, 0, 0]])
        network = Network.of(("A", "B", "C"), scores, undirected=undirected)
        network = network.select_under_caps(Rules(max_edges=1))
        (tmp_path / name).mkdir()
        write_edges(network, tmp_path / name / "edges.tsv")
        record = {"command": "grn-tvcs infer", "genes": ["A", "B", "C"]}
        (tmp_path / name / "run.json").write_text(json.dumps(record))
        runs.append(read_finished(tmp_path / name))
    [row] = compare_edges(*runs)[1]
    assert row[:3] == ["A", "B", "unchanged"]
    assert row[5:7] == ["3", "2"]


def test_genes_of_a_list_and_the_most_variable_are_compared(files, conditions):
    (files / "genes.txt").write_text("".join(f"G{k}\n" for k in (1, 2, 5, 7, 8)))
    words = ("--fdr", "0.3", "--genes", files / "genes.txt", "--out", files / "out")
    code, claimed = run(*tables(files), *words)
    assert code == 0, claimed
    assert "5 of 8 genes are used: 5 that genes.txt names; left out: G3, G4, G6" in claimed
    record = json.loads((files / "out" / "run.json").read_text())
    assert record["genes"] == ["G1", "G2", "G5", "G7", "G8"]
    assert record["parameters"]["genes"] == "genes.txt"
    assert [file["file"] for file in record["inputs"]] == ["wild.tsv", "mutant.tsv", "genes.txt"]
    by_hand = [subset_genes(part, record["genes"]) for part in conditions]
    for name, part in zip(("w", "m"), by_hand, strict=True):
        write_expression(part, files / f"{name}.tsv")
    named = ("--conditions", "wild,mutant", "--fdr", "0.3", "--scale", "log")
    code, claimed = run(files / "w.tsv", files / "m.tsv", *named, "--out", files / "hand")
    assert code == 0, claimed
    for name in ("differences.tsv", "genes.tsv"):
        assert (files / "hand" / name).read_bytes() == (files / "out" / name).read_bytes()


def test_the_most_variable_genes_are_those_of_all_conditions_and_regulators_stay(files, conditions):
    (files / "tfs.txt").write_text("G8\n")
    words = ("--top-variable", 2, "--regulators", files / "tfs.txt", "--out", files / "out")
    code, claimed = run(*tables(files), *words)
    assert code == 0, claimed
    spread = np.concatenate([part.values for part in conditions]).var(axis=0)
    top = {GENES[k] for k in np.argsort(-spread)[:2]}
    assert set(json.loads((files / "out" / "run.json").read_text())["genes"]) == top | {"G8"}
    assert "--top-variable 2" in (files / "out" / "report.html").read_text()


@pytest.mark.parametrize("is_two", [False, True])
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, ()), ("a,b", ("a", "b")), (" a , b ", ("a", "b")), ("a,b,c", ("a", "b", "c")),
        ("a", None), ("", None), ("a,", None), ("a,a", None), ("a,b,a", None), ("a,b,", None),
    ],
)  # fmt: skip
def test_conditions_have_different_names_as_many_as_there_are(text, names, is_two):
    given = SimpleNamespace(conditions=text, b="b.tsv" if is_two else None)
    if names is not None and not (is_two and len(names) > 2):
        assert CompareOptions.wanted.fget(given) == names
        return
    few = "two" if is_two else "two or more"
    with pytest.raises(ValueError, match=f"must be {few} different names .*, found {text!r}"):
        CompareOptions.wanted.fget(given)


def test_the_power_of_pairs_is_reported_where_both_have_series_enough():
    n_series = {"few": MIN_SERIES - 1, "some": MIN_SERIES, "many": 7}
    parts = {name: SimpleNamespace(n_series=n) for name, n in n_series.items()}
    found = _designs(parts, SimpleNamespace(permutations=1000, fdr=0.05))
    assert len(found) == 1
    assert "some" in found[0]
    assert "many" in found[0]
