import errno
import json
import os
import resource
import shutil
import tracemalloc

import numpy as np
import pytest

from tests.core.engines import toys
from tvcs_core.engines import Job, Processes, Serial, Threads, results
from tvcs_core.engines.journal import Journal
from tvcs_core.files.errors import DataError, WriteError


class Stopped(Exception):
    pass


def stop_after(n):
    def progress(done, total):
        if done == n:
            raise Stopped

    return progress


def arrays():
    return (
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.array(2.5),
        np.zeros((0, 4)),
        np.array([True, False]),
        np.asfortranarray(np.arange(4.0).reshape(2, 2)),
    )


def test_what_is_kept_comes_back_as_it_was(tmp_path):
    journal = Journal(tmp_path / "sums", toys.job().identity)
    assert journal.read(3) is None
    journal.write(3, arrays())
    again = Journal(tmp_path / "sums", toys.job().identity).read(3)
    for one, other in zip(arrays(), again, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.array_equal(one, other)
        other[...] = 0  # it is the caller's own


def test_keeping_a_large_unit_copies_nothing(tmp_path):
    journal, whole = Journal(tmp_path / "sums", toys.job().identity), np.arange(2_000_000)
    journal.write(0, (whole[:10],))
    tracemalloc.start()
    try:
        journal.write(1, (whole, whole[:7]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < whole.nbytes / 8
    for found, want in zip(journal.read(1), (whole, whole[:7]), strict=True):
        assert np.array_equal(found, want)


@pytest.mark.parametrize("second", [Serial, lambda: Threads(2), lambda: Processes(2)])
@pytest.mark.parametrize("first", [Serial, lambda: Processes(2)])
def test_any_engine_takes_up_what_any_other_left(first, second, tmp_path):
    marks, keep = tmp_path / "marks", tmp_path / "keep"
    marks.mkdir()
    job = toys.job(toys.leave_mark, folder=str(marks), size=10)
    with first() as engine, pytest.raises(Stopped):
        toys.total(job, engine, checkpoint_dir=keep, progress=stop_after(4))
    kept = sorted(path.name for path in (keep / "sums").glob("unit-*"))
    assert len(kept) == 4
    for path in marks.iterdir():
        path.unlink()
    result = []
    with second() as engine:
        found = toys.total(
            job, engine, checkpoint_dir=keep, progress=lambda *now: result.append(now)
        )
    assert found == toys.total(toys.job(size=10), Serial())
    assert result[0] == (4, 10)
    done = {f"unit-{int(path.name.removeprefix('done-')):06d}" for path in marks.iterdir()}
    assert not done & set(kept)
    assert len(done) == 6


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "swap"])
def test_a_damaged_unit_is_done_again(damage, tmp_path):
    want = toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path)
    path, other = (tmp_path / "sums" / f"unit-{k:06d}" for k in (2, 3))
    raw = path.read_bytes()
    if damage == "swap":
        raw = other.read_bytes()
    elif damage == "flip":
        raw = raw[:-1] + bytes([raw[-1] ^ 1])
    else:
        raw = raw[:-3] if damage == "cut" else b""
    path.write_bytes(raw)
    assert Journal(tmp_path / "sums", toys.job().identity).read(2) is None
    assert toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path) == want
    assert Journal(tmp_path / "sums", toys.job().identity).read(2) is not None


def test_a_unit_of_another_journal_does_not_count(tmp_path):
    other = toys.job(seed=4)
    toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path / "a")
    toys.total(other, Serial(), checkpoint_dir=tmp_path / "b")
    shutil.copy(tmp_path / "a/sums/unit-000001", tmp_path / "b/sums/unit-000001")
    assert Journal(tmp_path / "b/sums", other.identity).read(1) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": "2"}, "is of a run with other data; give --force in place of --resume to"),
        ({"data": "2", "seed": "5"}, "is of a run with other data and other seed; give --force"),
        ({"numpy": "1.0"}, r"is of a run with numpy 1\.0 \(now .*\); give --force"),
        ({"tvcs": "0.0.9", "numba": "7"}, r"tvcs 0\.0\.9 \(now .*\) and numba 7 \(now .*\); give"),
        ({"number of units": "9"}, "other number of units; give --force"),
    ],
)
def test_a_journal_of_another_run_is_refused_by_name(change, message, tmp_path):
    job = Job("sums", toys.draws, {"seed": 3, "width": 5}, 8, {"data": "1", "seed": "3"})
    toys.total(job, Serial(), checkpoint_dir=tmp_path)
    record = tmp_path / "sums/job.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | change))
    with pytest.raises(DataError, match=message) as error:
        toys.total(job, Serial(), checkpoint_dir=tmp_path)
    assert str(error.value).startswith(f"{record}: ")


@pytest.mark.parametrize("text", ["", "[", "[1]", "7"])
def test_a_record_that_is_none_is_refused(text, tmp_path):
    toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path)
    (tmp_path / "sums/job.json").write_text(text)
    with pytest.raises(DataError, match="give --force"):
        toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path)


def test_a_full_disk_names_the_file_and_keeps_what_is_there(tmp_path, monkeypatch):
    def full(source, target):
        if target.name == "unit-000002":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    real = os.replace
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(WriteError, match="No space left") as error:
        toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path)
    assert error.value.filename == str(tmp_path / "sums/unit-000002")
    monkeypatch.undo()
    result = []
    found = toys.total(
        toys.job(), Serial(), checkpoint_dir=tmp_path, progress=lambda *now: result.append(now)
    )
    assert result[0] == (2, 8)
    assert found == toys.total(toys.job(), Serial())


def test_a_disk_that_is_full_at_once_leaves_nothing(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.raises(WriteError, match="too large"):
            toys.total(toys.job(width=500), Serial(), checkpoint_dir=tmp_path / "keep/method/part")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_only_arrays_can_be_kept(tmp_path):
    with pytest.raises(TypeError, match="arrays of numbers"):
        Journal(tmp_path, toys.job().identity).write(0, (np.array([{}]),))


def test_nothing_is_left_to_do_where_all_is_there(tmp_path):
    class Never:
        def run(self, tasks):
            assert not tasks
            yield from ()

    want = toys.total(toys.job(), Serial(), checkpoint_dir=tmp_path)
    assert toys.total(toys.job(), Never(), checkpoint_dir=tmp_path) == want
    assert len(list(results([toys.job()], Never(), checkpoint_dir=tmp_path))) == 8
