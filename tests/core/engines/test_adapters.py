"""Pools that a caller holds do the units of any job, and give the same bytes."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context

import pytest

from tests.core.engines import toys
from tvcs_core.engines import Processes, as_engine, results
from tvcs_core.files.errors import RunError


def test_pools_are_the_callers_and_stay_open(executor, cluster):
    with ThreadPoolExecutor(1) as threads, cluster.get_client() as client:
        for pool in (threads, executor, client):
            toys.total(toys.job(size=1), pool)
            assert pool.submit(sum, [1, 2]).result() == 3
        assert toys.total(toys.job(), as_engine(client)) == toys.total(toys.job(), client)


def test_a_client_without_workers_is_refused(monkeypatch):
    from distributed import LocalCluster

    from tvcs_core.engines import cluster as module

    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.2)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(ValueError, match="has no workers; start some with"),
    ):
        toys.total(toys.job(), empty)


class Slow(Executor):
    """An executor that runs nothing until it is told, and notes what was asked of it."""

    _max_workers = 2

    def __init__(self):
        self.futures = []

    def submit(self, work, *given):
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_result(work(*given))
        return self.futures[-1]


def test_an_executor_gets_few_units_at_a_time_and_none_after_the_end():
    pool = Slow()
    with closing(results([toys.job(size=50)], pool)) as found:
        next(found)
        assert len(pool.futures) == 4
    assert all(future.cancelled() for future in pool.futures[1:])


def test_a_killed_process_of_an_executor_is_one_sentence(tmp_path):
    job = toys.job(toys.killed, size=4, folder=str(tmp_path), bad=[1], always=True)
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(RunError, match=r"a process of the executor ended .*: give it fewer workers"),
    ):
        toys.total(job, pool)


def test_an_engine_is_itself():
    engine = Processes(1)
    assert as_engine(engine) is engine


@pytest.mark.parametrize("given", [4, "threads", None, object()])
def test_anything_else_is_refused(given):
    with pytest.raises(TypeError, match=r"engine must be one of tvcs_core\.engines, a distributed"):
        list(results([toys.job()], given))


@pytest.mark.parametrize("module", ["concurrent.futures", "distributed", "joblib"])
def test_a_class_in_place_of_an_instance_is_refused(module):
    names = {"concurrent.futures": "ThreadPoolExecutor", "distributed": "Client"}
    given = getattr(pytest.importorskip(module), names.get(module, "Parallel"))
    with pytest.raises(TypeError, match=rf"found the class {given.__name__}; give "):
        as_engine(given)


def test_a_pool_that_was_closed_is_refused(cluster):
    with ThreadPoolExecutor(1) as pool, cluster.get_client() as client:
        pass
    with pytest.raises(ValueError, match=r"the executor takes no work .*; give one that is open"):
        toys.total(toys.job(), pool)
    with pytest.raises(ValueError, match="the Dask Client is closed; give one that is open"):
        toys.total(toys.job(), client)


def test_an_asynchronous_client_is_refused(monkeypatch):
    from distributed import Client

    client = Client.__new__(Client)
    monkeypatch.setattr(Client, "asynchronous", True)
    with pytest.raises(ValueError, match="must not be asynchronous"):
        as_engine(client)
