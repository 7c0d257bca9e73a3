"""The memory that is left is read once, and everybody who asks hears the same."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grn_tvcs.cli.resources import Work, estimate
from tests.makers.commands import tvcs
from tests.makers.processes import run_python
from tests.memory import PEAK
from tvcs_core.files import memory
from tvcs_core.files.memory import available_memory
from tvcs_core.projection.exact import candidates, solve_dense

LEFT = 3 * 2**20  # kB, 3 GiB
GENOME = Work(20_000, 20_000, 20_000, samples=100, halves=50, lines=0)


@pytest.fixture
def meminfo(tmp_path, monkeypatch):
    """Let the machine say what a test writes into the file."""
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    return tmp_path / "meminfo"


def test_doctor_projection_and_inference_know_the_same_memory(meminfo, monkeypatch):
    meminfo.write_text(f"MemTotal: 99999999 kB\nMemFree: 5 kB\nMemAvailable: {LEFT} kB\n")
    assert available_memory() == LEFT * 1024
    assert re.search(r"^memory    [\d.]+ GiB, 3\.0 GiB available$", doctor(), re.MULTILINE)
    with pytest.raises(MemoryError, match=r"only 3\.2 GB are free"):
        estimate(GENOME).refuse_too_large("take less")
    monkeypatch.setattr(candidates, "estimate_memory", lambda size, of_each: LEFT * 1024 + 10**6)
    with pytest.raises(MemoryError, match=r"about 3,222 MB .* and 3,221 MB are available"):
        candidates.check_memory(table())


@pytest.mark.parametrize("text", [None, "MemTotal: 5 kB\n"])
def test_where_the_system_does_not_say_nothing_is_refused(meminfo, monkeypatch, text):
    if text is not None:
        meminfo.write_text(text)
    assert available_memory() is None
    assert re.search(r"^memory    [\d.]+ GiB$", doctor(), re.MULTILINE)
    estimate(GENOME).refuse_too_large("take less")
    monkeypatch.setattr(candidates, "estimate_memory", lambda size, of_each: 10**15)
    candidates.check_memory(table())


ASSIGN = """
import sys
import numpy as np
from tvcs_core.projection.exact import solve_dense

n, m = int(sys.argv[1]), int(sys.argv[2])
caps = np.ones(n, np.int64), np.ones(m, np.int64)
assert solve_dense(np.full((n, m), 0.75), *caps, n * m, squared=True).stats["path"] == "assignment"
print(peak_memory())
"""


def peak_of_assignment(n: int, m: int) -> int:
    """Bytes that Python, the kernels, a table and its assignment take together at most."""
    root = str(Path(__file__).parents[3])
    return int(run_python(PEAK + ASSIGN, n, m, env={"PYTHONPATH": root}).stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="has no resource module")
@pytest.mark.parametrize("shape", [(1200, 1800), (1800, 1200)])
def test_assignments_ask_for_the_memory_that_they_take(shape, monkeypatch):
    asked, estimate_memory = [], candidates.estimate_memory
    monkeypatch.setattr(candidates, "estimate_memory", lambda *of: asked.append(of) or 0)
    n, m = 510, 500  # wide, too, and turned
    if shape[0] < shape[1]:
        n, m = m, n
    solve_dense(np.ones((n, m)), np.ones(n, np.int64), np.ones(m, np.int64), n * m, squared=True)
    ((_, of_each),) = asked  # and the kernels are compiled, which takes memory, too
    size, small = shape[0] * shape[1], n * m
    taken = peak_of_assignment(*shape) - peak_of_assignment(n, m) - 8 * (size - small)
    message = estimate_memory(size, of_each) - estimate_memory(small, of_each)
    assert 0.9 * message < taken < 1.1 * message


def doctor() -> str:
    return tvcs("doctor").stdout


def table():
    return SimpleNamespace(values=np.zeros(3), dense=True)
