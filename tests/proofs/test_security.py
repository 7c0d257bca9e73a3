"""SECURITY.md: every sentence of it has a test, here or where it says."""

import ast
import json
import pickle
import re
import socket
from pathlib import Path

import numpy as np
import pytest

from tests.every_command import COMMANDS, call, lay_out

ROOT = Path(__file__).parents[2]
HERE = "proofs/test_security.py::"
DESK = "crowd/serve/test_"
TESTS = {
    "No pickle in an input file is loaded.": f"{HERE}test_no_pickle_is_loaded",
    "An input is refused while it is read once it holds more than 4 GiB after decompression, or "
    "than `TVCS_MAX_INPUT` says.": "core/files/test_input_size.py::"
    "test_the_limit_is_one_constant_unless_it_is_set test_a_gz_is_refused_while_it_is_read",
    "A file of which more than 250 times its bytes, and 32 MiB, would be read is refused unless "
    "`TVCS_MAX_INPUT` is set.": "core/files/test_small_files.py::"
    "test_a_small_file_that_fills_the_memory_is_refused_and_costs_little "
    "test_a_user_who_sets_the_limit_says_that_the_file_is_meant",
    "An `.h5ad` file reads no other file.": "grn/expression/test_h5ad.py::"
    "test_a_file_that_would_read_another_file_is_refused",
    "Reports escape every name, and their content policy forbids requests.": "test_reports_in_"
    "browser.py::test_a_report_opens_without_requests_errors_or_scripts_from_names",
    "Names are shown to people with control characters and marks of direction escaped.": "test_"
    "hostile_input.py::test_hostile_cells_are_shown_escaped_and_cut",
    "JSON for programs holds names exactly.": f"{HERE}test_json_holds_names_exactly",
    "Tables about crowds put an apostrophe before a name that a spreadsheet would run as a "
    "formula.": f"{HERE}test_no_table_about_crowds_holds_a_formula",
    "Tables about networks hold names as they are, so open them in a spreadsheet as text.": HERE
    + "test_tables_about_networks_hold_names_as_they_are",
    "Compiled kernels are cached in a folder that only you can write.": "core/jit/test_folder.py::"
    "test_a_folder_that_others_can_write_is_not_used "
    "test_a_folder_that_anyone_may_put_another_for_is_refused",
    "A cached kernel is loaded only if it fits its seal.": "core/jit/test_cache.py::"
    "test_a_file_without_its_seal_is_never_unpickled test_a_sealed_file_under_another_name_is_not_"
    "used",
    "`tvcs doctor` shows where kernels are cached.": "core/test_cli.py::"
    "test_the_doctor_names_versions_and_cache",
    "Only `serve`, `sync`, `--cluster` and stores at `postgresql://` use the network; no other "
    "command opens a connection.": f"{HERE}test_no_other_command_opens_a_connection",
    "`serve` listens on this machine alone, unless `--behind-proxy` or `--trust-network` is "
    "given.": f"{DESK}start.py::test_what_is_refused",
    "No token goes unencrypted to another machine, unless `--trust-network` is given.": "crowd/"
    "sync/test_command.py::test_wrong_words_are_refused "
    "test_the_key_of_argilla_does_not_go_unencrypted_either",
    "Only their owner may read stores and tables of links.": f"{DESK}secrets.py::"
    "test_stores_links_and_copies_are_for_their_owner_alone",
    "The database refuses every statement that would change or replace an entry of the audit.": DESK
    + "secrets.py::test_no_statement_rewrites_the_audit test_nor_on_postgresql",
    "Addresses in the audit are hashed under the campaign's secret.": f"{DESK}secrets.py::"
    "test_addresses_in_the_audit_cannot_be_found_by_trying_all",
    "Links are kept as hashes only.": f"{DESK}worker_pages.py::test_only_hashes_are_in_the_store",
    "A file of `--media` runs no script, opened as a page or otherwise.": "crowd/serve/turn/"
    "test_media_browser.py::test_no_file_of_media_runs_a_script_or_reaches_the_desk "
    "test_no_page_of_the_desk_takes_a_file_of_media_for_a_script",
    "Logging out ends an operator's session at every desk of the campaign.": f"{DESK}secrets.py::"
    "test_a_session_that_was_logged_out_is_good_nowhere",
    "Whatever host a request names, links begin with `--public-url`.": f"{DESK}attacks.py::"
    "test_another_host_is_refused_and_makes_no_link",
    "Connections that send nothing make room for others.": f"{DESK}attacks.py::"
    "test_connections_that_send_nothing_make_room "
    "test_a_thousand_idle_connections_stop_nobody_and_write_nothing",
    "Wrong passwords hold up no other page.": f"{DESK}attacks.py::"
    "test_wrong_passwords_from_many_addresses_hold_no_other_page_up",
    "Five wrong passwords within a minute end the guesses of an address for that minute.": DESK
    + "operator_pages.py::test_five_wrong_passwords_are_looked_at_whatever_way_they_come",
    "A damaged store is an error page without a path.": f"{DESK}secrets.py::"
    "test_a_damaged_store_is_503_without_its_path",
}
"""By sentence: a file of tests, and in it what holds the sentence to its word."""


