"""Compiled code is as fresh as the sources that it was made of."""

import importlib
from pathlib import Path

import pytest

from tests.core.jit.toys import INNER, INNER_FILE, OUTER, OUTER_FILE, VALUES, was_cached
from tests.makers.marks import needs_jit
from tests.makers.processes import run_python
from tvcs_core.jit import folder

ROOT = Path(__file__).resolve().parents[3]
RECORDS = """
from typing import NamedTuple
from toy import (
    sizes,
)

STEP = sizes.STEP

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
ASSEMBLY = """
from numba import njit

@njit(nogil=True)
def total(values):
    found = 0.0
    for i in range(values.size):
        found += 2 * values[i]
    return found

total.compile("f8(f8[::1])")
[text] = total.inspect_asm().values()
print(text)
"""
BY_ANY_RECORD = """
from tvcs_core.jit import kernel

@kernel
def run(span):
    return span.upper - 2 * span.lower
"""
pytestmark = needs_jit


@pytest.fixture
def difference(toy):
    """Return run's `upper - 2 * lower` for `Span(1, 5)`, the kernel and its record as they are."""
    kernels = toy.package / "high" / "kernels"
    (toy.package / OUTER_FILE).unlink()
    kernels.mkdir()
    (kernels / "__init__.py").write_text("from toy.high.kernels.spans import run")
    (kernels / "records.py").write_text(RECORDS)
    (kernels / "spans.py").write_text(BY_RECORD)
    (toy.package / "sizes.py").write_text("from toy.units import STEP\n")
    (toy.package / "units.py").write_text("STEP = 0.0\n")

    def fresh(records="toy.high.kernels.records"):
        run = toy()
        return run(importlib.import_module(records).Span(1.0, 5.0)), was_cached(run)

    fresh.package = toy.package
    fresh.kernels = kernels
    return fresh


def test_an_edit_of_another_file_changes_the_answer(toy):
    assert toy()(VALUES) == 24.0
    (toy.package / INNER_FILE).write_text(INNER.replace("2 * x", "3 * x"))
    assert toy()(VALUES) == 36.0
    (toy.package / INNER_FILE).write_text(INNER)
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


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


def test_an_edit_of_what_is_imported_over_some_steps_changes_the_answer(difference):
    assert difference() == (3.0, False)
    (difference.package / "units.py").write_text("STEP = 1.0\n")
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
        importlib.import_module(package)
        files = [p for p in (ROOT / package).rglob("*.py") if "\n@kernel\n" in p.read_text("utf-8")]
        assert files
        assert set(files) <= set(folder.sources(package).values())


def test_an_edit_after_the_start_leaves_the_cache_alone(toy, monkeypatch):
    toy()
    monkeypatch.setattr(folder, "_STARTED", (toy.package / OUTER_FILE).stat().st_mtime - 1)
    run = toy()
    assert folder.cache_folder("toy") is None
    assert run(VALUES) == 24.0


@pytest.mark.parametrize("name", ["BOUNDSCHECK", "OPT", "CPU_NAME", "DUMP_ASSEMBLY", "OF_TOMORROW"])
def test_settings_of_numba_have_a_folder_of_their_own(monkeypatch, name):
    plain = folder.fingerprint("tvcs_core")
    monkeypatch.setenv(f"NUMBA_{name}", "1")
    assert folder.fingerprint("tvcs_core") != plain


def test_settings_that_change_no_code_compile_nothing_anew(toy, monkeypatch):
    toy()(VALUES)
    for name in (*folder.CODE_IS_EQUAL, "NUMBA_CUDA_LOG_LEVEL"):
        monkeypatch.setenv(name, "1")
    run = toy()
    assert run(VALUES) == 24.0
    assert was_cached(run)


def assembly(**environment):
    """What numba compiles in a process of its own, since it reads its settings once."""
    done = run_python(ASSEMBLY, env=environment)
    assert len(done.stdout) > 1000
    return done.stdout


def test_numba_compiles_the_same_under_settings_that_change_no_code():
    named = dict.fromkeys(folder.CODE_IS_EQUAL, "1") | {
        "NUMBA_CACHE_LOCATOR_CLASSES": "",
        "NUMBA_COLOR_SCHEME": "no_color",
        "NUMBA_THREADING_LAYER": "workqueue",
        "NUMBA_THREADING_LAYER_PRIORITY": "workqueue omp tbb",
    }
    assert assembly(**named) == assembly() != assembly(NUMBA_OPT="0")


def test_numba_knows_the_settings_that_change_no_code():
    from numba.core import config

    text = Path(config.__file__).read_text("utf-8")
    assert [name for name in folder.CODE_IS_EQUAL if f'"{name}"' not in text] == []
