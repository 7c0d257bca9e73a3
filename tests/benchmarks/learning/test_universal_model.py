"""The one command that makes the model: the same bytes again, and only from the same code."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks import universal as command
from benchmarks import universal_known as evidence
from benchmarks.learning import designs, nets, training
from benchmarks.learning.files import write_arrays
from grn_tvcs.combine import calibration
from grn_tvcs.combine.combiner import read_arrays
from grn_tvcs.combine.evidence_scores import compute_evidence
from grn_tvcs.combine.pretrained import load_pretrained
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN

NETWORKS, SEED = 8, 3


@pytest.fixture(scope="module")
def small():
    """Few small networks and few rounds: no matter how well they learn."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_small(monkeypatch)
        yield


def make_small(monkeypatch):
    monkeypatch.setattr(evidence, "COMMON", ((5, 2, 5, 2),))
    monkeypatch.setattr(evidence, "KNOCKED", ({},))
    monkeypatch.setattr(evidence, "DRAWN", NETWORKS)
    monkeypatch.setattr(calibration, "N_NULL_TABLES", 3)
    monkeypatch.setattr(calibration, "N_DIRECTION_NETWORKS", 20)
    monkeypatch.setitem(compute_evidence.__kwdefaults__, "resamples", 10)
    monkeypatch.setattr(command, "DEFAULT_PLAN", replace(DEFAULT_PLAN, resamples=10))
    monkeypatch.setattr(command, "N_COMMON_NETWORKS", 2)
    monkeypatch.setattr(command, "DRAWS", 2)
    monkeypatch.setattr(nets, "EPOCHS", 2)
    monkeypatch.setattr(designs, "QUARTERS", ((5, 6),) * 4)
    for stage in ("FIRST_TREES", "SECOND_TREES", "NULL_TREES"):
        monkeypatch.setattr(training, stage, getattr(training, stage) | {"max_iter": 5})
    for shared in ("STAGE_TREES", "NULL_TREES_FIXED"):
        few = getattr(training, shared) | {"min_samples_leaf": 5}
        monkeypatch.setattr(training, shared, few)


def run(folder, *more):
    out = folder / "model.npz"
    words = {"networks": NETWORKS, "seed": SEED, "processes": 1, "work": folder / "work"}
    given = [word for key, value in words.items() for word in (f"--{key}", str(value))]
    command.main([*given, "--out", str(out), *more])
    return out


@pytest.fixture(scope="module")
def finished(small, tmp_path_factory):
    """The folder of a run."""
    return run(tmp_path_factory.mktemp("universal")).parent


@pytest.fixture
def path(finished, tmp_path):
    """The model of that run, in a copy of its folder."""
    load_pretrained.cache_clear()
    return shutil.copytree(finished, tmp_path, dirs_exist_ok=True) / "model.npz"


def test_the_command_gives_the_same_bytes_again(path, tmp_path, capsys):
    kept = sorted((tmp_path / "work").rglob("*.pickle"))
    assert len(kept) == NETWORKS + 4  # two networks of each of two common designs
    for one in kept[::2]:
        one.unlink()
    before = path.read_bytes()
    with pytest.raises(SystemExit) as same:
        run(tmp_path, "--check")
    assert same.value.code == 0
    assert capsys.readouterr().out.endswith("model.npz: the same bytes\n")
    assert path.read_bytes() == before
    model = load_pretrained(path)
    assert model.made == evidence.made_with(networks=NETWORKS, seed=SEED)
    assert {"python", "numpy", "scikit-learn", "numba"} <= model.made["versions"].keys()
    keys = [design.key for design, _ in evidence.common_designs()]
    assert len(set(keys)) == 2
    assert list(model.common) == keys
    assert (len(model.combiner.stages), len(model.combiner.nets)) == (2, command.NETS)


def test_the_trees_that_tell_tables_without_edges_are_learned_alone_to_the_same_bytes(
    path, tmp_path, capsys
):
    whole = path.read_bytes()
    arrays, _ = read_arrays(path)
    arrays["nulls 0 value"] = arrays["nulls 0 value"] + np.float16(1.0)
    arrays["common_numbers"][:, 2:] += 1.0  # limits
    write_arrays(path, arrays)
    with pytest.raises(SystemExit) as other:
        run(tmp_path, "--nulls", "--check")
    assert other.value.code == 1
    found = capsys.readouterr().out
    assert "common_numbers differs, digest differs, nulls 0 value differs" in found
    load_pretrained.cache_clear()
    run(tmp_path, "--nulls")
    assert path.read_bytes() == whole
    load_pretrained.cache_clear()
    with pytest.raises(ValueError, match=r"must be made with .*'networks': 9"):
        command.make_nulls(path, load_pretrained(path), NETWORKS + 1, SEED, 1)


def test_a_file_that_differs_is_named_with_the_difference(tmp_path, monkeypatch, capsys):
    arrays = {"made": np.array("{}"), "growth": np.arange(3.0), "names": np.array(["a", "b"])}
    path = tmp_path / "model.npz"
    np.savez(path, **arrays)

    def make(out, *given):
        np.savez(out, **arrays | {"growth": np.arange(3.0) + 1e-16, "names": np.array(["a", "c"])})

    monkeypatch.setattr(command, "make", make)
    with pytest.raises(SystemExit) as other:
        command.main(["--check", "--out", str(path)])
    assert other.value.code == 1
    assert capsys.readouterr().out == f"{path}: growth differs, names differs\n"


def test_what_another_code_computed_is_not_taken_up(small, tmp_path, monkeypatch):
    jobs = evidence.jobs_of(1, SEED)[:1]
    (one,) = evidence.all_known(jobs, SEED, tmp_path, 1)
    (path,) = tmp_path.rglob("*.pickle")
    assert path.parent.name == evidence.fingerprint()[:16]
    monkeypatch.setattr(evidence, "draw_example", None)
    monkeypatch.setattr(evidence, "draw_null", None)
    (again,) = evidence.all_known(jobs, SEED, tmp_path, 1)
    assert repr(again.traits) == repr(one.traits)
    monkeypatch.setattr(evidence, "SOURCES", evidence.SOURCES[1:])
    with pytest.raises(TypeError):
        evidence.all_known(jobs, SEED, tmp_path, 1)


def test_the_fingerprint_is_that_of_sources_and_versions(tmp_path, monkeypatch):
    (tmp_path / "room").mkdir()
    for name in ("room/a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(evidence, "SOURCES", ("room", "b.py"))
    prints = [evidence.fingerprint()]
    (tmp_path / "room" / "a.py").write_text("x = 2\n")
    prints.append(evidence.fingerprint())
    (tmp_path / "b.py").write_text("x = 2\n")
    prints.append(evidence.fingerprint())
    monkeypatch.setattr(evidence, "made_with", lambda: {"versions": {"numpy": "0"}})
    prints.append(evidence.fingerprint())
    assert len(set(prints)) == 4


def blas_threads(_):
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


@pytest.mark.parametrize("processes", [1, 2])
def test_each_process_has_one_thread_of_blas(processes, monkeypatch):
    """With two the last bits of evidence are others."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")  # of processes that are started
    with threadpool_limits(2, "blas"):
        for found in evidence.in_processes(blas_threads, range(2), processes):
            assert set(found) == {1}


def test_all_that_evidence_stands_on_is_a_source():
    """A room that is moved or named anew must not leave the fingerprint."""
    for source in evidence.SOURCES:
        assert (evidence.ROOT / source).exists(), source
