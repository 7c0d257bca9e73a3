import gzip
import json
import os
import warnings
from datetime import datetime

import numpy as np
import pytest

from tvcs_core import DataError, cli
from tvcs_core.command.shell import guarded, run
from tvcs_core.files import folders
from tvcs_core.files.folders import output_folder, write_json, write_whole
from tvcs_core.files.page import fill_page
from tvcs_core.files.record import run_record
from tvcs_core.files.spreadsheet import csv_text, unshield, write_csv
from tvcs_core.files.tables import read_names, read_table, write_table


def write(tmp_path, content: str | bytes, name: str = "t.tsv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_the_cells_of_a_workbook_become_the_texts_that_excel_exports(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    day, noon = datetime(2024, 3, 1), datetime(2024, 3, 1, 12, 30)
    book.active.append(["a", "b", "c", "d", "e", "f"])
    book.active.append([day, noon, True, 3.0, 2.5, None])
    book.active.append([1, 2**53, -7.0, "007", False, " x"])  # blanks around a cell go
    book.save(tmp_path / "t.xlsx")
    assert [list(row) for row in read_table(tmp_path / "t.xlsx").rows[1:]] == [
        ["2024-03-01", "2024-03-01 12:30:00", "TRUE", "3", "2.5", ""],
        ["1", str(2**53), "-7", "007", "FALSE", "x"],
    ]


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiter_line_ends_and_byte_order_mark_make_no_difference(tmp_path, delimiter, end, mark):
    rows = [["name", "a"], ["NA", "007"], ["", "x"]]
    text = mark + end.join(delimiter.join(row) for row in rows) + end
    table = read_table(write(tmp_path, text))
    assert table.rows == rows
    assert list(table.lines) == [1, 2, 3]
    assert table.delimiter == delimiter


def test_a_gz_file_is_read_as_the_file_inside(tmp_path):
    path = write(tmp_path, gzip.compress(b"a\tb\n1\t2\n"), "t.tsv.gz")
    assert read_table(path).rows == [["a", "b"], ["1", "2"]]


def test_blank_lines_are_left_out_but_remembered(tmp_path):
    table = read_table(write(tmp_path, "a\n\n1\n2\n \n\n3\n"))
    assert table.rows == [["a"], ["1"], ["2"], ["3"]]
    assert list(table.lines) == [1, 3, 4, 7]
    assert list(table.after_blank) == [False, True, False, True]


def test_a_quoted_cell_may_hold_delimiters_and_line_ends(tmp_path):
    table = read_table(write(tmp_path, 'a,b\n"x,\ny","say ""no"""\nz,1\n'))
    assert table.rows[1] == ["x,\ny", 'say "no"']
    assert list(table.lines) == [1, 2, 4]


def test_numbers_are_read_from_the_columns_asked_for(tmp_path):
    table = read_table(write(tmp_path, "n\ta\tb\nx\t1\t2.5\ny\t-3e2\t4\n"))
    assert table.numbers(1, [2, 1]).tolist() == [[2.5, 1.0], [4.0, -300.0]]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("two", "t.tsv:3, column 'b': must be a number, found 'two'"),
        ("", "t.tsv:3, column 'b': must be a number, found ''"),
        ("nan", "t.tsv:3, column 'b': must be a finite number, found 'nan'"),
        ("-inf", "t.tsv:3, column 'b': must be a finite number, found '-inf'"),
    ],
)
def test_a_cell_that_is_no_number_is_named_by_line_and_column(tmp_path, cell, message):
    table = read_table(write(tmp_path, f"a\tb\n1\t2\n3\t{cell}\n"))
    with pytest.raises(DataError) as error:
        table.numbers(1, [0, 1])
    assert str(error.value).endswith(message)


