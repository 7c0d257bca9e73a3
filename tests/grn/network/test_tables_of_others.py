"""Tables of edges as people bring them: headers of any kind, other names, what is no table."""

import warnings

import pandas as pd
import pytest

from grn_tvcs import read_genes, read_network, read_prior, read_reference
from grn_tvcs.simulation.topology import read_topology
from tvcs_core import DataError

GENES = ("lexA", "recA", "umuD", "sulA")


def read(tmp_path, text, door=read_network):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    return door(path, GENES)


def said(tmp_path, text, door=read_network):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(tmp_path, text, door)
    return " | ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    "text",
    [
        "target,regulator\nrecA,lexA\numuD,lexA\n",
        "target,regulator,score\nrecA,lexA,1\numuD,lexA,1\n",
        "score,TF,target\n1,lexA,recA\n1,lexA,umuD\n",
        ",regulator,target,score\n0,lexA,recA,1\n1,lexA,umuD,1\n",
        "shared name,source,target,interaction,score\nx,lexA,recA,acts,1\ny,lexA,umuD,acts,1\n",
    ],
)
def test_named_columns_of_edges_may_be_in_any_order(tmp_path, text):
    edges = read(tmp_path, text).edges()
    assert {(edge.regulator, edge.target) for edge in edges} == {("lexA", "recA"), ("lexA", "umuD")}


@pytest.mark.parametrize(
    "text",
    [
        "target,regulator\nrecA,lexA\n",
        "target,regulator,sign\nrecA,lexA,-\n",
        "sign,regulator,target\n-,lexA,recA\n",
        "regulator,sign,target\nlexA,-,recA\n",
    ],
)
def test_named_columns_of_true_edges_may_be_in_any_order(tmp_path, text):
    of_reference = read(tmp_path, text, read_reference).edges()
    of_topology = read_topology(tmp_path / "edges.csv").edges()
    for edges in (of_reference, of_topology):
        assert [(edge.regulator, edge.target) for edge in edges] == [("lexA", "recA")]
        assert edges[0].sign == ("-" if "sign" in text else "?")


@pytest.mark.parametrize(
    "text",
    [
        ",regulator,target\n0,lexA,recA\n1,lexA,umuD\n",  # pandas
        '"","regulator","target","sign"\n"1","lexA","recA","+"\n"2","lexA","umuD","+"\n',  # R
    ],
)
def test_numbers_of_rows_are_no_values_of_true_edges(tmp_path, text):
    assert read(tmp_path, text, read_reference).selected.sum() == 2
    assert read_topology(tmp_path / "edges.csv").selected.sum() == 2


def test_edges_are_read_of_a_workbook_of_one_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("target", "regulator", "score"), ("recA", "lexA", 0.9)):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    assert read_network(tmp_path / "x.xlsx", GENES).edges()[0].regulator == "lexA"
    book.create_sheet("more").append(("x", "y"))
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match="has the sheets Sheet, more; keep only the one"):
        read_network(tmp_path / "x.xlsx", GENES)


def test_a_bad_value_is_named_by_its_column_wherever_it_stands(tmp_path):
    with pytest.raises(DataError, match=r"csv:2, column 'sign': must be one of .* found 'up'"):
        read(tmp_path, "sign,regulator,target\nup,lexA,recA\n", read_reference)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lexA,pd,recA\n", "csv:1: the third cell must be a number .*found lexA, pd, recA"),
        ("regulator,TF,target\nlexA,lexA,recA\n", "one column of the regulator, found reg"),
        ("regulator,target,score,score\nlexA,recA,1,2\n", "must have one column 'score'"),
        ("regulator,target,score\nlexA,recA,-1\n", "found '-1'; .* call the column weight"),
        ("<graphml>\n", "csv:1: must be a header or an edge, found XML, such as GraphML"),
        ("#TF,target\nlexA,recA\n", "csv:1: must be a header or an edge, found a comment"),
        ("0,1,.5\n", "must have an edge between two .* found none; it names 0, 1; the network"),
        ("lexA,lexA,1\n", "found none; it names lexA; the network has lexA, recA, umuD, sulA$"),
    ],
)
def test_edges_that_would_be_read_wrongly_are_refused_with_the_remedy(tmp_path, text, found):
    with pytest.raises(DataError, match=found):
        read(tmp_path, text)


@pytest.mark.parametrize("door", [read_network, read_reference, read_prior])
def test_one_rule_finds_a_first_row_that_is_no_edge_at_every_door(tmp_path, door):
    """Its third cell is no number or sign, and that of the row below is one."""

    def found(text):
        given = read(tmp_path, text, door)
        return int(((given.weights if door is read_prior else given.scores) > 0).sum())

    with pytest.warns(UserWarning, match=r"first row is taken for names of columns \(A, of, how\)"):
        assert found("A,of,how\nlexA,recA,1\n") == 1
    assert found("lexA,recA,1\nlexA,umuD,1\n") == 2
    with pytest.raises(DataError, match=r"csv:1[:,]"):  # two genes are an edge at all times
        found("lexA,umuD,how\nlexA,recA,1\n")
    with pytest.raises(DataError, match="first row must name regulator and target, found gene, TF"):
        found("gene,TF,how\nrecA,lexA,1\n")  # not the other way round without a word


