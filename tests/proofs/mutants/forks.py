"""Run tests on mutants: each in a fork of a process that has imported everything, once.

It works in a copy of the tree, which it is started in (by `__main__`), and writes one line of JSON
for each mutant to the file descriptor that it is given.

A change within a function is made after the import: every function that was made of that code gets
the code of the mutant. Any other change is made by the import, in a fork that has imported no
module of ours yet; so is one of a function that runs with the import alone.
"""

import contextlib
import functools
import gc
import json
import math
import os
import pickle
import random
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest

from tests.proofs.mutants.changes import Mutant, mutants

OPTIONS = ["-q", "--capture=sys", "-p", "no:cacheprovider", "--rootdir=."]
KILLED, SURVIVED, LATE, NOT_MADE = 0, 10, 11, 12
# Tests may take so many times as long as without the change (and some seconds), and so much memory.
TIMES, MEMORY = 3.0, 4 << 30
IMPORTS = 20.0  # seconds of imports, where all is imported again


class Seen(NamedTuple):
    """What a test does without any change: its seconds, and the lines it runs of each file."""

    seconds: float
    lines: dict[str, set[int]]


class Loop:
    """A plugin that does something with the tests that were collected instead of running them."""

    def __init__(self, work: Callable[[list[Any]], None]) -> None:
        self.work = work
        self.failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Do it."""
        self.work(session.items)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep which test failed first."""
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} ({report.when}): {report.longreprtext}"

    def run(self, items: list[Any]) -> bool:
        """Whether tests pass; it stops at the first that fails."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return False
        return True


def collected(tests: list[str], scratch: Path, work: Callable[[Loop, list[Any]], None]) -> None:
    """Collect tests and do some work with them."""
    loop = Loop(lambda items: work(loop, items))
    code = pytest.main([*OPTIONS, f"--basetemp={scratch}", *tests], plugins=[loop])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest ended with {code!r}")


def forked(work: Callable[[], int], seconds: float, *, quiet: bool = True) -> int:
    """The exit status of some work in a process of its own; LATE if it takes too long."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setsid()
            if quiet:
                nowhere = os.open(os.devnull, os.O_RDWR)
                for descriptor in (0, 1, 2):
                    os.dup2(nowhere, descriptor)
                limit = math.ceil(seconds)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            status = work()
        except SystemExit as error:
            print(error, file=sys.stderr)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    watched = os.pidfd_open(pid)
    ready, _, _ = select.select([watched], [], [], 60 + 4 * seconds if quiet else None)
    os.close(watched)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # and what it has started and left
    status = os.waitpid(pid, 0)[1]
    if not ready or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return LATE
    return os.waitstatus_to_exitcode(status)


def observed(
    loop: Loop, items: list[Any], tool: coverage.Coverage, files: list[str]
) -> dict[str, Seen]:
    """What every test runs of some files, and "" what the import does; an error if one fails."""
    cached = caches(gc.get_objects())
    seen = {"": Seen(0.0, {})}
    for item, following in zip(items, [*items[1:], None], strict=True):
        forget(cached)  # who would have run it, were another test not first
        tool.switch_context(item.nodeid)
        start = time.thread_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seen[item.nodeid] = Seen(time.thread_time() - start, {})
        if loop.failed:
            raise SystemExit(f"a test fails without any change:\n{loop.failed}")
    tool.stop()
    for file in files:
        for line, contexts in tool.get_data().contexts_by_lineno(file).items():
            for test in set(contexts) & set(seen):
                seen[test].lines.setdefault(file, set()).add(line)
    return seen


class Job(NamedTuple):
    """A mutant, its file, the tests that must notice it, and whether it is made by the import."""

    file: str
    mutant: Mutant
    tests: list[str]
    is_cold: bool


Tell = Callable[[Job, int], None]


def job_of(mutant: Mutant, file: str, seen: dict[str, Seen]) -> Job:
    """The tests that run what is changed, the quickest first.

    What runs with the import concerns every test that touches the file, or all.
    """
    lines = set(range(mutant.lines[0], mutant.lines[1] + 1))
    tests = {test: of for test, of in seen.items() if test}
    found = [test for test, of in tests.items() if lines & of.lines.get(file, set())]
    is_imported = not found and bool(lines & seen[""].lines.get(file, set()))
    is_cold = not mutant.within or is_imported or not fits(mutant, file)
    if is_cold:
        found = [test for test, of in tests.items() if file in of.lines] or list(tests)
    return Job(file, mutant, sorted(found, key=lambda test: seen[test].seconds), is_cold)


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of everything that is defined in some code."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def place(code: types.CodeType) -> tuple[str, int]:
    """What names a function of a module, as two may share a name."""
    return code.co_qualname, code.co_firstlineno


def fits(mutant: Mutant, file: str) -> bool:
    """Whether every function takes as many names from those around it: else none can have it."""
    before = names_around(file)
    return all(
        before.get(place(code), len(code.co_freevars)) == len(code.co_freevars)
        for code in codes(mutant.code(file))
    )


