"""The kernel cache: fresh, sealed, healed, private, and never in the way."""

import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tvcs_core import jit
from tvcs_core.jit import Kernel

ROOT = Path(__file__).resolve().parents[3]
INNER = """
from tvcs_core.jit import kernel

@kernel
def twice(x):
    return 2 * x
"""
OUTER = """
from tvcs_core.jit import kernel
from toy import inner
from toy.inner import twice

@kernel
def run(values):
    total = 0.0
    for v in values:
        total += twice(v) + inner.twice(v)
    return total
"""
VALUES = np.arange(4.0)
pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled without the JIT"
)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package of two kernel files, with a cache folder of its own; call it to import anew."""
    package = tmp_path / "code" / "toy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(INNER)
    (package / "outer.py").write_text(OUTER)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(jit, "_STARTED", float("inf"))

    def fresh():
        for name in [n for n in sys.modules if n.partition(".")[0] == "toy"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        jit.cache_folder.cache_clear()
        return importlib.import_module("toy.outer").run

    fresh.package = package
    yield fresh
    for name in [n for n in sys.modules if n.partition(".")[0] == "toy"]:
        del sys.modules[name]
    jit.cache_folder.cache_clear()


def was_cached(run) -> bool:
    """Whether the last call loaded what it needed."""
    stats = run.dispatcher.stats
    return sum(stats.cache_hits.values()) == 1 and not stats.cache_misses


def sealed_file(name="run") -> Path:
    [path] = jit.cache_folder("toy").glob(f"toy.*.{name}-*.kernel")
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
    assert [path.name.split("-")[0] for path in sealed_file().parent.iterdir()] == ["toy.outer.run"]
    twice = sys.modules["toy.inner"].twice
    assert [str(s) for s in twice.signatures] == ["(float64,)"]
    assert twice(1.5) == 3.0
    assert [str(s) for s in twice.signatures] == ["(float64,)"]


def test_a_numba_that_links_in_another_way_compiles_every_kernel_by_itself(toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "tvcs_core.linking", None)
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
    sys.modules["toy.inner"].twice(1.0)
    sealed_file().write_bytes(sealed_file("twice").read_bytes())
    check_healed(toy)


def test_a_sealed_file_that_numba_cannot_use_is_replaced(toy):
    toy()(VALUES)
    jit.write_sealed(sealed_file(), b"not a pickle")
    check_healed(toy)
    jit.write_sealed(sealed_file(), pickle.dumps((1, 2)))
    check_healed(toy)


def test_an_edit_of_another_file_changes_the_answer(toy):
    assert toy()(VALUES) == 24.0
    (toy.package / "inner.py").write_text(INNER.replace("2 * x", "3 * x"))
    assert toy()(VALUES) == 36.0
    (toy.package / "inner.py").write_text(INNER)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


def test_an_edit_after_the_start_leaves_the_cache_alone(toy, monkeypatch):
    toy()
    monkeypatch.setattr(jit, "_STARTED", (toy.package / "outer.py").stat().st_mtime - 1)
    run = toy()
    assert jit.cache_folder("toy") is None
    assert run(VALUES) == 24.0


def test_settings_of_numba_have_a_folder_of_their_own(monkeypatch):
    plain = jit.fingerprint("tvcs_core")
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert jit.fingerprint("tvcs_core") != plain


def test_old_folders_are_forgotten(toy, monkeypatch):
    monkeypatch.setattr(jit, "KEPT_FOLDERS", 2)
    for factor in "3456":
        (toy.package / "inner.py").write_text(INNER.replace("2", factor))
        toy()(VALUES)
    assert len(list(jit.cache_folder("toy").parent.iterdir())) == 2


def break_mode(folder):
    folder.chmod(0o777)


def break_parent(folder):
    folder.parent.chmod(0o777)


def break_link(folder):
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("break_it", [break_mode, break_parent, break_link])
def test_a_folder_that_others_can_write_is_not_used(toy, monkeypatch, break_it):
    toy()(VALUES)
    folder = jit.cache_folder("toy")
    break_it(folder)
    monkeypatch.setattr(jit, "_user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    run = toy()
    assert jit.cache_folder("toy") is None
    assert run(VALUES) == 24.0
    assert not was_cached(run)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o740, 0o704, 0o710, 0o701])
def test_a_folder_that_anyone_else_may_use_in_any_way_is_refused(tmp_path, mode):
    folder = jit.open_folder(tmp_path, "toy", "0")
    assert jit.open_folder(tmp_path, "toy", "0") == folder
    folder.chmod(mode)
    with pytest.raises(PermissionError, match="can be written by them"):
        jit.open_folder(tmp_path, "toy", "0")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize(("mode", "is_safe"), [(0o777, False), (0o702, False), (0o1777, True)])
def test_a_folder_that_anyone_may_put_another_for_is_refused(tmp_path, mode, is_safe):
    place = tmp_path / "place"
    folder = jit.open_folder(place, "toy", "0")
    place.chmod(mode)
    if is_safe:
        assert jit.open_folder(place, "toy", "0") == folder
    else:
        with pytest.raises(PermissionError, match="can be written by them"):
            jit.open_folder(place, "toy", "0")


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
def test_a_folder_of_another_user_is_not_used(toy, monkeypatch):
    toy()(VALUES)
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    toy()
    assert jit.cache_folder("toy") is None


def no_temporary_folder():
    raise FileNotFoundError("No usable temporary directory found")


def test_without_a_writable_folder_kernels_still_run(toy, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(jit, "_user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    monkeypatch.setattr(jit, "_NOTICE", jit._Notice())
    monkeypatch.setattr(jit, "SAY_AFTER", 0)
    assert toy()(VALUES) == 24.0
    assert jit.cache_folder("toy") is None
    assert "without a cache, see `tvcs doctor`" in capsys.readouterr().err


def test_a_full_disk_does_not_stop_a_kernel(toy, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jit, "write_sealed", fail)
    assert toy()(VALUES) == 24.0


def test_a_numba_that_changed_its_cache_is_used_without_one(toy, monkeypatch):
    def changed(*_):
        raise AttributeError("_rebuild")

    toy()(VALUES)
    monkeypatch.setattr(jit, "_rebuild", changed)
    monkeypatch.setattr(jit, "_reduce", changed)
    assert toy()(VALUES) == 24.0


def test_without_a_home_the_temporary_folder_is_used(monkeypatch, tmp_path):
    for name in ("TVCS_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(jit.os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert [place.parent for place in jit.cache_places()] == [tmp_path]


def test_long_compiling_is_said_once(toy, monkeypatch, capsys):
    monkeypatch.setattr(jit, "_NOTICE", jit._Notice())
    monkeypatch.setattr(jit, "SAY_AFTER", 0)
    toy()(VALUES)
    said = capsys.readouterr().err
    assert said == f"tvcs: compiling the kernels once, kept in {jit.cache_folder('toy')}\n"


def test_short_compiling_is_not_said(toy, monkeypatch, capsys):
    monkeypatch.setattr(jit, "_NOTICE", jit._Notice())
    monkeypatch.setattr(jit, "SAY_AFTER", 60)
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
from tvcs_core.jit import cache_folder
from tvcs_core.projection.kernels.gains import tie
print(json.dumps([before, int(tie(1, 2, 3) * 0), str(cache_folder())]))
"""


def test_two_processes_at_once_without_a_home_share_one_cache(tmp_path):
    processes = [start_python(PROBE, tmp_path / "cache") for _ in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        numba_at_import, _, folder = json.loads(out)
        assert not numba_at_import
        assert Path(folder).parent == tmp_path / "cache"
    files = list(Path(folder).iterdir())
    assert {f.suffix for f in files} == {".kernel"}
    assert all(jit.read_sealed(f) is not None for f in files)


def test_without_the_jit_kernels_are_plain_functions(tmp_path):
    process = start_python(PROBE, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert not list(Path(json.loads(out)[2]).iterdir())
