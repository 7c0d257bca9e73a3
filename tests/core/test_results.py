"""A command's results: all files and the record, or nothing; tables that are printed."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tvcs_core.command.results import print_json, print_table, results, write_rows
from tvcs_core.files.errors import DataError


@dataclass(frozen=True)
class Options:
    out: Path
    force: bool = False


def test_every_kind_of_file_and_last_the_record(tmp_path):
    (tmp_path / "in.csv").write_text("a\n")
    options = Options(tmp_path / "made" / "below")
    inputs = [tmp_path / "in.csv", None]
    with results("x y", options, {"size": 3}, seed=5, inputs=inputs, layout="wide") as out:
        out.table("a.csv", ["name", "n"], [["x,y", 1], ["z", None]])
        out.table("b.tsv", ["name", "n"], [["x", 1.5]])
        out.json("c.json", {"é": [1]})
        out.text("d.html", "<p>é</p>")
        out.record["late"] = True
        assert not (options.out / "a.csv").exists()
        assert not (out.folder / "run.json").exists()
    assert (options.out / "a.csv").read_bytes() == b'name,n\n"x,y",1\nz,\n'
    assert (options.out / "b.tsv").read_bytes() == b"name\tn\nx\t1.5\n"
    assert (options.out / "c.json").read_bytes() == '{\n  "é": [\n    1\n  ]\n}\n'.encode()
    assert (options.out / "d.html").read_bytes() == "<p>é</p>".encode()
    record = json.loads((options.out / "run.json").read_text())
    assert list(record) == [
        *("command", "parameters", "seed", "inputs", "versions", "layout", "late")
    ]  # fmt: skip
    assert (record["command"], record["parameters"], record["seed"]) == ("x y", {"size": 3}, 5)
    assert [entry["file"] for entry in record["inputs"]] == ["in.csv"]
    assert len(list(options.out.iterdir())) == 5


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_where_the_command_fails(tmp_path, error):
    def fail(out):
        out.table("a.csv", ["n"], [[1]])
        raise error

    options = Options(tmp_path / "made" / "below")
    with pytest.raises(error), results("x", options, {}) as out:
        fail(out)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_filled_only_by_force(tmp_path):
    (tmp_path / "old").write_text("")
    with pytest.raises(DataError, match="not empty"), results("x", Options(tmp_path), {}):
        raise AssertionError
    with results("x", Options(tmp_path, force=True), {}):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"old", "run.json"}


def test_a_table_is_printed_in_columns(capsys):
    columns = {"name": "<6", "gain": ">+8.2f", "n": ">4", "": "<2", "why": "<"}
    print_table(columns, [["ann", 0.5, 3, "", "a\x1bb"], ["b", None, float("nan"), "", ""]])
    print_table(columns, [["c", "-", "none", "", ""]])
    assert capsys.readouterr().out.splitlines() == [
        "name      gain   n  why",
        "ann      +0.50   3  a\\x1bb",
        "b",
        "name      gain   n  why",
        "c            -none",
    ]


def test_rows_go_to_a_file_or_to_standard_output_and_no_name_is_a_formula(tmp_path, capsys):
    rows = [["=1+1", -2.0], ["b,c", None]]
    write_rows(None, ["name", "n"], rows)
    write_rows(tmp_path / "out.csv", ["name", "n"], rows)
    assert capsys.readouterr().out == (tmp_path / "out.csv").read_text()
    assert (tmp_path / "out.csv").read_text() == 'name,n\n\'=1+1,-2.0\n"b,c",\n'


def test_json_reads_back_and_acts_on_no_terminal(capsys):
    print_json({"é\u202e": [1]})
    out = capsys.readouterr().out
    assert json.loads(out) == {"é\u202e": [1]}
    assert "é\\u202e" in out
