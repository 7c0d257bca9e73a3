"""The three programs as tests run them: in this process, with words as a shell has them."""

import warnings
from functools import partial
from typing import Any

from typer import Typer
from typer.testing import CliRunner, Result

from crowd_tvcs.cli import main as crowd
from grn_tvcs.cli import main as grn
from tvcs_core import cli as core


def invoke(app: Typer, *words: Any) -> Result:
    """Run a program with these words; the result has its exit code, stdout and stderr."""
    with warnings.catch_warnings():  # of tables, which commands print
        warnings.filterwarnings("always", category=UserWarning, module=r"crowd_tvcs\.")
        return CliRunner().invoke(app, [str(word) for word in words])


tvcs = partial(invoke, core.app)
grn_tvcs = partial(invoke, grn.app)
crowd_tvcs = partial(invoke, crowd.app)
