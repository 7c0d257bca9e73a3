import importlib
import sys
import tempfile

import pytest

from tests.core.jit.toys import INNER, OUTER
from tvcs_core.jit import folder


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

    def forget():
        for name in [n for n in sys.modules if n.partition(".")[0] == "toy"]:
            del sys.modules[name]
        folder.cache_folder.cache_clear()

    def fresh():
        forget()
        importlib.invalidate_caches()
        return importlib.import_module("toy.high.kernels").run

    fresh.package = package
    yield fresh
    forget()
