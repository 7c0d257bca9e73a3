"""Settings that every test shares."""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.processes.one_signature import AllProcesses, complaint, signatures
from tvcs_core.command.blas import one_thread_unless_told

# Threads of BLAS spin while tests have little to do: half of the processor went there. This has to
# stand before NumPy is imported; other processes of tests, and commands that they run, inherit it.
one_thread_unless_told(os.environ)
os.environ.setdefault("OMP_NUM_THREADS", "1")

ANY_SPEED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # on a busy machine
settings.register_profile("quick", max_examples=60, derandomize=True, **ANY_SPEED)
settings.register_profile("long", max_examples=5000, **ANY_SPEED)
settings.load_profile(os.environ.get("TVCS_HYPOTHESIS", "quick"))


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    import numpy as np

    return np.random.default_rng(20261121)


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    from tests.browser import chromium

    with chromium() as opened:
        yield opened


@pytest.fixture
def few_networks(monkeypatch):
    """Two networks to calibrate a design, where a test does not say how many, and few tables."""
    calibrate_with_few(monkeypatch)


def calibrate_with_few(monkeypatch):
    """Take 2 networks and 12 tables without edges: the usual 12 and 120 take seconds.

    What is found with them is kept in a folder of its own, so that nobody else takes it up.
    """
    from grn_tvcs import METHODS
    from grn_tvcs.combine import calibration

    monkeypatch.setitem(METHODS["combined"].function.__kwdefaults__, "calibrate", 2)
    monkeypatch.setattr(calibration, "N_NULL_TABLES", 12)
    monkeypatch.setattr(calibration, "version", lambda package: "few-tables")


@pytest.fixture
def sigint_of_a_terminal():
    """Programs started meanwhile can be interrupted, even where pytest runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_configure(config):
    config.pluginmanager.register(AllProcesses())
    gc.disable()  # while tests are collected: looking for garbage took half of the time


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from tests.processes.two_ends import TwoEnds

    return TwoEnds(config, log)


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):  # one of several processes
        from tests.processes.two_ends import place

        items.sort(key=lambda item: (place(item), item.nodeid.partition("::")[0]))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if hasattr(collector.config, "workerinput") and isinstance(collector, pytest.Dir):
        from tests.processes.two_ends import collected

        number = int(collector.config.workerinput["workerid"].removeprefix("gw"))
        report.result = collected(report.result, number)
    return report


def pytest_collection_finish(session):
    """A file that works while it is imported does so in every process, and for `-k nothing`."""
    session.config.used_at_import = [name for name, types in signatures().items() if types]
    gc.freeze()  # tests stay to the end: nobody looks for garbage among them again
    gc.set_threshold(50_000)  # of objects; 700 by itself, and looking took a tenth of the time
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def every_kernel_has_one_signature(request):
    """After all tests: no kernel was compiled twice for arguments of other types.

    A kernel that comes from the cache within another one has no signature to look at, so only a
    run with an empty cache checks them all: that is what `.ci/run` does.
    """
    used = request.config.used_at_import
    assert not used, f"kernels that test files call while they are imported: {', '.join(used)}"
    yield
    found = signatures()
    if hasattr(request.config, "workeroutput"):
        request.config.workeroutput["signatures"] = found
    assert not complaint(found), complaint(found)
