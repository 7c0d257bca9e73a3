"""Run tests on mutants: each in a fork of a process that has imported everything, once.

It works in a copy of the tree, which it is started in (by `__main__`), and writes one line of JSON
for each mutant to the file descriptor that it is given.

A change within a function is made after the import: every function that was made of that code gets
the code of the mutant. Any other change is made by the import, in a fork that has imported no
module of ours yet; so is one of a function that runs with the import alone.
"""

import contextlib
import ctypes
import functools
import gc
import itertools
import json
import math
import os
import random
import re
import resource
import select
import signal
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest

from tests.proofs.mutants.changes import Mutant, mutants
from tests.proofs.mutants.seen import Seen, file_of, read

OPTIONS = ["-q", "--capture=sys", "-p", "no:cacheprovider", "--rootdir=."]
KILLED, SURVIVED, LATE, NOT_MADE = 0, 10, 11, 12
NEVER = math.inf  # seconds of a test that fails where nothing is changed
# Tests may take so many times as long as without the change (and some seconds), and so much memory.
TIMES, MEMORY = 3.0, 4 << 30
WAITING = 200.0  # seconds that a test may wait, on a busy machine
PR_SET_PDEATHSIG = 1  # of Linux: a process ends with the one that made it
IMPORTS = 20.0  # seconds of imports, where all is imported again


class Loop:
    """A plugin that does something with the tests that were collected instead of running them."""

    def __init__(self, work: Callable[[list[Any]], None]) -> None:
        self.work = work
        self.failed = ""
        self.failing: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Do it."""
        self.work(session.items)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep which test failed first."""
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} ({report.when}): {report.longreprtext}"

    def pass_by(self, test: str) -> None:
        """Leave out a test if it has just failed, where nothing was changed."""
        if self.failed:
            print(f"a test fails without any change:\n{self.failed}", file=sys.stderr)
            self.failing.append(test)
            self.failed = ""

    def run(self, items: list[Any]) -> str:
        """Return the first test that fails, where it stops; "" if all pass."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return str(item.nodeid)
        return ""


def collected(
    asked: dict[str, Any], tests: list[str], work: Callable[[Loop, list[Any]], None]
) -> None:
    """Collect tests and do some work with them."""
    loop = Loop(lambda items: work(loop, items))
    options = [*OPTIONS, *asked["options"], f"--basetemp={asked['scratch']}"]
    code = pytest.main([*options, *tests], plugins=[loop])
    fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if code not in fine and not loop.failing:
        raise SystemExit(f"pytest ended with {code!r}")


def forked(work: Callable[[], int], seconds: float, *, quiet: bool = True) -> int:
    """The exit status of some work in a process of its own; LATE if it takes too long."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
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
    ready, _, _ = select.select([watched], [], [], WAITING + 10 * seconds if quiet else None)
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
    """What every test runs of some files, and "" what the import does."""
    cached = caches(gc.get_objects())
    seen = {"": Seen(0.0, {})}
    for item, following in zip(items, [*items[1:], None], strict=True):
        forget(cached)  # who would have run it, were another test not first
        tool.switch_context(item.nodeid)
        start = processor_seconds()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seen[item.nodeid] = Seen(round(processor_seconds() - start, 3), {})
        loop.pass_by(item.nodeid)
    tool.stop()
    for file in files:
        for line, contexts in tool.get_data().contexts_by_lineno(os.path.abspath(file)).items():
            for test in set(contexts) & set(seen):
                seen[test].lines.setdefault(file, []).append(line)
    return seen | {test: Seen(NEVER, {}) for test in loop.failing}


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


class Job(NamedTuple):
    """A mutant, its file, the tests that must notice it, and whether it is made by the import."""

    file: str
    mutant: Mutant
    tests: list[str]
    is_cold: bool


Tell = Callable[[Job, int], None]


def job_of(mutant: Mutant, file: str, seen: dict[str, Seen]) -> Job:
    """The tests that run what is changed, the quickest first.

    What runs with the import concerns every test that touches the file, or whose file names it.
    """
    lines, name = range(mutant.lines[0], mutant.lines[1] + 1), os.path.relpath(file)
    tests = {test: of for test, of in seen.items() if test}
    found = [test for test, of in tests.items() if of.runs(name, lines)]
    is_imported = not found and seen[""].runs(name, lines)
    is_cold = not mutant.within or is_imported or not fits(mutant, file)
    if is_cold:
        named = re.compile(rf"\b{Path(name).stem}\b")
        files = {of for of in {*map(file_of, tests)} if named.search(Path(of).read_text("utf-8"))}
        found = [t for t, of in tests.items() if name in of.lines or file_of(t) in files]
    found = found or (list(tests) if is_cold else [])
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


def wanted(asked: dict[str, Any], seen: dict[str, Seen]) -> list[Job]:
    """The mutants that are asked for, and the tests of each.

    In any order, so that those of a run that is cut off are a sample. `only` names the test files
    that are new to a mutant.
    """
    fine = {test: of for test, of in seen.items() if of.seconds <= min(asked["slowest"], 1e9)}
    jobs = []
    for file, names in asked["mutants"].items():
        for mutant in mutants(Path(file).read_text(encoding="utf-8")):
            if mutant.name in names:
                job = job_of(mutant, os.path.abspath(file), fine)
                only = asked.get("only", {}).get(file, {}).get(mutant.name)
                tests = [test for test in job.tests if only is None or file_of(test) in only]
                ends = itertools.accumulate(fine[test].seconds for test in tests)
                tests = [t for t, end in zip(tests, ends, strict=True) if end <= asked["together"]]
                jobs.append(job._replace(tests=tests))
    random.Random(0).shuffle(jobs)
    return jobs


