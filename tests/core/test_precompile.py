"""`tvcs compile`: after it, none of the usual commands waits for a compiler."""

import os
import subprocess
import sys

import pytest

from tests.makers.marks import needs_jit
from tvcs_core import precompile
from tvcs_core.cli import app
from tvcs_core.jit import folder

pytestmark = needs_jit


@pytest.fixture
def compile_kernels(capsys):
    """Run `tvcs compile`: exit code, standard output, standard error."""

    def call():
        with pytest.raises(SystemExit) as stopped:
            app(["compile"], prog_name="tvcs")
        return stopped.value.code or 0, *capsys.readouterr()

    return call


def test_every_command_of_an_installed_package_is_run(compile_kernels, monkeypatch):
    verify = ["project small.npy --row-cap 4 --out a.npz", "verify a.npz"]
    monkeypatch.setattr(precompile, "COMMANDS", {"tvcs_core": verify, "no_such_package": ["x"]})
    code, out, err = compile_kernels()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[:2] for line in lines[:-1]] == [
        ["tvcs_core", "project"], ["tvcs_core", "verify"]
    ]  # fmt: skip
    assert lines[-1] == f"kept in {folder.cache_folder().parent}"


def test_the_folder_of_the_user_is_filled_wherever_commands_run(monkeypatch, tmp_path):
    """A relative TVCS_CACHE_DIR names another folder in the place where commands run."""
    monkeypatch.setenv("TVCS_CACHE_DIR", "here")
    monkeypatch.setattr(precompile, "COMMANDS", {"tvcs_core": ["project small.npy --out a.npz"]})
    assert len(list(precompile.precompile(tmp_path / "cache"))) == 1
    assert [path.name.split("-")[1] for path in (tmp_path / "cache").iterdir()] == ["tvcs_core"]


def test_a_command_that_fails_ends_it_with_its_error(compile_kernels, monkeypatch):
    monkeypatch.setattr(precompile, "COMMANDS", {"tvcs_core": ["verify small.npy"]})
    code, out, err = compile_kernels()
    assert (code, out) == (1, "")
    assert err.startswith("error: `python -m tvcs_core verify small.npy` failed: error: small.npy")
    assert err.count("\n") == 1


def test_without_a_folder_nothing_is_compiled(compile_kernels, monkeypatch):
    monkeypatch.setattr(folder, "cache_places", lambda: iter(()))
    folder.cache_folder.cache_clear()
    found = compile_kernels()
    folder.cache_folder.cache_clear()
    assert found == (
        1, "", "error: no kernel can be kept: set TVCS_CACHE_DIR to a folder of your own\n"
    )  # fmt: skip


@pytest.mark.slow
def test_after_it_the_usual_commands_compile_nothing(tmp_path):
    environment = os.environ | {"TVCS_CACHE_DIR": str(tmp_path / "cache")}

    def run(*words):
        call = [sys.executable, "-m", *map(str, words)]
        done = subprocess.run(call, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done

    run("tvcs_core", "compile")
    kept = set((tmp_path / "cache").rglob("*.kernel"))
    assert {path.parent.name.split("-")[1] for path in kept} == set(precompile.COMMANDS)
    assert "kernels from the cache" in run("tvcs_core", "doctor").stdout
    run("grn_tvcs", "simulate", "--genes", 12, "--seed", 1, "--out", "s")
    run("crowd_tvcs", "simulate", "--workers", 15, "--tasks", 50, "--seed", 1, "--out", "c")
    (tmp_path / "v.csv").write_text("1,2,3\n4,5,6\n7,8,10\n")
    caps = ("--max-workers-per-task", 3, "--max-tasks-per-worker", 20)
    for words in (
        ("tvcs_core", "project", "v.csv", "--row-cap", 1, "--col-cap", 2, "--out", "v.npz"),
        ("grn_tvcs", "infer", "s/timeseries.tsv", "--max-edges", 20, "--out", "n"),
        ("crowd_tvcs", "assign", "c/quality.csv", *caps, "--budget", 120, "--out", "p"),
    ):
        assert "compiling" not in run(*words).stderr, words
    assert set((tmp_path / "cache").rglob("*.kernel")) == kept
