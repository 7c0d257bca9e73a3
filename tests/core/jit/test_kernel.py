"""Kernels link to each other, compile once in threads and processes, and say so."""

import json
import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.core.jit.toys import VALUES, sealed_file, was_cached
from tests.makers.marks import needs_jit
from tests.makers.processes import run_python
from tvcs_core.jit import Kernel, compiling, folder

ROOT = Path(__file__).resolve().parents[3]
pytestmark = needs_jit


def test_a_kernel_calls_kernels_of_other_files_by_name_and_by_module(toy):
    assert toy()(VALUES) == 24.0


def test_a_kernel_that_only_kernels_call_is_kept_within_them(toy):
    run = toy()
    run(VALUES)
    assert [path.name.split("-")[0] for path in sealed_file().parent.iterdir()] == [
        "toy.high.kernels.run"
    ]
    twice = sys.modules["toy.low.kernels.inner"].twice
    assert [str(s) for s in twice.signatures] == ["(float64,)"]
    assert twice(1.5) == 3.0
    assert [str(s) for s in twice.signatures] == ["(float64,)"]


def test_a_numba_that_links_in_another_way_compiles_every_kernel_by_itself(toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "tvcs_core.jit.linking", None)
    assert toy()(VALUES) == 24.0
    assert len(list(sealed_file().parent.iterdir())) == 1
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


def test_threads_that_call_a_kernel_at_once_compile_it_once(toy, monkeypatch):
    run = toy()
    module = sys.modules[Kernel.__module__]
    make, made = module._dispatchers, []

    def make_slowly(function):
        made.append(function.__name__)
        time.sleep(0.05)
        return make(function)

    monkeypatch.setattr(module, "_dispatchers", make_slowly)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: run._numba_type_, range(4)))) == 1
        assert list(pool.map(run, [VALUES] * 8)) == [24.0] * 8
    assert sorted(made) == ["run", "twice"]
    assert sum(run.dispatcher.stats.cache_misses.values()) == 1


def test_long_compiling_is_announced_once(toy, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "_seconds", 0.0)
    monkeypatch.setattr(compiling, "SAY_AFTER", 0)
    toy()(VALUES)
    message = f"tvcs: compiling the kernels once, kept in {folder.cache_folder('toy')}"
    assert caplog.record_tuples == [("tvcs_core", logging.WARNING, message)]


def test_short_compiling_is_not_announced(toy, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "_seconds", 0.0)
    monkeypatch.setattr(compiling, "SAY_AFTER", 60)
    toy()(VALUES)
    assert caplog.messages == []


@pytest.mark.parametrize("is_silenced", [False, True])
def test_messages_go_to_standard_error_unless_logging_is_set_up(is_silenced):
    script = (
        "import logging\n"
        "from tvcs_core.jit.compiling import add_compiling\n"
        f"if {is_silenced}: logging.basicConfig(level=logging.ERROR)\n"
        "add_compiling(10.0, None)\n"
    )
    run = run_python(script, check=False)
    message = "tvcs: compiling the kernels without a cache, see `tvcs doctor`\n"
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "" if is_silenced else message)


def test_a_function_within_a_function_is_compiled_without_a_cache(toy):
    shift = 3.0
    inner = Kernel(lambda x: x + shift)
    assert inner(1.0) == 4.0
    assert inner.dispatcher._cache.cache_path is None


def start_python(code: str, cache: Path, **env: str) -> subprocess.Popen:
    """Start a bare process: no home folder, a cache folder of ours."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT")}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env=kept | {"PYTHONPATH": str(ROOT), "TVCS_CACHE_DIR": str(cache)} | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


PROBE = """
import json, sys
import tvcs_core
before = "numba" in sys.modules
from tvcs_core.jit.folder import cache_folder
from tvcs_core.projection.kernels.gains import tie
print(json.dumps([before, int(tie(1, 2, 3) * 0), str(cache_folder())]))
"""


def test_two_processes_at_once_without_a_home_share_one_cache(tmp_path):
    processes = [start_python(PROBE, tmp_path / "cache") for _ in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        numba_at_import, _, shared = json.loads(out)
        assert not numba_at_import
        assert Path(shared).parent == tmp_path / "cache"
    files = list(Path(shared).iterdir())
    assert {f.suffix for f in files} == {".kernel"}
    assert all(folder.read_sealed(f) is not None for f in files)


def test_without_the_jit_kernels_are_plain_functions(tmp_path):
    process = start_python(PROBE, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert not list(Path(json.loads(out)[2]).iterdir())


def test_without_the_jit_kernels_warn_of_nothing_as_compiled_ones_do(tmp_path):
    code = """
import numpy as np
from tvcs_core.jit import kernel
@kernel
def inverse(x):
    return 1 / x
print(inverse(np.float64(0)))
"""
    process = start_python(code, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    out, err = process.communicate(timeout=600)
    assert (out, err) == ("inf\n", "")
