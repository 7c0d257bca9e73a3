"""The kernel cache: fresh, sealed, healed, private, and never in the way."""

import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba.core.compiler import CompileResult

from tvcs_core.jit import Kernel, compiling, folder

ROOT = Path(__file__).resolve().parents[3]
INNER = """
from tvcs_core.jit import kernel

@kernel
def twice(x):
    return 2 * x
"""
OUTER = """
from tvcs_core.jit import kernel
from toy.low.kernels import inner
from toy.low.kernels.inner import twice

@kernel
def run(values):
    total = 0.0
    for v in values:
        total += twice(v) + inner.twice(v)
    return total
"""
INNER_FILE, OUTER_FILE = "low/kernels/inner.py", "high/kernels.py"
VALUES = np.arange(4.0)
pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled without the JIT"
)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package of two kernel files, with a cache folder of its own; call it to import anew."""
    package = tmp_path / "code" / "toy"
    for room in (package, package / "low", package / "low" / "kernels", package / "high"):
        room.mkdir(parents=True)
        (room / "__init__.py").write_text("")
    (package / "low" / "kernels" / "inner.py").write_text(INNER)
    (package / "high" / "kernels.py").write_text(OUTER)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folder, "_STARTED", float("inf"))

    def fresh():
        for name in [n for n in sys.modules if n.partition(".")[0] == "toy"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        folder.cache_folder.cache_clear()
        return importlib.import_module("toy.high.kernels").run

    fresh.package = package
    yield fresh
    for name in [n for n in sys.modules if n.partition(".")[0] == "toy"]:
        del sys.modules[name]
    folder.cache_folder.cache_clear()


def was_cached(run) -> bool:
    """Whether the last call loaded what it needed."""
    stats = run.dispatcher.stats
    return sum(stats.cache_hits.values()) == 1 and not stats.cache_misses


def sealed_file(name="run") -> Path:
    [path] = folder.cache_folder("toy").glob(f"toy.*.{name}-*.kernel")
    return path


def test_a_kernel_calls_kernels_of_other_files_by_name_and_by_module(toy):
    assert toy()(VALUES) == 24.0


def test_a_kernel_is_compiled_once_and_then_loaded(toy):
    run = toy()
    run(VALUES)
    assert not was_cached(run)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)
    assert [str(s) for s in run.signatures] == ["(Array(float64, 1, 'C', False, aligned=True),)"]


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


def test_the_folder_and_its_files_are_ours_alone(toy):
    toy()(VALUES)
    assert sealed_file().parent.stat().st_mode & 0o777 == 0o700
    assert sealed_file().stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1000, -1])
def test_a_truncated_file_is_replaced(toy, size):
    toy()(VALUES)
    whole = sealed_file().read_bytes()
    sealed_file().write_bytes(whole[:size])
    check_healed(toy)


def flip_bits(toy, n_flips: int) -> None:
    toy()(VALUES)
    rng = np.random.default_rng(5)
    for _ in range(n_flips):
        damaged = bytearray(sealed_file().read_bytes())
        damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        sealed_file().write_bytes(damaged)
        check_healed(toy)


def check_healed(toy) -> None:
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


def test_a_file_with_one_bit_changed_is_replaced(toy):
    flip_bits(toy, 8)


@pytest.mark.slow
def test_a_file_with_any_bit_changed_is_replaced(toy):
    flip_bits(toy, 500)


def test_a_file_without_its_seal_is_never_unpickled(toy, tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "sprung",))

    toy()(VALUES)
    payload = pickle.dumps(Trap())
    sealed_file().write_bytes(bytes(32) + payload)
    check_healed(toy)
    sealed_file().write_bytes(payload)
    check_healed(toy)
    assert not (tmp_path / "sprung").exists()


def test_a_sealed_file_under_another_name_is_not_used(toy):
    toy()(VALUES)
    sys.modules["toy.low.kernels.inner"].twice(1.0)
    sealed_file().write_bytes(sealed_file("twice").read_bytes())
    check_healed(toy)


def test_a_sealed_file_that_numba_cannot_use_is_replaced(toy):
    toy()(VALUES)
    folder.write_sealed(sealed_file(), b"not a pickle")
    check_healed(toy)
    folder.write_sealed(sealed_file(), pickle.dumps((1, 2)))
    check_healed(toy)


def test_an_edit_of_another_file_changes_the_answer(toy):
    assert toy()(VALUES) == 24.0
    (toy.package / INNER_FILE).write_text(INNER.replace("2 * x", "3 * x"))
    assert toy()(VALUES) == 36.0
    (toy.package / INNER_FILE).write_text(INNER)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


RECORDS = """
from typing import NamedTuple
from toy.sizes import STEP

