"""Three conditions or more: every pair of them, one correction over all."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from pytest import approx
from scipy import stats

from grn_tvcs import Expression, compare, compare_all, read_conditions, tl
from grn_tvcs.comparison.correction import Correction, false_edges, false_genes, holm
from grn_tvcs.comparison.permutations import ALPHA
from tests.grn.comparison.conftest import COMMON, GENES, MORE, network, series
from tests.makers.commands import check_done, grn_tvcs

NAMES = ("control", "low", "high")


@pytest.fixture(scope="module")
def three():
    """The third has an edge that the others have not."""
    weights = [network(*COMMON), network(*COMMON), network(*COMMON, MORE)]
    made = [series(w, 10, seed, 41) for w, seed in zip(weights, (39, 41, 40), strict=True)]
    return dict(zip(NAMES, made, strict=True))


@pytest.fixture(scope="module")
def found(three):
    return compare_all(three, fdr=0.3, rng=0)


def frame(three):
    """One table of samples of all conditions."""
    parts = [
        pd.DataFrame(part.values, columns=list(GENES)).assign(
            time=part.times, replicate=part.series, condition=name
        )
        for name, part in three.items()
    ]
    made = pd.concat(parts, ignore_index=True)
    made.index = [f"s{i}" for i in range(len(made))]
    return made.rename_axis("sample")


def test_every_pair_is_compared_as_by_itself_and_corrected_for_all(found, three):
    assert [one.names for one in found.pairs] == list(combinations(NAMES, 2))
    alone = [compare(three[a], three[b], names=(a, b), fdr=0.3, rng=0) for a, b in
             combinations(NAMES, 2)]  # fmt: skip
    p = [one.global_p_value for one in alone]
    assert [one.global_p_value for one in found.pairs] == p
    assert [one.corrected_p_value for one in found.pairs] == holm(p)
    assert [one.is_significant for one in found.pairs] == [False, True, True]
    assert found.pairs[0].edges == ()
    pooled = sorted((e.probability for one in found.pairs[1:] for e in one.edges), reverse=True)
    rates = np.cumsum(1 - np.array(pooled)) / np.arange(1, len(pooled) + 1)
    for one in found.pairs[1:]:
        single = [edge for edge in one.edges if pooled.count(edge.probability) == 1]
        at = [pooled.index(edge.probability) for edge in single]
        assert [edge.false_discovery for edge in single] == approx(rates[at].tolist())
        assert len(single) > 3
        assert [(e.regulator, e.target) for e in one.significant][:1] == [("G1", "G7")]
    assert "corrected for 3 pairs" in found.describe()


def test_holm_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.random(5) ** 3
        order = np.argsort(p)
        wanted = np.empty(5)
        for rank, k in enumerate(order):
            wanted[k] = min(1, max((5 - j) * p[order[j]] for j in range(rank + 1)))
        assert holm(p.tolist()) == approx(wanted.tolist())


def test_the_correction_of_lists_is_that_of_the_joined_list():
    rng = np.random.default_rng(1)
    one, two = (np.sort(rng.random(n))[::-1] for n in (30, 40))
    joined = np.sort(np.concatenate([one, two]))[::-1]
    rates = np.cumsum(1 - joined) / np.arange(1, 71)
    assert false_edges(one, two) == approx(rates[np.searchsorted(-joined, -one)])
    assert false_edges(one, np.empty(0)) == approx(np.cumsum(1 - one) / np.arange(1, 31))
    few = np.array([0.1, 0.4, 2.0])
    assert false_genes(few, np.empty(0), 1) == approx([0.1, 0.2, 2 / 3])
    assert false_genes(few, np.array([0.2, 3.0]), 2) == approx([0.2, 0.8 / 3, 1.0])
    assert Correction(0.5).n_tests == 1


def test_where_no_condition_differs_none_is_reported_to():
    """The level is kept over all pairs: of 20 triples few have any pair that differs."""
    weights = network(*COMMON)
    triples = [
        {name: series(weights, 6, 3000 + 3 * k + j, 10) for j, name in enumerate("abc")}
        for k in range(20)
    ]
    some = sum(any(one.is_significant for one in compare_all(t, rng=0).pairs) for t in triples)
    assert some <= stats.binom.isf(0.01, len(triples), ALPHA)


@pytest.mark.filterwarnings("ignore:.* hold the same values")
def test_many_pairs_get_the_permutations_that_they_need(three):
    parts = {f"{name}{k}": part for name, part in three.items() for k in (1, 2)}
    few = {name: part.part(np.isin(part.series, ("01", "02", "03", "04", "05", "06")))
           for name, part in list(parts.items())[:5]}  # fmt: skip
    found = compare_all(few, permutations=40, rng=0)
    assert {one.permutations for one in found.pairs} == {334}  # 10 pairs / .03
    assert all(one.is_testable for one in found.pairs)
    with pytest.raises(ValueError, match="at least two conditions, found 1"):
        compare_all({"a": three["low"]})


@pytest.mark.filterwarnings("default")
def test_the_command_takes_genes_in_rows_with_one_sheet(found, three, tmp_path):
    table = frame(three)
    table[["condition", "replicate", "time"]].to_csv(tmp_path / "sheet.csv")
    table[list(GENES)].T.to_csv(tmp_path / "levels.tsv", sep="\t", index_label="gene_id")
    words = ["levels.tsv", "--genes-in-rows", "--samples", "sheet.csv", "--scale", "log"]
    words = [tmp_path / word if "." in word else word for word in words]
    words += ["--condition-column", "condition", "--fdr", "0.3", "--out", tmp_path / "out"]
    done = check_done(grn_tvcs("compare", *words))
    first, *lines = done.stderr.splitlines()
    assert first == (
        "10 series of control and 10 of low have 200 permutations, so the smallest possible p "
        "value is 0.005, 0.015 corrected for 3 pairs."
    )
    assert sum(line.startswith(("control and ", "low and ")) for line in lines) == 3
    out = tmp_path / "out"
    pages = {"report.html", "pair1.html", "pair2.html", "pair3.html"}
    tables = {"differences.tsv", "genes.tsv", "pairs.tsv"}
    assert {path.name for path in out.iterdir()} == pages | tables | {"run.json"}
    header, rows = found.table()
    assert header[:5] == ["condition_a", "condition_b", "rank", "regulator", "target"]
    body = pd.read_csv(out / "differences.tsv", sep="\t", keep_default_na=False)
    assert list(body.columns) == header
    assert len(body) == len(rows)
    assert (body["false_discovery"] < 0.995).all()
    assert len(found.to_frame()) == len(rows)
    pairs = pd.read_csv(out / "pairs.tsv", sep="\t")
    assert pairs["p_corrected"].tolist() == [one.corrected_p_value for one in found.pairs]
    record = json.loads((out / "run.json").read_text())
    assert [one["conditions"] for one in record["pairs"]] == [
        list(one.names) for one in found.pairs
    ]
    page = (out / "report.html").read_text()
    assert all(f'href="pair{k}.html"' in page for k in (1, 2, 3))
    assert "after Holm" in (out / "pair2.html").read_text()
    two = [*words[:-1], tmp_path / "two", "--conditions", "high,control"]
    assert grn_tvcs("compare", *two).exit_code == 0
    assert not (tmp_path / "two" / "pairs.tsv").exists()
    assert json.loads((tmp_path / "two" / "run.json").read_text())["conditions"] == [
        "high", "control",
    ]  # fmt: skip


@pytest.fixture
def cells(three):
    """Three cells of every sample, whose donors are not called replicates."""
    anndata = pytest.importorskip("anndata")
    table = frame({name: three[name] for name in ("control", "high")})
    table["donor_id"] = table.pop("replicate")
    rows = np.repeat(np.arange(len(table)), 3)
    noise = np.tile([-0.01, 0.0, 0.01], len(table))
    levels = table[list(GENES)].to_numpy()[rows] + noise[:, None]
    obs = table.drop(columns=list(GENES)).iloc[rows]
    obs.index = [f"c{i}" for i in range(len(obs))]
    return anndata.AnnData(levels, obs, pd.DataFrame(index=list(GENES)))


@pytest.mark.filterwarnings("ignore:.*averaged")
@pytest.mark.parametrize("door", ["memory", "file"])
def test_cells_are_averaged_by_donor(cells, three, tmp_path, door):
    if door == "file":
        pytest.importorskip("h5py")
        cells.write_h5ad(tmp_path / "x.h5ad")
    source = cells if door == "memory" else tmp_path / "x.h5ad"
    with pytest.raises(ValueError, match=r"control has 1; if donor_id tells .* series_column=.do"):
        read_conditions(source, "condition")
    parts = read_conditions(source, "condition", series_column="donor_id")
    for name, part in parts.items():
        assert part.series == three[name].series
        assert part.values == approx(three[name].values, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*averaged")
def test_a_tool_keeps_the_differences_in_an_anndata(cells, tmp_path):
    words = {"series_column": "donor_id", "scale": "log", "rng": 0, "fdr": 0.3}
    made = tl.compare(cells, "condition", copy=True, **words)
    assert not cells.uns
    assert tl.compare(cells, "condition", **words) is None
    cells.write_h5ad(tmp_path / "x.h5ad")
    for kept in (made.uns["tvcs_compare"], cells.uns["tvcs_compare"]):
        first = kept["differences"].iloc[0]
        assert first[["condition_a", "regulator", "target"]].tolist() == ["control", "G1", "G7"]
        assert len(kept["genes"]) == 8
        assert kept["genes"].set_index("gene").loc["G7", "false_discovery"] < 0.1
        assert kept["summary"][0].startswith("1 edge differs")


def test_samples_without_a_time_are_refused_with_what_to_do(cells):
    del cells.obs["time"]
    parts = read_conditions(cells, "condition")
    with pytest.raises(ValueError, match="no sample of control has a time; infer a network of"):
        compare(*parts.values(), names=tuple(parts))


@pytest.mark.filterwarnings("default")
def test_cells_along_time_are_averaged_in_bins_as_on_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    tables = []
    for name in ("a", "b"):
        time = np.tile(np.sort(rng.random(130)), 2)
        levels = rng.normal(size=(260, 4)) + np.sin(6 * time)[:, None]
        table = pd.DataFrame(levels, columns=list("ABCD"))
        tables.append(table.assign(Time=time, series=np.repeat(["1", "2"], 130)))
        tables[-1].to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in ("a", "b")]
    with pytest.warns(UserWarning, match="260 cells were averaged to 22 samples"):
        found = compare(*(Expression.of(file) for file in files), names=("a", "b"), rng=0)
    check_done(grn_tvcs("compare", *files, "--out", tmp_path / "o"))
    genes = pd.read_csv(tmp_path / "o" / "genes.tsv", sep="\t", dtype=str).to_numpy().tolist()
    assert genes == found.gene_table()[1]
    with pytest.raises(ValueError, match="bins must be auto or an integer >= 2, found 1"):
        compare(*(Expression.of(file) for file in files), bins=1)
