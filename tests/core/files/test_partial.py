"""What a run that was killed leaves is removed by the next one, and never that of a living one."""

import os
import random
import resource
import signal
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

from tests.every_command import ANSWERS, EDGES, GENES, GOLD, PLAN, QUALITY, call
from tests.proofs.warm import Warm
from tvcs_core import DataError
from tvcs_core.files.errors import WriteError
from tvcs_core.files.folders import output_folder, write_json, write_whole
from tvcs_core.files.record import run_record
from tvcs_core.files.tables import write_table

WAITING = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from tvcs_core.files.folders import output_folder, write_whole\n"
    "def wait(path):\n"
    "    (path / 'x' if path.is_dir() else path).write_text('half')\n"
    "    print('writing', flush=True)\n"
    "    time.sleep(60)\n"
)
FOLDER = f"{WAITING}with output_folder(sys.argv[1], force=True) as folder: wait(folder)\n"
FILE = f"{WAITING}write_whole(sys.argv[1], wait)\n"


def begin(script, place):
    run = subprocess.Popen([sys.executable, "-c", script, str(place)], stdout=subprocess.PIPE)
    assert run.stdout.readline() == b"writing\n"
    return run


def kill(run):
    run.kill()
    run.wait()
    run.stdout.close()


def fill(folder, text="new"):
    (folder / "a.txt").write_text(text)
    (folder / "run.json").write_text(text)


def test_a_folder_of_leftovers_is_empty_and_they_are_removed(tmp_path):
    kill(begin(FOLDER, tmp_path / "out"))
    assert len(os.listdir(tmp_path / "out")) == 1
    with output_folder(tmp_path / "out") as folder:
        fill(folder)
    assert sorted(os.listdir(tmp_path / "out")) == ["a.txt", "run.json"]


def test_leftovers_beside_results_are_removed_with_force(tmp_path):
    with output_folder(tmp_path) as folder:
        fill(folder)
    kill(begin(FOLDER, tmp_path))
    with pytest.raises(DataError, match="not empty; give --force"), output_folder(tmp_path):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "run.json"]
    kill(begin(FOLDER, tmp_path))
    with output_folder(tmp_path, force=True) as folder:
        fill(folder)
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "run.json"]


@pytest.mark.parametrize("force", [False, True])
def test_what_a_living_run_writes_is_not_touched(tmp_path, force):
    run = begin(FOLDER, tmp_path)
    try:
        (partial,) = os.listdir(tmp_path)
        with (
            pytest.raises(DataError, match=f"another run is writing into it \\({partial}\\)"),
            output_folder(tmp_path, force=force),
        ):
            pass
        assert (tmp_path / partial / "x").read_text() == "half"
    finally:
        kill(run)


def test_what_a_stopped_run_writes_is_not_touched(tmp_path):
    run = begin(FOLDER, tmp_path)
    run.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(DataError, match="another run"), output_folder(tmp_path):
            pass
    finally:
        kill(run)


def test_a_partial_file_is_removed_by_the_next_run_for_the_same_file_only(tmp_path):
    (tmp_path / ".partial-of-the-user").write_text("")
    alive = begin(FILE, tmp_path / "x.npz")
    try:
        kill(begin(FILE, tmp_path / "x.npz"))
        assert len(os.listdir(tmp_path)) == 3
        write_whole(tmp_path / "y.npz", lambda path: path.write_text("y"))
        assert len(os.listdir(tmp_path)) == 4
        write_whole(tmp_path / "x.npz", lambda path: path.write_text("x"))
        assert len(os.listdir(tmp_path)) == 4  # that of the living run is still there
    finally:
        kill(alive)
    write_whole(tmp_path / "x.npz", lambda path: path.write_text("x"))
    assert sorted(os.listdir(tmp_path)) == [".partial-of-the-user", "x.npz", "y.npz"]


def test_files_that_a_killed_run_had_begun_to_move_do_not_count(tmp_path, monkeypatch):
    script = (
        "import os, signal, sys\n"
        "from tvcs_core.files import folders\n"
        "move, left = os.replace, int(sys.argv[2])\n"
        "def replace(*names):\n"
        "    global left\n"
        "    if left == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    left -= 1\n"
        "    move(*names)\n"
        "os.replace = replace\n"
        "with folders.output_folder(sys.argv[1]) as folder:\n"
        "    for name in ('a.txt', 'b.txt', 'run.json'): (folder / name).write_text('old')\n"
    )
    for moved in range(3):
        out = tmp_path / str(moved)
        run = subprocess.run([sys.executable, "-c", script, str(out), str(moved)])
        assert run.returncode == -signal.SIGKILL
        assert len([name for name in os.listdir(out) if name[0] != "."]) == moved
        assert not (out / "run.json").exists()
        with output_folder(out) as folder:
            fill(folder)
        assert sorted(os.listdir(out)) == ["a.txt", "run.json"]


