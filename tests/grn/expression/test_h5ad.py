import shutil
import sys

import numpy as np
import pytest
from scipy import sparse

from grn_tvcs import Expression
from tests.makers.commands import check_done, check_refused, grn_tvcs
from tvcs_core import DataError

h5py = pytest.importorskip("h5py")

GENES = ["NA", "007", "G3"]
LEVELS = np.array([[1, 0, 2], [3, 4, 0], [5, 6, 7], [0, 8, 9]], dtype=np.float32)
TEXT = h5py.string_dtype("utf-8")


def encoded(part, kind, version="0.2.0"):
    part.attrs["encoding-type"], part.attrs["encoding-version"] = kind, version
    return part


def column(group, name, values):
    """A column as AnnData 0.7 to 0.12 writes it."""
    if isinstance(values, dict):  # categorical
        part = encoded(group.create_group(name), "categorical")
        part.attrs["ordered"] = False
        encoded(part.create_dataset("codes", data=np.array(values["codes"], np.int8)), "array")
        column(part, "categories", values["categories"])
    elif isinstance(values, tuple):  # nullable
        part = encoded(group.create_group(name), f"nullable-{values[0]}", "0.1.0")
        part.create_dataset("values", data=values[1])
        part.create_dataset("mask", data=np.array(values[2], bool))
    elif isinstance(values[0], str):
        encoded(group.create_dataset(name, data=values, dtype=TEXT), "string-array")
    else:
        encoded(group.create_dataset(name, data=np.array(values)), "array")


def frame(file, name, index, columns):
    group = encoded(file.create_group(name), "dataframe")
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array(list(columns), dtype=object) if columns else []
    column(group, "_index", index)
    for label, values in columns.items():
        column(group, label, values)


def matrix(file, levels, kind):
    if kind == "dense":
        encoded(file.create_dataset("X", data=levels), "array")
        return
    made = getattr(sparse, f"{kind}_array")(levels)
    part = encoded(file.create_group("X"), f"{kind}_matrix", "0.1.0")
    part.attrs["shape"] = np.array(levels.shape)
    for name in ("data", "indices", "indptr"):
        part.create_dataset(name, data=getattr(made, name))


OBS = {
    "Time": [0.0, 10.0, 0.0, 5.0],
    "series": {"codes": [1, 1, 0, 0], "categories": ["b", "a"]},
    "note": ["x", "y", "z", "w"],
}


@pytest.fixture
def h5ad(tmp_path):
    def write(levels=LEVELS, obs=OBS, genes=GENES, kind="dense"):
        path = tmp_path / "x.h5ad"
        with h5py.File(path, "w") as file:
            encoded(file, "anndata", "0.1.0")
            matrix(file, levels, kind)
            frame(file, "obs", [f"c{i}" for i in range(len(levels))], obs)
            frame(file, "var", genes, {})
        return path

    return write


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_levels_times_series_and_genes_are_read(h5ad, kind):
    found = Expression.of(h5ad(kind=kind))
    assert found.genes == ("NA", "007", "G3")
    assert found.series == ("a", "a", "b", "b")
    assert found.times.tolist() == [0, 10, 0, 5]
    assert np.array_equal(found.values, LEVELS)
    assert found.perturbed is None


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_samples_at_the_same_time_are_averaged_and_those_without_left_out(h5ad, kind):
    obs = {"time": [5.0, 0.0, 5.0, np.nan, 0.0]}
    levels = np.vstack([LEVELS, [[1, 2, 3]]]).astype(float)
    with pytest.warns(UserWarning, match="samples") as message:
        found = Expression.of(h5ad(levels, obs, kind=kind))
    assert [str(w.message).split(": ")[1] for w in message] == [
        "left out 1 sample without a time in time",
        "averaged 4 samples to 2, one for each time of a series",
    ]
    assert found.series == ("1", "1")
    assert np.allclose(found.values, [[2, 3, 1.5], [3, 3, 4.5]])


def test_columns_may_be_named_and_nullable_or_categories(h5ad):
    obs = {
        "day": {"codes": [0, 1, 0, 1], "categories": [2, 4]},
        "donor": {"codes": [1, 1, 0, 0], "categories": ["d1", "d2"]},
        "perturbed": ("boolean", [True, False, True, False], [False] * 4),
    }
    path = h5ad(obs=obs)
    found = Expression.of(path, time_column="day", series_column="donor")
    assert found.series == ("d2", "d2", "d1", "d1")
    assert found.times.tolist() == [2, 4, 2, 4]
    assert found.perturbed.tolist() == [True, False, True, False]
    gap = {"time": ("integer", [1, 2, 3, 0], [False, False, False, True])}
    with pytest.warns(UserWarning, match="left out 1 sample"):
        assert Expression.of(h5ad(obs=gap)).times.tolist() == [1, 2, 3]


def test_names_of_samples_and_genes_may_be_nullable(h5ad):
    path = h5ad()
    with h5py.File(path, "a") as file:
        for part in ("obs", "var"):
            names = file[part]["_index"].asstr()[()].tolist()
            del file[part]["_index"]
            column(file[part], "_index", ("string-array", names, [False] * len(names)))
    assert Expression.of(path).genes == Expression.of(h5ad()).genes


