"""Matrices of files, and what is wrong with one by its place."""

import gzip
import io
import re

import numpy as np
import pytest
from scipy import sparse

from tvcs_core.files import rows as rows_module
from tvcs_core.files.display import json_text
from tvcs_core.files.errors import DataError
from tvcs_core.files.matrices import read_caps, read_matrix
from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import is_number, read_table


def test_a_value_that_is_not_finite_is_named_by_its_row_and_column(tmp_path):
    V = np.zeros((3, 4))
    V[1, 2] = np.inf
    np.save(tmp_path / "v.npy", V)
    with pytest.raises(DataError, match="must be finite, found inf in row 2, column 3"):
        read_matrix(tmp_path / "v.npy")
    sparse.save_npz(tmp_path / "v.npz", sparse.coo_array(V))
    with pytest.raises(DataError, match="must be finite, found inf in row 2, column 3"):
        read_matrix(tmp_path / "v.npz")


@pytest.mark.parametrize("text", [",\n,,\n", ",\n"])
def test_a_table_holds_a_cell(text, tmp_path):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="must hold a cell that is not empty, found none"):
        read_table(tmp_path / "t.csv")


def test_a_cell_is_a_number_or_it_is_not():
    assert [is_number(cell) for cell in ("1", "-2e3", "", "one")] == [True, True, False, False]


def test_rows_of_a_sheet_are_as_long_as_the_longest(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b", "c"], ["1"], ["2", "3"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    rows = read_table(tmp_path / "t.xlsx").rows
    assert rows == [["a", "b", "c"], ["1", "", ""], ["2", "3", ""]]


def test_blocks_hold_as_many_rows_as_fit(monkeypatch):
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 12)
    lengths = [1, 2, 3, 1, 1, 1, 1, 9, 30, 1, 4, 4, 1, 1, 2, 6, 11, 1]
    rows = Rows.of([["x" * length] for length in lengths])  # each with the end of its line
    blocks = [[len(cell) for (cell,) in block] for block in rows.blocks()]
    expected = [[1, 2, 3, 1], [1, 1, 1], [9], [30], [1, 4, 4], [1, 1, 2], [6], [11], [1]]
    assert blocks == expected


def test_text_may_be_packed(tmp_path):
    (tmp_path / "v.csv.gz").write_bytes(gzip.compress(b"1,2\n3,4\n"))
    assert read_matrix(tmp_path / "v.csv.gz").values.tolist() == [[1, 2], [3, 4]]


def test_only_the_last_extension_says_of_which_kind_a_file_is(tmp_path):
    (tmp_path / "v.1.csv").write_text("1,2\n3,4\n")
    assert read_matrix(tmp_path / "v.1.csv").values.tolist() == [[1, 2], [3, 4]]


def test_json_is_shown_without_characters_that_move_the_cursor():
    assert json_text("\u00e9\u202e") == '"\u00e9\\u202e"'


def test_a_matrix_beyond_the_limit_is_refused_as_too_large(tmp_path, monkeypatch):
    sparse.save_npz(tmp_path / "v.npz", sparse.coo_array(np.ones((30, 30))))
    monkeypatch.setenv("TVCS_MAX_INPUT", "5000")
    with pytest.raises(DataError, match=r"v\.npz: must hold at most 4\.88. KiB, found arrays"):
        read_matrix(tmp_path / "v.npz")


def test_caps_are_read_line_by_line(tmp_path):
    (tmp_path / "caps.txt").write_text("3\n0\n12\n")
    assert read_caps(tmp_path / "caps.txt", 3, "row") == [3, 0, 12]
    (tmp_path / "caps.txt").write_text("9" * 18)
    assert read_caps(tmp_path / "caps.txt", 1, "row") == [10**18 - 1]


@pytest.mark.parametrize("line", ["{long},b", "b,{long}", "b,{long},c"])
def test_the_longest_cell_of_a_line_is_what_is_looked_at(line, tmp_path):
    longest = rows_module.LONGEST_CELL
    (tmp_path / "t.csv").write_text(line.format(long="a" * longest))
    read_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(line.format(long="a" * (longest + 1)))
    with pytest.raises(DataError, match=f"found one of {longest + 1}"):
        read_table(tmp_path / "t.csv")


def test_rows_are_shown_by_their_number():
    assert repr(Rows.of([["a"], ["b"]])) == "Rows(2 rows)"