class Span(NamedTuple):
    lower: float
    upper: float
"""
BY_RECORD = """
from tvcs_core.jit import kernel
from toy.high.kernels.records import (
    STEP,
    Span,
)

@kernel
def run(span):
    inner = Span(lower=span.lower + STEP, upper=span.upper)
    return inner.upper - 2 * inner.lower
"""
BY_ANY_RECORD = """
from tvcs_core.jit import kernel

@kernel
def run(span):
    return span.upper - 2 * span.lower
"""


@pytest.fixture
def difference(toy):
    """Return run's `upper - 2 * lower` for `Span(1, 5)`, the kernel and its record as they are."""
    kernels = toy.package / "high" / "kernels"
    (toy.package / OUTER_FILE).unlink()
    kernels.mkdir()
    (kernels / "__init__.py").write_text("from toy.high.kernels.spans import run")
    (kernels / "records.py").write_text(RECORDS)
    (kernels / "spans.py").write_text(BY_RECORD)
    (toy.package / "sizes.py").write_text("STEP = 0.0\n")

    def fresh(records="toy.high.kernels.records"):
        run = toy()
        return run(importlib.import_module(records).Span(1.0, 5.0)), was_cached(run)

    fresh.package = toy.package
    fresh.kernels = kernels
    return fresh


@pytest.mark.parametrize("text", [BY_RECORD, BY_ANY_RECORD], ids=["imported", "not imported"])
def test_an_edit_of_a_record_changes_the_answer(difference, text):
    (difference.kernels / "spans.py").write_text(text)
    assert difference() == (3.0, False)
    assert difference() == (3.0, True)
    swapped = RECORDS.replace("lower", "was").replace("upper", "lower").replace("was", "upper")
    (difference.kernels / "records.py").write_text(swapped)
    assert difference() == (-9.0, False)


def test_the_fields_of_a_record_that_no_kernel_file_names_are_part_of_the_signature(difference):
    (difference.package / "high" / "spans.py").write_text(RECORDS)
    (difference.kernels / "spans.py").write_text(BY_ANY_RECORD)
    assert difference(records="toy.high.spans") == (3.0, False)
    assert difference(records="toy.high.spans") == (3.0, True)
    swapped = RECORDS.replace("lower", "was").replace("upper", "lower").replace("was", "upper")
    (difference.package / "high" / "spans.py").write_text(swapped)
    assert difference(records="toy.high.spans") == (-9.0, False)


def test_an_edit_of_what_is_imported_over_two_steps_changes_the_answer(difference):
    assert difference() == (3.0, False)
    (difference.package / "sizes.py").write_text("STEP = 1.0\n")
    assert difference() == (1.0, False)


def test_what_no_kernel_file_imports_changes_nothing(toy):
    toy()(VALUES)
    (toy.package / "plans.py").write_text("from toy.high.kernels import run\n")
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


def test_a_kernel_outside_of_kernel_files_is_compiled_without_a_cache(toy):
    (toy.package / "plans.py").write_text(OUTER)
    toy()
    run = importlib.import_module("toy.plans").run
    assert run(VALUES) == 24.0
    assert run.dispatcher._cache.cache_path is None


def test_every_kernel_of_ours_has_its_file_among_the_sources():
    for package in ("tvcs_core", "grn_tvcs", "crowd_tvcs"):
        files = [p for p in (ROOT / package).rglob("*.py") if "\n@kernel\n" in p.read_text("utf-8")]
        assert files
        assert set(files) <= set(folder.sources(package).values())


def test_another_processor_has_code_of_its_own(toy, monkeypatch):
    toy()(VALUES)
    codegen = type(toy().dispatcher.targetctx.codegen())
    monkeypatch.setattr(codegen, "magic_tuple", lambda _: ("x86_64", "another", ""))
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    assert len(list(folder.cache_folder("toy").iterdir())) == 2


def test_threads_that_call_a_kernel_at_once_compile_it_once(toy):
    run = toy()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, [VALUES] * 8)) == [24.0] * 8
    assert sum(run.dispatcher.stats.cache_misses.values()) == 1


def test_an_edit_after_the_start_leaves_the_cache_alone(toy, monkeypatch):
    toy()
    monkeypatch.setattr(folder, "_STARTED", (toy.package / OUTER_FILE).stat().st_mtime - 1)
    run = toy()
    assert folder.cache_folder("toy") is None
    assert run(VALUES) == 24.0


def test_settings_of_numba_have_a_folder_of_their_own(monkeypatch):
    plain = folder.fingerprint("tvcs_core")
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert folder.fingerprint("tvcs_core") != plain


