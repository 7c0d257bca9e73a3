"""The sentence of docs/core.md: memory grows with the entries of a sparse V, not with its shape."""

import sys
from pathlib import Path

import pytest

from tests.makers.processes import run_python
from tests.memory import PEAK

ALL = """
import sys
import numpy as np
from scipy import sparse
from tvcs_core import TVCS, Projection, certify, project
from tvcs_core.cli import app

what, side, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(1)
at = rng.integers(0, side, (2, size))
V = sparse.coo_array((rng.standard_normal(size), (at[0], at[1])), shape=(side, side))
if what == "commands":
    sparse.save_npz("m.npz", V)
    caps = ["--row-cap", "2", "--col-cap", "3", "--total", str(size // 2)]
    for arguments in ["project", "m.npz", *caps, "--out", "q.npz"], ["verify", "q.npz"]:
        try:
            app(arguments, prog_name="tvcs")
        except SystemExit as stopped:
            assert not stopped.code, arguments
else:
    options = {"bounds": (-0.5, np.full((1, side), 2.0))} if what == "bounds" else {}
    constraint = TVCS.matrix((side, side), row_caps=2, col_caps=3, total=size // 2, **options)
    projection = project(V, constraint)
    assert certify(projection).optimal
    projection.save("p.npz")
    loaded = Projection.load("p.npz")
    assert (loaded.support != projection.support).nnz == 0
    assert (loaded.objective, loaded.gap) == (projection.objective, projection.gap)
    assert certify(loaded).optimal
print("peak", peak_memory())
"""
WHAT = ("functions", "bounds", "commands")


def peak_memory(folder: Path, what: str, side: int, size: int) -> int:
    """Bytes that Python, numba and all that is done with a sparse V take together at most."""
    around = {"PYTHONPATH": str(Path(__file__).parents[3]), "OPENBLAS_NUM_THREADS": "1"}
    ran = run_python(PEAK + ALL, what, side, size, env=around, cwd=folder)
    return int(ran.stdout.split("peak ")[1])


def takes_less(limit: float, *problem) -> bool:
    """Whether it stays below, at the latest in a second run: the first may compile kernels."""
    return any(peak_memory(*problem) < limit for _ in range(2))


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.skipif(sys.platform == "win32", reason="has no resource module")
def test_memory_does_not_grow_with_the_shape(tmp_path, what):
    # A byte for every place of the shape would take 400 MB, a label for each 3 GB.
    assert takes_less(400e6, tmp_path, what, 20_000, 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("what", WHAT)
@pytest.mark.skipif(sys.platform == "win32", reason="has no resource module")
def test_a_million_rows_and_columns_take_less_than_a_gigabyte(tmp_path, what):
    assert takes_less(1e9, tmp_path, what, 1_000_000, 1_000_000)
