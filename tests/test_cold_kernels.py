"""Kernels that were just compiled and kernels from the cache give the same results."""

import pytest

from tests.makers.marks import needs_jit
from tests.makers.processes import run_python

BEGIN = """
import sys
from hashlib import sha256
import numpy as np
from tvcs_core.projection import first
first.stop()
rng = np.random.default_rng(5)
results = []
"""
PROJECTION = """
from tvcs_core import TVCS, project
shape = (30, 20)
for total in (40, None):
    found = project(rng.normal(size=shape), TVCS.matrix(shape, row_caps=3, col_caps=4, total=total))
    results += [found.matrix, found.row_duals, found.col_duals, np.array(found.gap)]
"""
TEAMS = """
from crowd_tvcs import accuracy_bounds
teams = rng.random((6, 9)) < 0.5
results += accuracy_bounds(rng.uniform(0.5, 0.9, (6, 9)), teams, 0.4)
"""
NETWORK = """
from grn_tvcs import infer, simulate
simulated = simulate(8, n_series=3, n_points=9, rng=1)
results.append(infer(simulated.expression, "tvcs", rng=1, resamples=4).scores)
"""
CROWD = """
from crowd_tvcs import Plan, Quality, assign
for n_classes in (2, 3):
    quality = Quality(rng.uniform(0.5, 0.9, (8, 12)), tuple("abcdefgh"), tuple("abcdefghijkl"))
    plan = Plan(quality, n_classes=n_classes,
                max_workers_per_task=4, max_tasks_per_worker=6, budget=30)
    for method in ("best", "greedy"):
        found = assign(plan, method, rng=1)
        results += [found.support, found.task_accuracy]
"""
LAZY = """
from tvcs_core import TVCS, project
from tvcs_core.jit import Kernel
def called():
    kernels = {k for m in list(sys.modules.values()) for k in vars(m).values() if type(k) is Kernel}
    entries = [k for k in kernels if k._both and k.dispatcher.signatures]
    return {f"{k.__module__}.{k.__qualname__}" for k in entries}
for shape in ((20, 20), (200, 200)):
    before = called()
    project(rng.normal(size=shape), TVCS.matrix(shape, row_caps=4, col_caps=5))
    print(*called() - before)
"""
END = """
from tvcs_core.jit import Kernel, compiling_seconds
ours = [m for name, m in sys.modules.items() if name.startswith(("tvcs_", "grn_", "crowd_"))]
kernels = {k for m in ours for k in vars(m).values() if isinstance(k, Kernel)}
print(sha256(b"".join(np.ascontiguousarray(r).tobytes() for r in results)).hexdigest())
print(*sorted(k.__qualname__ for k in kernels if len(k.signatures) > 1))
print(compiling_seconds())
"""


@needs_jit
@pytest.mark.parametrize(
    "work",
    [
        TEAMS,  # the fewest kernels; those of the others are compiled by all other tests
        pytest.param(PROJECTION, marks=pytest.mark.slow),
        pytest.param(NETWORK, marks=pytest.mark.slow),
        pytest.param(CROWD, marks=pytest.mark.slow),
    ],
    ids=["teams", "projection", "networks", "crowds"],
)
def test_cold_and_cached_kernels_give_the_same_bytes(work, tmp_path):
    def run() -> list[str]:
        done = run_python(BEGIN + work + END, env={"TVCS_CACHE_DIR": str(tmp_path / "cache")})
        return done.stdout.split("\n")

    cold, cached = run(), run()
    assert cold[0] == cached[0]
    assert cold[1] == ""  # no kernel was compiled for arguments of two types
    assert float(cold[2]) > 0.5
    assert float(cached[2]) == 0.0


def test_a_path_of_the_projection_loads_its_own_kernels_alone():
    """The first projection of a new process waits for no kernel of another path."""
    done = run_python(BEGIN + LAZY)
    small, large = (line.split() for line in done.stdout.splitlines())
    assert 1 <= len(small) <= 3
    assert 3 <= len(large) <= 12
    paths = {name.split(".kernels.")[1].split(".")[0] for name in large}
    assert not paths & {"assignment", "cost_scaling", "laminar", "simplex"}
