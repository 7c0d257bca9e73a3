"""Networks kept in an AnnData: in place, in a copy and in its file."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Network, infer, tl
from grn_tvcs.network.evidence import NAMES
from tests.makers.commands import check_done, grn_tvcs

anndata = pytest.importorskip("anndata")
GENES = tuple("ABCDEF")
WORDS = {"trees": 10, "rng": 0}


@pytest.fixture
def cells():
    """150 cells along pseudotime, one of them not reached."""
    rng = np.random.default_rng(0)
    time = rng.uniform(0, 1, 150)
    levels = rng.poisson(np.exp(1 + np.sin(6 * time)[:, None] * rng.normal(0, 1, 6)))
    time[3] = np.inf
    obs = pd.DataFrame({"dpt_pseudotime": time}, index=[f"c{i}" for i in range(150)])
    var = pd.DataFrame({"symbol": [gene.lower() for gene in GENES]}, index=list(GENES))
    return anndata.AnnData(levels.astype(float), obs, var)


@pytest.mark.filterwarnings("ignore:.*left out 1", "ignore:.*cells were averaged")
@pytest.mark.parametrize("bins", ["auto", "off", "7"])
def test_python_and_the_command_line_agree_on_cells(cells, tmp_path, bins):
    cells.write_h5ad(tmp_path / "x.h5ad")
    words = ("--time-column", "dpt_pseudotime", "--method", "genie3", "--option", "trees=10")
    out = tmp_path / "out"
    check_done(grn_tvcs("infer", tmp_path / "x.h5ad", *words, "--bins", bins, "--out", out))
    given = int(bins) if bins.isdecimal() else bins
    found = infer(cells, "genie3", time_column="dpt_pseudotime", bins=given, **WORDS)
    n_samples = len(found.provenance.expression.times)
    assert n_samples == {"auto": 12, "off": 149, "7": 7}[bins]
    table = pd.read_csv(out / "edges.tsv", sep="\t", keep_default_na=False)
    pd.testing.assert_frame_equal(found.to_frame(), table, check_dtype=False)


@pytest.mark.filterwarnings("ignore:.*left out 1", "ignore:.*cells were averaged")
def test_infer_writes_in_place_or_in_a_copy(cells, tmp_path):
    words = {"time_column": "dpt_pseudotime", "gene_column": "symbol", **WORDS}
    made = tl.infer(cells, "genie3", copy=True, key_added="net", **words)
    assert not cells.uns
    assert tl.infer(cells, "genie3", key_added="net", **words) is None
    network = infer(cells, "genie3", **words)
    cells.write_h5ad(tmp_path / "x.h5ad")
    for data in (made, cells, anndata.read_h5ad(tmp_path / "x.h5ad")):
        kept = Network.from_anndata(data, "net")
        # Ranks count the edges that are there: of an undirected pair one row is kept, not two.
        of_kept, of_all = (
            [replace(edge, rank=0) for edge in edges]
            for edges in (kept.edges(), network.edges(selected_only=True))
        )
        assert of_kept == of_all
        assert [edge.rank for edge in kept.edges()] == list(range(1, len(of_all) + 1))
        matrix = data.varp[data.uns["net"]["scores_key"]]
        assert matrix.nnz == len(kept.edges()) > 0
        edge = kept.edges()[0]
        at = [GENES.index(name.upper()) for name in (edge.regulator, edge.target)]
        assert matrix[at[0], at[1]] == edge.score


def test_signs_and_confidence_stand_beside_scores_and_are_written_anew():
    scores = np.zeros((3, 3))
    scores[0, 1], scores[2, 0] = 2, 1
    signs = np.zeros((3, 3), np.int8)
    signs[0, 1] = -1
    known = {"confidence": scores / 4, "false_discovery": scores / 4}
    evidence = np.where(scores > 0, NAMES.index("series"), 0)
    network = Network.of(GENES[:3], scores, signs, evidence=evidence, **known)
    data = anndata.AnnData(np.zeros((2, 4)), var=pd.DataFrame(index=["C", "x", "B", "A"]))
    network.to_anndata(data)
    assert data.varp["tvcs_scores"].toarray()[3, 2] == 2  # A regulates B: rows are regulators
    assert data.varp["tvcs_signs"].toarray()[3, 2] == -1
    assert data.varp["tvcs_confidence"].toarray()[0, 3] == 0.25
    Network.of(GENES[:3], scores).to_anndata(data)
    assert set(data.varp) == {"tvcs_scores", "tvcs_signs"}


def test_genes_that_var_does_not_name_are_reported_and_uns_alone_holds_the_network():
    scores = np.zeros((2, 2))
    scores[0, 1] = 1
    network = Network.of(("a", "b"), scores)
    data = anndata.AnnData(np.zeros((2, 2)), var=pd.DataFrame({"s": ["a", "b"]}, index=["A", "B"]))
    match = "uns alone holds the network, for 2 of its 2 genes are not in var_names: a, b; where a"
    with pytest.warns(UserWarning, match=match):
        network.to_anndata(data)
    assert not data.varp
    assert Network.from_anndata(data).edges() == network.edges()
    network.to_anndata(data, gene_column="s")
    assert data.varp["tvcs_scores"].nnz == 1
    with pytest.raises(ValueError, match="var has no column 'symbol'; it has s"):
        network.to_anndata(data, gene_column="symbol")


@pytest.mark.filterwarnings("ignore:.*averaged")
def test_the_page_on_scanpy_runs_from_top_to_bottom():
    page = Path(__file__).parents[3] / "docs" / "how-to" / "scanpy.md"
    blocks = re.findall(r"^```py\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 2
    names = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
    assert names["matrix"].nnz == len(names["edges"]) > 0