def test_a_ragged_row_is_named(tmp_path):
    table = read_table(write(tmp_path, "a\tb\n1\t2\n3\n"))
    with pytest.raises(DataError, match=r":3: must have 2 cells like the first row, found 1"):
        table.check_rectangle()


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        ("id,A,B\ns1,1,2\ns2,1\n", 3, "the file seems to be cut off in its last line"),
        ("id,A,B\ns1,1\ns2,1,2\n", 2, "quote a cell"),
        ("id,A,B\ns1,1,2\ns2,1,5,2\n", 3, "quote a cell"),  # a decimal comma
        ("id,A,B\ns1,1,2\ns2,1,2,\n", 3, "quote a cell"),
        ("id,A,B\ns1,1,2\ns2,1,5,2\ns3,1,5,3\n", 3, "quote a cell"),
        ("Time,A,B\n0,1,2\n1,1,5,2\n2,1,3\n", 3, "quote a cell"),
        ("Levels,all\nof,yeast\nid,A,B\ns1,1,2\n", 3, "delete the lines above the column names"),
        ("Levels,2024\nid,A,B\ns1,1,2\n", 2, "delete the lines above the column names"),
        ("The levels\nof yeast\nid\tA\tB\ns1\t1\t2\n", 3, "delete the lines above the"),
        ("Levels\nof yeast 2024\nid\tA\tB\ns1\t1\t2\n", 3, "delete the lines above the"),
        ("A B\ns 1 1 2\n", 2, "spaces part cells here"),
    ],
)
def test_the_remedy_of_a_ragged_row_is_that_of_its_file(tmp_path, text, line, remedy):
    path = tmp_path / "x.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"txt:{line}: must have .*; {remedy}"):
        read_table(path, spaces=True).check_rectangle()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"a\tb\n\xff\xfe\t1\n", r":2: must be UTF-8 text"),
        (b"a\tb\n\x00\t1\n", "found a binary file"),
        (gzip.compress(b"a\tb\n" * 1000, mtime=0)[:-20], "is a damaged .gz file"),
        (b'a,b\n"x,1\n', "is not a well-formed table"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, content))


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(DataError, match="must be a file, found a folder"):
        read_table(tmp_path)


def test_a_list_of_names_skips_blank_lines_and_comments(tmp_path):
    assert read_names(write(tmp_path, "# mine\nG1\n\n NA \n007\n")) == ["G1", "NA", "007"]


def test_a_table_that_was_written_reads_as_it_was(tmp_path):
    rows = [["a\tb", 'say "no"'], ["007", "x,y"]]
    write_table(tmp_path / "t.tsv", ["x", "y"], rows)
    assert read_table(tmp_path / "t.tsv").rows == [["x", "y"], *rows]


def test_no_cell_of_a_csv_file_is_a_formula_and_missing_ones_are_empty(tmp_path):
    header, rows = ["task", "=x"], [["+t", -1.5], ["-3", None], ["'=y", float("nan")], ["a,b", 0]]
    write_csv(tmp_path / "t.csv", header, rows)
    text = "task,'=x\n'+t,-1.5\n-3,\n''=y,\n\"a,b\",0\n"
    assert (tmp_path / "t.csv").read_text() == csv_text(header, rows) == text
    again = read_table(tmp_path / "t.csv").rows
    assert [unshield(row[0]) for row in again] == ["task", *(row[0] for row in rows)]


def fill(folder):
    (folder / "a.txt").write_text("a")
    (folder / "run.json").write_text("{}")


def test_an_output_folder_appears_whole(tmp_path):
    with output_folder(tmp_path / "deep" / "out") as folder:
        fill(folder)
        assert not (tmp_path / "deep" / "out" / "a.txt").exists()
    assert sorted(os.listdir(tmp_path / "deep" / "out")) == ["a.txt", "run.json"]


def test_nothing_is_left_of_an_output_that_failed(tmp_path):
    with pytest.raises(RuntimeError), output_folder(tmp_path / "deep" / "out") as folder:
        fill(folder)
        raise RuntimeError
    assert not (tmp_path / "deep").exists()


def test_an_empty_folder_is_fine_and_stays_when_the_work_fails(tmp_path):
    with pytest.raises(KeyboardInterrupt), output_folder(tmp_path) as folder:
        fill(folder)
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_empty_needs_force_and_keeps_its_files_when_the_work_fails(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(DataError, match="not empty; give --force"), output_folder(tmp_path):
        pass
    with pytest.raises(RuntimeError), output_folder(tmp_path, force=True) as folder:
        fill(folder)
        raise RuntimeError
    assert (tmp_path / "a.txt").read_text() == "old"
    with output_folder(tmp_path, force=True) as folder:
        fill(folder)
    assert (tmp_path / "a.txt").read_text() == "a"


def test_a_place_that_cannot_be_a_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(DataError, match="must be a folder, found a file"),
        output_folder(tmp_path / "file"),
    ):
        pass
    with (
        pytest.raises(DataError, match="cannot be written"),
        output_folder(tmp_path / "file" / "out"),
    ):
        pass


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.npy"
    write_whole(path, lambda p: np.save(p, np.ones(3)))
    with pytest.raises(RuntimeError):
        write_whole(path, lambda p: (p.write_text("half"), (_ for _ in ()).throw(RuntimeError())))
    assert np.load(path).tolist() == [1, 1, 1]
    assert os.listdir(tmp_path) == ["x.npy"]