def test_old_folders_are_forgotten(toy, monkeypatch):
    monkeypatch.setattr(folder, "KEPT_FOLDERS", 2)
    for factor in "3456":
        (toy.package / INNER_FILE).write_text(INNER.replace("2", factor))
        toy()(VALUES)
    assert len(list(folder.cache_folder("toy").parent.iterdir())) == 2


def break_mode(ours):
    ours.chmod(0o777)


def break_parent(ours):
    ours.parent.chmod(0o777)


def break_link(ours):
    ours.rename(ours.parent / "elsewhere")
    ours.symlink_to(ours.parent / "elsewhere")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("break_it", [break_mode, break_parent, break_link])
def test_a_folder_that_others_can_write_is_not_used(toy, monkeypatch, break_it):
    toy()(VALUES)
    break_it(folder.cache_folder("toy"))
    monkeypatch.setattr(folder, "_user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    run = toy()
    assert folder.cache_folder("toy") is None
    assert run(VALUES) == 24.0
    assert not was_cached(run)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o740, 0o704, 0o710, 0o701])
def test_a_folder_that_anyone_else_may_use_in_any_way_is_refused(tmp_path, mode):
    ours = folder.open_folder(tmp_path, "toy", "0")
    assert folder.open_folder(tmp_path, "toy", "0") == ours
    ours.chmod(mode)
    with pytest.raises(PermissionError, match="can be written by them"):
        folder.open_folder(tmp_path, "toy", "0")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize(("mode", "is_safe"), [(0o777, False), (0o702, False), (0o1777, True)])
def test_a_folder_that_anyone_may_put_another_for_is_refused(tmp_path, mode, is_safe):
    place = tmp_path / "place"
    ours = folder.open_folder(place, "toy", "0")
    place.chmod(mode)
    if is_safe:
        assert folder.open_folder(place, "toy", "0") == ours
    else:
        with pytest.raises(PermissionError, match="can be written by them"):
            folder.open_folder(place, "toy", "0")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
def test_a_folder_of_another_user_is_not_used(toy, monkeypatch):
    toy()(VALUES)
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    toy()
    assert folder.cache_folder("toy") is None


def no_temporary_folder():
    raise FileNotFoundError("No usable temporary directory found")


def test_without_a_writable_folder_kernels_still_run(toy, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(folder, "_user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    monkeypatch.setattr(compiling, "_seconds", 0.0)
    monkeypatch.setattr(compiling, "SAY_AFTER", 0)
    assert toy()(VALUES) == 24.0
    assert folder.cache_folder("toy") is None
    assert "without a cache, see `tvcs doctor`" in capsys.readouterr().err


def test_a_full_disk_does_not_stop_a_kernel(toy, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    run = toy()
    monkeypatch.setattr(os, "replace", fail)
    assert run(VALUES) == 24.0
    assert not list(folder.cache_folder("toy").iterdir())


def test_a_numba_that_changed_its_cache_is_used_without_one(toy, monkeypatch):
    def changed(*_):
        raise AttributeError("_rebuild")

    toy()(VALUES)
    monkeypatch.setattr(CompileResult, "_rebuild", changed)
    monkeypatch.setattr(CompileResult, "_reduce", changed)
    assert toy()(VALUES) == 24.0


def test_a_numba_without_such_a_cache_is_used_without_one(toy, monkeypatch):
    monkeypatch.delattr("numba.core.caching.NullCache")
    monkeypatch.delitem(sys.modules, "tvcs_core.jit.cache", raising=False)
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    assert not list(folder.cache_folder("toy").iterdir())


def test_without_a_home_the_temporary_folder_is_used(monkeypatch, tmp_path):
    for name in ("TVCS_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert [place.parent for place in folder.cache_places()] == [tmp_path]


def test_long_compiling_is_said_once(toy, monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_seconds", 0.0)
    monkeypatch.setattr(compiling, "SAY_AFTER", 0)
    toy()(VALUES)
    said = capsys.readouterr().err
    assert said == f"tvcs: compiling the kernels once, kept in {folder.cache_folder('toy')}\n"


def test_short_compiling_is_not_said(toy, monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_seconds", 0.0)
    monkeypatch.setattr(compiling, "SAY_AFTER", 60)
    toy()(VALUES)
    assert capsys.readouterr().err == ""


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
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        numba_at_import, _, shared = json.loads(out)
        assert not numba_at_import
        assert Path(shared).parent == tmp_path / "cache"
    files = list(Path(shared).iterdir())
    assert {f.suffix for f in files} == {".kernel"}
    assert all(folder.read_sealed(f) is not None for f in files)


def test_without_the_jit_kernels_are_plain_functions(tmp_path):
    process = start_python(PROBE, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert not list(Path(json.loads(out)[2]).iterdir())
