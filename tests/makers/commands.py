"""The three programs as tests run them: in this process, with words as a shell has them."""

import warnings
from functools import cache, partial
from typing import Any

from typer import Typer, testing
from typer.main import get_command
from typer.testing import CliRunner, Result

from crowd_tvcs.cli import main as crowd
from grn_tvcs.cli import main as grn
from tvcs_core import cli as core

testing._get_command = cache(get_command)  # to make all commands anew takes longer than most runs


def invoke(app: Typer, *words: Any) -> Result:
    """Run a program with these words; the result has its exit code, stdout and stderr."""
    with warnings.catch_warnings():  # of tables, which commands print
        warnings.filterwarnings("always", category=UserWarning, module=r"crowd_tvcs\.")
        return CliRunner().invoke(app, [str(word) for word in words])


tvcs = partial(invoke, core.app)
grn_tvcs = partial(invoke, grn.app)
crowd_tvcs = partial(invoke, crowd.app)


def check_done(result: Result) -> Result:
    """Hold that a command has done its work; return its result."""
    assert result.exit_code == 0, result.output
    return result


def check_refused(result: Result) -> str:
    """Hold that a command refused its words or its input; return what it said."""
    assert result.exit_code == 2, result.output
    return result.stderr


def check_failed(result: Result) -> str:
    """Hold that the work of a command failed; return what it said."""
    assert result.exit_code == 1, result.output
    return result.stderr


def run_done(*words: Any) -> Result:
    """Run crowd-tvcs, and hold that it has done its work."""
    return check_done(crowd_tvcs(*words))


def run_refused(*words: Any) -> str:
    """Run crowd-tvcs, and hold that it refused; return what it said."""
    return check_refused(crowd_tvcs(*words))
