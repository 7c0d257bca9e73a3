"""Kernels as they are written."""

import pytest

from crowd_tvcs.accuracy.kernels import many_class_table, outcome_lists, two_class_table
from tvcs_core.jit.kernel import Kernel


@pytest.fixture
def plain(monkeypatch):
    """Run the kernels as they are written; that they are compiled alike is for other tests."""
    for module in (outcome_lists, two_class_table, many_class_table):
        for name, found in list(vars(module).items()):
            if isinstance(found, Kernel):
                monkeypatch.setattr(module, name, found.py_func)
