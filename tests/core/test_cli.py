"""The command `tvcs`, from files to files, and what it says of files that are wrong."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tvcs_core
from tvcs_core import TVCS, Certificate, Projection, project
from tvcs_core.cli import app

V = np.array([[3.0, 2.0, 0.0], [2.0, -4.0, 1.0]])
CONSTRAINT = TVCS.matrix((2, 3), row_caps=1, col_caps=[1, 1, 2], total=4)


@pytest.fixture
def tvcs(tmp_path, monkeypatch, capsys):
    """Run `tvcs ARGUMENTS` in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tvcs_core.jit.compiling.SAY_AFTER", float("inf"))

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            app([str(a) for a in arguments], prog_name="tvcs")
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return call


def write_matrix(name: str, V=V) -> Path:
    path = Path(name)
    if name.endswith(".npy"):
        np.save(path, V)
    elif name.endswith(".npz"):
        sparse.save_npz(path, sparse.csr_array(V))
    else:
        delimiter = "\t" if ".tsv" in name else ","
        text = "\n".join(delimiter.join(f"{v}" for v in row) for row in V) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["m.npy", "m.npz", "m.csv", "m.tsv", "m.csv.gz"])
def test_every_kind_of_file_gives_the_projection_and_its_record(tvcs, name):
    Path("caps").write_text("1\n1\n\n2\n")
    code, out, err = tvcs(
        "project", write_matrix(name), "--row-cap", 1, "--col-caps", "caps", "--total", 4,
        "--out", "p.npz",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert out.startswith("objective  25.0 in 2 entries\ngap        0.0\ntime       ")
    loaded = Projection.load("p.npz")
    support = loaded.support.toarray() if sparse.issparse(loaded.support) else loaded.support
    np.testing.assert_array_equal(support, project(V, CONSTRAINT).support)
    record = json.loads(Path("p.npz.run.json").read_text())
    caps = {"row_cap": 1, "col_cap": None, "total": 4}
    assert record["parameters"] == caps | {"names": False, "method": "exact"}
    assert [i["file"] for i in record["inputs"]] == [name, "caps"]
    code, out, err = tvcs("verify", "p.npz")
    assert (code, err) == (0, "")
    assert "optimal   yes\nobjective 25.0\nbound     25.0\ngap       0.0 (exact)\n" in out


def test_a_header_is_skipped_and_reported(tvcs):
    Path("m.csv").write_text("a,b,c\n3,2,0\n2,-4,1\n")
    code, _, err = tvcs("project", "m.csv", "--row-cap", 1, "--out", "p.npz")
    assert code == 0
    assert err == "m.csv: the first row holds no number and is skipped as a header\n"
    assert Projection.load("p.npz").values.tolist() == V.tolist()


def test_the_kept_entries_are_written_as_a_table_that_reads_back(tvcs):
    Path("m.csv").write_text('worker,t1,"t,2",t3\nann,.1,0.30000000000000004,0\nbob,-5,2,-4\n')
    arguments = ["--row-cap", 1, "--col-cap", 1, "--out", "p.npz"]
    code, out, _ = tvcs("project", "m.csv", "--names", *arguments, "--table", "kept.csv")
    assert code == 0
    assert "in 2 entries\n" in out
    assert Path("kept.csv").read_text() == (
        'row,column,value\nann,"t,2",0.30000000000000004\nbob,t1,-5.0\n'
    )
    write_matrix("m.npy")
    for name in ("m.npy", write_matrix("m.npz")):
        tvcs("project", name, "--total", 1, "--out", "q.npz", "--table", "q.tsv", "--force")
        assert Path("q.tsv").read_text() == "row\tcolumn\tvalue\n1\t1\t-4.0\n"


def test_names_in_the_table_act_as_no_formula_and_read_back(tvcs):
    Path("m.csv").write_text("worker,=t1,-2\n'+ann,-1.5,0\n@bob,0,2\n")
    assert tvcs("project", "m.csv", "--names", "--out", "p.npz", "--table", "kept.csv")[0] == 0
    assert Path("kept.csv").read_text() == "row,column,value\n'+ann,'=t1,-1.5\n'@bob,-2,2.0\n"


def test_blocks_are_written_as_a_table_too(tvcs):
    Path("blocks").mkdir()
    np.save("blocks/1.npy", V[:1])
    np.save("blocks/2.npy", V[1:])
    code, out, _ = tvcs("project", "blocks", "--total", 1, "--out", "p.npz", "--table", "k.csv")
    assert code == 0
    assert "in 1 entry\n" in out
    assert Path("k.csv").read_text() == "row,column,value\n1,1,-4.0\n"


def test_the_same_run_gives_the_same_bytes(tvcs):
    write_matrix("m.npy")
    tvcs("project", "m.npy", "--total", 2, "--out", "a.npz")
    tvcs("project", "m.npy", "--total", 2, "--out", "b.npz")
    assert Path("a.npz.run.json").read_bytes() == Path("b.npz.run.json").read_bytes()
    assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()


def test_an_existing_file_is_replaced_only_by_force(tvcs):
    write_matrix("m.npy")
    Path("p.npz").write_text("mine")
    code, _, err = tvcs("project", "m.npy", "--out", "p.npz")
    assert (code, err) == (2, "error: p.npz: exists; give --force to replace it\n")
    assert Path("p.npz").read_text() == "mine"
    assert tvcs("project", "m.npy", "--out", "p.npz", "--force")[0] == 0
    assert tvcs("verify", "p.npz")[0] == 0


def test_an_input_is_never_replaced(tvcs):
    write_matrix("m.npz")
    before = Path("m.npz").read_bytes()
    code, _, err = tvcs("project", "m.npz", "--out", "m.npz", "--force")
    assert code == 2
    assert "is an input of this command" in err
    assert Path("m.npz").read_bytes() == before


BAD_MATRICES = {
    "m.npy": (None, "m.npy: No such file or directory"),
    "m.csv": ("1,2\n3,x\n", "m.csv:2, column 2: must be a number"),
    "m.npz": ("PK", "is not a whole .npz file"),
}


@pytest.mark.parametrize("name", BAD_MATRICES)
def test_a_bad_matrix_is_refused_in_one_line(tvcs, name):
    content, message = BAD_MATRICES[name]
    if content is not None:
        Path(name).write_text(content)
    before = sorted(Path().iterdir())
    code, out, err = tvcs("project", name, "--row-cap", 1, "--out", "p.npz")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {name}")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("V", [[[1e200]], np.ones(2)], ids=["too large", "vector"])
def test_a_matrix_that_cannot_be_projected_is_refused_by_its_file(tvcs, V):
    write_matrix("m.npy", V)
    code, _, err = tvcs("project", "m.npy", "--row-cap", 1, "--out", "p.npz")
    assert code == 2
    assert err.startswith(
        "error: m.npy: V must be at most" if len(V) == 1 else "error: m.npy: must"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\n2.5\n", "caps:2: must be one integer >= 0, found '2.5'"),
        (None, "caps: No such file or directory"),
    ],
)
def test_bad_caps_are_refused_in_one_line(tvcs, content, message):
    write_matrix("m.npy")
    if content is not None:
        Path("caps").write_text(content)
    code, _, err = tvcs("project", "m.npy", "--row-caps", "caps", "--out", "p.npz")
    assert code == 2
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not Path("p.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row-cap", "-1", "--out", "p.npz"], "--row-cap"),
        (["--total", "1.5", "--out", "p.npz"], "--total"),
        (["--row-cap", "1", "--row-caps", "caps", "--out", "p.npz"], "give one of the two"),
        (["--method", "magic", "--out", "p.npz"], "--method must be one of exact, "),
        (["--out", "p.csv"], "--out must end in .npz, found 'p.csv'"),
        (["--out", "p.npz", "--table", "p"], "--table must end in .csv or .tsv, found 'p'"),
        (["--out", "p.npz", "--table", "no/p.csv"], "no/p.csv: cannot be written (its folder"),
        (["--out", "nowhere/p.npz"], "nowhere/p.npz: cannot be written (its folder does not"),
        (["--out", "."], "found a folder"),
        (["--out", "m.npy/p.npz"], "its folder does not exist"),
        (["--row-cap", "1"], "--out"),
    ],
)
def test_bad_arguments_are_named(tvcs, arguments, message):
    write_matrix("m.npy")
    code, out, err = tvcs("project", "m.npy", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert [p.name for p in Path().iterdir()] == ["m.npy"]


def test_a_cap_beyond_the_matrix_is_no_cap(tvcs):
    write_matrix("m.npy")
    code, out, _ = tvcs(
        "project", "m.npy", "--row-cap", 10**15, "--total", 10**15, "--out", "p.npz"
    )
    assert code == 0
    assert out.startswith("objective  34.0 in 5 entries\n")


@pytest.mark.parametrize("where", ["project", "save"])
def test_an_interrupted_run_leaves_nothing(tvcs, monkeypatch, where):
    def interrupt(*_):
        raise KeyboardInterrupt

    write_matrix("m.npy")
    target = tvcs_core if where == "project" else Projection
    monkeypatch.setattr(target, where, interrupt)
    code, out, err = tvcs("project", "m.npy", "--out", "p.npz")
    assert (code, out, err) == (130, "", "interrupted\n")
    assert [p.name for p in Path().iterdir()] == ["m.npy"]


def test_a_projection_without_proof_is_not_called_optimal(tvcs):
    projection = project(V, CONSTRAINT)
    replace(projection, total_dual=projection.total_dual + 1).save("p.npz")
    code, out, _ = tvcs("verify", "p.npz")
    assert code == 1
    assert "feasible  yes\noptimal   not proved\n" in out


def test_a_support_beyond_its_caps_is_named(tvcs):
    projection = project(V, CONSTRAINT)
    replace(projection, support=V != 0, matrix=V).save("p.npz")
    code, out, err = tvcs("verify", "p.npz")
    assert code == 1
    assert "feasible  no\n" in out
    assert "p.npz: row 0 keeps 2, its cap is 1\n" in err


def test_a_file_that_is_no_projection_is_refused(tvcs):
    write_matrix("m.npz")
    Path("half.npz").write_bytes(Path("m.npz").read_bytes()[:100])
    for name in ("m.npz", "half.npz", "missing.npz", "."):
        code, out, err = tvcs("verify", name)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {name}")
        assert err.count("\n") == 1


def test_data_to_try_are_written_by_name_or_all(tvcs, tmp_path):
    code, out, err = tvcs("data", "crowd40")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"data/crowd40: \d files\n", out)
    assert {path.name for path in Path("data").iterdir()} == {"crowd40"}
    code, out, _ = tvcs("data", "--out", "data")
    assert "data/crowd40: already there\n" in out
    assert (tmp_path / "data" / "network30" / "timeseries.tsv").exists()


