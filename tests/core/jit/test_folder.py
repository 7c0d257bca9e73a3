"""The folder of compiled kernels is private, and never in the way."""

import os
import tempfile

import pytest

from tests.core.jit.toys import INNER, INNER_FILE, VALUES, sealed_file, was_cached
from tests.makers.marks import needs_jit
from tvcs_core.jit import compiling, folder

pytestmark = needs_jit


def test_the_folder_and_its_files_are_ours_alone(toy):
    toy()(VALUES)
    assert sealed_file().parent.stat().st_mode & 0o777 == 0o700
    assert sealed_file().stat().st_mode & 0o077 == 0


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


def test_without_a_writable_folder_kernels_still_run(toy, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TVCS_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(folder, "_user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    monkeypatch.setattr(compiling, "_seconds", 0.0)
    monkeypatch.setattr(compiling, "SAY_AFTER", 0)
    assert toy()(VALUES) == 24.0
    assert folder.cache_folder("toy") is None
    assert "without a cache, see `tvcs doctor`" in caplog.text


def test_without_a_home_the_temporary_folder_is_used(monkeypatch, tmp_path):
    for name in ("TVCS_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert [place.parent for place in folder.cache_places()] == [tmp_path]
