import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tests.core.engines import toys
from tests.makers.processes import run_python
from tvcs_core.engines import Processes, Serial, Threads, one_blas_thread, results
from tvcs_core.files.errors import RunError


def test_several_jobs_share_one_queue():
    jobs = [toys.job(name="a"), toys.job(seed=4, name="b", size=3)]
    result = []
    with Threads(2) as engine:
        both = toys.total(jobs, engine, progress=lambda *now: result.append(now))
    assert both == toys.total(jobs[::-1], Serial())
    assert result == [(k, 11) for k in range(1, 12)]


@pytest.mark.parametrize(("number", "error"), [(0, ValueError), ("2", TypeError), (2.0, TypeError)])
def test_a_number_of_threads_is_checked(number, error):
    with pytest.raises(error, match=r"^threads must be"):
        Threads(number)


@pytest.mark.parametrize(("engine", "number"), [(Threads, 3), (Processes, 2)])
def test_threads_and_processes_are_as_many_as_asked_for(engine, number, tmp_path):
    job = toys.job(toys.who, folder=str(tmp_path), number=number)
    with engine(number) as workers:
        where = {tuple(found) for _, _, (found,) in results([job], workers)}
    assert len(where) == number
    assert len({process for process, _ in where}) == (number if engine is Processes else 1)


def test_results_that_nobody_takes_do_not_pile_up():
    begun, before = [], set(threading.enumerate())

    def unit(state, index):
        begun.append(index)
        return toys.draws(state, index)

    found = results([toys.job(unit, size=50)], Threads(2))
    next(found)
    time.sleep(0.3)
    found.close()
    assert len(begun) <= 7  # handed over, at work and waiting
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("engine", [Threads, Processes])
def test_a_number_below_one_is_refused(engine):
    with pytest.raises(ValueError, match="must be >= 1, found 0"):
        engine(0)


class TestProcesses:
    def test_a_worker_gets_the_state_once(self):
        with Processes(2) as engine:
            job = toys.job(toys.grown, size=12, asked=[])
            found = np.array([row for _, _, (row,) in results([job], engine)])
        for process in np.unique(found[:, 0]):
            counts = found[found[:, 0] == process, 1]
            assert sorted(counts) == list(range(1, len(counts) + 1))
        assert job.state["asked"] == []

    def test_units_may_print_and_read(self, capfd):
        with Processes(1) as engine:
            assert toys.total(toys.job(toys.talks, size=2), engine)
        assert capfd.readouterr() == ("", "a line of output\n" * 2)

    def test_an_error_that_cannot_be_pickled_travels_as_text(self):
        with Processes(1) as engine, pytest.raises(RunError, match="Odd: very odd"):
            toys.total(toys.job(toys.fails_oddly), engine)

    def test_a_killed_worker_costs_one_unit(self, tmp_path):
        want = toys.total(toys.job(), Serial())
        with Processes(2) as engine:
            job = toys.job(toys.killed, folder=str(tmp_path), bad=[2, 5])
            assert toys.total(job, engine) == want
        done = [len(path.read_text().split()) for path in tmp_path.glob("done-*")]
        assert done == [1] * 8  # no other unit was done again

    def test_a_unit_that_kills_its_worker_twice_is_one_sentence(self, tmp_path):
        job = toys.job(toys.killed, folder=str(tmp_path), bad=[2], always=True)
        with Processes(2) as engine, pytest.raises(RunError) as error:
            toys.total(job, engine)
        assert str(error.value) == (
            "unit 3 of 8 of sums ended its worker process 2 times (SIGKILL); if memory was short, "
            "use fewer --workers"
        )

    def test_a_run_that_is_given_up_leaves_no_process(self):
        engine = Processes(2)
        found = results([toys.job(size=50, seconds=0.1)], engine)
        next(found)
        children = [child._process.pid for child in engine._children.values()]
        found.close()
        assert children
        for pid in children:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


SLEEPER = """
import sys
from contextlib import closing
from threadpoolctl import threadpool_info, threadpool_limits

from tests.core.engines import toys
from tvcs_core.command.shell import guarded
from tvcs_core.engines import make_engine

@guarded
def main():
    with make_engine({options}) as engine:
        job = toys.job(size=1000, seconds=.05)
        toys.total(job, engine, progress=lambda *now: print(now, flush=True))

main()
"""


@pytest.mark.parametrize("options", ["threads=1", "threads=2", "workers=2"])
def test_ctrl_c_is_one_line(options, sigint_of_a_terminal):
    words = [sys.executable, "-c", SLEEPER.format(options=options)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        for _ in range(5):
            run.stdout.readline()
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does, to all of the group
        _, message = run.communicate(timeout=60)
    assert (run.returncode, message) == (130, "interrupted\n")


def test_one_thread_of_blas_holds_until_the_last_of_those_side_by_side_has_left():
    def most():
        return max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")

    with threadpool_limits(2, "blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert most() == 1
        second.__exit__(None, None, None)
        assert most() == 2


STRUCK = """
import faulthandler
import signal
import sys
import threading
from contextlib import closing

from tvcs_core.engines.local import side_by_side

signal.signal(signal.SIGINT, signal.default_int_handler)

def run(moment):
    # Ctrl-C at one of the moments at which Python looks for signals; whether it came so far.
    left = [moment]

    def strike(frame, event, argument):
        if event in ("call", "c_return"):
            left[0] -= 1
            if not left[0]:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)

    with closing(side_by_side(range(4), [abs, abs])) as found:
        try:
            sys.setprofile(strike)
            for _ in found:
                pass
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
    return left[0] <= 0

moment, before = 1, threading.active_count()
faulthandler.dump_traceback_later(60, exit=True)
while run(moment):
    faulthandler.dump_traceback_later(60, exit=True)
    assert threading.active_count() == before, moment
    moment += 1
print(moment)
"""


def test_ctrl_c_at_any_moment_leaves_nobody_waiting():
    # A lock of `queue.Queue` that was left taken: every thread waited for it, for ever.
    done = run_python(STRUCK)
    assert int(done.stdout) > 50