def test_data_that_are_not_there_are_refused_by_name(tvcs):
    code, _, err = tvcs("data", "network3")
    assert code == 2
    assert "NAME must be one of network30, bsubtilis, crowd40, found 'network3'" in err
    assert "did you mean 'network30'?" in err
    assert not Path("data").exists()


def test_data_are_never_written_over_other_files(tvcs):
    Path("data/crowd40").mkdir(parents=True)
    Path("data/crowd40/gold.csv").write_text("mine")
    code, _, err = tvcs("data", "crowd40")
    assert code == 2
    assert "data/crowd40/gold.csv: is not the file of the data set" in err
    Path("data/crowd40/gold.csv").unlink()
    Path("data/crowd40").rmdir()
    Path("data").rmdir()
    Path("data").write_text("a file")
    code, _, err = tvcs("data", "crowd40")
    assert code == 2
    assert "cannot be written" in err


def test_the_doctor_names_versions_and_cache(tvcs, tmp_path, monkeypatch):
    from tvcs_core.jit.folder import cache_folder

    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("file").write_text("")
    cache_folder.cache_clear()
    code, out, err = tvcs("doctor")
    cache_folder.cache_clear()
    assert code == 0
    assert f"numpy {np.__version__}" in out
    assert f"cache     {tmp_path / 'cache' / 'tvcs' / 'kernels-tvcs_core-'}" in out
    assert f"warning: no kernel cache in {tmp_path / 'file' / 'below'}: " in err