def test_a_file_whose_record_was_still_to_come_does_not_stand_in_the_way(tmp_path, capfd):
    script = (
        "import os, signal, sys\n"
        "move = os.replace\n"
        "def replace(source, target):\n"
        "    if str(target).endswith('.run.json'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    move(source, target)\n"
        "os.replace = replace\n"
        "from tvcs_core.__main__ import main\n"
        "main()\n"
    )
    (tmp_path / "v.csv").write_text("1,2\n3,4\n")
    rest = f"project {tmp_path}/v.csv --total 2 --out {tmp_path}/p.npz".split()
    run = subprocess.run([sys.executable, "-c", script, *rest], stdout=subprocess.DEVNULL)
    assert run.returncode == -signal.SIGKILL
    left = sorted(os.listdir(tmp_path))
    assert left[-2:] == ["p.npz", "v.csv"]
    refusal = 2, f"error: {tmp_path}/p.npz: exists; give --force to replace it\n"
    (tmp_path / "p.npz").rename(tmp_path / "its.npz")
    (tmp_path / "p.npz").write_bytes(b"anyone's")
    assert call(["tvcs", *rest], capfd)[::2] == refusal
    (tmp_path / "its.npz").replace(tmp_path / "p.npz")
    assert call(["tvcs", *rest], capfd)[0] == 0
    assert sorted(os.listdir(tmp_path)) == ["p.npz", "p.npz.run.json", "v.csv"]
    (tmp_path / "p.npz.run.json").unlink()  # nobody was killed: it may be anyone's
    assert call(["tvcs", *rest], capfd)[::2] == refusal


def test_the_record_of_an_old_run_goes_first_and_the_new_one_comes_last(tmp_path, monkeypatch):
    with output_folder(tmp_path) as folder:
        fill(folder, "old")
        (folder / "z.txt").write_text("old")
    moved = []
    real = os.replace

    def replace(source, target):
        assert not (tmp_path / "run.json").exists()
        moved.append(os.path.basename(target))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with output_folder(tmp_path, force=True) as folder:
        fill(folder)
        (folder / "z.txt").write_text("new")
    assert moved == ["a.txt", "z.txt", "run.json"]


