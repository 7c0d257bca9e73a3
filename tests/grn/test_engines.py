"""The same bytes whoever does the work, and however it is cut into units."""

import hashlib
import itertools
import logging
import shutil
from dataclasses import replace

import numpy as np
import pytest

from grn_tvcs import infer, simulate, write_expression
from grn_tvcs.combine import calibration
from grn_tvcs.stability import units
from tests.core.engines.clusters import LocalCluster
from tests.makers.commands import check_done, check_refused, grn_tvcs
from tvcs_core.command.progress import Progress
from tvcs_core.engines import Processes, Serial, Threads
from tvcs_core.engines.address import Address
from tvcs_core.engines.cluster import Cluster

FEW = {"resamples": 8}


@pytest.fixture(scope="module")
def data():
    return simulate(12, 5, 9, n_edges=16, rng=2).expression


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as engine:
        yield engine


@pytest.fixture
def in_units(monkeypatch):
    """Make units of so many pairs of halves."""

    def cut(size):
        monkeypatch.setattr(units, "size_of_units", lambda *_: size)

    return cut


def digest(network):
    parts = (network.scores, network.signs, network.stability)
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in parts)).hexdigest()


def test_every_engine_infers_the_same_network(data, in_units, processes):
    from distributed import LocalCluster as InProcess  # takes a second to import

    want = digest(infer(data, "tvcs", rng=0, **FEW))
    silent = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with InProcess(n_workers=2, threads_per_worker=1, processes=False, **silent) as local:
        cluster = Cluster(Address(local.scheduler_address))
        with Serial() as one, Threads(4) as four, cluster:
            for engine, size in itertools.product((one, four, processes, cluster), (1, 3)):
                in_units(size)
                assert digest(infer(data, "tvcs", rng=0, engine=engine, **FEW)) == want


BASELINES = {"genie3": {"trees": 3}, "dyngenie3": {"trees": 3}, "tigress": {"splits": 9}}


def test_baselines_are_the_same_in_processes(data, processes):
    for method, few in BASELINES.items():
        one = infer(data, method, rng=0, **few)
        assert one.edges() == infer(data, method, rng=0, engine=processes, **few).edges()


@pytest.mark.parametrize("method", BASELINES)
def test_an_interrupted_baseline_goes_on_with_what_is_there(method, data, tmp_path):
    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    result, few = [], BASELINES[method]
    with pytest.raises(KeyboardInterrupt):
        infer(data, method, rng=0, checkpoint_dir=tmp_path, progress=stop, **few)
    with pytest.raises(ValueError, match="seed; give --force"):
        infer(data, method, rng=1, checkpoint_dir=tmp_path, **few)
    again = infer(
        data,
        method,
        rng=0,
        checkpoint_dir=tmp_path,
        progress=lambda *now: result.append(now),
        **few,
    )
    assert result[0][0] == 2
    assert again.edges() == infer(data, method, rng=0, **few).edges()


@pytest.mark.parametrize(("side", "size"), [(10, 1), (1_000, 1), (5_500, 4), (40_000, 4)])
def test_units_are_few_enough_for_the_disk_and_do_not_depend_on_who_works(side, size):
    assert units.size_of_units(50, side * side) == size


def test_finished_work_of_another_run_is_refused_with_what_helps_and_stays(
    data, tmp_path, monkeypatch
):
    class Interrupted(Progress):
        def __call__(self, done, total):
            raise KeyboardInterrupt

    write_expression(data, tmp_path / "data.tsv")
    out = tmp_path / "out"
    words = ["infer", str(tmp_path / "data.tsv"), "--out", str(out), "--option"]
    of_tvcs = [*words, "resamples=4", "--method", "tvcs"]
    with monkeypatch.context() as patched:
        patched.setattr("grn_tvcs.cli.work.Progress", Interrupted)
        assert grn_tvcs(*of_tvcs).exit_code == 130
    kept = sorted(out.rglob("unit-*"))
    assert kept

    def refused(*given):
        err = check_refused(grn_tvcs(*given))
        assert sorted(out.rglob("unit-*")) == kept
        return " ".join(err.split())

    of_genie3 = [*words, "trees=2", "--method", "genie3"]
    message = f"error: {out / '.resume'}: is of a run with method tvcs (now genie3); give --force "
    assert refused(*of_genie3).endswith(f"{message}to begin anew")
    for more in (["--resume"], ["--resume", "--force"]):
        assert refused(*of_genie3, *more).endswith(f"{message}in place of --resume to begin anew")
    assert refused(*of_tvcs).endswith(
        f"error: {out} holds finished work of an interrupted run; give --resume to go on if it "
        "was of these data, options and seed, or --force to begin anew"
    )
    other = tmp_path / "other.tsv"
    write_expression(replace(data, values=data.values + 1.0), other)
    for more in (["--resume"], ["--resume", "--force"]):
        assert refused("infer", other, *of_tvcs[2:], *more).endswith(
            "is of a run with other data; give --force in place of --resume to begin anew"
        )
    for anew in (of_genie3, [*words, "resamples=6", "--method", "tvcs"]):
        copy = tmp_path / anew[-1]
        shutil.copytree(out, copy)
        forced = [*anew[:3], str(copy), *anew[4:], "--force"]
        assert grn_tvcs(*forced).exit_code == 0
        assert not (copy / ".resume").exists()
    assert grn_tvcs(*of_tvcs, "--resume").exit_code == 0
    assert not (out / ".resume").exists()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tvcs", "combined", "genie3", "tigress", "tvcs-plain"])
def test_all_result_files_are_the_same_bytes(method, data, in_units, tmp_path, monkeypatch):
    """Serial, threads, processes and 1, 2, 4 Dask workers, each with two sizes of units."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calibration, "_folder", lambda stamp: None)  # each engine makes its own
    write_expression(data, tmp_path / "data.tsv")
    options = {
        "tvcs": ["--option", "resamples=12"],
        "combined": ["--option", "resamples=8", "--calibrate", "2"],
        "genie3": ["--option", "trees=5"],
        "tigress": ["--option", "splits=9"],
        "tvcs-plain": ["--max-edges", "20"],
    }[method]

    def files(*engine):
        out = tmp_path / f"out{len(list(tmp_path.glob('out*')))}"
        words = ["infer", "data.tsv", "--out", str(out), "--method", method, *options, *engine]
        check_done(grn_tvcs(*words))
        assert not (out / ".resume").exists()
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in out.iterdir()}

    want = files()
    for size in (1, 4):
        in_units(size)
        for engine in ((), ("--threads", 4), ("--workers", 4)):
            assert files(*engine) == want
    with LocalCluster(tmp_path / "cluster", n_workers=0) as cluster:
        for number in (1, 2, 4):
            while len(cluster.workers) < number:
                cluster.start_worker()
            cluster.wait_for_workers(number)
            for size in (1, 4):
                in_units(size)
                assert files("--cluster", cluster.file) == want
