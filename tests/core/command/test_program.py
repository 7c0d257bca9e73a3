"""What stands before any command: the version, and completion of what is typed in a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tvcs_core.command.blas import LIBRARIES
from tvcs_core.files.record import tvcs_version

PROGRAMS = {
    "tvcs": ("tvcs_core", "doc", "doctor"),
    "grn-tvcs": ("grn_tvcs", "inf", "infer"),
    "crowd-tvcs": ("crowd_tvcs", "camp", "campaign"),
}


# zsh keeps a function per file: called once it defines what completes, called again it completes.
ZSH = """
autoload -Uz compinit && compinit -u && . ~/.zshrc
_arguments() { print -r -- "$@" }
words=(PROGRAM BEGUN) CURRENT=2
$_comps[PROGRAM]
$_comps[PROGRAM]
"""
FISH = "complete -C 'PROGRAM BEGUN'"


@pytest.fixture
def in_shell(tmp_path, monkeypatch):
    """Run lines in a shell as a user with an empty home, to whom the programs are installed."""
    for name, (package, *_) in PROGRAMS.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {package} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    root = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(lines: str, shell: str = "bash") -> str:
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        done = subprocess.run([shell, "-c", lines], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return call


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_its_version_and_completes_its_commands(in_shell, program):
    _, begun, command = PROGRAMS[program]
    function = f"_{program.replace('-', '_')}_completion"
    message = in_shell(
        f"{program} --version && {program} --install-completion && . ~/.bashrc\n"
        f"complete -p {program}\n"
        f"COMP_WORDS=({program} {begun}) COMP_CWORD=1; {function} {program}\n"
        "echo ${COMPREPLY[@]}"
    ).splitlines()
    assert message[0] == f"{program} {tvcs_version()}"
    assert message[-2:] == [f"complete -o default -F {function} {program}", command]


@pytest.mark.parametrize(
    ("shell", "lines", "message"),
    [("zsh", ZSH, '*: :(("infer":"Infer a network'), ("fish", FISH, "infer\tInfer a network")],
)
def test_zsh_and_fish_complete_commands_too(in_shell, shell, lines, message):
    in_shell("grn-tvcs --install-completion; true", shell)
    lines = lines.replace("PROGRAM", "grn-tvcs").replace("BEGUN", "inf")
    assert in_shell(lines, shell).startswith(message)


def test_python_itself_is_not_completed_where_a_module_is_run(in_shell, tmp_path):
    """Completion of `python -m tvcs_core` would take over what the shell knows of `python`."""
    in_shell(f"{sys.executable} -m tvcs_core --install-completion; true")
    assert [path.name for path in (tmp_path / ".bash_completions").iterdir()] == ["tvcs.sh"]


@pytest.mark.parametrize("result", [{}, {"OMP_NUM_THREADS": "3"}])
def test_blas_has_one_thread_in_a_command_unless_the_environment_says_more(result, tmp_path):
    """It reads the environment when NumPy is imported, so that must not be there before."""
    (tmp_path / "seen.py").write_text(
        "import os, sys\n"
        "before = 'numpy' in sys.modules\n"
        "import numpy, threadpoolctl\n"
        "def app(**options):\n"
        "    threads = [pool['num_threads'] for pool in threadpoolctl.threadpool_info()]\n"
        "    print(before, os.environ.get('OPENBLAS_NUM_THREADS'), set(threads) <= {1})\n"
    )
    code = "from tvcs_core.command.shell import run_command; run_command('seen', 'seen')"
    of_blas = {f"{name}_NUM_THREADS" for name in LIBRARIES}
    around = {name: value for name, value in os.environ.items() if name not in of_blas}
    around["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=around | result,
        capture_output=True,
        text=True,
        check=True,
    )
    before, message, is_one = done.stdout.split()
    assert (before, message) == ("False", "None" if result else "1")
    assert result or is_one == "True"
