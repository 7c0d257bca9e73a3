"""What goes wrong on a cluster: the same bytes at the end, or one clear sentence."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.core.engines import toys
from tests.core.engines.clusters import ROOT, LocalCluster, SlowLink, make_keys
from tvcs_core.engines import Serial
from tvcs_core.engines import cluster as cluster_module
from tvcs_core.engines.address import read_address
from tvcs_core.engines.cluster import Cluster
from tvcs_core.files.errors import RunError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    with LocalCluster(folder, options=["--memory-limit", "700MB"]) as running:
        yield running


@pytest.fixture
def want():
    return toys.total(toys.job(), Serial())


def bad(unit, folder, **state):
    return toys.job(unit, folder=str(folder), bad=[2], **state)


def times_done(folder):
    return [len(path.read_text().split()) for path in sorted(folder.glob("done-*"))]


@pytest.mark.parametrize("unit", [toys.killed, toys.greedy])
def test_a_worker_that_is_killed_costs_its_unit_and_no_other(unit, cluster, want, tmp_path):
    with cluster.engine() as engine:
        assert toys.total(bad(unit, tmp_path), engine) == want
    assert times_done(tmp_path) == [1] * 8


def test_a_unit_that_hangs_is_moved(cluster, want, tmp_path):
    with (
        cluster.engine(deadline=4) as engine,
        pytest.warns(UserWarning, match=r"unit 3 of 8 of sums did not end within 4 s on tcp://"),
    ):
        assert toys.total(bad(toys.hangs, tmp_path), engine) == want
    assert times_done(tmp_path) == [1] * 8


@pytest.mark.filterwarnings("ignore:unit 3 of 8 of sums did not end")
def test_a_unit_that_hangs_twice_is_one_sentence(cluster, tmp_path):
    with (
        cluster.engine(deadline=4) as engine,
        pytest.raises(RunError, match=r"^unit 3 of 8 of sums did not end .* on 2 workers, the"),
    ):
        toys.total(bad(toys.hangs, tmp_path, always=True), engine)


def test_a_unit_that_is_always_too_large_says_what_it_needs_and_what_there_is(cluster, tmp_path):
    job = bad(toys.greedy, tmp_path, always=True)
    job = type(job)(job.name, job.unit, job.state, job.size, memory=2e9)
    with cluster.engine() as engine, pytest.raises(RunError) as error:
        toys.total(job, engine)
    assert str(error.value).startswith(
        "unit 3 of 8 of sums ended 4 workers one after the other: it needs about 2.0 GB of "
        "memory, the worker tcp://127.0.0.1:"
    )
    assert str(error.value).endswith("has 0.7 GB")


@pytest.mark.filterwarnings("ignore:unit .* of 8 of sums did not end")
def test_a_worker_that_stops_answering_is_replaced(cluster, want, tmp_path):
    """As one that lost its network: it holds the connection and says nothing."""

    def freeze(done, total):
        if done == 2:
            [pid] = set(engine._client.run(os.getpid, workers=[_busy(engine)]).values())
            os.kill(pid, signal.SIGSTOP)

    with cluster.engine(deadline=6) as engine:
        found = toys.total(toys.job(seconds=0.3), engine, progress=freeze)
    assert found == want


def test_a_worker_that_is_silent_from_the_start_is_named(tmp_path):
    with LocalCluster(tmp_path, options=["--no-nanny"]) as cluster:
        _with_workers(cluster, 2)
        cluster.workers[1].send_signal(signal.SIGSTOP)
        with pytest.raises(ValueError, match=r"^the worker tcp://127.* does not answer: end it$"):
            cluster.engine().__enter__()


def _busy(engine):
    return next(where for where, keys in engine._client.processing().items() if keys)


def test_a_scheduler_that_is_killed_is_one_sentence_and_its_units_are_not_lost(want, tmp_path):
    with LocalCluster(tmp_path / "first") as first:

        def kill(done, total):
            if done == 4:
                first.scheduler.kill()

        with first.engine() as engine, pytest.raises(RunError) as error:
            toys.total(
                toys.job(seconds=0.3), engine, checkpoint_dir=tmp_path / "keep", progress=kill
            )
        assert str(error.value) == (
            f"the scheduler at {first.address} is gone; run again with --resume"
        )
        with pytest.raises(ValueError, match=r"^no scheduler answers at .* is the file old\?$"):
            first.engine().__enter__()
    result = []
    with LocalCluster(tmp_path / "second", n_workers=1) as second, second.engine() as engine:
        found = toys.total(
            toys.job(),
            engine,
            checkpoint_dir=tmp_path / "keep",
            progress=lambda *now: result.append(now),
        )
    assert found == want
    assert result[0] == (4, 8)


CLIENT = """
from pathlib import Path
from tests.core.engines import toys
from tvcs_core.engines.address import read_address
from tvcs_core.engines.cluster import Cluster
with Cluster(read_address({address!r})) as engine:
    job = toys.job(seconds=0.5)
    toys.total(
        job, engine, checkpoint_dir=Path({keep!r}), progress=lambda *now: print(now, flush=True)
    )