def try_warm(asked: dict[str, Any], tell: Tell) -> int:
    """See what the tests run, where that is not known, and try changes within functions.

    Each is tried in a fork of this process, after all imports and with all kernels loaded. The
    test that notices one must pass without any change in its place; else it notices none.
    """
    files, kept = asked["observed"], Path(asked["seen"])
    tool = coverage.Coverage(
        data_file=None, include=[os.path.abspath(file) for file in files], messages=False
    )
    before = {"": Seen(0.0, {})} | (read(kept) if kept.exists() else {})
    anew, tests = asked.get("anew"), asked["tests"]
    if anew is not None:
        needed = {file_of(test) for job in wanted(asked, before) for test in job.tests}
        tests = [test for test in tests if test in needed | set(anew)]
    if anew != []:
        tool.start()

    def work(loop: Loop, items: list[Any]) -> None:
        new = [item for item in items if anew is None or file_of(item.nodeid) in anew]
        found = observed(loop, new, tool, files) if new else {}
        seen = before | found
        seen[""] = Seen(0.0, before[""].lines | seen[""].lines)
        kept.write_text(json.dumps(seen), encoding="utf-8")
        by_name = {item.nodeid: item for item in items}
        gc.collect()
        alive = gc.get_objects()
        functions = [x for x in alive if isinstance(x, types.FunctionType)]
        cached = caches(alive)
        gc.freeze()
        failed = Path(f"{asked['scratch']}.failed")

        def run(names: list[str], job: Job | None = None) -> int:
            """Run tests, with a change or without one."""
            if job and not made(job.mutant, job.file, functions):
                return NOT_MADE
            forget(cached)
            items[0].config._tmp_path_factory._basetemp = None
            name = loop.run([by_name[test] for test in names])
            failed.write_text(name, encoding="utf-8")
            return KILLED if name else SURVIVED

        def attempt(job: Job) -> int:
            """Try a mutant, and see the test that notices it pass without the change."""
            limit = asked["seconds"] + TIMES * sum(seen[test].seconds for test in job.tests)
            while job.tests:
                failed.unlink(missing_ok=True)
                status = forked(functools.partial(run, job.tests, job), limit)
                name = failed.read_text(encoding="utf-8") if failed.exists() else ""
                if status != KILLED or not name or name in sound:
                    return status
                first = job.tests[: job.tests.index(name) + 1]
                if forked(functools.partial(run, first), limit) == SURVIVED:
                    sound.add(name)
                    return status
                print(f"a test fails without any change: {name}", file=sys.stderr)
                seen[name] = Seen(NEVER, {})
                kept.write_text(json.dumps(seen), encoding="utf-8")
                job = job._replace(tests=[test for test in job.tests if test != name])
            return SURVIVED

        sound: set[str] = set()
        not_made = []
        for job in wanted(asked, seen):
            job = job._replace(tests=[of for of in job.tests if seen[of].seconds != NEVER])
            if job.is_cold and job.tests:
                continue
            status = attempt(job)
            if status == NOT_MADE:
                not_made.append(job.mutant.name)
            else:
                tell(job, status)
        kept.with_suffix(".cold").write_text(json.dumps(not_made), encoding="utf-8")

    if tests:
        collected(asked, tests, work)
    else:
        for job in wanted(asked, before):
            tell(job, SURVIVED)
        kept.with_suffix(".cold").write_text("[]", encoding="utf-8")
    return 0


def try_cold(asked: dict[str, Any], job: Job) -> int:
    """Try a change by importing the module with it."""
    code = job.mutant.code(job.file)
    get_code = SourceFileLoader.get_code

    def changed(self: Any, name: str) -> Any:
        return code if self.path == job.file else get_code(self, name)

    SourceFileLoader.get_code = changed  # type: ignore[method-assign]
    failed: list[str] = []
    collected(asked, job.tests, lambda loop, items: failed.append(loop.run(items)))
    return SURVIVED if failed == [""] else KILLED


def main() -> None:
    """Read a job from standard input and tell of each mutant."""
    result = os.fdopen(int(sys.argv[1]), "w")
    asked = json.load(sys.stdin)
    for name in asked["imports"]:
        with contextlib.suppress(ImportError):
            __import__(name)

    def tell(job: Job, status: int) -> None:
        file = os.path.relpath(job.file)
        result.write(json.dumps([file, job.mutant.name, job.mutant.line, status, len(job.tests)]))
        result.write("\n")
        result.flush()

    if forked(lambda: try_warm(asked, tell), 0.0, quiet=False) != 0:
        raise SystemExit("the tests ended early")
    kept = Path(asked["seen"])
    not_made = json.loads(kept.with_suffix(".cold").read_text(encoding="utf-8"))
    seen = read(kept)
    for job in wanted(asked, seen):
        if job.tests and (job.is_cold or job.mutant.name in not_made):
            limit = asked["seconds"] + TIMES * sum(seen[test].seconds for test in job.tests)
            tell(job, forked(functools.partial(try_cold, asked, job), IMPORTS + limit))


if __name__ == "__main__":
    main()
