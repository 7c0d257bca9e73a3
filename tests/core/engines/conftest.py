"""All engines and pools that units can be given to."""

import logging
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import pytest

from tvcs_core.engines import Processes, Serial, Threads
from tvcs_core.engines.address import Address

POOLS = {
    "serial": lambda _: Serial(),
    "one thread": lambda _: Threads(1),
    "threads": lambda _: Threads(4),
    "processes": lambda _: Processes(2),
    "executor of threads": lambda _: ThreadPoolExecutor(3),
    "executor of processes": lambda request: given(request, "executor"),
    "joblib, list": lambda _: of_joblib(2, "threading", return_as="list"),
    "joblib, generator": lambda _: of_joblib(2, "threading", return_as="generator"),
    "joblib, unordered": lambda _: of_joblib(2, "threading", return_as="generator_unordered"),
    "joblib, processes": lambda _: of_joblib(2, return_as="generator"),
    "address": lambda request: of_address(request),
    "client": lambda request: request.getfixturevalue("cluster").get_client(),
    "cluster": lambda request: given(request, "cluster"),
}


def given(request, name):
    """A pool of a fixture, which outlives the test."""
    return nullcontext(request.getfixturevalue(name))


def of_joblib(*how, **more):
    joblib = pytest.importorskip("joblib")
    return nullcontext(joblib.Parallel(*how, **more))


def of_address(request):
    from tvcs_core.engines.cluster import Cluster

    return Cluster(request.getfixturevalue("address"))


@pytest.fixture(scope="module")
def executor():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    """Two workers in this process."""
    from distributed import LocalCluster  # takes a second, which no other process need wait

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0",
                      silence_logs=logging.CRITICAL) as made:  # fmt: skip
        yield made


@pytest.fixture
def address(cluster):
    return Address(cluster.scheduler_address)


@pytest.fixture(params=POOLS)
def pool(request):
    """Every engine, and every pool that a caller may hold."""
    with POOLS[request.param](request) as made:
        yield made