"""


def test_a_slow_link_gives_the_same_bytes_and_does_each_unit_once(cluster, tmp_path, monkeypatch):
    """Results take longer to arrive than they are waited for at first."""
    monkeypatch.setattr(cluster_module, "FETCH_SECONDS", 0.5)
    job = toys.job(toys.leave_mark, size=3, width=100_000, folder=str(tmp_path))
    with (
        SlowLink(cluster.address, rate=1e6, delay=0.01) as link,
        Cluster(read_address(link.address)) as engine,
    ):
        found = toys.total(job, engine, checkpoint_dir=tmp_path / "keep")
        assert link.passed > 3 * 800_000
    assert times_done(tmp_path) == [1] * 3
    assert found == toys.total(toys.job(size=3, width=100_000), Serial())


def test_a_client_that_is_killed_loses_what_was_at_work_alone(cluster, want, tmp_path):
    script = CLIENT.format(address=cluster.address, keep=str(tmp_path))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    ) as client:
        for _ in range(4):
            client.stdout.readline()
        client.kill()
    result = []
    with cluster.engine() as engine:
        found = toys.total(
            toys.job(), engine, checkpoint_dir=tmp_path, progress=lambda *now: result.append(now)
        )
    assert found == want
    assert result[0][0] >= 3


def test_ctrl_c_on_a_cluster_is_one_line(cluster, tmp_path, sigint_of_a_terminal):
    script = CLIENT.format(address=cluster.address, keep=str(tmp_path))
    script = script.replace("with Cluster", "from tvcs_core.command.shell import guarded\n"
                            "@guarded\ndef main():\n  with Cluster", 1)  # fmt: skip
    head, _, body = script.partition("as engine:\n")
    script = f"{head}as engine:\n" + "".join(f"  {line}\n" for line in body.splitlines())
    with subprocess.Popen(
        [sys.executable, "-c", f"{script}\nmain()"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as client:  # fmt: skip
        for _ in range(3):
            client.stdout.readline()
        os.killpg(client.pid, signal.SIGINT)
        _, message = client.communicate(timeout=60)
    assert (client.returncode, message) == (130, "interrupted\n")


@pytest.mark.parametrize("file", [False, True])
def test_an_address_that_nobody_answers_is_one_sentence_after_15_s(file, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes calls and says nothing
        port = silent.getsockname()[1]
        address, start = f"tcp://127.0.0.1:{port}", time.monotonic()
        if file:
            path = tmp_path / "scheduler.json"
            path.write_text(json.dumps({"id": "Scheduler-1", "address": address}))
        with pytest.raises(ValueError, match=r"^no scheduler answers at .* within 15 s"):
            Cluster(read_address(str(path) if file else address)).__enter__()
    assert 14 < time.monotonic() - start < 60


def test_a_file_of_another_scheduler_than_answers_is_old(cluster, tmp_path):
    record = json.loads(cluster.file.read_text())
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps(record | {"id": "Scheduler-of-yesterday"}))
    with pytest.raises(ValueError, match=r"scheduler\.json: is old: at tcp://"):
        Cluster(read_address(str(path))).__enter__()


def test_a_scheduler_without_workers_is_one_sentence(tmp_path):
    message = r"has no workers; start some with `dask worker tcp"
    with LocalCluster(tmp_path, n_workers=0) as empty, pytest.raises(ValueError, match=message):
        empty.engine().__enter__()


NO_TVCS = """
import importlib.metadata as metadata, sys
real = metadata.Distribution.discover.__func__
def discover(cls, *, context=None, **asked):
    found = real(cls, context=context, **asked)
    return (one for one in found if one.metadata["Name"] != "tvcs")
metadata.Distribution.discover = classmethod(discover)
class Without:
    def find_spec(self, name, *rest):
        if name.split(".")[0] == "tvcs_core":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Without())
"""


def test_a_worker_without_tvcs_is_refused_by_name(tmp_path):
    without = tmp_path / "without"
    without.mkdir()
    (without / "sitecustomize.py").write_text(NO_TVCS)
    with LocalCluster(tmp_path / "cluster", n_workers=1) as mixed:
        mixed.start_worker(env={"PYTHONPATH": str(without)})
        with pytest.raises(ValueError, match=r"^the worker tcp://127.* has no tvcs: install tvcs "):
            _with_workers(mixed, 2)


def test_a_worker_with_another_version_is_refused_by_name(tmp_path):
    old = tmp_path / "old/numpy-1.26.4.dist-info"
    old.mkdir(parents=True)
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n")
    with LocalCluster(tmp_path / "cluster", n_workers=1) as mixed:
        mixed.start_worker(env={"PYTHONPATH": f"{tmp_path / 'old'}:{ROOT}"})
        with pytest.raises(ValueError, match=r"^the worker .* has numpy 1\.26\.4, here is 2\."):
            _with_workers(mixed, 2)


def _with_workers(cluster, number):
    """Connect once so many workers are there."""
    cluster.wait_for_workers(number)
    with cluster.engine() as engine:
        toys.total(toys.job(), engine)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_a_cluster_at_tls_needs_the_keys(want, tmp_path):
    for folder in ("ours", "theirs"):
        make_keys(tmp_path / folder)
    options = {"protocol": "tls", "tls": tmp_path / "ours", "n_workers": 1}
    with LocalCluster(tmp_path / "cluster", **options) as secure:
        secure.wait_for_workers(1)
        with Cluster(read_address(str(secure.file), tls=tmp_path / "ours")) as engine:
            assert toys.total(toys.job(), engine) == want
        with pytest.raises(ValueError, match="no scheduler answers at tls://"):
            Cluster(read_address(secure.address, tls=tmp_path / "theirs")).__enter__()


def test_the_same_bytes_of_one_two_and_four_workers(tmp_path, want):
    with LocalCluster(tmp_path, n_workers=1) as cluster:
        for number in (1, 2, 4):
            while len(cluster.workers) < number:
                cluster.start_worker()
            _with_workers(cluster, number)
            with cluster.engine() as engine:
                assert toys.total(toys.job(), engine) == want
