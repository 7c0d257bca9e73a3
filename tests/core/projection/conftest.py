"""Fixtures of the projection."""

import pytest

from tvcs_core.projection.exact import search, shortcuts


@pytest.fixture
def all_steps(monkeypatch):
    """Let tables of some thousand entries take all steps of larger ones, not one kernel call."""
    monkeypatch.setattr(shortcuts, "MAX_SMALL_TABLE", shortcuts.MAX_SMALL)
    monkeypatch.setattr(search, "MAX_ONE_CALL", 0)
