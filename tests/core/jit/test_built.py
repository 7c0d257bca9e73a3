"""Kernels that come compiled with the package: used where all is equal, and nowhere else."""

import contextlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.core.jit.toys import INNER, INNER_FILE, VALUES, sealed_file, was_cached
from tvcs_core.jit import built, folder

pytestmark = [
    pytest.mark.skipif(
        any(name.startswith("NUMBA_") for name in os.environ), reason="numba is told otherwise"
    ),
    pytest.mark.skipif(not built._kind(), reason="no kernels are built for this processor"),
]


@pytest.fixture
def shipped(toy, tmp_path, monkeypatch):
    """The kernels of the toy where a wheel has them; the user's cache is empty."""
    monkeypatch.setattr(built, "PLACE", tmp_path / "built")
    # Compiled for this very processor, so that this process can do it.
    monkeypatch.setattr(built.Built, "magic", lambda _, codegen: codegen.magic_tuple())
    toy()(VALUES)
    place = tmp_path / "built" / built._kind() / built.stamp("toy")
    shutil.copytree(sealed_file().parent, place)
    (tmp_path / "built" / built.MADE_WITH).write_text(json.dumps(built.made_here()))
    shutil.rmtree(tmp_path / "cache")
    return toy


def compiled_here(toy) -> bool:
    """Run the toy, and tell whether it had to be compiled."""
    before, run = built.uses(), toy()
    assert run(VALUES) == 24.0
    is_kept = any(folder.cache_folder("toy").iterdir())
    assert is_kept == (not was_cached(run)) == (built.uses() == before)
    return is_kept


def test_what_was_built_is_loaded_and_nothing_is_compiled_or_written(shipped):
    assert built.why_not("toy") == ""
    assert not compiled_here(shipped)


@pytest.mark.parametrize("name", ["Python", "system", "machine", "numba", "llvmlite", "numpy"])
def test_another_version_compiles_its_own_if_it_is_another_patch_only(shipped, monkeypatch, name):
    here = built.made_here()
    monkeypatch.setattr(built, "made_here", lambda: here | {name: f"{here[name]}.1"})
    assert built.why_not("toy") == (
        f"they were compiled with {name} {here[name]}, here is {here[name]}.1"
    )
    assert compiled_here(shipped)


def test_the_folder_is_named_after_versions_and_sources_whatever_the_list_of_them_says(
    shipped, monkeypatch
):
    here = built.made_here()
    monkeypatch.setattr(built, "made_here", lambda: here | {"numpy": "9.9"})
    (built.PLACE / built.MADE_WITH).write_text(json.dumps(built.made_here()))
    assert built.why_not("toy") == "the sources of the kernels were changed"
    assert compiled_here(shipped)


def test_another_source_is_compiled(shipped):
    (shipped.package / INNER_FILE).write_text(INNER + "\n")
    assert built.why_not("toy") == "the sources of the kernels were changed"
    assert compiled_here(shipped)


def test_a_processor_that_can_do_less_compiles_its_own(shipped, monkeypatch):
    monkeypatch.setattr(built, "_kind", lambda: "")
    assert built.why_not("toy") == "this processor is none of x86-64-v3, x86-64-v2"
    assert compiled_here(shipped)


def test_the_best_kind_is_the_first_of_which_a_processor_can_do_all(monkeypatch):
    from llvmlite import binding

    able = dict.fromkeys(built.KINDS["x86-64-v3"], True)
    for missing, kind in ((None, "x86-64-v3"), ("fma", "x86-64-v2"), ("popcnt", "")):
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: able | {missing: False})  # noqa: B023
        assert built._kind.__wrapped__() == kind


def test_settings_of_numba_are_followed(shipped, monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert built.why_not("toy") == "NUMBA_OPT is set"
    assert compiled_here(shipped)


def test_a_damaged_file_is_not_used_and_left_where_it_is(shipped):
    [path] = (built.PLACE / built._kind() / built.stamp("toy")).glob("*.run-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert compiled_here(shipped)
    assert path.exists()
    run = shipped()
    run(VALUES)
    assert was_cached(run)  # what was compiled instead


def test_without_any_there_is_nothing_to_say_but_that(tmp_path, monkeypatch):
    monkeypatch.setattr(built, "PLACE", tmp_path)
    assert built.why_not() == "there are none"
    (tmp_path / built.MADE_WITH).write_text("{")
    assert built.why_not() == "there are none"
    assert "toy" not in sys.modules


@pytest.fixture
def as_nobody():
    """Be a user without rights, whoever runs the tests."""
    if not hasattr(os, "geteuid"):
        pytest.skip("rights are those of POSIX")

    @contextlib.contextmanager
    def as_nobody():
        me = os.geteuid()
        try:
            if me == 0:
                os.seteuid(65534)
            yield
        finally:
            os.seteuid(me)

    return as_nobody


@pytest.mark.parametrize("closed", ["made_with.json", "kind", "kind/made", "kind/made/a.kernel"])
def test_kernels_that_this_user_may_not_read_are_not_said_to_be_used(
    as_nobody, monkeypatch, closed
):
    monkeypatch.setattr(built, "_kind", lambda: "kind")
    monkeypatch.setattr(built, "stamp", lambda package: "made")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)  # of root, and others may come in
        (place / "kind" / "made").mkdir(parents=True)
        (place / "kind" / "made" / "a.kernel").write_bytes(b"sealed")
        (place / built.MADE_WITH).write_text(json.dumps(built.made_here()))
        monkeypatch.setattr(built, "PLACE", place)
        with as_nobody():
            assert built.why_not() == ""
        (place / closed).chmod(0)
        with as_nobody():
            assert built.why_not() == "this user may not read them"
            assert built.built_kernels.__wrapped__() is None
        (place / closed).chmod(0o755)
