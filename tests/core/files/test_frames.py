"""A DataFrame is read as its CSV file would be."""

import numpy as np
import pandas as pd
import pytest

from tvcs_core import DataError
from tvcs_core.files.frames import table_in, table_of_frame
from tvcs_core.files.tables import read_table

FRAMES = {
    "texts": pd.DataFrame({"task": ["007", "NA", " a "], "label": ["x", None, "y"]}),
    "whole floats": pd.DataFrame({"task": ["a", "b"], "label": [1.0, np.nan]}),
    "floats": pd.DataFrame({"task": ["a", "b"], "quality": [1.0, 0.1 + 0.2]}),
    "nullable": pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "b": [True, False]}),
    "categories": pd.DataFrame({"label": pd.Categorical(["x", "y", "x"]), "n": [1, 2, 3]}),
    "named index": pd.DataFrame({"q": [0.5, 0.75]}, index=pd.Index(["w1", "w2"], name="worker")),
    "two levels": pd.DataFrame(
        {"q": [0.5, 0.75]}, index=pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["w", "t"])
    ),
    "twice": pd.DataFrame([[1, 2]], columns=["a", "a"]),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frame_is_read_as_its_file(name, tmp_path):
    frame = FRAMES[name]
    has_names = frame.index.names != [None]
    whole = frame.convert_dtypes(convert_string=False) if name == "whole floats" else frame
    whole.to_csv(tmp_path / "t.csv", index=has_names)
    assert list(map(list, table_of_frame(frame).rows)) == list(read_table(tmp_path / "t.csv").rows)


def test_errors_count_rows_and_name_columns():
    table = table_of_frame(FRAMES["texts"])
    assert str(table.error("is wrong", 2, 1)) == "the DataFrame:2, column 'label': is wrong"
    assert str(table.error("is wrong", 0)) == "the DataFrame: is wrong"
    assert table.layout == "a DataFrame"


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "2 levels of names"),
        (pd.DataFrame(index=[0, 1]), "must have a column, found none"),
    ],
)
def test_frames_without_one_name_a_column_are_refused(frame, said):
    with pytest.raises(DataError, match=said):
        table_of_frame(frame)


@pytest.mark.parametrize(("way", "kind"), [("to_pandas", "polars"), ("compute", "Dask")])
def test_a_table_of_another_library_is_refused_with_the_way_to_pandas(way, kind):
    other = type(kind, (), {way: None, "columns": ["a"], "iloc": None})()
    if way == "to_pandas":
        del type(other).iloc
    with pytest.raises(TypeError, match=rf"found {kind}: give its .{way}\(\)"):
        table_in(other)


def test_a_column_called_by_a_missing_value_has_no_name():
    frame = pd.DataFrame([[1, 2, 3]], columns=[None, float("nan"), pd.NaT])
    assert list(table_of_frame(frame).rows[0]) == ["", "", ""]


def test_a_column_may_have_the_name_of_a_method_of_other_libraries():
    frame = pd.DataFrame([[1, 2]], columns=["compute", "to_pandas"])
    assert list(table_in(frame).rows[0]) == ["compute", "to_pandas"]
