"""The first projections on a machine are run by Python, with the bits of compiled kernels."""

import threading
import warnings

import numpy as np
import pytest

from benchmarks.speed.matrices import CASES, FAMILIES, draw_caps
from tests.makers.marks import needs_jit
from tests.makers.processes import run_python
from tvcs_core import TVCS, project
from tvcs_core.jit import by_python, has_kept, kernel
from tvcs_core.projection import first

LARGE = ("gauss", "products", "ties", "heavy tails")  # beyond the small tables' one kernel
ONCE = """
import sys
import numpy as np
from tvcs_core import TVCS, project
from tvcs_core.jit import compiling_seconds
V = np.random.default_rng(3).normal(size=(12, 9))
found = project(V, TVCS.matrix(V.shape, row_caps=2, col_caps=3))
print(found.matrix.tobytes().hex(), found.gap, compiling_seconds())
"""


@kernel
def doubled(x):
    """Below 0 for 2^62 in machine code: whole numbers of Python are longer."""
    return x + x


@pytest.fixture
def nothing_kept(monkeypatch):
    monkeypatch.setattr(first, "_spent", 0.0)
    monkeypatch.setattr(first, "has_kept", lambda modules: False)


def same_bits(one, other):
    names = ("matrix", "support", "row_duals", "col_duals", "total_dual", "objective", "gap")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(type(a) is type(b) and np.array_equal(a, b) for a, b in pairs)


@needs_jit
@pytest.mark.parametrize(
    ("family", "shape"),
    [(family, (9, 14)) for family in FAMILIES] + [(family, (52, 50)) for family in LARGE],
)
def test_python_finds_the_bits_of_compiled_kernels(family, shape):
    rng = np.random.default_rng(11)
    V = FAMILIES[family](rng, *shape)
    for kind, total in CASES[:: 3 if V.size > 200 else 1]:
        rows, cols, most = draw_caps(rng, *shape, shape[1] / 5, shape[0] / 5, kind, total)
        constraint = TVCS.matrix(shape, row_caps=rows, col_caps=cols, total=most)
        compiled = project(V, constraint)
        with by_python(), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert same_bits(project(V, constraint), compiled)


@needs_jit
@pytest.mark.parametrize("caps", [1, 3])
def test_python_finds_the_bits_of_integers_lists_ones_and_sparse_tables(caps, rng):
    from scipy import sparse

    V = rng.integers(-4, 5, (30, 25))
    stored = sparse.csr_array(V * 1e-170)
    constraint = TVCS.matrix(V.shape, row_caps=caps, col_caps=caps)
    for values in (V, V.tolist(), V * 0, V * 1e-170):
        compiled = project(values, constraint)
        with by_python():
            assert same_bits(project(values, constraint), compiled)
    compiled = project(stored, constraint)
    with by_python():
        found = project(stored, constraint)
    assert (found.support != compiled.support).nnz == 0
    assert (found.objective, found.gap) == (compiled.objective, compiled.gap)


@needs_jit
def test_only_the_thread_within_the_block_runs_kernels_by_python():
    found = []
    with by_python():
        other = threading.Thread(target=lambda: found.append(doubled(1 << 62)))
        other.start()
        other.join()
        assert doubled(1 << 62) == 1 << 63
    assert found == [-(1 << 63)]
    assert doubled(1 << 62) < 0


@needs_jit
def test_a_first_projection_compiles_nothing_and_gives_the_same_bytes(tmp_path):
    def run(place):
        done = run_python(ONCE, env={"TVCS_CACHE_DIR": str(place)})
        return done.stdout.split(), done.stderr

    (found, gap, compiling), message = run(tmp_path)
    assert (float(gap) < 1e-15, compiling, message) == (True, "0.0", "")
    assert not list(tmp_path.rglob("*.kernel"))
    V = np.random.default_rng(3).normal(size=(12, 9))
    compiled = project(V, TVCS.matrix(V.shape, row_caps=2, col_caps=3))
    assert found == compiled.matrix.tobytes().hex()


def by_python_runs(monkeypatch, shape, times=1):
    """How often a projection of this shape goes into the block."""
    entered = []

    def counted():
        entered.append(shape)
        return by_python()

    monkeypatch.setattr("tvcs_core.projection.first.by_python", counted)
    for _ in range(times):
        project(np.ones(shape), TVCS.matrix(shape, row_caps=2, col_caps=2))
    return len(entered)


def test_a_process_compiles_after_some_seconds_by_python(nothing_kept, monkeypatch):
    assert by_python_runs(monkeypatch, (6, 6), times=3) == 3
    assert 0 < first._spent < 1
    monkeypatch.setattr(first, "_spent", first.MAX_INTERPRETED_SECONDS)
    assert by_python_runs(monkeypatch, (6, 6), times=3) == 0


def test_a_large_first_projection_is_compiled(nothing_kept, monkeypatch):
    assert by_python_runs(monkeypatch, (151, 150)) == 0
    assert not first.is_due()


def test_a_first_projection_uses_what_is_kept(nothing_kept, monkeypatch):
    monkeypatch.setattr(first, "has_kept", lambda modules: True)
    assert by_python_runs(monkeypatch, (6, 6)) == 0


def test_what_is_kept_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("tvcs_core.jit.folder.cache_folder", lambda package: tmp_path)
    (tmp_path / "tvcs_core.loss.kernels.f-1-0.kernel").touch()
    assert not has_kept("tvcs_core.projection.kernels")
    (tmp_path / "tvcs_core.projection.kernels.small.f-1-0.kernel").touch()
    assert has_kept("tvcs_core.projection.kernels")
    monkeypatch.setattr("tvcs_core.jit.folder.cache_folder", lambda package: None)
    assert not has_kept("tvcs_core.projection.kernels")