def test_the_doctor_tries_a_projection_and_says_where_its_kernels_came_from(tvcs, monkeypatch):
    import tvcs_core.jit

    tvcs("doctor")  # whatever was not compiled yet is now
    code, out, _ = tvcs("doctor")
    assert code == 0
    assert re.search(r"^try       a table of 20 x 20 in .* s, kernels from the cache$", out, re.M)
    clock = iter([0.0, 12.34])
    monkeypatch.setattr(tvcs_core.jit, "compiling_seconds", lambda: next(clock))
    assert "kernels compiled in 12.3 s" in tvcs("doctor")[1]


def test_the_doctor_fails_where_no_kernel_can_be_kept(tvcs, monkeypatch):
    from tvcs_core.jit import folder

    monkeypatch.setattr(folder, "cache_places", lambda: iter(()))
    folder.cache_folder.cache_clear()
    code, out, err = tvcs("doctor")
    folder.cache_folder.cache_clear()
    assert code == 1
    assert "cache     none: kernels are compiled in every run" in out
    assert "error: no kernel can be kept: set TVCS_CACHE_DIR" in err


def test_the_doctor_fails_where_a_projection_is_not_proved(tvcs, monkeypatch):
    monkeypatch.setattr(tvcs_core, "certify", lambda _: Certificate((), 1.0, 2.0, True))
    code, _, err = tvcs("doctor")
    assert code == 1
    assert "error: the projection of a table of 20 x 20 is not proved: trust no result" in err


def test_names_in_the_first_row_and_column_are_left_out_when_asked_for(tvcs):
    Path("t.csv").write_text("worker,t1,t2\n007,3,1\nNA,1,2\n")
    code, _, err = tvcs("project", "t.csv", "--names", "--row-cap", 1, "--out", "p.npz")
    assert (code, err) == (0, "")
    assert Projection.load("p.npz").values.tolist() == [[3.0, 1.0], [1.0, 2.0]]


