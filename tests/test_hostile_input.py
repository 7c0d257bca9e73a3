"""Whatever a file holds: one line that says so, exit code 2, and nothing that a terminal obeys."""

import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.every_command import COMMANDS, call, lay_out
from tvcs_core.files.display import LINE, cut, json_text, message, quoted, unquoted, visible

TEXTS = [name for name, (_, content, *_) in COMMANDS.items() if isinstance(content, str)]
TABLES = [name for name in TEXTS if not COMMANDS[name][0].endswith(("json", "jsonl", "txt"))]
HOSTILE = {
    "marks": "x\x1b[2J\x1b]0;t\x07a\u202eb\u2066c\u200f\x9b31mq\x85a\u2028b\x0bc\x0cd",
    "long": "L" * 100_000,
    "quotes": "'" * 300 + '"' * 2 + "\x1b" * 300,
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TVCS_DEBUG", raising=False)


def is_shown_safely(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_its_input(tmp_path, name, capfd):
    _, words = lay_out(name, tmp_path)
    code, _, err = call(words, capfd)
    assert code == 0, err


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("text", [",\n", ',,\n , \n"",""\n', ";\n\n;\n"])
def test_a_table_of_empty_cells_is_refused(tmp_path, name, text, capfd):
    path, words = lay_out(name, tmp_path)
    path.write_text(text)
    code, out, err = call(words, capfd)
    assert (code, out) == (2, "")
    what = "must hold a cell that is not empty, found none"
    assert err.splitlines()[-1] == f"error: {path.name}: {what}"


def places(text: str) -> list[tuple[int, int]]:
    """A header, the first and the last cell of a row: by line and cell."""
    delimiter = "\t" if "\t" in text else ","
    last = len(text.splitlines()[0].split(delimiter)) - 1
    return sorted({(0, 0), (0, last), (1, 0), (1, last)})


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_cells_are_shown_escaped_and_cut(tmp_path, name, kind, capfd):
    content = COMMANDS[name][1]
    delimiter = "\t" if "\t" in content else ","
    for line, cell in places(content):
        path, words = lay_out(name, tmp_path)
        rows = [row.split(delimiter) for row in content.splitlines()]
        quoted = HOSTILE[kind].replace('"', '""')
        rows[line][cell] = f'"{rows[line][cell]}{quoted}"'
        path.write_text("".join(delimiter.join(row) + "\n" for row in rows), encoding="utf-8")
        code, out, err = call(words, capfd)
        assert code in (0, 2), err
        assert is_shown_safely(err)
        assert is_shown_safely(out)
        assert max(map(len, err.split("\n"))) <= 500
        if kind == "long":
            assert "L" * 81 not in err + out


def test_a_campaign_shows_hostile_names_escaped_and_gives_them_exactly(tmp_path, capfd):
    pytest.importorskip("sqlalchemy")
    name = "t\x1b[2J\u202e"
    (tmp_path / "q.csv").write_text(f"worker,task,quality\na\x07,{name},0.9\n", encoding="utf-8")
    words = ["crowd-tvcs", "campaign", "init", "s.db", "--quality", "q.csv", "--budget", "3"]
    assert call(words, capfd)[0] == 0
    code, out, err = call(["crowd-tvcs", "campaign", "status", "s.db"], capfd)
    assert (code, is_shown_safely(out + err)) == (0, True)
    code, out, err = call(
        ["crowd-tvcs", "campaign", "next", "s.db", "--worker", "a\x07", "--json"], capfd
    )
    assert is_shown_safely(out + err)
    assert json.loads(out)["task"] == name
    code, out, err = call(["crowd-tvcs", "campaign", "next", "s.db", "--worker", "a\x07"], capfd)
    assert (out, is_shown_safely(err)) == (f"{name}\n", True)
    given = ["--worker", "a\x07", "--task", name, "--label", "1"]
    assert call(["crowd-tvcs", "campaign", "submit", "s.db", *given], capfd)[0] == 0
    for command in ("status", "review"):
        code, out, err = call(["crowd-tvcs", "campaign", command, "s.db"], capfd)
        assert code == 0
        assert is_shown_safely(out + err)
        assert "t\\x1b[2J\\u202e" in out
        code, out, _ = call(["crowd-tvcs", "campaign", command, "s.db", "--json"], capfd)
        assert is_shown_safely(out)
        assert [one["task"] for one in _tasks(json.loads(out))] == [name]
    code, out, err = call(["crowd-tvcs", "campaign", "export-labels", "s.db"], capfd)
    assert name in out  # data for programs is exact
    code, out, err = call(["crowd-tvcs", "campaign", "next", "s.db", "--worker", name * 99], capfd)
    assert code in (0, 1, 2)
    assert is_shown_safely(out + err)


def _tasks(found):
    return found if isinstance(found, list) else found["task"]


def test_data_is_escaped_where_it_goes_to_a_terminal():
    pty = pytest.importorskip("pty")
    import os

    here, there = pty.openpty()
    script = "from tvcs_core.command.shell import print_data; print_data('a\\x1b[2J,b\\nc')"
    subprocess.run([sys.executable, "-c", script], stdout=there, check=True)
    os.close(there)
    assert os.read(here, 1000).split() == [b"a\\x1b[2J,b", b"c"]
    os.close(here)
    piped = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert piped.stdout == b"a\x1b[2J,b\nc\n"


def test_what_is_shown_is_printable_and_short():
    every = "".join(map(chr, range(0x3100))) + "\ud800\U000e0001\U0001f600"
    for text in (every, *HOSTILE.values()):
        assert visible(text).isprintable()
        assert unquoted(text).isprintable()
        assert quoted(text).isprintable()
        assert max(len(unquoted(text)), len(quoted(text))) <= 80
        assert len(message(f"must be a number, found {text!r}")) <= LINE
    assert (visible("é 名 'x'"), quoted("it's"), unquoted("a")) == ("é 名 'x'", '"it\'s"', "a")
    assert cut("a" * 50 + "z" * 50).startswith("aaa")
    assert cut("a" * 50 + "z" * 50).endswith("zzz")
    assert message("x.tsv:3: must be a number, found 'n/a'; do") == (
        "x.tsv:3: must be a number, found 'n/a'; do"
    )
    names = [every, "\x7f", "plain"]
    assert json.loads(json_text(names[1:])) == names[1:]
    assert is_shown_safely(json_text(["\x1b\x7f\x9b\u202e\U000e0001"], indent=2))
    assert json.loads(json_text(["\x1b\x7f\x9b\u202e\U000e0001"])) == [
        "\x1b\x7f\x9b\u202e\U000e0001"
    ]


STRANGE = [
    "", "[]", "null", "3", '"genes"', "{}", '{"genes": "G1"}', '{"genes": {"G1": 1}}',
    '{"genes": [1, 2]}', '{"genes": [[]]}', '{"genes": []}', '{"genes": [""]}', '{"genes": null}',
    '{"genes": ["G1", "G1"]}', "[" * 100_000, '{"genes": [' + "9" * 5000 + "]}", "\ufffe", "{",
]  # fmt: skip


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_a_strange_run_json_is_refused(tmp_path, text, capfd):
    path, words = lay_out("score run.json", tmp_path)
    path.write_text(text, encoding="utf-8")
    code, out, err = call(words, capfd)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: run.json: ")


def test_a_run_json_that_is_a_folder_or_no_text_is_refused(tmp_path, capfd):
    path, words = lay_out("score run.json", tmp_path)
    path.write_bytes(b"\x81{}")
    assert call(words, capfd)[::2] == (
        2,
        "error: run.json:1: must be UTF-8 text, found other bytes\n",
    )
    path.unlink()
    path.mkdir()
    assert call(words, capfd)[::2] == (2, "error: run.json: must be a file, found a folder\n")


def test_a_saved_projection_is_refused_by_its_size_before_it_is_read(tmp_path, monkeypatch, capfd):
    from tvcs_core import TVCS, project

    monkeypatch.setenv("TVCS_MAX_INPUT", "1M")
    project([[1.0, 2.0]], TVCS.matrix((1, 2), total=1)).save("p.npz")
    with (
        zipfile.ZipFile("p.npz", "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("m.npy", "w") as file,
    ):
        np.save(file, np.zeros(2**18))
    code, _, err = call(["tvcs", "verify", "p.npz"], capfd)
    found = "error: p.npz: must hold at most 1 MiB, found arrays of 2"
    assert (code, err[: len(found)]) == (2, found)
    code, _, err = call(["tvcs", "verify", "p.npz", "--blocks", "."], capfd)
    assert (code, err[: len(found)]) == (2, found)


STRANGE_ARRAYS = {
    "total": (np.array(np.inf), "its total must not be of type float64"),
    "row_caps": (np.array(["2"]), "its row_caps must not be of type <U1"),
    "values": (np.array([[1j, 2]]), "its values must not be of type complex128"),
    "shape": (np.array([1, 2]).astype("M8[s]"), "its shape must not be of type datetime64[s]"),
    "format": (  # no characters: to make a str of them crashes what prints it
        np.full(17, 2**31 - 1, "<u4").view("<U17").reshape(()),
        f"its format is {17 * chr(0xFFFD)}, not tvcs-projection-1",
    ),
}


@pytest.mark.parametrize("name", [*STRANGE_ARRAYS, "header"])
def test_a_saved_projection_with_a_strange_array_is_refused(tmp_path, name, capfd):
    from tvcs_core import TVCS, project

    project([[1.0, 2.0]], TVCS.matrix((1, 2), total=1)).save("p.npz")
    with np.load("p.npz") as file:
        arrays = {key: file[key] for key in file.files}
    array, what = STRANGE_ARRAYS.get(name, (None, "('EOF in multi-line statement', (2, 0))"))
    if array is not None:
        arrays[name] = array
    np.savez("p.npz", **arrays)
    if array is None:
        text = b"{'descr': '<i8', \n"
        with zipfile.ZipFile("p.npz", "w") as archive:
            archive.writestr("total.npy", b"\x93NUMPY\x01\x00" + bytes([len(text), 0]) + text)
    code, _, err = call(["tvcs", "verify", "p.npz"], capfd)
    assert (code, err) == (2, f"error: p.npz: is not a saved projection ({what})\n")


def test_a_block_that_is_an_archive_is_refused(tmp_path, capfd):
    (tmp_path / "b").mkdir()
    np.savez(tmp_path / "b" / "0.npz", np.eye(2))
    (tmp_path / "b" / "0.npz").rename(tmp_path / "b" / "0.npy")
    words = ["tvcs", "project", "b", "--total", "2", "--out", "p.npz"]
    what = "b/0.npy: is not a whole .npy file of numbers (it is an archive)"
    assert call(words, capfd)[::2] == (2, f"error: {what}\n")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"temperature": ' + "[" * 100_000])
def test_a_dependence_json_that_is_nested_deeply_is_refused(tmp_path, text, capfd):
    (tmp_path / "q.csv").write_text("worker,task,quality\nann,t1,0.9\n")
    (tmp_path / "d.json").write_text(text)
    words = [
        "crowd-tvcs",
        "assign",
        "q.csv",
        "--dependence",
        "d.json",
        "--method",
        "fast",
        "--out",
        "o",
    ]
    code, _, err = call(words, capfd)
    what = "d.json: must be a dependence.json of crowd-tvcs quality"
    assert (code, err.splitlines()[-1]) == (2, f"error: {what}")


@pytest.mark.parametrize("cap", ["18446744073709551616", "9" * 5000, "٣", "-1", "1.5", ""])
def test_a_cap_of_a_regulator_that_is_no_count_is_refused(tmp_path, cap, capfd):
    _, words = lay_out("check", tmp_path)
    (tmp_path / "c.tsv").write_text(f"G2\t1\nG1\t{cap}\n", encoding="utf-8")
    more = "--out-degrees c.tsv --method pcc --missing interpolate --out o"
    code, _, err = call([words[0], "infer", "e.tsv", *more.split()], capfd)
    found = quoted(f"G1\t{cap}")
    what = f"error: c.tsv:2: must be a name and a cap >= 0, found {found}"
    assert (code, err.splitlines()[-1]) == (2, what)


RECORD_OF_INFER = '{"command": "grn-tvcs infer", "genes": ["G1", "G2"'


@pytest.mark.parametrize(
    ("rest", "what"),
    [
        (', "G1"]}', "gene names must be different, found twice: G1"),
        ('], "parameters": []}', "parameters must be names and values"),
        ('], "versions": 3}', "versions must be names and values"),
    ],
)
def test_a_strange_record_of_a_finished_network_is_refused(tmp_path, rest, what, capfd):
    path, words = lay_out("compare run.json", tmp_path)
    path.write_text(RECORD_OF_INFER + rest)
    assert call(words, capfd)[::2] == (2, f"error: f/run.json: {what}\n")


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Damage a file as disks, editors and people do."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del out[at : at + rng.randint(1, 20)]
        elif kind == 2:
            out[at:at] = bytes(rng.choices(b'",\t\n\r;\x00\xff0-e.naif{}[]:', k=rng.randint(1, 4)))
        elif kind == 3:
            out[at:at] = out[at : at + rng.randint(1, 40)]
        elif kind == 4 and at < len(out):
            out[at] = rng.randrange(256)
        elif kind == 5:
            out[at:at] = rng.choice(
                [b"nan", b"1e999", b"-1", b"inf", b"9" * 400, b"\xc2\x85", b"''="]
            )
        else:
            del out[at:]
    return bytes(out)


def fuzz(tmp_path: Path, capfd, name: str, times: int, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    for _ in range(times):
        path, words = lay_out(name, tmp_path)
        content = mutated(path.read_bytes(), rng)
        path.write_bytes(content)
        code, _, err = call(words, capfd)
        assert code in (0, 2), f"{content!r}\n{err}"
        assert "Traceback" not in err
        assert is_shown_safely(err)
        if code:
            assert err.splitlines()[-1].startswith("error: "), f"{content!r}\n{err}"


QUICK = [name for name in COMMANDS if name != "simulate topology"]


@pytest.mark.parametrize("name", QUICK)
def test_a_damaged_file_is_read_or_refused(tmp_path, capfd, name):
    fuzz(
        tmp_path,
        capfd,
        name,
        times=12 if COMMANDS[name][0][-3:] not in ("npy", "npz") else 60,
        seed=0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_many_damaged_files_are_read_or_refused(tmp_path, capfd, name):
    fuzz(tmp_path, capfd, name, times=60 if name == "simulate topology" else 600, seed=1)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_every_flipped_byte_of_a_matrix_is_read_or_refused(tmp_path, capfd, kind):
    path, words = lay_out(f"project {kind}", tmp_path)
    content = path.read_bytes()
    for at in range(0, min(len(content), 300), 1 if kind == "npy" else 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x28]) + content[at + 1 :])
        code, _, err = call(words, capfd)
        assert code in (0, 2), f"byte {at}: {err}"
