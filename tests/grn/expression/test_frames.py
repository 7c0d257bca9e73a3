"""DataFrames and AnnData in memory mean what the files that they would be written to mean."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, infer
from tvcs_core import DataError

GENES = ("A", "B", "C")
LEVELS = np.random.default_rng(0).random((6, 3))
TIMED = pd.DataFrame(LEVELS, columns=GENES).assign(Time=[0.0, 1, 2] * 2, series=list("xxxyyy"))


def same(one, other):
    assert (one.genes, one.series, one.notes) == (other.genes, other.series, other.notes)
    for name in ("values", "times", "steady_values", "perturbed", "cells"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("sep", ["\t", ","])
def test_a_frame_and_its_file_are_the_same_expression(sep, tmp_path):
    TIMED.to_csv(tmp_path / "x", sep=sep, index=False)
    same(Expression.of(TIMED), Expression.of(tmp_path / "x"))
    same(Expression.of(TIMED), Expression.of(str(tmp_path / "x")))


def test_the_index_may_tell_time_and_series_or_nothing():
    plain = Expression.of(TIMED)
    same(Expression.of(TIMED.set_index(["series", "Time"])), plain)
    same(Expression.of(TIMED.set_index(pd.Index([f"s{i}" for i in range(6)]))), plain)
    hours = TIMED.rename(columns={"Time": "hours", "series": "donor"})
    named = {"time_column": "hours", "series_column": "donor"}
    plain = replace(plain, notes=("Times are in hours, as the file says.",))
    same(Expression.of(hours, **named), plain)
    same(Expression.of(hours.set_index("hours"), **named), plain)
    worded = hours.assign(kit="k", hours=["0h", "1h", "2h"] * 2)
    result = Expression.of(worded, ignore="kit", **named)
    assert result.notes == ("Times are in h, as the file says.",)
    assert np.array_equal(result.times, plain.times)


def test_genes_may_stand_in_rows_and_columns_be_times():
    frame = pd.DataFrame(LEVELS.T, index=GENES, columns=["0h", "2h", "4h", "0h", "2h", "4h"])
    found = Expression.of(frame, genes_in_rows=True)
    assert found.series == ("1",) * 3 + ("2",) * 3
    assert found.times.tolist() == [0, 2, 4] * 2
    assert np.array_equal(found.values, LEVELS)
    with pytest.warns(UserWarning, match="count from 0 to 5"):
        rest = Expression.of(pd.DataFrame(LEVELS.T, index=GENES), genes_in_rows=True)
    assert rest.n_steady == 6


def test_genes_of_a_frame_in_rows_are_named_by_its_index_or_its_first_column(tmp_path):
    samples = [f"s{k}" for k in range(6)]
    frame = pd.DataFrame(LEVELS.T, index=[14281, 16476, 13653], columns=samples)
    named = frame.rename_axis("entrez").reset_index()
    named.to_csv(tmp_path / "x.csv", index=False)
    expected = Expression.of(tmp_path / "x.csv", genes_in_rows=True)
    assert expected.genes == ("14281", "16476", "13653")
    same(Expression.of(frame, genes_in_rows=True), expected)
    same(Expression.of(named, genes_in_rows=True), expected)
    with pytest.raises(DataError, match="must name its genes by its index or in its first column"):
        Expression.of(frame.reset_index(drop=True), genes_in_rows=True)


def test_a_sheet_of_samples_stands_beside_a_frame(tmp_path):
    names = [f"s{i}" for i in range(6)]
    levels = pd.DataFrame(LEVELS, columns=GENES, index=names)
    sheet = pd.DataFrame({"time": [0.0, 1, 2] * 2, "arm": list("xxxyyy"), "note": "n"}, names)
    levels.to_csv(tmp_path / "l.csv")
    sheet.rename_axis("sample").to_csv(tmp_path / "s.csv")
    expected = Expression.of(tmp_path / "l.csv", samples=tmp_path / "s.csv", series_column="arm")
    same(Expression.of(levels, samples=sheet, series_column="arm"), expected)
    column = sheet.rename_axis("sample").reset_index()
    same(Expression.of(levels, samples=column, series_column="arm"), expected)
    turned = Expression.of(levels.T, samples=sheet, genes_in_rows=True, series_column="arm")
    same(turned, expected)
    with pytest.raises(DataError, match="1 sample has none: s9; there stands s0"):
        Expression.of(levels, samples=sheet.rename({"s3": "s9"}), series_column="arm")
    with pytest.warns(UserWarning, match="left out 3 samples: s3, s4, s5"):
        Expression.of(levels, samples=sheet.head(3), series_column="arm")


def test_a_gene_is_left_out_beside_a_sheet():
    sheet = TIMED[["Time", "series"]].rename(columns={"Time": "time"})
    found = Expression.of(TIMED[list(GENES)], samples=sheet, ignore=["A"])
    assert (found.genes, found.series) == (("B", "C"), tuple("xxxyyy"))


@pytest.mark.parametrize("names", [None, ["x", "x"]])
def test_levels_of_an_index_need_no_names(names):
    index = pd.MultiIndex.from_product([["a", "b"], [0, 1]], names=names)
    frame = pd.DataFrame({"A": [1.5, 2, 3, 1], "B": [2.0, 3, 1, 4]}, index)
    assert Expression.of(frame).n_steady == 4


def test_the_remedy_for_a_level_of_an_index_has_its_name_as_it_is():
    index = pd.MultiIndex.from_product([["a", "b"], [0, 0.5]], names=["x", 1])
    frame = pd.DataFrame({"A": [1.5, 2, 3, 1], "B": [2.0, 3, 1, 4]}, index)
    with pytest.warns(UserWarning, match=r"frame.reset_index\(level=1, drop=True\)"):
        Expression.of(frame)
    assert Expression.of(frame.reset_index(level=1, drop=True)).n_steady == 4


def test_samples_of_a_frame_beside_a_sheet_are_there_once():
    levels = TIMED[list(GENES)].set_axis(list("aabcde"))
    sheet = pd.DataFrame({"time": [0.0, 1, 2]}, list("abc"))
    with pytest.raises(DataError, match="samples must be different, found twice: a"):
        Expression.of(levels, samples=sheet)


def test_missing_values_and_steady_samples_are_those_of_files():
    gaps = TIMED.copy()
    gaps.loc[1, "B"] = np.nan
    with pytest.raises(DataError, match="DataFrame:2, column 'B': must be a number, found 'NaN'"):
        Expression.of(gaps)
    with pytest.warns(UserWarning, match="filled 1 of 18"):
        filled = Expression.of(gaps, missing="interpolate")
    assert filled.values[1, 1] == pytest.approx((LEVELS[0, 1] + LEVELS[2, 1]) / 2)
    assert Expression.of(TIMED[list(GENES)]).n_steady == 6
    thirds = TIMED.assign(Time=[*map(Fraction, ("0", "1/3", "2/3")), None, None, None])
    assert Expression.of(thirds).times[:3].tolist() == [0, 1 / 3, 2 / 3]
    rest = TIMED.assign(Time=[0, 1, 2, None, None, None])
    assert Expression.of(rest).n_steady == 3


@pytest.mark.parametrize("wrong", [None, "x.csv", LEVELS, TIMED["A"], [TIMED]])
def test_what_is_no_frame_and_no_anndata_is_refused_by_the_name_of_the_argument(wrong):
    if isinstance(wrong, np.ndarray):
        with pytest.raises(TypeError, match=r"^an array has no names of genes: give gene_names="):
            Expression.of(wrong)
    elif not isinstance(wrong, str):
        with pytest.raises(TypeError, match=r"^data must be an Expression, a DataFrame, an Ann"):
            Expression.of(wrong)
    lazy = type("Dask", (), {"columns": (), "iloc": None, "compute": None})()
    with pytest.raises(
        TypeError, match=r"found a Dask: give its .compute\(\)$|found Dask: give its"
    ):
        Expression.of(lazy)
    if wrong is not None and not isinstance(wrong, str):
        with pytest.raises(TypeError, match=r"^samples must be a DataFrame, found "):
            Expression.of(TIMED, samples=wrong)


def test_the_samples_of_a_frame_may_stand_in_a_file(tmp_path):
    levels = pd.DataFrame({"s1": [1.0, 2], "s2": [2.0, 1], "s3": [3.0, 4]}, index=["A", "B"])
    sheet = pd.DataFrame({"sample": ["s3", "s1", "s2"], "time": [2, 0, 1]})
    sheet.to_csv(tmp_path / "sheet.csv", index=False)
    found, again = (
        Expression.of(levels, genes_in_rows=True, samples=samples)
        for samples in (tmp_path / "sheet.csv", sheet)
    )
    assert found.times.tolist() == again.times.tolist() == [0, 1, 2]
    assert (found.values == again.values).all()


@pytest.mark.parametrize("name", ["time_column", "layer", "gene_column"])
def test_a_column_is_a_name(name):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(LEVELS, obs=pd.DataFrame({"time": [0, 1, 2] * 2}, index=list("abcdef")))
    with pytest.raises(TypeError, match=f"^{name} must be a str or None, found int"):
        Expression.of(data, **{name: 3})


@pytest.mark.parametrize(
    ("time", "levels", "message"),
    [
        (
            pd.to_timedelta([0, 1, 2] * 2, unit="h"),
            LEVELS,
            "'time': must be a number, found '0 days",
        ),
        (pd.to_datetime(["2024-01-01"] * 6), LEVELS, "that is a date: write how many hours"),
        (range(6), LEVELS + 1j, "the AnnData: X must hold real numbers, found complex128"),
        (range(6), LEVELS.astype("U5"), "the AnnData: X must hold real numbers, found <U5"),
    ],
)
def test_an_anndata_is_not_read_as_what_it_is_not(time, levels, message):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(levels, obs=pd.DataFrame({"time": time}, index=list("abcdef")))
    with pytest.raises(DataError, match=message):
        Expression.of(data)


UNTIMED = TIMED[list(GENES)]
B = UNTIMED["B"]
SEVERAL = pd.MultiIndex.from_product([["a", "b"], ["x", "y"]])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (TIMED.rename(columns={"B": "A"}), "found twice: A; rename or drop them"),
        (TIMED.assign(B="x"), r"DataFrame:1, .* 'B': must be a number, found 'x'.*ignore='B'"),
        (TIMED.assign(B=np.inf), "column 'B': must be a finite number"),
        (TIMED.assign(B=[0, 0, 0, 1, np.inf, 0]), "DataFrame:5, column 'B': must be a finite"),
        (TIMED.assign(Time="now"), "column 'Time': must be a number, found 'now'"),
        (TIMED.rename(columns={"Time": "Timepoint"}), "time_column='Timepoint'"),
        (TIMED[["Time", "series"]], "must have a column for each gene"),
        (TIMED.rename(columns={"B": np.nan}), "a gene must have a name, found an empty cell"),
        (TIMED.head(0), "must have samples"),
        (TIMED.assign(is_ok=True), r"must be a number, found 'True'; .* ignore='is_ok'"),
        (pd.DataFrame(), "the DataFrame: must have a column for each gene, found none"),
        (pd.DataFrame(np.eye(4), columns=SEVERAL), "one name each, but data has 2 levels of names"),
        (UNTIMED.assign(B=B + 1j), "column 'B': must be a number, found '.*j"),
        (
            UNTIMED.assign(B=B + np.array([0, 0, 0, 1j, 0, 0])),
            r"DataFrame:4, column 'B': must be a number, found '\(.*\+1j\)'$",
        ),
        (
            UNTIMED.assign(B=[*B.astype(object)[:-1], 2j]),
            "DataFrame:6, column 'B': must be a number, found '.*j",
        ),
        (UNTIMED.set_index(pd.Index([0, 1, 2] * 2, name="hours")), "hours seems to be it: give"),
        (UNTIMED.set_index(pd.to_timedelta([0, 1, 2] * 2, unit="h")), "index holds times .*Time"),
        (UNTIMED.set_index(pd.to_datetime(["2024-01-01"] * 6)), "index holds times .*datetime"),
    ],
)
def test_a_frame_that_does_not_hold_is_refused_in_one_line(frame, message):
    with pytest.raises(DataError, match=message) as error:
        Expression.of(frame)
    assert "\n" not in str(error.value)


def test_an_index_that_may_be_a_time_is_warned_of_and_numbers_of_rows_are_not(recwarn):
    for index in (range(6), range(3, 9), [5, 3, 1, 0, 2, 4], [0.5] * 6):
        assert Expression.of(UNTIMED.set_index(pd.Index(index))).n_steady == 6
    assert not recwarn
    for index, start in (([0, 10, 20] * 2, "0, 10, 20"), (range(0, 12, 2), "0, 2, 4")):
        with pytest.warns(UserWarning, match=rf"index rises like a time \({start}, ...\)"):
            Expression.of(UNTIMED.set_index(pd.Index(index)))


def test_no_column_is_made_of_an_index_where_another_names_the_samples(recwarn):
    frame = UNTIMED.assign(sample_id=list("abcdef")).set_index(pd.Index(list("uvwxyz")))
    assert Expression.of(frame, sample_column="sample_id").n_steady == 6
    assert not recwarn


def test_spaces_around_names_of_columns_are_no_part_of_them():
    spaced = TIMED.rename(columns={"A": " A ", "Time": " Time"})
    same(Expression.of(spaced), Expression.of(TIMED))


def test_an_anndata_is_what_its_file_is(tmp_path):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"time": [0.0, 1, np.inf] * 2, "donor": pd.Categorical(list("xxxyyy"))})
    obs.index = [f"c{i}" for i in range(6)]
    var = pd.DataFrame({"symbol": ["a", "b", "c"]}, index=GENES)
    data = anndata.AnnData(LEVELS.astype(np.float32), obs, var)
    data.layers["twice"] = data.X * 2
    data.raw = data[:, ["A", "C"]].copy()
    data.write_h5ad(tmp_path / "x.h5ad")
    chosen = {}, {"layer": "twice"}, {"layer": "raw"}, {"gene_column": "symbol"}, {"ignore": ["A"]}
    for words in chosen:
        words = {"series_column": "donor", **words}
        with pytest.warns(UserWarning, match="the AnnData: left out 2 samples"):
            found = Expression.of(data, **words)
        with pytest.warns(UserWarning, match=r"x\.h5ad: left out 2 samples"):
            same(found, Expression.of(tmp_path / "x.h5ad", **words))
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    with pytest.warns(UserWarning, match="left out"):
        assert Expression.of(backed, series_column="donor").genes == GENES
    backed.file.close()
    with pytest.raises(DataError, match="the AnnData: has no layer 'X2'; it has twice, raw"):
        Expression.of(anndata.AnnData(data.X, obs.assign(time=1.0 * np.arange(6)),
                                layers={"twice": data.X}, raw=data), layer="X2")  # fmt: skip


@pytest.mark.parametrize("data", [3, [], None, {"A": [1]}, b"x.csv"])
def test_infer_says_what_it_takes(data):
    with pytest.raises(TypeError, match=r"^expression must be an Expression, a DataFrame, an A"):
        infer(data)


def test_an_option_that_is_not_there_or_not_for_these_data_is_named():
    with pytest.raises(TypeError, match="no option 'time_colum'; did you mean 'time_column'"):
        Expression.of(TIMED, time_colum="Time")
    with pytest.raises(ValueError, match=r"^layer is not for the DataFrame"):
        Expression.of(TIMED, layer="raw")
    with pytest.raises(TypeError, match=r"^ignore must be a name or several, found 3"):
        Expression.of(TIMED, ignore=3)
    with pytest.raises(ValueError, match=r"^missing must be one of error, drop, interpolate"):
        Expression.of(TIMED, missing="fill")


SYMBOLS = ("TP53", "MYC", "E2F1", "RB1", "CDK4", "JUN")


@pytest.mark.parametrize(
    ("index", "columns"),
    [
        (SYMBOLS, ["GSM10", "GSM11", "GSM12"]),
        (SYMBOLS, ["wt_1", "wt_2", "ko_1", "ko_2"]),
        (SYMBOLS, [0, 1, 2]),
        (["gene1", "gene2", "gene3"], ["liver", "brain"]),
        ([f"{a}{b}{k}X" for k in range(10) for a in "ABCDE" for b in "KL"], ["liver", "brain"]),
    ],
)
def test_a_frame_of_genes_in_rows_is_not_read_as_samples(index, columns):
    frame = pd.DataFrame(
        np.random.default_rng(0).random((len(index), len(columns))), index=index, columns=columns
    )
    with pytest.raises(DataError, match="give genes_in_rows=True, or name it 'sample'"):
        Expression.of(frame)
    assert Expression.of(frame.rename_axis("sample")).n_steady == len(index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that count from 0 may be times
        assert Expression.of(frame, genes_in_rows=True).genes == tuple(index)


@pytest.mark.parametrize(
    ("index", "columns"),
    [
        (["wt_1", "wt_2", "ko_1", "ko_2"], SYMBOLS),
        (["liver", "brain", "heart"], ["G1", "G2", "G3"]),
        (["liver", "brain", "heart"], ["b0001", "b0002", "b0003"]),
        ([f"s{k}" for k in range(200)], ["TP53", "MYC"]),
        ([f"{'ACGT'[k % 4]}{'ACGT'[k // 4 % 4]}{'ACGT'[k // 16 % 4]}ACGTACGT-1" for k in range(64)],
         ["TP53", "MYC"]),
    ],
)  # fmt: skip
def test_a_frame_of_samples_in_rows_is_read(index, columns):
    frame = pd.DataFrame(
        np.random.default_rng(0).random((len(index), len(columns))), index=index, columns=columns
    )
    assert Expression.of(frame).genes == tuple(columns)


@pytest.mark.parametrize("index", [["liver", "heart", "brain"], ["umuC", "lexA", "recA"]])
def test_numbered_genes_of_a_family_beside_named_samples_are_genes(index):
    frame = pd.DataFrame(np.eye(3, 4) + 1, index, [f"HOXA{k}" for k in range(1, 5)])
    if index[0] == "liver":
        assert Expression.of(frame).genes == tuple(frame.columns)
        return
    with pytest.raises(DataError, match="its index seems to name genes"):
        Expression.of(frame)


def test_an_index_of_levels_is_pointed_out_with_what_ends_the_warning(recwarn):
    frame = pd.DataFrame({"A": [1.5, 2.25, 3.5], "B": [2.0, 3, 1], "C": [1, 2.5, 2]}).set_index("A")
    two = frame.set_index(pd.Index(list("xyz"), name="batch"), append=True)
    for given, gone in ((frame, "drop=True"), (two, "level='A', drop=True")):
        with pytest.warns(UserWarning, match=rf"index A holds the numbers .*index\({gone}\)$"):
            assert Expression.of(given).genes == ("B", "C")
        level = {"level": "A"} if given is two else {}
        assert Expression.of(given.reset_index(**level, drop=True)).genes == ("B", "C")
    for nothing in ([0.5] * 3, [np.nan] * 3):
        assert Expression.of(frame.set_index(pd.Index(nothing, name="A"))).genes == ("B", "C")
    assert not recwarn
