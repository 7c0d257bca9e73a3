"""Files that AnnData itself writes: layers, raw, names of genes, several series, pseudotime."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from grn_tvcs import Expression
from grn_tvcs.expression.formats.h5ad import _refuse_endless
from grn_tvcs.expression.scales import on_scale
from tests.grn.tables import ways_out
from tvcs_core import DataError

anndata = pytest.importorskip("anndata")
pytest.importorskip("h5py")

OBS = {
    "day": pd.Categorical(["d0", "d2", "d0", "d2", "d0", "d2"]),
    "dpt_pseudotime": [0.0, 0.5, np.inf, 0.25, 0.1, np.nan],
    "donor": pd.Categorical(["a", "a", "b", "b", "b", "b"]),
    "lane": ["1", "1", "1", "1", "2", "2"],
}
X = np.arange(18, dtype=np.float32).reshape(6, 3)


@pytest.fixture
def made():
    names = [f"cell{i}" for i in range(6)]
    obs = pd.DataFrame(OBS, index=names)
    var = pd.DataFrame({"symbol": ["A", "B", "C"], "kind": ["x", "x", "x"]}, ["E1", "E2", "E3"])
    data = anndata.AnnData(X.copy(), obs, var)
    data.layers["counts"] = sparse.csr_matrix(X * 10)
    wide = anndata.AnnData(
        np.hstack([X, X[:, :1]]) + 100,
        obs,
        pd.DataFrame({"symbol": ["A", "B", "C", "D"]}, ["E1", "E2", "E3", "E4"]),
    )
    data.raw = wide
    return data


@pytest.fixture
def path(made, tmp_path):
    made.write_h5ad(tmp_path / "x.h5ad")
    return tmp_path / "x.h5ad"


@pytest.mark.filterwarnings("ignore:the AnnData. averaged")
def test_a_series_of_one_time_is_refused_with_a_remedy(made):
    made.obs["donor"] = ["a", "b", "a", "b", "c", "c"]
    with pytest.raises(DataError, match=r"but series a has 1: leave its samples out, by an empty"):
        Expression.of(made, time_column="day", series_column="donor")


def test_times_with_units_and_several_series_columns(path):
    found = Expression.of(path, time_column="day", series_column=["donor", "lane"])
    assert found.series == ("a/1", "a/1", "b/1", "b/1", "b/2", "b/2")
    assert found.times.tolist() == [0, 2] * 3
    assert found.genes == ("E1", "E2", "E3")
    assert np.array_equal(found.values, X)
    assert found.notes == ("Times are in d, as the file says.",)


def test_layers_raw_and_names_of_genes(path):
    words = {"time_column": "day", "series_column": ["donor", "lane"]}
    counts = Expression.of(path, layer="counts", gene_column="symbol", **words)
    assert counts.genes == ("A", "B", "C")
    assert np.array_equal(counts.values, X * 10)
    with pytest.warns(UserWarning, match="the same numbers stand there under two names"):
        raw = Expression.of(path, layer="raw", gene_column="symbol", **words)
    assert raw.genes == ("A", "B", "C", "D")
    assert np.array_equal(raw.values[:, 3], X[:, 0] + 100)
    assert Expression.of(path, ignore=["E2"], **words).genes == ("E1", "E3")
    assert Expression.of(path, ignore="E2", **words).genes == ("E1", "E3")  # one name alone


def test_cells_that_pseudotime_does_not_reach_are_left_out(path):
    with pytest.warns(UserWarning, match="left out") as message:
        found = Expression.of(path, time_column="dpt_pseudotime", series_column="donor")
    assert [str(w.message).partition(": ")[2] for w in message] == [
        "left out 2 samples without a time in dpt_pseudotime, 1 of them with an infinite one, as "
        "pseudotime is where a cell is not reached"
    ]
    assert found.times.tolist() == [0, 0.5, 0.1, 0.25]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {},
            "obs has no column time, but day, dpt_pseudotime may be one: give time_column='day', "
            "or ignore=.'day', 'dpt_pseudotime'. to take all samples as at rest",
        ),
        ({"time_column": "dya"}, "has no column 'dya' for time_column; did you mean 'day'"),
        ({"time_column": "day", "layer": "count"}, "no layer 'count'; did you mean 'counts'.*raw"),
        ({"time_column": "day", "gene_column": "symbols"}, "var has no column 'symbols'; did you"),
        ({"time_column": "day", "gene_column": "kind"}, "must be different, found twice: x"),
        ({"time_column": "day", "ignore": ["E9"]}, "neither a column of obs nor a gene 'E9'"),
        ({"time_column": "donor"}, "column 'donor': must be a number, found 'a'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*averaged")
def test_what_is_not_there_is_named_with_what_is(words, message, path):
    with pytest.raises(DataError, match=message) as error:
        Expression.of(path, **words)
    assert "x.h5ad" in str(error.value)


@pytest.fixture
def heap(path):
    """Where the texts of a file begin, and its bytes, to be damaged."""
    damaged = bytearray(path.read_bytes())
    return damaged.index(b"GCOL"), damaged


@pytest.mark.parametrize(
    "before", [b"", b"GCOL\1\0\0\0" + bytes([64, *[0] * 7, 1, *[0] * 7]) + b"\xff" * 8]
)
def test_texts_that_never_end_are_refused_before_hdf5_goes_round_for_ever(path, heap, before):
    """Also behind what looks like a heap, with an object that claims to end beyond the file."""
    start, damaged = heap
    first = int.from_bytes(damaged[start + 24 : start + 32], "little")
    free = start + 16 + 16 + -(-first // 8) * 8
    damaged[free : free + 16] = bytes(16)  # object 0, the free space, of no size at all
    unused = damaged.index(bytes(64), 96)
    damaged[unused : unused + len(before)] = before
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=f"the texts at byte {start} never end"):
        _refuse_endless(path)
    if not before:
        with pytest.raises(DataError, match="never end"):
            Expression.of(path, time_column="day")


@pytest.mark.parametrize("length", [2**63, 2**64 - 1])
def test_a_text_longer_than_any_file_is_damage(path, heap, length):
    start, damaged = heap
    damaged[start + 24 : start + 32] = length.to_bytes(8, "little")
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="damaged"):
        Expression.of(path, time_column="day")


@pytest.mark.filterwarnings("ignore:.*averaged")
def test_without_layers_and_raw_x_alone_is_named(made, tmp_path):
    del made.layers["counts"]
    made.raw = None
    made.write_h5ad(tmp_path / "x.h5ad")
    for layer, message in (("counts", "X alone: leave layer out"), ("raw", "has no raw; leave")):
        with pytest.raises(DataError, match=message):
            Expression.of(tmp_path / "x.h5ad", time_column="day", layer=layer)


@pytest.mark.parametrize("door", ["memory", "file"])
def test_a_pattern_leaves_out_genes_and_columns_of_obs(made, path, door):
    data = made if door == "memory" else path
    with pytest.warns(UserWarning, match="averaged 6 samples to 2"):
        found = Expression.of(data, time_column="day", ignore=["E1*", "don*"])
    assert (found.genes, found.series) == (("E2", "E3"), ("1", "1"))
    with pytest.raises(DataError, match=r"neither a column of obs nor a gene 'Q\*' for ignore"):
        Expression.of(data, time_column="day", ignore="Q*")


@pytest.mark.parametrize("door", ["memory", "file"])
def test_without_a_time_all_samples_are_at_rest(made, path, door):
    found = Expression.of(made if door == "memory" else path, ignore=["day", "dpt_pseudotime"])
    assert (found.n_steady, found.series, found.genes) == (6, (), ("E1", "E2", "E3"))
    assert np.array_equal(found.steady_values, X)
    assert found.notes == ("No column of obs is a time, so all samples were taken as at rest.",)
    if door == "memory":
        made.obs = made.obs[["donor", "lane"]]
        assert np.array_equal(Expression.of(made).steady_values, X)


def test_the_remedies_of_a_time_that_may_be_one_read_the_data(path):
    with pytest.raises(DataError, match="may be one") as why:
        Expression.of(path)
    ways = [way for way in ways_out(path, why.value) if "ignore" in way]
    assert ways == [{"ignore": ("day", "dpt_pseudotime")}]


@pytest.mark.parametrize("door", ["memory", "file"])
def test_times_under_another_name_are_not_taken_as_at_rest(made, tmp_path, door):
    made.obs = made.obs[["day", "donor", "lane"]].rename(columns={"day": "Stage"})
    made.write_h5ad(tmp_path / "x.h5ad")
    data = made if door == "memory" else tmp_path / "x.h5ad"
    assert Expression.of(data).n_steady == 6  # d0 and d2 may be donors
    made.obs["Stage"] = made.obs["Stage"].map({"d0": "0h", "d2": "48h"})
    made.write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(DataError, match="Stage may be one: give time_column='Stage'"):
        Expression.of(data)


@pytest.mark.parametrize("door", ["memory", "file"])
def test_data_without_x_are_read_from_a_layer(made, tmp_path, door):
    made = anndata.AnnData(None, made.obs, made.var, layers={"counts": made.layers["counts"]})
    made.write_h5ad(tmp_path / "x.h5ad")
    data = made if door == "memory" else tmp_path / "x.h5ad"
    given = {"ignore": ["day", "dpt_pseudotime"]}
    with pytest.raises(DataError, match="has no X: give layer='NAME', it has counts"):
        Expression.of(data, **given)
    assert np.array_equal(Expression.of(data, layer="counts", **given).steady_values, 10 * X)


def test_numbers_that_are_none_and_names_that_repeat_have_a_remedy(made):
    made.X[2, 1] = np.nan
    with pytest.raises(DataError, match=r"found 1 that are NaN or infinite: replace them"):
        Expression.of(made, ignore=["day", "dpt_pseudotime"])
    made.var_names = ["E1", "E1", "E3"]
    with pytest.raises(DataError, match=r"found twice: E1; rename .*gene_column='NAME'"):
        Expression.of(made, ignore=["day", "dpt_pseudotime"])
    found = Expression.of(
        made, ignore=["day", "dpt_pseudotime"], gene_column="symbol", layer="counts"
    )
    assert found.genes == ("A", "B", "C")


def test_a_column_without_any_finite_time_names_what_reads_it(made):
    made.obs["dpt_pseudotime"] = np.nan
    made.obs = made.obs.drop(columns="day")
    match = "must hold finite times, found none; give another column, or ignore='dpt_pseudotime'"
    with pytest.warns(UserWarning, match="left out 6"), pytest.raises(DataError, match=match):
        Expression.of(made, time_column="dpt_pseudotime")
    assert Expression.of(made, ignore="dpt_pseudotime").n_steady == 6


@pytest.mark.parametrize("door", ["memory", "file"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_scaled_levels_are_reported_where_others_are_there(made, tmp_path, door, is_sparse):
    made.X = X - 5
    if not is_sparse:
        made.layers["counts"] = X * 10
    made.layers["scaled"] = X - 5
    made.write_h5ad(tmp_path / "x.h5ad")
    source = made if door == "memory" else tmp_path / "x.h5ad"
    words = {"time_column": "day", "series_column": ["donor", "lane"]}
    with pytest.warns(UserWarning, match="below 0") as message:
        Expression.of(source, **words)
    [result] = [str(w.message).partition(": ")[2] for w in message]
    assert result == (
        "X holds values below 0, as scaling (sc.pp.scale) makes them, and is taken as logarithms; "
        "there is also counts (counts), raw (counts): to use it, give layer='counts'"
    )
    assert Expression.of(source, layer="counts", **words).values.min() == 0  # and without a word


def test_a_text_table_has_no_layers(tmp_path):
    (tmp_path / "x.tsv").write_text("Time\tA\n0\t1\n1\t2\n")
    with pytest.raises(ValueError, match=r"layer is not for a table, but for \.h5ad files alone"):
        Expression.of(tmp_path / "x.tsv", layer="raw")


def test_means_of_counts_are_counts_however_they_are_averaged(tmp_path):
    """A pseudobulk of small counts has broken values up to 20, as logarithms have."""
    rng = np.random.default_rng(1)
    cells = rng.poisson(rng.uniform(0.3, 8, 12), (40, 12)).astype(float)
    obs = pd.DataFrame({"time": np.repeat([0, 1, 2, 3], 10)}, index=[f"c{k}" for k in range(40)])
    names = [f"G{j}" for j in range(12)]
    frame = pd.DataFrame(cells, columns=names).assign(Time=obs["time"].to_numpy())
    for matrix in (cells, sparse.csr_array(cells)):
        made = anndata.AnnData(matrix, obs, pd.DataFrame(index=names))
        with pytest.warns(UserWarning, match="averaged 40 samples to 4"):
            found = Expression.of(made)
        assert (found.scale, found.values.shape) == ("counts", (4, 12))
        assert "whole numbers" in found.guessed_from
        assert on_scale(found, "levels").scale == "levels"
    assert Expression.of(frame, replicates="average").scale == "counts"
    paths = [tmp_path / "a.h5ad", tmp_path / "b.h5ad"]
    for path in paths:
        made.write_h5ad(path)
    with pytest.warns(UserWarning, match="averaged 40"):
        assert Expression.of(paths).scale == "counts"
    with pytest.warns(UserWarning, match="averaged 40"):
        assert Expression.of(anndata.AnnData(np.log1p(cells), obs)).scale is None


def test_an_anndata_with_genes_in_obs_is_refused():
    levels = np.random.default_rng(0).random((4, 6))
    obs = pd.DataFrame(index=["Fos", "Jun", "Egr1", "Myc"])
    data = anndata.AnnData(levels, obs, pd.DataFrame(index=[f"cell{k}" for k in range(6)]))
    with pytest.raises(DataError, match="obs must hold samples, but seems to name genes"):
        Expression.of(data)


@pytest.mark.parametrize("genes", ["TP53 MYC JUN", "CD3 CD4 CD8", "0 1 2", "14281 911"])
def test_a_panel_of_few_genes_in_many_cells_is_read(genes):
    genes = genes.split()
    obs = pd.DataFrame(index=["".join(letters) for letters in product("abcdefgh", repeat=3)])
    levels = np.random.default_rng(0).random((len(obs), len(genes)))
    data = anndata.AnnData(levels, obs, pd.DataFrame(index=genes))
    assert Expression.of(data).n_steady == len(obs)