def test_a_pipe_has_no_hash_in_a_record(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    record = run_record("x", {}, seed=None, inputs=[tmp_path / "pipe"])
    assert record["inputs"] == [{"file": "pipe", "sha256": None}]


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to a pipe", "link to a file in /dev"])
def test_what_is_there_and_no_file_is_not_replaced(tmp_path, monkeypatch, kind):
    path = tmp_path / "x"
    if kind == "folder":
        path.mkdir()
    elif kind == "link to a file in /dev":  # as /dev/stdout may be
        monkeypatch.setattr(folders, "DEVICES", tmp_path)
        path.write_text("as it was")
    else:
        pipe = path if kind == "pipe" else tmp_path / "pipe"
        os.mkfifo(pipe)
        if kind != "pipe":
            path.symlink_to(pipe)
    before = path.lstat()
    with pytest.raises(DataError, match=r"x: must be a file, found a (folder|device or a pipe)"):
        write_whole(path, lambda p: p.write_text("x"))
    assert path.lstat() == before
    assert not list(tmp_path.glob(".partial-*"))


def test_a_file_in_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        write_whole(tmp_path / "no" / "x", lambda p: None)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="must be a file, found a folder"):
        write_whole(tmp_path, lambda p: None)
    assert os.listdir(tmp_path) == []


def test_a_file_whose_name_is_no_text_is_recorded_and_shown(tmp_path):
    name = os.fsdecode(b"caf\xe9.csv")
    write_json(tmp_path / "run.json", {"file": name, name: "caf\xe9"})
    written = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert json.loads(written) == {"file": name, name: "caf\xe9"}
    assert "caf\xe9" in written
    page = fill_page("tvcs_core.files", "page.html.j2", title=name)
    assert r"<title>caf\udce9.csv</title>" in page


def test_a_run_record_names_inputs_by_their_hash_and_holds_no_clock(tmp_path):
    path = write(tmp_path, "abc")
    record = run_record("x", {"a": 1}, seed=3, inputs=[path], genes=["G1"])
    assert record["inputs"] == [
        {
            "file": "t.tsv",
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        }
    ]
    assert record["seed"] == 3
    assert record["genes"] == ["G1"]
    assert json.dumps(record) == json.dumps(
        run_record("x", {"a": 1}, seed=3, inputs=[path], genes=["G1"])
    )


@pytest.fixture
def ended(capfd, monkeypatch):
    """Run a command in this process: its exit code and the one line that it printed."""
    monkeypatch.delenv("TVCS_DEBUG", raising=False)

    def result(command):
        with pytest.raises(SystemExit) as error:
            run(command)
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return error.value.code, err

    return result


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (ValueError("a\nb"), 2, "error: a b"),
        (TypeError("a"), 2, "error: a"),
        (FileNotFoundError(2, "No such file", "x.tsv"), 2, "error: x.tsv: No such file"),
        (MemoryError(), 1, "error: not enough memory."),
        (RuntimeError("odd"), 1, "error: unexpected RuntimeError: odd"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_what_a_command_raises_becomes_one_line_and_an_exit_code(raised, code, message, ended):
    @guarded
    def command(standalone_mode):
        raise raised

    found, line = ended(command)
    assert found == code
    assert line.startswith(message)


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_for_the_person(capfd):
    guarded(warnings.warn)("gene G1 is constant")
    assert capfd.readouterr().err == "warning: gene G1 is constant\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("verify", "error: Missing argument 'FILE'"),
        ("verify --no-such", "error: No such option: --no-such"),
        ("nothing", "error: No such command 'nothing'"),
        (
            "project x.npy --out y --total many",
            "error: --total must be an integer, found 'many'; see --help",
        ),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(words, message, ended, monkeypatch):
    monkeypatch.setattr("sys.argv", ["tvcs", *words.split()])
    code, line = ended(cli.app)
    assert code == 2
    assert line.startswith(message)
    assert line.endswith("; see --help\n")