def test_a_table_of_expression_is_no_list_of_edges(tmp_path):
    head = "id,symbol," + ",".join(f"s{k}" for k in range(6))
    with pytest.raises(DataError, match="csv:1: must hold edges, but 6 columns of numbers"):
        read(tmp_path, f"{head}\nE1,lexA,1,2,3,4,5,6\n")


def test_comments_above_the_edges_are_skipped_and_lines_still_count_from_the_top(tmp_path):
    edges = read(tmp_path, "# made by\n# a program\nlexA,recA,1\n").edges()
    assert [(e.regulator, e.target) for e in edges] == [("lexA", "recA")]
    with pytest.raises(DataError, match=r"csv:3, column 3: must be"):
        read(tmp_path, "# made by\nlexA,recA,1\nlexA,umuD,up\n", read_reference)


def test_names_that_match_are_not_reported_to_differ_in_capitals(tmp_path):
    with pytest.raises(DataError, match=r"none; it names lexA, recA; .* sulA$"):
        read(tmp_path, "lexA,recA,0\n", read_reference)


@pytest.mark.parametrize("door", [read_network, read_reference])
def test_genes_of_another_case_are_found_and_reported(tmp_path, door):
    found = said(tmp_path, "lexA,recA,1\nLexA,umuD,1\nphoB,umuD,1\n", door)
    assert "4 of 5 names are genes: 3 as written, 1 in another case of letters (LexA is lexA)" in (
        found
    )
    assert "left out 1 edge with a gene that is not in the network: phoB -> umuD" in found


def test_a_header_without_a_score_is_reported(tmp_path):
    found = said(tmp_path, "regulator,target,pvalue\nlexA,recA,.01\nlexA,umuD,.9\n")
    assert "so every edge has the score 1; not read: pvalue" in found
    assert not said(tmp_path, "regulator,target,sign\nlexA,recA,+\n")
    assert not said(tmp_path, "regulator,target\nlexA,recA\n")


def test_signs_of_other_words_are_reported(tmp_path):
    text = "regulator,target,score,sign\nlexA,recA,1,up\nlexA,umuD,1,-\nlexA,sulA,1,\n"
    assert "1 sign counts as ?: up; a sign is + - ?" in said(tmp_path, text)
    assert [edge.sign for edge in read(tmp_path, text.replace("up", "+")).edges()].count("?") == 1


def test_a_remark_behind_a_gene_is_no_part_of_its_name(tmp_path):
    path = tmp_path / "genes.txt"
    path.write_text("# of the literature\nlexA  # SOS\nrecA #\nG#1\n")
    assert read_genes(path) == ["lexA", "recA", "G#1"]


def test_the_heading_of_a_list_is_no_gene(tmp_path):
    path = tmp_path / "genes.txt"
    path.write_text("Gene\nlexA\nrecA\n")
    with pytest.raises(DataError, match=r"genes.txt: .* found the heading 'Gene'; remove it"):
        read_genes(path)


@pytest.mark.filterwarnings("ignore:.*every edge has the score 1")
def test_names_of_edges_of_cytoscape_are_parted_into_genes(tmp_path):
    text = "SUID,interaction,name,selected\n1,activates,lexA (activates) recA,FALSE\n"
    for door in (read_network, read_reference):
        (edge,) = read(tmp_path, text, door).edges()
        assert (edge.regulator, edge.target, edge.sign) == ("lexA", "recA", "+")
    with pytest.raises(DataError, match="the first row must name the columns regulator"):
        read(tmp_path, "SUID,interaction,name\n1,activates,lexA\n")


@pytest.mark.parametrize("name", ["edges.tsv", "edges.tsv.gz"])
def test_a_folder_of_results_names_its_edges(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=f"is a folder of results: give its {name}"):
        read_network(tmp_path, GENES)


def test_an_edge_that_is_listed_with_both_signs_has_none():
    rows = [("A", "B", "+"), ("A", "B", "-"), ("A", "C", "?"), ("A", "C", "-"), ("B", "C", "+")]
    frame = pd.DataFrame(rows, columns=["regulator", "target", "sign"])
    both = pytest.warns(UserWarning, match="1 edge has both signs, so no sign counts: A -> B")
    with pytest.warns(UserWarning, match="left out 2 edges listed before"), both:
        found = read_reference(frame, ("A", "B", "C"))
    assert [(e.regulator, e.target, e.sign) for e in found.edges()] == [
        ("A", "B", "?"), ("A", "C", "-"), ("B", "C", "+")
    ]  # fmt: skip


def test_an_empty_cell_names_no_gene_and_numbers_do():
    frame = pd.DataFrame({"TF": [1, None, 2], "target": [2, 3, 3]}, dtype=object)
    with pytest.warns(UserWarning, match="left out 1 edge with a gene that is not in the network"):
        assert read_network(frame).genes == ("1", "2", "3")
    with pytest.warns(UserWarning, match="left out 1 edge"):
        assert read_reference(frame, [1, 2, 3]).n_selected == 2
