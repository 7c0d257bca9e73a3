"""No kernel is compiled twice for arguments of other types, whichever process compiles it."""

import sys
from collections import defaultdict

import pytest


def signatures():
    """The types that each kernel was compiled for in this process, in words."""
    from tvcs_core.jit import Kernel

    packages = ("tvcs_core", "grn_tvcs", "crowd_tvcs")
    ours = [module for name, module in sys.modules.items() if name.startswith(packages)]
    kernels = {k for m in ours for k in vars(m).values() if isinstance(k, Kernel)}
    return {f"{k.__module__}.{k.__qualname__}": [str(t) for t in k.signatures] for k in kernels}


def complaint(found):
    """What is wrong with the signatures; nothing if each kernel has one."""
    twice = sorted(name for name, types in found.items() if len(types) > 1)
    return twice and f"kernels with more than one signature: {', '.join(twice)}"


class AllProcesses:
    """What several processes that run the tests saw, put together in the one that started them."""

    def __init__(self):
        self.found = defaultdict(set)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Take over what a process has seen."""
        for name, types in getattr(node, "workeroutput", {}).get("signatures", {}).items():
            self.found[name].update(types)

    def pytest_sessionfinish(self, session):
        """Fail where two processes saw other types."""
        if complaint(self.found):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Say why."""
        if complaint(self.found):
            terminalreporter.write_line(complaint(self.found), red=True)
