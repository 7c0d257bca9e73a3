"""Several processes run these tests: what only all of them together can tell."""

from collections import OrderedDict
from types import SimpleNamespace

import pytest

from tests.processes.one_signature import AllProcesses


@pytest.mark.parametrize(("types", "status"), [(["i8", "i8"], 0), (["i8", "f8"], 1), ([], 0)])
def test_a_kernel_that_two_processes_compile_for_other_types_fails_the_run(types, status):
    together, session = AllProcesses(), SimpleNamespace(exitstatus=0)
    for one in types:
        together.pytest_testnodedown(SimpleNamespace(workeroutput={"signatures": {"k": [one]}}))
    together.pytest_testnodedown(SimpleNamespace())  # one that crashed
    together.pytest_sessionfinish(session)
    assert session.exitstatus == status


def test_processes_begin_at_the_two_ends():
    pytest.importorskip("xdist")
    from tests.processes.two_ends import place

    folders = ["grn/network", "core/jit", "benchmarks", "crowd/plan"]
    named = [SimpleNamespace(nodeid=f"tests/{folder}/test_x.py::test") for folder in folders]
    named += [SimpleNamespace(nodeid=f"tests/test_{file}.py::test") for file in ("x", "docs")]
    found = [item.nodeid.split("/")[1] for item in sorted(named, key=place)]
    assert found == ["core", "crowd", "benchmarks", "test_docs.py::test", "test_x.py::test", "grn"]


def test_processes_collect_from_the_two_ends_and_the_middle():
    pytest.importorskip("xdist")
    from tests.processes.two_ends import collected

    found = ["".join(collected("abcde", number)) for number in range(4)]
    assert found == ["abcde", "edcba", "cdeab", "edcba"]
    assert collected(None, 1) == []  # of a folder that could not be collected


def test_the_third_process_begins_with_other_kernels_than_the_first():
    pytest.importorskip("xdist")
    from tests.processes.two_ends import TwoEnds

    scheduler = object.__new__(TwoEnds)
    files = ["core/a", "core/b", "crowd/a", "crowd/b", "benchmarks/a", "grn/a", "grn/b"]
    scheduler.workqueue = OrderedDict.fromkeys(f"tests/{file}.py" for file in files)
    taken = []
    for number in (0, 1, 2, 0, 1, 2, 2):
        taken.append(scheduler.next_unit(number))
        del scheduler.workqueue[taken[-1]]
    assert [unit[6:-3] for unit in taken] == [
        "core/a", "grn/b", "crowd/a", "core/b", "grn/a", "crowd/b", "benchmarks/a"
    ]  # fmt: skip


def test_long_tests_that_share_nothing_go_to_whichever_process_is_free(pytestconfig):
    pytest.importorskip("xdist")
    from tests.processes import two_ends

    scheduler = object.__new__(two_ends.TwoEnds)
    scope = scheduler._split_scope
    for file in two_ends.ONE_BY_ONE:
        assert (pytestconfig.rootpath / file).exists()
        assert scope(f"{file}::test_x[a]") != scope(f"{file}::test_x[b]")
    assert scope("tests/core/test_cli.py::test_x") == scope("tests/core/test_cli.py::test_y[a]")
