"""What no expression, network or prior can be made of is refused, with what was found."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import Expression, SteadyStates, infer
from grn_tvcs.comparison.finished import read_finished
from grn_tvcs.network.edge_files import read_genes
from grn_tvcs.network.rules import Rules
from tvcs_core import DataError

LEVELS = np.arange(1.0, 13).reshape(4, 3)
NAMES = ["a", "b", "c"]
ARRAYS = [
    (np.ones(3), {"gene_names": NAMES}, ValueError, r"data must have two dimensions.*\(3,\)"),
    (LEVELS, {}, TypeError, r"an array has no names of genes: give gene_names=\[\.\.\.\]"),
    (LEVELS, {"gene_names": ["a", "b"]}, ValueError, "each of the 3 columns, found 2 names$"),
    (LEVELS.T, {"gene_names": NAMES}, ValueError, "found 3 names; give data.T if genes stand in r"),
    (
        LEVELS,
        {"gene_names": NAMES, "times": [0, 1]},
        ValueError,
        "one for each of the 4 samples, f",
    ),
    (
        LEVELS,
        {"gene_names": NAMES, "series": list("ssss")},
        TypeError,
        r"series are of samples with times: give times=\[\.\.\.\] too",
    ),
    (
        pd.DataFrame(LEVELS),
        {"times": [0, 1, 2, 3]},
        TypeError,
        "times is for an array, found DataFrame",
    ),
]
STATES = {
    "levels": LEVELS[:2],
    "changed": ("a", "b"),
    "is_knockout": [True, False],
    "genes": tuple(NAMES),
}
OF_STATES = [
    (
        {"levels": LEVELS},
        r"experiments x genes = \(2, 3\) and one flag per experiment, found \(4, 3",
    ),
    ({"is_knockout": [True]}, r"one flag per experiment, found \(2, 3\) and \(1,\)"),
    ({"is_overexpressed": [True, False]}, r"none of a knock-out, found \[1, 0\]"),
    ({"is_overexpressed": [False]}, r"one flag per experiment, none of a knock-out, found \[0\]"),
    ({"levels": np.where(LEVELS[:2] == 2, math.inf, LEVELS[:2])}, "levels must be finite"),
    ({"genes": ("a", "b", "b")}, "gene names must be different, found twice: b"),
    ({"changed": ("a", "z")}, "changed genes must be columns, but these are not: z"),
]
RECORD = {"command": "grn-tvcs infer", "genes": NAMES, "parameters": {}, "versions": {}}
RECORDS = [
    ("{", "must be the record of grn-tvcs infer with the names"),
    ("[" * 100_000, "must be the record of grn-tvcs infer with the names"),
    (
        json.dumps(RECORD | {"command": "tvcs project"}),
        "must be the record of grn-tvcs infer with th",
    ),
    (json.dumps(RECORD | {"genes": [1, 2]}), "must be the record of grn-tvcs infer with the names"),
    (
        json.dumps(RECORD | {"genes": ["a", "b", "a"]}),
        "gene names must be different, found twice: a",
    ),
    (json.dumps(RECORD | {"versions": []}), "versions must be names and values"),
    (json.dumps(RECORD), "must have edges.tsv next to run.json"),
]


@pytest.mark.parametrize(("data", "words", "error", "message"), ARRAYS)
def test_an_array_that_is_no_expression(data, words, error, message):
    with pytest.raises(error, match=message):
        Expression.of(data, **words)


def test_the_argument_that_is_refused_is_named_as_the_caller_names_it():
    with pytest.raises(ValueError, match=r"^expression must have two dimensions.*found \(3,\)"):
        infer(np.ones(3), gene_names=NAMES)
    with pytest.raises(TypeError, match=r"^expression must be an Expression, .*, found 3"):
        infer(3)


@pytest.mark.parametrize(("change", "message"), OF_STATES)
def test_experiments_that_are_none(change, message):
    with pytest.raises(ValueError, match=message):
        SteadyStates(**STATES | change)


@pytest.mark.parametrize(("text", "message"), RECORDS)
def test_a_folder_that_infer_did_not_finish(text, message, tmp_path):
    with pytest.raises(DataError, match="must be a folder that grn-tvcs infer finished"):
        read_finished(tmp_path)
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_finished(tmp_path)


def test_caps_and_counts_that_are_none(tmp_path):
    with pytest.warns(UserWarning, match="too few to tell regulators apart"):
        network = infer(LEVELS, gene_names=NAMES, times=[0, 1, 2, 3], method="pcc")
    with pytest.raises(ValueError, match="n_edges must be >= 0, found -1"):
        network.select_top(-1)
    with pytest.raises(TypeError, match="regulators must be a list of names, found 'abc'"):
        Rules(regulators="abc")
    with pytest.raises(
        ValueError, match="none of the genes with an out-degree cap is among the ge"
    ):
        Rules(max_out_degree={"z": 1}).out_caps(NAMES)
    assert Rules(max_out_degree={"a": 1, "z": 1}).out_caps(NAMES).tolist() == [1, 3, 3]
    with pytest.raises(
        DataError, match="is missing, so the genes are not known; give --genes FILE"
    ):
        read_genes(tmp_path / "run.json")
