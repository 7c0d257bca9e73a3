"""`crowd-tvcs verify` accuses nobody: what every method writes, on plans of every kind, holds."""

import json
from contextlib import redirect_stderr
from io import StringIO

import pytest

from crowd_tvcs import METHODS
from crowd_tvcs.verification.verify import verify
from tests.makers.commands import crowd_tvcs
from tests.makers.tables import save


def write_crowd(folder, rng):
    """A crowd of random size and, each with chance 1/2, its tables; the options of `assign`."""
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 9))
    workers, tasks = [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    values = rng.uniform(0.3, 1.0, (n, m)).round(int(rng.integers(1, 4)))
    save(
        folder / "q.csv",
        ["worker", *tasks],
        *([w, *q] for w, q in zip(workers, values, strict=True)),
    )
    some = rng.random(7) < 0.5
    words = ["--budget", int(rng.integers(m, n * m + 2))] if some[0] else []
    words += ["--max-workers-per-task", int(rng.integers(1, 6))] if some[1] else []
    words += ["--max-tasks-per-worker", int(rng.integers(1, m + 2))] if some[2] else []
    is_binary = some[3]
    if not is_binary:
        words += ["--classes", int(rng.integers(3, 6))]
    if some[4]:
        priors = [[0.3], [0.8]] if is_binary else [[], []]
        save(folder / "tasks.csv", ["task", "min_workers", *(["prior"] if is_binary else [])],
             *([t, 1, *priors[j % 2]] for j, t in enumerate(tasks[::2])))  # fmt: skip
        words += ["--tasks", folder / "tasks.csv"]
    if some[5]:
        save(folder / "must.csv", ["worker", "task"], [workers[-1], tasks[0]])
        words += ["--forced", folder / "must.csv"]
    if some[6]:
        save(folder / "never.csv", ["worker", "task"], [workers[0], tasks[-1]])
        words += ["--forbidden", folder / "never.csv"]
    return words


def accusations(folder, method, words):
    """What `verify` says of a plan beyond how far it is proved; None if there is no plan."""
    words = ["assign", folder / "q.csv", "--out", folder / method, "--method", method, *words]
    done = crowd_tvcs(*words)
    if done.exit_code == 2:
        return None
    assert done.exit_code == 0, done.stderr
    with redirect_stderr(StringIO()):
        found = verify(folder / method)
    summary = json.loads((folder / method / "summary.json").read_text())
    assert found.proved == summary["certified"]
    assert found.unchecked
    return [line for line in found.violations if "not certified" not in line]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_that_a_method_writes_is_refused(method, tmp_path, rng):
    n = 0
    for k in range(8):
        folder = tmp_path / str(k)
        folder.mkdir()
        message = accusations(folder, method, write_crowd(folder, rng))
        assert not message, (k, message)
        n += message is not None
    assert n >= (3 if METHODS[method].honours else 1)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_refused_of_crowds_that_err_together(method, tmp_path, rng):
    n = 0
    for k in range(6):
        folder = tmp_path / str(k)
        folder.mkdir()
        words = write_crowd(folder, rng)
        if k % 3 == 0:
            words += [] if "--classes" in words else ["--prior", 0.7]
        message = accusations(folder, method, [*words, "--common-error", [0.03, 0.3, 0.95][k % 3]])
        assert not message, (k, message)
        n += message is not None
    assert n >= (3 if METHODS[method].honours else 1)


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (24, ("--common-error", 0.1)),
        (14, ("--common-error", 0.1, "--classes", 3, "--class-prior", "0.6,0.3,0.1")),
        (24, ("--prior", 0.6)),
        (14, ("--classes", 3)),
        (10, ("--classes", 5)),
    ],
)
def test_large_teams_hold_too_and_the_tolerance_of_the_check_is_reported(n, words, tmp_path, rng):
    save(tmp_path / "q.csv", ["worker", "t0", "t1"],
         *([f"w{i:02}", *rng.uniform(0.3, 0.7, 2)] for i in range(n)))  # fmt: skip
    assert accusations(tmp_path, "qlp", words) == []
    assert any("large teams" in line for line in verify(tmp_path / "qlp").unchecked)
