"""Ctrl-C ends every command in one line, from its first moments on."""

import os
import signal
import subprocess
import sys

import pytest

from tests.makers.processes import run_python

# The command interrupts itself where it imports what it needs, before it looks at its options.
SCRIPT = """
import builtins, os, signal, sys
real = builtins.__import__
def importing(name, *rest):
    if name == "typer":
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)
builtins.__import__ = importing
from {package}.__main__ import main
sys.argv = ["command", "--help"]
main()
"""


@pytest.mark.parametrize("package", ["tvcs_core", "grn_tvcs", "crowd_tvcs"])
def test_an_interrupt_while_a_command_is_loaded_is_one_line(package, sigint_of_a_terminal):
    code = SCRIPT.format(package=package)
    done = run_python(code, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


# Where numba compiles, LLVM calls Python back: an exception has nobody to go to there.
LOST = """
import ctypes, os, signal, time
from tvcs_core.command.shell import run
@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), signal.SIGINT)
def work(standalone_mode):
    callback()
    time.sleep(30)
    print("went on")
run(work)
"""


def test_an_interrupt_that_strikes_in_a_callback_is_not_lost(sigint_of_a_terminal):
    done = run_python(LOST, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_an_interrupt_of_a_text_that_is_executed_ends_with_130(tmp_path, sigint_of_a_terminal):
    (tmp_path / "work.py").write_text(
        "from tvcs_core.command.shell import run\n"
        "run(lambda standalone_mode: exec('raise KeyboardInterrupt'))"
    )
    command = [sys.executable, "-m", "work"]  # only a module that is run with -m met it
    path = os.pathsep.join(filter(None, [str(tmp_path), *sys.path]))
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


# Python 3.11 raises a RuntimeError from what is raised here.
IN_A_CLASS = """
from tvcs_core.command.shell import guarded, run
class Part:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt
@guarded
def work(standalone_mode):
    type("Whole", (), {"part": Part()})
run(work)
"""


def test_an_interrupt_where_a_class_is_made_is_one(sigint_of_a_terminal):
    done = run_python(IN_A_CLASS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


# Where numba is imported; its parts in C say that they failed to import.
IMPORTING = """
import builtins, os, signal
real = builtins.__import__
def importing(name, *rest):
    if name == "numba":
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)
builtins.__import__ = importing
import sys
from tvcs_core.command.shell import run
from tvcs_core.projection.kernels.gains import mix
def work(standalone_mode):
    try:
        mix(5)
    finally:
        print(hasattr(sys.modules["numba"], "njit"))
run(work)
"""


def test_an_interrupt_waits_until_numba_is_imported(sigint_of_a_terminal):
    done = run_python(IMPORTING, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "True\n", "interrupted\n")


def test_a_program_that_is_started_in_the_background_can_still_be_tested(sigint_of_a_terminal):
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = run_python(code, check=False)
    assert done.stdout == "True\n"
