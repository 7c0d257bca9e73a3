import importlib.util
import platform
import shutil
import threading

import pytest

from tests.core.engines import toys
from tests.core.engines.clusters import make_keys
from tests.makers.processes import run_python
from tvcs_core.engines import Processes, Serial, Threads, choice, make_engine, results, workers
from tvcs_core.engines.address import read_address
from tvcs_core.engines.cluster import Cluster


def test_a_run_that_is_given_up_leaves_nothing_on_the_cluster(address):
    with Cluster(address) as engine:
        found = results([toys.job(size=50)], engine)
        next(found)
        found.close()
        client = engine._client
        mine = client.run(lambda dask_worker: [p for p in dask_worker.plugins if "tvcs" in p])
        assert list(mine.values()) == [[], []]


def test_another_version_on_a_worker_is_refused_by_its_name(address, monkeypatch):
    monkeypatch.setattr(workers, "versions", lambda: {"numpy": "1.0"})
    with pytest.raises(ValueError, match=r"^the scheduler has numpy .*, here is 1\.0: install the"):
        Cluster(address).__enter__()
    monkeypatch.setattr(workers, "versions", lambda: {"cupy": "1.0"})
    with pytest.raises(ValueError, match=r"has no cupy: install cupy 1\.0 there$"):
        Cluster(address).__enter__()
    monkeypatch.undo()
    monkeypatch.setattr(workers, "sources_digest", lambda: threading.current_thread().name)
    with pytest.raises(ValueError, match=r"^the worker inproc://.* has other sources of tvcs"):
        Cluster(address).__enter__()


def test_another_processor_is_a_warning(address, monkeypatch):
    monkeypatch.setattr(workers, "processor", lambda: threading.current_thread().name)
    with pytest.warns(UserWarning, match=r"another kind of processor .*: last digits may differ"):
        Cluster(address).__enter__().close()


def test_options_choose_the_engine(tmp_path):
    assert type(make_engine()) is Serial
    assert type(make_engine(threads=3)) is Threads
    assert type(make_engine(workers=1)) is Processes
    assert type(make_engine(cluster="tcp://127.0.0.1:9")) is Cluster


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "--workers must be >= 1, found 0"),
        ({"threads": 0}, "--threads must be >= 1, found 0"),
        ({"threads": 2, "workers": 2}, "found --threads and --workers"),
        ({"workers": 2, "cluster": "tcp://localhost:1"}, "found --workers and --cluster"),
        ({"trust_network": True}, "--tls and --trust-network go with --cluster"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_engine(**options)


def test_without_dask_a_cluster_says_what_to_install(monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"not installed; give: pip install '\.\[cluster\]'"):
        make_engine(cluster="tcp://127.0.0.1:9")


def test_engines_need_no_dask():
    assert importlib.util.find_spec("distributed") is not None
    script = (
        "import sys\nsys.modules['distributed'] = sys.modules['dask'] = None\n"
        "from tvcs_core.engines import make_engine\nmake_engine(workers=2)"
    )
    done = run_python(script, check=False)
    assert (done.returncode, done.stderr) == (0, "")


FAULTS = """
import resource
import numpy as np
from tvcs_core.engines.on_worker import reuse_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        np.ones(100_000).sum()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

held = [np.ones(100_000) for _ in range(200)]  # fill the holes that imports leave in the heap
faults()
first = faults()
reuse_memory()
faults()
print(first, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc alone")
def test_arrays_of_units_need_no_new_pages_where_a_nanny_started_the_worker():
    from dask import config

    nanny = {
        key: str(value) for key, value in config.get("distributed.nanny.pre-spawn-environ").items()
    }
    done = run_python(FAULTS, env=nanny, check=False)
    before, after = map(int, done.stdout.split())
    assert before > 20_000  # 200 arrays of 195 pages
    assert after < 1000


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_keys_are_read_before_a_scheduler_is_called(tmp_path, monkeypatch):
    monkeypatch.setattr("tvcs_core.engines.cluster.CONNECT_SECONDS", 0.5)
    make_keys(tmp_path / "keys")
    with pytest.raises(ValueError, match=r"no scheduler answers at tls://127.0.0.1:1"):
        Cluster(read_address("tls://127.0.0.1:1", tls=tmp_path / "keys")).__enter__()