def test_every_input_has_its_own_hash(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
    both = run_record("x", {}, seed=None, inputs=[tmp_path / "a", tmp_path / "b"])["inputs"]
    alone = [run_record("x", {}, seed=None, inputs=[tmp_path / n])["inputs"][0] for n in "ab"]
    assert both == alone
    assert both[0]["sha256"] != both[1]["sha256"]


@contextmanager
def small_files():
    """Nothing is written beyond a file's first 100 bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("tvcs project v.csv --total 2 --out p.npz", "p.npz"),
        ("grn-tvcs infer e.tsv --out o --method pcc", "o/"),
        ("grn-tvcs simulate --genes 5 --series 1 --points 3 --out o", "o/"),
        ("grn-tvcs convert edges.tsv --genes g.txt --to graphml --out n.graphml", "n.graphml"),
        ("crowd-tvcs assign q.csv --method greedy --out o", "o/"),
        ("crowd-tvcs simulate --workers 5 --tasks 9 --out o", "o/"),
        ("crowd-tvcs quality a.csv --gold g.csv --out o", "o/"),
        ("crowd-tvcs vote a.csv --out o", "o/"),
        ("crowd-tvcs replay a.csv g.csv --splits 2 --gold-share 0.5 --out o", "o/"),
        ("crowd-tvcs export p.csv --format mturk --out o", "o/"),
        ("crowd-tvcs import p2.csv --format prolific --out o", "o/"),
    ],
)
def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path, monkeypatch, capsys, words, named):
    inputs = {
        "v.csv": "1,2\n3,4\n", "edges.tsv": EDGES, "g.txt": GENES, "q.csv": QUALITY,
        "a.csv": ANSWERS, "g.csv": GOLD + "t3,1\nt4,0\n", "p.csv": PLAN,
        "e.tsv": "Time\tG1\tG2\tG3\n" + "".join(f"{t}\t{t}\t{t % 3}\t{-t % 5}\n" for t in range(9)),
        "p2.csv": "PROLIFIC_PID,task,label\n" + "".join(f"p{i},t{i},{i % 2}\n" for i in range(40)),
    }  # fmt: skip
    for name, text in inputs.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut off as well
    with small_files():
        code, _, err = call(words.split(), capsys)
    last = err.splitlines()[-1]
    assert code == 1, err
    assert last.startswith(f"error: {named}")
    assert last.endswith(": File too large")
    assert sorted(os.listdir(tmp_path)) == sorted(inputs)


def test_no_space_at_any_write_is_failed_work_that_names_the_file(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    for at in (lambda f: write_json(f / "x.json", 1), lambda f: write_table(f / "x", ["a"], [])):
        with (
            monkeypatch.context() as patched,
            pytest.raises(WriteError) as error,
            output_folder(tmp_path / "out") as folder,
        ):
            fill(folder)
            patched.setattr("json.dumps", full)
            patched.setattr("csv.writer", full)
            at(folder)
        assert error.value.filename.startswith(str(tmp_path / "out"))
        assert os.listdir(tmp_path) == []
    with pytest.raises(WriteError, match=r"No space left on device: .*x\.npz"):
        write_whole(tmp_path / "x.npz", full)
    with pytest.raises(WriteError, match=r"3 written: .*x\.npz"):
        write_whole(tmp_path / "x.npz", lambda _: (_ for _ in ()).throw(OSError("3 written")))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_standard_output_is_failed_work(tmp_path):
    (tmp_path / "e.tsv").write_text("Time\tG1\tG2\n0\t1\t2\n1\t2\t1\n2\t3\t5\n")
    script = "from grn_tvcs.cli.main import main; main()"
    words = [sys.executable, "-c", script, "check", str(tmp_path / "e.tsv")]
    with open("/dev/full", "w") as full:
        result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
        quiet = subprocess.run(words, stdout=subprocess.PIPE, stderr=full)
    assert result.returncode == 1
    assert result.stderr == "error: standard output: No space left on device\n"
    assert quiet.returncode == 0


def test_a_killed_inference_is_run_again_with_the_same_words(tmp_path):
    """At one moment; `dev.py prove` draws many, of every command (`tests/proofs/test_kills.py`)."""
    rng = random.Random(1)
    cells = ("\t".join(f"{rng.random():.4f}" for _ in range(8)) for _ in range(12))
    names = "\t".join(f"G{j}" for j in range(8))
    text = f"Time\t{names}\n" + "".join(f"{t}\t{c}\n" for t, c in enumerate(cells))
    whole, counted, killed = (tmp_path / name for name in ("whole", "counted", "killed"))
    for folder in (whole, counted, killed):
        folder.mkdir()
        (folder / "e.tsv").write_text(text)
    words = "grn-tvcs infer e.tsv --out o --option resamples=20 --calibrate 2 --resume"

    def files(folder):
        return {path.name: path.read_bytes() for path in (folder / "o").iterdir()}

    with closing(Warm(words.split(), whole)) as process:
        expected = files(whole)
        calls = process.run(counted, events=-1)["events"]
        left = process.run(killed, events=calls * 3 // 4)
        assert left["killed"]
        assert (killed / "o" / ".resume").is_dir()
        assert not (killed / "o" / "run.json").exists()
        assert process.run(killed)["code"] == 0
        assert files(killed) == expected
        again = process.run(killed)
    assert again["code"] == 0
    assert "nothing is left to do" in again["said"]
    assert files(killed) == expected


def test_resume_keeps_results_of_another_run(tmp_path, capfd):
    (tmp_path / "e.tsv").write_text("Time\tG1\tG2\n0\t1\t2\n1\t2\t1\n2\t3\t5\n3\t1\t2\n")
    words = f"grn-tvcs infer {tmp_path}/e.tsv --out {tmp_path}/o --method pcc --resume".split()
    assert call(words, capfd)[0] == 0
    code, _, message = call([*words, "--seed", "2"], capfd)
    assert code == 2
    assert "not empty; give --force" in message
    for strange in ("[]", "{", "[" * 99_999, "null"):
        (tmp_path / "o" / "run.json").write_text(strange)
        code, _, message = call(words, capfd)
        assert (code, message.count("error:")) == (2, 1)