def test_a_first_column_of_names_is_refused_with_what_to_do(tvcs):
    Path("t.csv").write_text("worker,t1\nann,3\nbob,1\n")
    code, _, err = tvcs("project", "t.csv", "--out", "p.npz")
    assert (code, err) == (2, "error: t.csv:2: the first column holds names; give --names\n")


COUNTED = "counts from 0, as pandas writes a header and an index"
OF_PANDAS = [
    ({}, [], "t.csv:2: the first column holds names; give --names"),
    ({}, ["--names"], ""),
    ({"index": False}, [], f"t.csv:1: the first row {COUNTED}"),
    ({"index": False}, ["--names"], "t.csv:2: the first column must name the rows, found numbers"),
    ({"header": False}, [], f"t.csv:1: the first column {COUNTED}"),
    ({"header": False, "index": False}, [], ""),
]


@pytest.mark.parametrize(("words", "names", "message"), OF_PANDAS)
def test_a_header_and_an_index_of_pandas_are_no_values(tvcs, words, names, message):
    frame = pd.DataFrame([[0.5, 2.5, 1.5], [3.5, 0.5, 2.5], [1.5, 3.5, 0.5]])
    frame.to_csv("t.csv", **words)
    code, _, err = tvcs("project", "t.csv", *names, "--out", "p.npz")
    assert (code == 0) == (not message)
    assert message in err
    if not message:
        assert Projection.load("p.npz").values.tolist() == frame.to_numpy().tolist()


@pytest.mark.parametrize(
    ("text", "names", "first_row"),
    [
        ("0,1,2\n-1,3,4\n1e3,3,1\n", [], [0, 1, 2]),  # whole numbers may be data
        (",a,b\n0.5,1.5,2\n1.5,3,4\n", ["--names"], [1.5, 2]),  # the index of a frame
    ],
)
def test_whole_numbers_are_values_and_an_index_of_decimals_names_rows(tvcs, text, names, first_row):
    Path("t.csv").write_text(text)
    assert tvcs("project", "t.csv", *names, "--out", "p.npz")[0] == 0
    assert Projection.load("p.npz").values[0].tolist() == first_row


def write_blocks(folder="blocks", V=V):
    Path(folder).mkdir()
    for i, rows in enumerate(np.split(V, [1])):
        np.save(Path(folder) / f"rows-{9 + i}.npy", rows)


def test_a_folder_of_blocks_is_projected_and_verified(tvcs):
    write_blocks()
    arguments = ("--row-cap", 1, "--total", 4, "--out", "p.npz")
    code, out, err = tvcs("project", "blocks", *arguments)
    assert (code, err) == (0, "")
    assert "objective  25.0 in 2 entries\ngap        0.0\n" in out
    record = json.loads(Path("p.npz.run.json").read_text())
    assert [entry["file"] for entry in record["inputs"]] == ["rows-9.npy", "rows-10.npy"]
    assert (record["shape"], record["objective"]) == ([2, 3], 25.0)
    code, out, err = tvcs("verify", "p.npz", "--blocks", "blocks")
    assert (code, err) == (0, "")
    assert "optimal   yes\nobjective 25.0\nbound     25.0\n" in out
    code, _, err = tvcs("verify", "p.npz")
    assert code == 2
    assert err.endswith("p.npz: holds a projection of blocks; give their folder: --blocks DIR\n")
    np.save("blocks/rows-10.npy", V[1:] + 1)
    code, out, err = tvcs("verify", "p.npz", "--blocks", "blocks")
    assert code == 1
    assert "rows-10.npy: 1 values of the projection are not those of the block" in err


def test_what_is_wrong_with_blocks_is_one_line(tvcs):
    Path("empty").mkdir()
    write_blocks()
    for arguments, says in (
        (("empty",), "empty: must hold .npy files, one for each block of rows, found none"),
        (("blocks", "--names"), "--names cannot be given where MATRIX is a folder of blocks"),
        (
            ("blocks", "--method", "lp"),
            "--method cannot be given where MATRIX is a folder of blocks",
        ),
    ):
        code, _, err = tvcs("project", *arguments, "--row-cap", 1, "--out", "p.npz")
        assert code == 2
        assert says in err
        assert err.count("\n") == 1
    write_matrix("m.npy")
    tvcs("project", "m.npy", "--row-cap", 1, "--out", "p.npz")
    code, _, err = tvcs("verify", "p.npz", "--blocks", "blocks")
    assert code == 2
    assert err.endswith("p.npz: holds no projection of blocks; --blocks is for those\n")
