"""Help in groups, the volume of messages, and standard input in place of a file."""

import re
import warnings
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

import crowd_tvcs.cli.main
import grn_tvcs.cli.main
from tests.makers.commands import check_done, check_refused
from tvcs_core.command.shell import guarded

INFER, ASSIGN = grn_tvcs.cli.main, crowd_tvcs.cli.main
TABLE = "Time\tG1\tG2\tG3\n" + "".join(
    f"{t}\t{(t * 3) % 7 + 1}\t{(t * 5) % 11 + 1}\t{t % 4 + 1}\n" for t in range(9)
)


def run(main, *words, **more):
    return CliRunner().invoke(main.app, [*map(str, words)], terminal_width=200, **more)


def options_in(text):
    """Return the long options that a help lists, without those that every command has."""
    found = re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", text, flags=re.M)
    return [name for name in found if name not in ("help", "help-all", "quiet", "verbose")]


@pytest.mark.parametrize(("main", "name"), [(INFER, "infer"), (ASSIGN, "assign")])
def test_help_shows_ten_options_in_groups_and_help_all_every_one(main, name):
    short, whole = (run(main, name, flag).stdout for flag in ("--help", "--help-all"))
    assert run(main, name, "-h").stdout == short
    wanted = " ".join(main.HELP.values()).replace("_", "-").split()
    assert options_in(short) == wanted
    assert len(wanted) == 10
    for heading in main.HELP:
        assert f"\n{heading}:\n" in short
    command = getattr(main, name)
    every = [p for p in signature(command).parameters if p not in ("expression", "quality")]
    assert sorted(options_in(whole)) == sorted(p.replace("_", "-") for p in every)
    assert f"Show {len(every) - 10} more options." in short


def test_a_command_without_groups_shows_all_its_options():
    short = run(INFER, "simulate", "--help").stdout
    assert short == run(INFER, "simulate", "--help-all").stdout
    assert "\nOptions:\n" in short
    assert "--help-all" not in short


@pytest.mark.filterwarnings("always")
def test_quiet_leaves_results_warnings_and_errors(tmp_path):
    head, *lines = TABLE.splitlines()
    constant = [f"{head}\tG4", *(f"{line}\t1" for line in lines)]  # with a warning
    (tmp_path / "x.tsv").write_text("\n".join(constant) + "\n")
    words = ("infer", tmp_path / "x.tsv", "--method", "pcc", "--force", "--out", tmp_path / "out")
    run(INFER, *words)  # says once that it compiles
    usual = run(INFER, *words).stderr.splitlines()
    quiet = check_done(run(INFER, *words, "-q"))
    lines_of_warnings = [line for line in usual if line.startswith("warning: ")]
    assert 0 < len(lines_of_warnings) < len(usual)
    assert quiet.stderr.splitlines() == lines_of_warnings
    assert (tmp_path / "out" / "edges.tsv").exists()
    wrong = run(INFER, "infer", "-q", tmp_path / "no.tsv", "--out", tmp_path / "out2")
    assert wrong.exit_code == 2
    assert "no.tsv" in wrong.stderr
    loud = run(INFER, *words, "--verbose").stderr.splitlines()
    result = [line for line in loud if not line.startswith("warning: ")]
    assert [re.sub(r"^\[\d+\.\d s\] ", "", line) for line in result] == [
        line for line in usual if line not in lines_of_warnings
    ]
    assert all(line.startswith("[") for line in result)
    assert run(INFER, *words).stderr.splitlines() == usual  # it holds for one command


def test_quiet_and_verbose_exclude_each_other_and_are_values_after_two_dashes():
    err = check_refused(run(INFER, "check", "-q", "-v", "x.tsv"))
    assert "give --quiet or --verbose, not both" in err
    assert "-q" in run(INFER, "check", "--", "-q").stderr  # a file of this name


def test_quiet_and_verbose_are_values_where_an_option_wants_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.tsv").write_text(TABLE)
    loud = check_done(run(INFER, "infer", "x.tsv", "--method", "pcc", "--out", "-q"))
    assert Path("-q", "edges.tsv").exists()
    assert loud.stderr.splitlines()[-1].endswith("open -q/report.html")
    left_out = run(INFER, "check", "x.tsv", "--ignore", "-v")
    assert "'-v'" in left_out.stderr  # no such column
    run(INFER, "check", "x.tsv", "--ignore", "--help-all")
    quiet = run(INFER, "infer", "-qx")  # short options together, as everywhere
    assert "No such option" in quiet.stderr + str(quiet.exception)
    both = run(INFER, "check", "-qv", "x.tsv")
    assert both.exit_code == 2


@pytest.mark.parametrize("words", [("infer", "-q"), ("-v", "infer")])
def test_quiet_in_any_place_of_the_words_of_a_command(words, tmp_path):
    err = check_refused(run(INFER, *words, tmp_path / "no.tsv", "--out", tmp_path / "out"))
    assert ("no.tsv" in err) == (words[0] == "infer")  # a command's option, no program's


def test_standard_input_is_read_as_a_file_is(tmp_path):
    (tmp_path / "x.tsv").write_text(TABLE)
    words = ("--method", "pcc", "--out")
    piped = check_done(run(INFER, "infer", "-", *words, tmp_path / "a", input=TABLE))
    assert piped.stderr.splitlines()[-1].endswith(f"open {tmp_path / 'a' / 'report.html'}")
    assert any(line.startswith("-: 3 genes, ") for line in piped.stderr.splitlines())
    run(INFER, "infer", tmp_path / "x.tsv", *words, tmp_path / "b")
    a, b = ((tmp_path / name / "edges.tsv").read_bytes() for name in "ab")
    assert a == b
    assert "tmp" not in (tmp_path / "a" / "run.json").read_text()
    assert "grn-tvcs infer - --out DIR" in (tmp_path / "a" / "report.html").read_text()
    checked = run(INFER, "check", "-", input=TABLE)
    assert "to infer     grn-tvcs infer - --out DIR" in checked.stdout


def test_standard_input_that_cannot_be_read_is_refused_by_its_name():
    err = check_refused(run(INFER, "check", "-", input=TABLE.replace("\t4\n", "\tfour\n")))
    assert re.search(r"^error: -:\d+, column 'G3': ", err, flags=re.M)
    assert str(Path("tmp")) not in err
    assert "give it once" in run(INFER, "check", "-", "-", input=TABLE).stderr


@pytest.mark.filterwarnings("always")
def test_a_command_prints_each_warning_once(capsys):
    @guarded
    def warn():
        for text in ("one", "two", "one"):
            warnings.warn(text, stacklevel=1)

    for _ in range(2):
        warn()
        assert capsys.readouterr().err == "warning: one\nwarning: two\n"