def test_a_raw_without_names_of_genes_is_none(h5ad):
    path = h5ad()
    with h5py.File(path, "a") as file:
        file["raw/X"] = LEVELS
    assert Expression.of(path).genes
    with pytest.raises(DataError, match="has no raw; leave layer out"):
        Expression.of(path, layer="raw")


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (
            {"obs": {"day": [0.0, 1, 0, 1]}},
            {},
            "has no column time, but day may be one: give time_column='day', or ignore='day' to",
        ),
        ({}, {"time_column": "day"}, "has no column 'day' for time_column; it has Time, series"),
        ({}, {"time_column": "note"}, "column 'note': must be a number, found 'x'"),
        ({"obs": OBS | {"Time": [np.inf] * 4}}, {}, "must hold finite times"),
        ({"levels": np.where(LEVELS == 9, np.nan, LEVELS)}, {}, "must hold finite numbers"),
        ({"genes": ["A", "B", "A"]}, {}, "found twice: A"),
        ({"genes": ["A", "B"]}, {}, "X has 3 columns, but var names 2 genes"),
        ({"obs": OBS | {"perturbed": ["perhaps"] * 4}}, {}, "must be 0 or 1 .*found 'perhaps'"),
        ({"obs": OBS | {"Time": [0.0, 1, 2, 3], "series": ["a", "b", "c", "c"]}}, {}, "2 time po"),
        (
            {"obs": {"time": [0.0, 0, 1, 1], "perturbed": [True, False, False, False]}},
            {},
            "must agree in it",
        ),
    ],
)
@pytest.mark.filterwarnings(
    "ignore:.*averaged", "ignore:.*left out 4 samples", "ignore:.*is not used"
)
def test_a_file_that_does_not_hold_is_refused_with_its_name(h5ad, change, arguments, message):
    with pytest.raises(DataError, match=message) as error:
        Expression.of(h5ad(**change), **arguments)
    assert "x.h5ad" in str(error.value)


def test_what_is_no_h5ad_is_refused(tmp_path):
    (tmp_path / "x.h5ad").write_text("Time\tA\n0\t1\n")
    with pytest.raises(DataError, match="is no HDF5 file"):
        Expression.of(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "y.h5ad", "w") as file:
        file["X"] = [[1.0]]
    with pytest.raises(DataError, match="must hold obs as AnnData writes it"):
        Expression.of(tmp_path / "y.h5ad")
    with pytest.raises(FileNotFoundError):
        Expression.of(tmp_path / "gone.h5ad")


def test_without_h5py_the_message_names_its_installation(h5ad, monkeypatch):
    path = h5ad()
    monkeypatch.setitem(sys.modules, "h5py", None)
    err = check_refused(grn_tvcs("check", path))
    assert "pip install '.[anndata]' in the folder of tvcs" in err


@pytest.mark.filterwarnings("always")
def test_the_commands_take_it(h5ad, tmp_path):
    t = np.repeat(np.arange(12.0), 2)
    levels = np.array([[((3 * a + 5 * g + a * g) % 11) / 10 for g in range(3)] for a in t])
    path = h5ad(levels, {"day": list(t)})
    message = check_done(grn_tvcs("check", path, "--time-column", "day"))
    assert "series       1 of 12 time points" in message.output
    words = ["infer", path, "--time-column", "day", "--out", tmp_path / "out", "--method", "pcc"]
    done = check_done(grn_tvcs(*words))
    assert "averaged 24 samples to 12" in done.stderr
    assert "--time-column day" in (tmp_path / "out" / "report.html").read_text()
    for bad in (["--genes-in-rows"], ["--missing", "drop"]):
        assert grn_tvcs("check", path, *bad).exit_code == 2
    plain = tmp_path / "x.tsv"
    plain.write_text("Time\tA\n0\t1\n1\t2\n")
    err = check_refused(grn_tvcs("check", plain, "--time-column", "day"))
    assert "has no column 'day' for --time-column; it has Time, A" in err


@pytest.mark.parametrize("kind", ["external storage", "a link", "a link to a link", "virtual"])
def test_a_file_that_would_read_another_file_is_refused(h5ad, tmp_path, kind):
    """HDF5 opens any file that this user may read, and its bytes would become levels."""
    shutil.copy(h5ad(), tmp_path / "other.h5ad")
    path = h5ad()
    other, shape = str(tmp_path / "other.h5ad"), LEVELS.shape
    with h5py.File(path, "a") as file:
        del file["X"]
        if kind == "external storage":
            file.create_dataset("X", shape, "u1", external=[(other, 0, LEVELS.size)])
        elif kind == "virtual":
            layout = h5py.VirtualLayout(shape, "f4")
            layout[...] = h5py.VirtualSource(other, "X", shape)
            file.create_virtual_dataset("X", layout)
        else:
            place = "X" if kind == "a link" else "deep/er"
            file[place] = h5py.ExternalLink(other, "/X")
            if place != "X":
                file["X"] = h5py.SoftLink("/deep/er")
    with pytest.raises(DataError, match=r"must hold its data itself, found .* another file: read"):
        Expression.of(path)


def test_a_text_that_is_named_many_times_does_not_fill_the_memory(h5ad):
    path = h5ad(obs={"time": [0.0, 1.0, 2.0, 3.0]})
    with h5py.File(path, "a") as file:
        del file["obs/_index"], file["obs/time"]
        names = {"chunks": (10_000,), "compression": "gzip", "fillvalue": "1" * 8000}
        for name in ("_index", "time"):
            file["obs"].create_dataset(name, (100_000,), TEXT, **names)
    with pytest.raises(DataError, match=r"may hold at most 250 times its .* on disk"):
        Expression.of(path, time_column="time")