@functools.cache
def names_around(file: str) -> dict[tuple[str, int], int]:
    """How many names every function of a file takes from those around it."""
    whole = compile(Path(file).read_text(encoding="utf-8"), file, "exec")
    return {place(code): len(code.co_freevars) for code in codes(whole)}


def made(mutant: Mutant, file: str, functions: list[types.FunctionType]) -> bool:
    """Make a change in this process; False if no function was made of what is changed."""
    new = {place(code): code for code in codes(mutant.code(file))}
    count = 0
    for function in functions:
        code = new.get(place(function.__code__))
        if function.__code__.co_filename == file and code not in (None, function.__code__):
            function.__code__ = code  # type: ignore[assignment]
            count += 1
    return count > 0


def caches(alive: list[Any]) -> list[Any]:
    """The functions with a cache of the tree that we work in."""
    found = [x for x in alive if isinstance(x, functools._lru_cache_wrapper)]
    codes = [(x, getattr(x.__wrapped__, "__code__", None)) for x in found]
    return [x for x, code in codes if code and code.co_filename.startswith(os.getcwd())]


def forget(cached: list[Any]) -> None:
    """Empty caches."""
    for function in cached:
        function.cache_clear()


def wanted(asked: dict[str, Any], seen: dict[str, Seen]) -> list[tuple[Job, float]]:
    """The mutants that are asked for, and the seconds that the tests of each may take.

    In any order, so that those of a run that is cut off are a sample.
    """
    jobs = [
        job_of(mutant, os.path.abspath(file), seen)
        for file, names in asked["mutants"].items()
        for mutant in mutants(Path(file).read_text(encoding="utf-8"))
        if mutant.name in names
    ]
    random.Random(0).shuffle(jobs)
    return [
        (job, asked["seconds"] + TIMES * sum(seen[t].seconds for t in job.tests)) for job in jobs
    ]


def try_warm(asked: dict[str, Any], scratch: Path, tell: Tell) -> int:
    """See what the tests run, and try changes within functions.

    Each is tried in a fork of this process, after all imports and with all kernels loaded.
    """
    files = [os.path.abspath(file) for file in asked["mutants"]]
    tool = coverage.Coverage(data_file=None, include=files, messages=False)
    tool.start()

    def work(loop: Loop, items: list[Any]) -> None:
        seen = observed(loop, items, tool, files)
        seen = {test: of for test, of in seen.items() if of.seconds <= asked["slowest"]}
        scratch.with_name("seen").write_bytes(pickle.dumps(seen))
        by_name = {item.nodeid: item for item in items if item.nodeid in seen}
        gc.collect()
        alive = gc.get_objects()
        functions = [x for x in alive if isinstance(x, types.FunctionType)]
        cached = caches(alive)
        gc.freeze()

        def run(job: Job | None, tests: list[str]) -> int:
            if job is not None and not made(job.mutant, job.file, functions):
                return NOT_MADE
            forget(cached)
            items[0].config._tmp_path_factory._basetemp = None
            passed = loop.run([by_name[test] for test in tests])
            if job is None and not passed:
                print(f"a test fails in another order:\n{loop.failed}", file=sys.stderr)
            return SURVIVED if passed else KILLED

        in_order = sorted(by_name, key=lambda test: seen[test].seconds)
        if forked(lambda: run(None, in_order), 0.0, quiet=False) != SURVIVED:
            raise SystemExit("the tests must pass without any change, in any order")
        for job, limit in wanted(asked, seen):
            if not job.tests:
                tell(job, SURVIVED)
            elif not job.is_cold:
                tell(job, forked(functools.partial(run, job, job.tests), limit))

    collected(asked["tests"], scratch, work)
    return 0


def try_cold(job: Job, scratch: Path) -> int:
    """Try a change by importing the module with it."""
    code = job.mutant.code(job.file)
    get_code = SourceFileLoader.get_code

    def changed(self: Any, name: str) -> Any:
        return code if self.path == job.file else get_code(self, name)

    SourceFileLoader.get_code = changed  # type: ignore[method-assign]
    passed: list[bool] = []
    collected(job.tests, scratch, lambda loop, items: passed.append(loop.run(items)))
    return SURVIVED if passed == [True] else KILLED


def main() -> None:
    """Read a job from standard input and tell of each mutant."""
    told = os.fdopen(int(sys.argv[1]), "w")
    asked = json.load(sys.stdin)
    scratch = Path(asked["scratch"])
    for name in asked["imports"]:
        with contextlib.suppress(ImportError):
            __import__(name)

    def tell(job: Job, status: int) -> None:
        file = os.path.relpath(job.file)
        told.write(json.dumps([file, job.mutant.name, job.mutant.line, status, len(job.tests)]))
        told.write("\n")
        told.flush()

    if forked(lambda: try_warm(asked, scratch, tell), 0.0, quiet=False) != 0:
        raise SystemExit("the tests ended early")
    for job, limit in wanted(asked, pickle.loads(scratch.with_name("seen").read_bytes())):
        if job.is_cold and job.tests:
            tell(job, forked(functools.partial(try_cold, job, scratch), IMPORTS + limit))


if __name__ == "__main__":
    main()
