"""The memory that is left is read once, and everybody who asks hears the same."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from grn_tvcs.cli.resources import Work, estimate
from tvcs_core.cli import app
from tvcs_core.files import memory
from tvcs_core.files.memory import available_memory
from tvcs_core.projection.exact import candidates

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
        estimate(GENOME).refuse_what_cannot_fit("take less")
    monkeypatch.setattr(candidates, "estimate_memory", lambda size, dense: LEFT * 1024 + 10**6)
    with pytest.raises(MemoryError, match=r"about 3,222 MB .* and 3,221 MB are available"):
        candidates.ask_for_memory(table())


@pytest.mark.parametrize("text", [None, "MemTotal: 5 kB\n"])
def test_where_the_system_does_not_say_nothing_is_refused(meminfo, monkeypatch, text):
    if text is not None:
        meminfo.write_text(text)
    assert available_memory() is None
    assert re.search(r"^memory    [\d.]+ GiB$", doctor(), re.MULTILINE)
    estimate(GENOME).refuse_what_cannot_fit("take less")
    monkeypatch.setattr(candidates, "estimate_memory", lambda size, dense: 10**15)
    candidates.ask_for_memory(table())


def doctor() -> str:
    return CliRunner().invoke(app, ["doctor"]).stdout


def table():
    return SimpleNamespace(values=np.zeros(3), dense=True)
