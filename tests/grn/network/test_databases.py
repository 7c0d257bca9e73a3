"""Lists of edges as databases publish them, and as people hold them in DataFrames."""

import warnings

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Network, infer, read_network, read_prior, read_reference, score
from grn_tvcs.datasets import network30
from grn_tvcs.network.edge_files import names_in_reference

GENES = ("ABL1", "BAX", "FOS", "MYC", "TP53")
TRRUST = (
    "TP53\tBAX\tActivation\t10022922;12091339\n"
    "MYC\tFOS\tRepression\t7609033\n"
    "ABL1\tBAX\tUnknown\t11753601\n"
    "AATF\tBAX\tRepression\t22909821\n"
)
COLLECTRI = (
    "source,target,weight,resources,references,sign_decision\n"
    "TP53,BAX,1.0,ExTRI;HTRI,10022922;12091339,PMID\n"
    "MYC,FOS,-1.0,ExTRI,7609033,default activation\n"
    "AATF,BAX,-1,TRRUST,22909821,PMID\n"
)
DOROTHEA = "tf,confidence,target,mor\nTP53,A,BAX,1\nMYC,D,FOS,-1\nABL1,E,BAX,1\nAATF,B,BAX,-1\n"
OF_R = (
    '"","tf","confidence","target","mor"\n"1","TP53","A","BAX",1\n"2","MYC","D","FOS",-1\n'
    '"3","ABL1","E","BAX",1\n'
)
OMNIPATH = (
    "source\ttarget\tsource_genesymbol\ttarget_genesymbol\tis_directed\tis_stimulation"
    "\tis_inhibition\n"
    "P04637\tQ07812\tTP53\tBAX\t1\t1\t0\n"
    "P01106\tP01100\tMYC\tFOS\t1\tFALSE\tTRUE\n"
    "P00519\tQ07812\tABL1\tBAX\t1\t1\t1\n"
)
REGULONDB = (
    "# Release: 13.0\n#\n# Columns:\n# 1) regulatorId. Identifier\n1)regulatorId\t2)regulatorName"
    "\t3)RegulatorGeneName\t4)regulatedId\t5)regulatedName\t6)function\t7)confidenceLevel\n"
    "TFC1\tP53\tTP53\tGNC1\tBAX\t+\tS\nTFC2\tMyc\tMYC\tGNC2\tFOS\t-\tC\n"
    "TFC3\tAbl1\tABL1\tGNC1\tBAX\t-+\tW\nTFC4\tAatf\tAATF\tGNC1\tBAX\t+\t?\n"
)
OLD_REGULONDB = (
    "# From RegulonDB\n# (1) Transcription Factor (TF) name\n"
    "TP53\tBAX\t+\t[BPP, GEA]\tStrong\nMYC\tFOS\t-\t[BPP]\tWeak\n"
    "ABL1\tBAX\t+-\t[BPP]\tWeak\nAATF\tBAX\t+\t[BPP]\tWeak\n"
)
BOTH = {("TP53", "BAX"): "+", ("MYC", "FOS"): "-"}
LISTS = {
    "TRRUST": (TRRUST, BOTH | {("ABL1", "BAX"): "?"}),
    "CollecTRI": (COLLECTRI, BOTH),
    "DoRothEA": (DOROTHEA, BOTH | {("ABL1", "BAX"): "+"}),
    "DoRothEA of R": (OF_R, BOTH | {("ABL1", "BAX"): "+"}),
    "RegulonDB": (REGULONDB, BOTH | {("ABL1", "BAX"): "?"}),
    "RegulonDB before 11": (OLD_REGULONDB, BOTH | {("ABL1", "BAX"): "?"}),
    "OmniPath": (OMNIPATH, BOTH | {("ABL1", "BAX"): "?"}),
}


@pytest.fixture
def path(tmp_path, request):
    (tmp_path / "list.txt").write_text(LISTS[request.param][0])
    return tmp_path / "list.txt", request.param


@pytest.mark.parametrize("path", LISTS, indirect=True)
@pytest.mark.filterwarnings("ignore:.*not in the (table|network)")
def test_a_list_of_a_database_is_a_reference_with_its_signs(path):
    file, name = path
    found = read_reference(file, GENES)
    assert {(e.regulator, e.target): e.sign for e in found.edges()} == LISTS[name][1]
    assert "AATF" not in found.genes
    assert set(names_in_reference(file)) - {"AATF"} == {
        gene for pair in LISTS[name][1] for gene in pair
    }


