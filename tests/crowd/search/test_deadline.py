"""The time limit: it reaches into the kernels, and costs nothing when it does not strike."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

from crowd_tvcs import Plan, assign
from crowd_tvcs.methods import best
from crowd_tvcs.search import initial
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.relaxation import Relaxation, price_everything
from crowd_tvcs.search.search import Search
from crowd_tvcs.simulation import simulate
from tests.makers.commands import crowd_tvcs, run_done


def test_the_timer_sets_stop_at_the_moment_and_not_before():
    begun = time.monotonic()
    with Deadline.after(0.05) as deadline:
        assert deadline.stop[0] == 0 or time.monotonic() > begun + 0.05
        for _ in range(12_000):
            if deadline.stop[0]:
                break
            time.sleep(0.005)
    assert deadline.stop[0] == 1
    assert deadline.has_passed


def test_a_part_is_late_only_after_the_whole_limit(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    part = Deadline.after(10.0).part(0.5).part(0.8)
    assert part.left == pytest.approx(4.0)
    now[0] = 10.9
    assert part.has_passed
    assert "exceeded" not in part.reason
    now[0] = 11.5
    assert "exceeded by 1.5 s" in part.reason


def test_compiling_does_not_count(monkeypatch):
    compiled, begun = [3.0], threading.current_thread()

    def compiling_seconds():
        return compiled[0] if threading.current_thread() is begun else 1003.0

    monkeypatch.setattr("crowd_tvcs.search.deadline.compiling_seconds", compiling_seconds)
    moment = time.monotonic() + 0.05
    deadline = Deadline(0.05, moment, compiled=3.0)
    with deadline:
        deadline._timers[0].join()  # it struck and found that there had been compiling
        compiled[0] = 1003.0
        assert deadline.stop[0] == 0
        assert time.monotonic() >= moment
        before, left, after = time.monotonic(), deadline.left, time.monotonic()
        assert 1000.0 + moment - after <= left <= 1000.0 + moment - before


def timers(end_at):
    """How many timers run, once there are no more than `end_at`; those cancelled take a moment."""
    for _ in range(12_000):
        found = sum(isinstance(thread, threading.Timer) for thread in threading.enumerate())
        if found <= end_at:
            break
        time.sleep(0.005)
    return found


def test_no_timer_is_left_behind():
    assert timers(0) == 0
    with Deadline.after(1000.0) as deadline:
        assert timers(1) == 1
    assert timers(0) == 0
    assert deadline.stop[0] == 0
    with Deadline.after(None) as never:
        assert timers(0) == 0
    assert not never.has_passed


def test_stop_breaks_off_the_search_for_a_set_and_nothing_is_claimed():
    relaxation = Relaxation.of(Plan(simulate(60, 40, rng=1).quality, max_workers_per_task=7))
    prices = np.append(np.full(60, 1e-4), 1e-3)
    stopped = Deadline.after(None)
    stopped.stop[0] = 1
    sets = relaxation.nobody()
    _, proved = relaxation.visit(np.arange(40), prices, sets, stopped, node_limit=10**12)
    assert not proved.any()
    late = Deadline.after(1e-9)
    assert price_everything(relaxation, prices, sets, late, 10) is None


def test_a_limit_that_does_not_strike_changes_nothing():
    plan = Plan(simulate(12, 40, rng=1).quality, max_workers_per_task=3, max_tasks_per_worker=8)
    free, limited = (assign(plan, "best", rng=0, time_limit=limit) for limit in (None, 1000.0))
    assert free.summary() == limited.summary()


@pytest.mark.parametrize(("seconds", "made"), [(7.0, ["greedy"]), (11.0, ["greedy"]), (5.0, [])])
def test_a_step_that_would_end_late_is_not_begun(monkeypatch, seconds, made):
    """Making the problem takes 6 s, and the exact greedy assignment half of that at most."""
    now, begun, of = [0.0], [], Relaxation.of
    monkeypatch.setattr("crowd_tvcs.search.deadline.time.monotonic", lambda: now[0])

    def slowly(plan):
        now[0] += 6.0
        return of(plan)

    def climb(relaxation, *, exact):
        begun.append("exact" if exact else "greedy")
        return greedy(relaxation, exact=exact)

    greedy = initial.climb
    monkeypatch.setattr(Relaxation, "of", slowly)
    for owner in (initial, best):
        monkeypatch.setattr(owner, "climb", climb)
    plan = Plan(simulate(12, 40, rng=1).quality, max_workers_per_task=3, max_tasks_per_worker=8)
    deadline = Deadline.after(seconds)
    found = best.best(plan, rng=np.random.default_rng(0), deadline=deadline)
    assert begun == made + ["exact"] * (seconds > 10.0)
    if seconds < 10.0:
        over = f", exceeded by {now[0] - seconds:.1f} s" if now[0] > 1.1 * seconds else ""
        assert found.reason == f"the time limit of {seconds:g} s{over}; this is the best so far"
    assert found.expected_accuracy > 0.7


def interrupt_in_search(monkeypatch, times=1):
    """Let Ctrl-C strike in the first round of the search, some times."""
    real = Search._generate

    def generate(self):
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
        return real(self)

    monkeypatch.setattr(Search, "_generate", generate)


def test_an_interrupt_is_kept_as_the_best_so_far_or_raised(monkeypatch, sigint_of_a_terminal):
    plan = Plan(simulate(12, 40, rng=1).quality, max_workers_per_task=3, max_tasks_per_worker=8)
    least = assign(plan, "fast").expected_accuracy
    interrupt_in_search(monkeypatch)
    found = assign(plan, "best", rng=0, keep_on_interrupt=True)
    assert found.reason == "interrupted; this is the best so far"
    assert found.expected_accuracy >= least
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        assign(plan, "best", rng=0)
    interrupt_in_search(monkeypatch, times=2)
    with pytest.raises(KeyboardInterrupt):
        assign(plan, "best", rng=0, keep_on_interrupt=True)


def test_an_interrupt_that_others_handle_is_left_to_them(monkeypatch, sigint_of_a_terminal):
    plan = Plan(simulate(12, 40, rng=1).quality, max_workers_per_task=3, max_tasks_per_worker=8)
    struck = []
    signal.signal(signal.SIGINT, lambda *_: struck.append(1))
    interrupt_in_search(monkeypatch)
    found = assign(plan, "best", rng=0, keep_on_interrupt=True)
    assert struck
    assert not found.reason.startswith("interrupted")


def test_an_interrupted_command_writes_a_whole_plan_and_says_so(
    tmp_path, monkeypatch, sigint_of_a_terminal
):
    crowd = tmp_path / "crowd"
    crowd_tvcs("simulate", "--workers", 12, "--tasks", 40, "--seed", 1, "--out", crowd)
    words = ["assign", crowd / "quality.csv", "--max-workers-per-task", 3, "--method", "best",
             "--max-tasks-per-worker", 8, "--out"]  # fmt: skip
    whole = run_done(*words, tmp_path / "whole")
    assert "best looks for more" in whole.stderr
    assert "than --method fast expects" in whole.stderr
    interrupt_in_search(monkeypatch)
    done = crowd_tvcs(*words, tmp_path / "plan")
    assert done.exit_code == 130
    assert done.stderr.endswith("interrupted: the plan is the best found until then\n")
    record = json.loads((tmp_path / "plan" / "summary.json").read_text())
    assert record["reason"].startswith("interrupted")
    files = {path.name for path in (tmp_path / "plan").iterdir()}
    assert {"assignment.csv", "report.html", "run.json"} <= files
    proof = crowd_tvcs("verify", tmp_path / "plan", crowd / "quality.csv")
    assert "not certified: no plan can have more than" in proof.stderr  # and nothing is wrong
    interrupt_in_search(monkeypatch, times=2)
    twice = crowd_tvcs(*words, tmp_path / "twice")
    assert twice.exit_code == 130
    assert not (tmp_path / "twice").exists()