def test_a_workbook_of_several_sheets_is_refused_by_their_names(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "one"
    book.active["A1"] = 1
    book.create_sheet("two")["A1"] = 2
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match=r"the sheets one, two; keep only the one you mean$"):
        read_table(tmp_path / "x.xlsx")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\n-1\n", "caps:2: must be one integer >= 0, found '-1'"),
        ("1\nmany\n", "caps:2: must be one integer >= 0, found 'many'"),
        ("1,1\n1\n", "caps:1: must be one integer >= 0, found '1 1'"),
        ("1\n1\n1\n", "caps: must hold one cap for each of 2 rows, found 3"),
        ("9" * 19 + "\n1\n", "caps:1: must be one integer >= 0, found '9999999999999999999'"),
        ("", "caps: the file is empty"),
    ],
)
def test_bad_caps_are_refused(tmp_path, content, message):
    (tmp_path / "caps").write_text(content)
    with pytest.raises(DataError, match=re.escape(message)):
        read_caps(tmp_path / "caps", 2, "row")


def packed(save, *arrays, **named) -> bytes:
    """The bytes of a file of NumPy or SciPy."""
    out = io.BytesIO()
    save(out, *arrays, **named)
    return out.getvalue()


def npy(array) -> bytes:
    return packed(np.save, np.array(array))


V = [[3.0, 2.0, 0.0], [2.0, -4.0, 1.0]]
HUGE = npy(np.zeros((2, 3))).replace(b"(2, 3), }    ", b"(200000, 300), }", 1)
HALF = packed(sparse.save_npz, sparse.csr_array(V))[:-60]
ROWS = {"format": np.array(b"csr"), "shape": [2, 3]}
BACK = ROWS | {"indices": [0, 1, 0], "indptr": [0, 2, 1], "data": [1.0, 2.0, 3.0]}
BEYOND = ROWS | {"indices": [7], "indptr": [0, 1, 1], "data": [1.0]}
BAD = [
    ("m.npy", npy([[1, 2], [np.nan, 3]]), "must be finite, found nan in row 2, column 1"),
    ("m.npy", npy([["a"]]), "must hold real numbers, found <U1"),
    ("m.npy", npy(np.ones((2, 2), complex)), "must hold real numbers, found complex128"),
    ("m.npy", npy(np.zeros((0, 3))), "must be a matrix with entries, found shape (0, 3)"),
    ("m.npy", npy([1.0, 2.0]), "must be a matrix with entries, found shape (2,)"),
    ("m.npy", npy(np.ones((2, 2, 2))), "must be a matrix with entries"),
    ("m.npy", npy([[{}]]), "is not a whole .npy file"),
    ("m.npy", npy(V)[:100], "is not a whole .npy file"),
    ("m.npy", HUGE, "is not a whole .npy file"),
    ("m.npy", b"\x80\x04N.", "is not a whole .npy file"),
    ("m.npy", b"", "is not a whole .npy file"),
    ("m.npz", HALF, "is not a whole .npz file"),
    ("m.npz", packed(np.savez, V), "is not a whole .npz file of a scipy sparse matrix"),
    ("m.npz", packed(np.savez, **BEYOND), "is not a whole .npz file of a scipy sparse matrix"),
    ("m.npz", packed(np.savez, **BACK), "is not a whole .npz file of a scipy sparse matrix"),
    ("m.csv", b"", "the file is empty"),
    ("m.csv", b"a,b\n", "found a header alone"),
    ("m.csv", b"1,x\n3,4\n", "m.csv:1, column 2: must be a number, found 'x'"),
    ("m.csv", b"1,2\n3,x\n", "m.csv:2, column 2: must be a number"),
    ("m.csv", b"1,2\n3,nan\n", "m.csv:2, column 2: must be a finite"),
    ("m.csv", b"1,2\n3\n", "m.csv:2: must have 2 cells"),
    ("m.csv", b"row,col,value\n0,1,2\n", "m.csv:1: must be a matrix, found a list of entries"),
    ("m.csv", b"\x81\xfe\x00", "must be UTF-8 text"),
    ("m.csv.gz", gzip.compress(b"1,2\n3,4\n", mtime=0)[:-9], "damaged .gz"),
    ("m.npy.gz", b"", "must be a .npy, .npz, .csv or .tsv file, found '.gz'"),
    ("m.txt2", b"1,2", "or .tsv file, found '.txt2'"),
    ("m", b"1,2", "or .tsv file, found 'no extension'"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_a_bad_matrix_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=re.escape(message)):
        read_matrix(tmp_path / name)