@pytest.mark.parametrize("path", sorted({*LISTS} - {"RegulonDB before 11"}), indirect=True)
@pytest.mark.filterwarnings("ignore:.*not in the (table|network)")
def test_a_list_of_a_database_is_prior_edges_with_its_signs(path):
    file, name = path
    prior = read_prior(file, GENES)
    place = {gene: i for i, gene in enumerate(prior.genes)}
    signs = {"+": 1, "-": -1, "?": 0}
    assert prior.n_edges == len(LISTS[name][1])
    for (a, b), sign in LISTS[name][1].items():
        assert prior.signs[place[a], place[b]] == signs[sign]
    weights = [prior.weights[place[a], place[b]] for a, b in LISTS[name][1]]
    assert weights == ([1, 0.25, 0.2] if "DoRothEA" in name else [1] * len(weights))


@pytest.mark.parametrize("path", ["TRRUST"], indirect=True)
def test_names_of_mouse_genes_are_found_by_case_and_counted(path):
    file, _ = path
    genes = [gene.capitalize() for gene in GENES]
    for door in (read_prior, read_reference):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = door(file, genes)
        assert "Bax" in found.genes
        message = [str(one.message).partition(": ")[2] for one in caught]
        assert message[0] == (
            "5 of 6 names are genes: 5 in another case of letters (TP53 is Tp53, BAX is Bax, MYC "
            "is Myc, ...)"
        )
        assert len(message) == 2  # and AATF


def test_other_levels_of_confidence_are_no_weights(tmp_path):
    (tmp_path / "x.csv").write_text("tf,confidence,target\nTP53,high,BAX\nMYC,low,FOS\n")
    with pytest.warns(UserWarning, match="not read: confidence"):
        assert read_prior(tmp_path / "x.csv", GENES).edges.weights.tolist() == [1.0, 1.0]


def test_a_weight_of_nothing_is_no_edge(tmp_path):
    (tmp_path / "x.csv").write_text(
        "source,target,weight,note\nTP53,BAX,0.5,x\nMYC,FOS,0,x\nFOS,MYC,2,x\n"
    )
    edges = read_reference(tmp_path / "x.csv", GENES).edges()
    assert {(e.regulator, e.target, e.sign) for e in edges} == {
        ("TP53", "BAX", "?"), ("FOS", "MYC", "?"),
    }  # fmt: skip


DATA = network30()
NAMES = DATA.expression.genes
TRUE = pd.DataFrame(
    [(a, b, "+") for a, b in DATA.reference.to_networkx().edges], columns=["TF", "target", "sign"]
)


def same(one: Network, other: Network) -> bool:
    """Whether two networks have the same edges."""
    return one.genes == other.genes and one.edges() == other.edges()


@pytest.mark.parametrize(
    "frame",
    [
        TRUE,
        TRUE[["TF", "target"]],
        TRUE.set_axis(["source", "target", "effect"], axis=1)[["source", "target"]],
        TRUE.set_index("TF"),
        TRUE.iloc[::-1].reset_index(drop=True),
        pd.DataFrame(TRUE[["TF", "target"]].to_numpy()),
    ],
)
def test_true_edges(frame, tmp_path):
    read = read_reference(frame, NAMES)
    has_names = frame.columns.dtype == object
    frame.to_csv(tmp_path / "true.csv", index=frame.index.name is not None, header=has_names)
    assert same(read, read_reference(tmp_path / "true.csv", NAMES))
    assert read.n_selected == DATA.reference.n_selected


def test_scores_of_a_frame_and_of_a_path(tmp_path):
    network = infer(DATA.expression, method="clr", max_edges=60)
    TRUE.to_csv(tmp_path / "true.csv", index=False)
    expected = score(network, read_reference(TRUE, NAMES))
    assert score(network, TRUE) == score(network, tmp_path / "true.csv") == expected
    with pytest.raises(TypeError, match="a DataFrame of edges or a path, found list"):
        score(network, [("G1", "G2")])


def test_ranked_edges_and_prior_edges():
    frame = TRUE[["TF", "target"]].assign(importance=np.linspace(1.0, 0.5, len(TRUE)))
    network = read_network(frame, NAMES)
    assert network.edges()[0].regulator == TRUE["TF"][0]
    prior = read_prior(frame.rename(columns={"importance": "weight"}), NAMES)
    assert (
        np.sort(prior.weights[prior.weights > 0.0])[::-1].tolist() == frame["importance"].tolist()
    )


def test_bad_cells_are_named():
    with pytest.raises(ValueError, match=r"the DataFrame:2, column 'sign': must be one of"):
        read_reference(TRUE.assign(sign=["+", "up?", *TRUE["sign"][2:]]), NAMES)
