import json

import numpy as np
import pytest

from grn_tvcs import (
    Network,
    Rules,
    read_genes,
    read_network,
    read_reference,
    write_edges,
)
from grn_tvcs.network.pairs import KINDS
from tvcs_core import DataError

GENES = ("B", "A", "NA", "007", "e")
CELLS = [
    ("own", "yes", "0 or 1"), ("undirected", "2", "0 or 1"),
    ("stability", "1.5", "a number from 0 to 1 or empty"),
    ("evidence", "guess", "one of series, knock-out,"),
    *((name, cell, "a number from 0 to 1")
      for name in ("confidence", "false_discovery") for cell in ("1.5", "", "likely")),
]  # fmt: skip


@pytest.fixture
def network():
    rng = np.random.default_rng(1)
    scores = rng.uniform(size=(5, 5)).round(3) * (rng.uniform(size=(5, 5)) < 0.7)
    np.fill_diagonal(scores, 0.0)
    return Network.of(GENES, scores, np.where(scores > 0.5, 1, -1)).select_top(6)


def test_edges_are_sorted_by_rank_and_ties_share_one():
    scores = np.zeros((3, 3))
    scores[0, 1], scores[2, 0], scores[1, 0], scores[1, 2] = 0.5, 0.5, 0.9, 0.1
    edges = Network.of(("b", "c", "a"), scores).edges()
    assert [(e.regulator, e.target, e.rank) for e in edges] == [
        ("c", "b", 1),
        ("a", "b", 2),
        ("b", "c", 2),
        ("c", "a", 4),
    ]


def test_a_frame_has_the_columns_of_edges_tsv(network, tmp_path):
    shape = network.scores.shape
    known = network.replace(stability=np.full(shape, 0.5), evidence=np.ones(shape, np.uint8))
    write_edges(known, tmp_path / "edges.tsv")
    frame = known.to_frame()
    assert list(frame.columns) == (tmp_path / "edges.tsv").read_text().splitlines()[0].split("\t")
    assert set(frame["evidence"]) == {"series"}
    with pytest.raises(ValueError, match="evidence must be below 128, found 128"):
        network.replace(evidence=np.full(shape, 128))


@pytest.mark.parametrize("rules", [Rules(1), Rules(2, 2), Rules(None, 1, 3), Rules(max_edges=0)])
def test_within_keeps_every_cap_and_the_scores(network, rules):
    cut = network.select_under_caps(rules)
    assert np.array_equal(cut.scores, network.scores)
    if rules.max_in_degree is not None:
        assert cut.in_degrees.max() <= rules.max_in_degree
    if rules.max_out_degree is not None:
        assert cut.out_degrees.max() <= rules.max_out_degree
    if rules.max_edges is not None:
        assert cut.selected.sum() <= rules.max_edges


def test_within_a_total_is_the_top(network):
    assert np.array_equal(
        network.select_under_caps(Rules(max_edges=4)).selected, network.select_top(4).selected
    )


def test_within_keeps_the_largest_sum_of_scores():
    scores = np.array([[0, 5.0, 4.0], [0, 0, 3.0], [0, 0, 0]])
    cut = Network.of(("a", "b", "c"), scores).select_under_caps(Rules(1, 1))
    assert cut.scores[cut.selected].sum() == 8  # a -> b and b -> c; greedy by rank does the same
    scores[0, 2] = 8.5
    cut = Network.of(("a", "b", "c"), scores).select_under_caps(Rules(1, 1))
    assert cut.scores[cut.selected].sum() == 8.5


def test_two_edges_that_add_up_to_more_are_kept_rather_than_the_surest():
    scores = np.array([[0, 6.0, 4.0], [0, 0, 0], [0, 4.0, 0]])
    cut = Network.of(("a", "b", "c"), scores).select_under_caps(Rules(1, 1))
    assert [(e.regulator, e.target) for e in cut.edges(selected_only=True)] == [
        ("a", "c"),
        ("c", "b"),
    ]


def test_a_gene_without_a_cap_of_its_own_may_regulate_all_others():
    genes = tuple(f"G{i}" for i in range(12))
    scores = np.zeros((12, 12))
    scores[0, 1:] = 1.0
    scores[1, 2:] = 0.5
    rules = Rules(max_out_degree={"G1": 3})
    assert (np.delete(rules.out_caps(genes), 1) >= 11).all()
    assert rules.out_caps(genes)[1] == 3
    assert Network.of(genes, scores).select_under_caps(rules).out_degrees[:2].tolist() == [11, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_in_degree": -1}, "max_in_degree must be >= 0, found -1"),
        ({"max_edges": 1.5}, "max_edges must be an integer"),
        ({"max_out_degree": True}, "max_out_degree must be an integer"),
    ],
)
def test_rules_refuse_bad_caps(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Rules(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.eye(2)}, "itself"),
        ({"scores": -1 + np.eye(2)}, ">= 0"),
        ({"genes": ("A", "A")}, "different"),
        ({"selected": np.ones((2, 2), bool)}, "selected"),
        *(({name: np.zeros((3, 3))}, f"{name} must have the shape") for name in KINDS),
        ({"scores": None}, "scores must have the shape"),
    ],
)
def test_a_network_refuses_what_does_not_hold(change, message):
    with pytest.raises(ValueError, match=message):
        Network.of(**({"genes": ("A", "B"), "scores": 1 - np.eye(2)} | change))


