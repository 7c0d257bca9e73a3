"""What the libraries need: NumPy, SciPy and numba; nothing of the command lines, and no pandas."""

import json

import pytest

from tests.makers.processes import run_python

OF_COMMANDS = ("typer", "click", "rich", "jinja2")
ON_DEMAND = ("pandas", "sklearn", "networkx", "matplotlib")
WORK = {
    "tvcs_core": """
import numpy as np
from tvcs_core import TVCS, LeastSquares, Problem, certify, project, solve
V = np.random.default_rng(0).random((30, 40))
assert certify(project(V, TVCS.matrix(V.shape, row_caps=2, col_caps=3))).optimal
X = np.random.default_rng(0).standard_normal((50, 4, 5))
problem = Problem(LeastSquares(X, X[:, 0, 0]), TVCS.matrix((4, 5), total=2))
assert solve(problem, "htp").support[0, 0]
""",
    "grn_tvcs": """
from grn_tvcs import infer, score
from grn_tvcs.datasets import network30
data = network30()
network = infer(data.expression, "tvcs", max_edges=20, resamples=2, rng=0)
assert score(network, data.reference).n_selected == 20
""",
    "crowd_tvcs": """
from crowd_tvcs import Plan, assign, estimate_quality
from crowd_tvcs.datasets import crowd40
data = crowd40()
assert assign(Plan(data.quality, budget=200), "best", rng=0).size == 200
assert len(estimate_quality(data.answers, data.gold).workers) == 40
""",
}


def run(code):
    done = run_python(code)
    return done.stdout


@pytest.mark.parametrize("package", WORK)
def test_a_package_works_without_the_libraries_of_the_commands_and_of_tables(package):
    absent = "".join(f"sys.modules[{name!r}] = None\n" for name in (*OF_COMMANDS, *ON_DEMAND))
    run(f"import sys\n{absent}{WORK[package]}")


# In their order, in one process: each loads more than those before, and none what it must not.
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "threadpoolctl")
STEPS = {
    "import tvcs_core, grn_tvcs, crowd_tvcs": (*OF_COMMANDS, *ON_DEMAND, *LIBRARIES),
    "import crowd_tvcs.methods, grn_tvcs.methods.table": (
        *("numpy", "numba", "sklearn", "crowd_tvcs.methods.best", "grn_tvcs.methods.pcc"),
    ),
    "import tvcs_core.engines": (*ON_DEMAND, "typer", "dask"),
    "import tvcs_core.__main__; tvcs_core.__main__.main()": ("numba", "pandas", "sklearn"),
    "import crowd_tvcs.cli.main": (*ON_DEMAND, "numba", "jinja2", "scipy.special"),
    "import grn_tvcs.cli.main": (*ON_DEMAND, "numba", "jinja2"),
    "import grn_tvcs.report.picture": ("matplotlib",),
}
LOADED = """
import contextlib, json, sys
sys.argv = ["tvcs", "project", "--help"]
for step in {steps}:
    with contextlib.suppress(SystemExit):
        exec(step)
    print(json.dumps(list(sys.modules)))
"""


def test_what_is_imported_and_a_help_load_no_library_that_they_do_not_need():
    out = run(LOADED.format(steps=list(STEPS)))
    loaded = [json.loads(line) for line in out.splitlines() if line.startswith('["sys"')]
    for (step, absent), modules in zip(STEPS.items(), loaded, strict=True):
        assert not set(absent) & set(modules), step
    assert "--row-caps" in out
