"""The kernel cache: sealed, healed, and never in the way."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.compiler import CompileResult

from tests.core.jit.toys import INNER, INNER_FILE, VALUES, check_healed, sealed_file, was_cached
from tests.makers.marks import needs_jit
from tvcs_core.jit import cache, folder

pytestmark = needs_jit


def test_a_kernel_is_compiled_once_and_then_loaded(toy):
    run = toy()
    run(VALUES)
    assert not was_cached(run)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)
    assert [str(s) for s in run.signatures] == ["(Array(float64, 1, 'C', False, aligned=True),)"]


MADE = """
from typing import NamedTuple
import numpy as np
from tvcs_core.jit import kernel

class Made(NamedTuple):
    here: np.ndarray
    there: np.ndarray

@kernel
def make(n):
    return Made(np.ones(n), np.empty(n))

@kernel
def run(n):
    return make(n).here.sum()
"""
BOTH = """
from toy.high import kernels
kernels.run.dispatcher
assert kernels.run(3) == 3.0
made = kernels.make(2)
assert made.here.tolist() == [1.0, 1.0] and type(made) is kernels.Made
"""


def test_a_kernel_that_python_and_a_kernel_call_returns_arrays_when_both_are_loaded(toy):
    """The one that calls it was kept before it was called itself: once a process ended by that."""
    (toy.package / "high" / "kernels.py").write_text(MADE)
    there = {**os.environ, "PYTHONPATH": os.pathsep.join([str(toy.package.parent), *sys.path])}
    for step in ("both are compiled", "both are loaded", "one is compiled, the other loaded"):
        if step.startswith("one"):
            next(Path(there["TVCS_CACHE_DIR"]).rglob("*.run-*.kernel")).unlink()
        done = subprocess.run(
            [sys.executable, "-c", BOTH], env=there, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{step}: {done.stderr}"
        kept = Path(there["TVCS_CACHE_DIR"]).rglob("*.kernel")
        assert {path.name.split("-")[0].split(".")[-1] for path in kept} == {"make", "run"}


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


def test_kernels_of_one_name_in_one_file_are_kept_apart(toy):
    path = toy.package / INNER_FILE
    path.write_text(f"{INNER}\ndouble = twice\n{INNER.replace('2 * x', '3 * x')}")
    for _ in range(2):
        toy()
        inner = sys.modules["toy.low.kernels.inner"]
        assert (inner.double(1.0), inner.twice(1.0)) == (2.0, 3.0)


def test_another_processor_has_code_of_its_own(toy, monkeypatch):
    toy()(VALUES)
    codegen = type(toy().dispatcher.targetctx.codegen())
    monkeypatch.setattr(codegen, "magic_tuple", lambda _: ("x86_64", "another", ""))
    run = toy()
    assert run(VALUES) == 24.0
    assert not was_cached(run)
    assert len(list(folder.cache_folder("toy").iterdir())) == 2


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


def test_an_interrupt_waits_until_a_kernel_is_loaded(toy, monkeypatch, sigint_of_a_terminal):
    toy()(VALUES)
    run = toy()
    payloads = []

    def read_sealed(path):
        signal.raise_signal(signal.SIGINT)
        payloads.append(folder.read_sealed(path))
        return payloads[-1]

    monkeypatch.setattr(cache, "read_sealed", read_sealed)
    with pytest.raises(KeyboardInterrupt):
        run(VALUES)
    assert len(payloads) == 1
    assert payloads[0]
    monkeypatch.undo()
    assert run(VALUES) == 24.0