@pytest.mark.parametrize(
    ("text", "n_edges"),
    [
        ("A\tB\nB\te\n", 2),
        ("A\tB\t1\nB\te\t0\n", 1),
        ("A,B,+\nB,e,-\nA,e,?\n", 3),
        ("regulator\ttarget\tsign\nA\tB\t+\n", 1),
        ("Source\tTarget\nA\tB\n", 1),
    ],
)
def test_references_with_and_without_header_are_read(tmp_path, text, n_edges):
    path = tmp_path / "gold.tsv"
    path.write_text(text)
    assert read_reference(path, GENES).selected.sum() == n_edges


def test_omitted_parts_of_a_reference_are_reported(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("A\tB\nA\tA\nA\tzz\nA\tB\n")
    with pytest.warns(UserWarning, match="left out 1 edge") as message:
        assert read_reference(path, GENES).selected.sum() == 1
    text = " ".join(str(w.message) for w in message)
    assert "on itself: A" in text
    assert "not in the network: A -> zz" in text
    assert "before: A -> B" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tB\t1\nB\te\t2\n", "gold.tsv:2, column 3: must be one of .* leave out the column"),
        ("TF\ttarget\timportance\nA\tB\t21.4\n", "found '21.4'; scores do not belong here"),
        ("A\tB\t1\t4\n", "2 or 3 columns"),
        ("x\ty\n", "must have an edge between two different genes of the network.*x, y.*B, A, NA"),
        ("A\tB\t0\n", "must have an edge"),
        ("A\tB\t0\nA\tB\t1\n", "must have an edge"),  # the first row of a pair counts
    ],
)
def test_bad_references_are_refused(tmp_path, text, message):
    path = tmp_path / "gold.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_reference(path, GENES)


def test_the_remedy_for_a_bad_reference_reads_it(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("protein1\tprotein2\tx\nA\tB\t1\n")
    with pytest.raises(DataError, match=r"found 'x'; .* call them regulator, target and sign"):
        read_reference(path, ("protein1", "protein2", *GENES))  # where the file names the genes
    for text in ("TF\ttarget\nA\tB\n", "regulator\ttarget\tsign\nA\tB\t1\n"):
        path.write_text(text)
        assert read_reference(path, GENES).selected.sum() == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\n", "must have the columns"),
        ("regulator\ttarget\tscore\tselected\nA\tB\t1\tyes\n", "'selected': must be 0 or 1"),
        (
            "TF\ttarget\timportance\nA\tB\t1\nB\tA\t-2.5\n",
            "edges.tsv:3, column 'importance': a score must be >= 0, found '-2.5'",
        ),
        *(
            (
                f"regulator\ttarget\tscore\tselected\t{column}\nA\tB\t1\t1\t{cell}\n",
                f"edges.tsv:2, column '{column}': must be {message}",
            )
            for column, cell, message in CELLS
        ),
    ],
)
def test_bad_edges_are_refused(tmp_path, text, message):
    path = tmp_path / "edges.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_network(path, GENES)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gold.txt", "A B\nB e\n", r"gold.txt:1: must have a tab, .* spaces in .A B.; put"),
        ("gold.txt", "\nA B +\n", r"gold.txt:2: must have a tab, comma or semicolon"),
        ("gold.txt", "A\tactivates\tB\n", r"SIF, .* \('A activates B'\) and no scores; give"),
        ("gold.txt", "A represses B\n", r"gold.txt:1: is SIF"),
        ("gold.sif", "A pp B e\n", r"gold.sif:1: is SIF"),
        ("gold.sif", "NA\nA\tpd\tB\n", r"gold.sif:1: is SIF"),
    ],
)
def test_spaces_and_sif_are_refused_with_the_remedy(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=message + ".*") as refused:
        read_reference(path, GENES)
    assert "tab" in str(refused.value)
    with pytest.raises(DataError, match=message):
        read_network(path, GENES)


def test_a_list_is_no_sif_for_its_name_or_that_of_a_gene(tmp_path):
    path = tmp_path / "gold.sif"
    path.write_text("A\tB\t+\n")
    assert read_reference(path, GENES).selected.sum() == 1
    path = tmp_path / "gold.tsv"
    path.write_text("A\tactivates\t1\n")
    assert read_reference(path, ["A", "activates"]).selected.sum() == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", "{"),
        ("run.json", "{}"),
        ("genes.txt", "\n"),
        ("genes.txt", "A\nA\n"),
        ("genes.txt", "TF,target\nA,B\n"),
    ],
)
def test_bad_lists_of_genes_are_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match="must"):
        read_genes(tmp_path / name)


@pytest.mark.parametrize("names", [["2,4-D", "3,4-DHBA"], ["gene", "A"]])
def test_names_of_a_record_may_hold_commas_or_be_called_gene(tmp_path, names):
    (tmp_path / "run.json").write_text(json.dumps({"genes": names}))
    assert read_genes(tmp_path / "run.json") == names