def test_every_sentence_has_a_test_and_every_test_is_there():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    bullets = re.findall(r"^- (.*(?:\n  .*)*)", text, re.MULTILINE)
    sentences = [" ".join(one.split()) for one in bullets]
    assert sorted(sentences) == sorted(TESTS)
    assert all(re.fullmatch(r"[^.]*(?:\.[^.\s][^.]*)*\.", one) for one in sentences)  # one each
    for place in TESTS.values():
        file, _, names = place.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        there = {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
        assert names
        assert set(names.split()) <= there


def test_nothing_but_bullets_promises_anything():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    text = re.sub(r"<!-- home: begin.*?home: end -->", "", text, flags=re.DOTALL)  # an address
    rest = re.sub(r"^- .*(?:\n  .*)*\n?|^#.*\n", "", text, flags=re.MULTILINE)
    assert " ".join(rest.split()) == (
        "What we hold ourselves to. Each sentence has a test, which "
        "`tests/proofs/test_security.py` names."
    )


class _Leaves:
    """Whoever loads it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.split()[-1] != "h5ad"])
def test_no_pickle_is_loaded(tmp_path, name, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, words = lay_out(name, tmp_path)
    left = tmp_path / "left"
    trap = _Leaves(left)
    if path.suffix == ".npz":
        np.savez(path, values=np.array([trap], dtype=object))
    elif path.suffix == ".npy":
        np.save(path, np.array([trap], dtype=object), allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps(trap))
    left.unlink(missing_ok=True)
    code, _, err = call(words, capfd)
    assert (code, err.count("\n") >= 1) == (2, True)
    assert not left.exists()


NAME = "=1+1\x1b[2J\u202e"


def test_json_holds_names_exactly(tmp_path, capfd, monkeypatch):
    pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text(f"worker,task,quality\nann,'{NAME},0.9\n", encoding="utf-8")
    assert (
        call(
            ["crowd-tvcs", "campaign", "init", "s.db", "--quality", "q.csv", "--budget", "3"], capfd
        )[0]
        == 0
    )
    words = ["crowd-tvcs", "campaign", "next", "s.db", "--worker", "ann", "--json"]
    code, out, _ = call(words, capfd)
    assert (code, json.loads(out)["task"]) == (0, NAME)


def cells(folder):
    for path in folder.rglob("*"):
        if path.suffix in (".csv", ".tsv"):
            for line in path.read_text(encoding="utf-8").splitlines():
                yield from (cell.strip('"') for cell in re.split("[,\t]", line))


@pytest.mark.parametrize(
    "words",
    [
        "vote a.csv --out o",
        "quality a.csv --gold g.csv --out o",
        "workers a.csv --gold g.csv --out o",
        "agreement a.csv --out o",
    ],
)
def test_no_table_about_crowds_holds_a_formula(tmp_path, capfd, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o").mkdir()
    rows = [f"=t{j},@w{i},{(i * j) % 2}" for j in range(6) for i in range(3)]
    (tmp_path / "a.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    (tmp_path / "g.csv").write_text("task,label\n=t0,0\n=t1,1\n=t2,0\n")
    code, _, err = call(["crowd-tvcs", *words.split()], capfd)
    assert code == 0, err
    found = list(cells(tmp_path / "o"))
    assert any(cell.startswith(("'=t", "'@w")) for cell in found)
    assert not [cell for cell in found if cell.startswith(("=", "@", "\t"))]


def test_tables_about_networks_hold_names_as_they_are(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, words = lay_out("convert", tmp_path)
    for one in (path, tmp_path / "g.txt"):
        one.write_text(one.read_text().replace("G1", "=G1"))
    before = set(tmp_path.rglob("*"))
    code, out, err = call(words, capfd)
    assert code == 0, err
    made = [one for one in tmp_path.rglob("*") if one.is_file() and one not in before]
    texts = [one.read_text(encoding="utf-8") for one in made if one.suffix != ".json"] + [out]
    assert any("=G1" in text for text in texts)
    assert not any("'=G1" in text for text in texts)


FIRST = {" ".join(words.split()[:2]): name for name, (*_, words) in reversed(COMMANDS.items())}


@pytest.mark.parametrize("command", FIRST)
def test_no_other_command_opens_a_connection(tmp_path, capfd, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    opened = []

    class Socket(socket.socket):
        def connect(self, address):
            opened.append(address)
            raise OSError("no network here")

        connect_ex = connect

        def bind(self, address):
            opened.append(address)
            raise OSError("no network here")

    def no_name(*given, **_):
        opened.append(given)
        raise OSError("no network here")

    monkeypatch.setattr(socket, "socket", Socket)
    monkeypatch.setattr(socket, "getaddrinfo", no_name)
    _, words = lay_out(FIRST[command], tmp_path)
    assert call(words, capfd)[0] == 0
    assert not opened


def test_the_network_is_used_in_these_modules_alone():
    """What a command imports that can open a connection; the sentence lists the commands."""
    uses = re.compile(
        r"^\s*(?:import|from) (socket|urllib\.request|http\.client|http\.server|uvicorn|distributed"
        r"|psycopg|requests|ftplib|smtplib)\b",
        re.MULTILINE,
    )
    found = {
        path.relative_to(ROOT).parts[:2]
        for room in ("tvcs_core", "grn_tvcs", "crowd_tvcs")
        for path in (ROOT / room).rglob("*.py")
        if uses.search(path.read_text(encoding="utf-8"))
    }
    assert found == {("tvcs_core", "engines"), ("crowd_tvcs", "serve"), ("crowd_tvcs", "sync")}
