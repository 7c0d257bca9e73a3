"""Every reader against a thousand damaged files: read, or refused in a line, soon.

``TVCS_DAMAGED_FILES=N`` asks for N of each kind of file instead.
"""

import os
import time
from collections import Counter
from functools import cache
from importlib.metadata import version
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from grn_tvcs.combine.pretrained import PATH, load_pretrained
from grn_tvcs.methods import combined
from tests.every_command import COMMANDS, SERIES, call, lay_out
from tests.makers.processes import run_python
from tests.proofs.counts import note
from tests.proofs.damage import LIMIT, RARE, TRAP, damaged, kinds_for
from tests.proofs.readers import MORE, reader
from tvcs_core.files.display import LINE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures as Linux does"),
]

FILES = int(os.environ.get("TVCS_DAMAGED_FILES", "1000"))
SECONDS, MEMORY = 10.0, 2**30
# Where the work itself may fail: what is checked does not hold, or the database itself says no.
MAY_FAIL = ("verify", "store", "campaign import", "campaign add", "serve")
LIMITED = (
    "import resource, sys\n"
    f"resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY}, {MEMORY}))\n"
    "from {package}.__main__ import main\n"
    "sys.argv = sys.argv[1:]\n"
    "main()\n"
)
PACKAGES = {"tvcs": "tvcs_core", "grn-tvcs": "grn_tvcs", "crowd-tvcs": "crowd_tvcs"}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.delenv("TVCS_DEBUG", raising=False)
    monkeypatch.setenv("TVCS_MAX_INPUT", LIMIT)
    monkeypatch.setattr("tvcs_core.files.record._version", cache(version))  # 20 ms each
    nothing = SimpleNamespace(setup=lambda *_: b"", look_for_gold=lambda: None)
    for name in ("_run", "Served"):  # no server, and no password to be made hard to guess
        monkeypatch.setattr(f"crowd_tvcs.serve.start.{name}", lambda *_: nothing)
    return place


def reset_peak() -> None:
    """Let the peak of this process's memory begin anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def memory(what: str = "VmHWM") -> int:
    """Bytes that this process holds at most, or now (VmRSS)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024


def complaint(name: str, code: int, err: str) -> str:
    """What is wrong with an answer; '' if nothing is."""
    lines = err.split("\n")
    errors = [line for line in lines if line.startswith("error: ")]
    if code not in ((0, 1, 2) if name.startswith(MAY_FAIL) else (0, 2)):
        return f"exit code {code}"
    if "Traceback" in err or "error: unexpected" in err:
        return "something unexpected"
    if max(map(len, lines)) > LINE:
        return "a line that is too long"
    if not all(line.isprintable() for line in lines):
        return "control characters"
    if code == 2 and (len(errors) != 1 or lines[-2] != errors[0]):
        return f"{len(errors)} lines of an error"
    return ""


def inputs(place: Path, name: str) -> tuple[Path, list[str], bytes]:
    path, words = lay_out(name, place, reader(name))
    return path, words, path.read_bytes()


@pytest.mark.parametrize("name", [*COMMANDS, *MORE])
def test_what_is_not_damaged_is_taken(in_a_folder, name, capfd):
    _, words, _ = inputs(in_a_folder, name)
    code, _, err = call(words, capfd)
    expected = {"verify plan, workers": 1, "infer resume": 2}
    assert code == expected.get(name, 0), err


@pytest.mark.parametrize("name", [*COMMANDS, *MORE])
def test_a_damaged_file_is_read_or_refused_in_a_line(in_a_folder, tmp_path, name, capfd):
    rng, counts = Random(f"{name} 1"), Counter()
    path, words, content = inputs(in_a_folder, name)
    call(words, capfd)  # compiles its kernels
    begun, most_time, most_memory = memory("VmRSS"), 0.0, 0
    all_wrong: list[str] = []
    for _ in range(FILES):
        if name.startswith(("store", "campaign", "serve")):
            (in_a_folder / "new.db").unlink(missing_ok=True)
            path, words, content = inputs(in_a_folder, name)
        kind, new = damaged(content, rng)
        path.write_bytes(new)
        reset_peak()
        start = time.process_time()
        code, _, err = call(words, capfd)
        took, held = time.process_time() - start, memory() - begun
        most_time, most_memory = max(took, most_time), max(held, most_memory)
        wrong = complaint(name, code, err)
        if took > SECONDS or held > MEMORY:
            wrong = f"{took:.1f} s, {held / 2**20:.0f} MiB"
        if Path(TRAP).exists() or os.listdir(tmp_path) != ["place"]:
            wrong = "a pickle was run, or a file written outside"
        if wrong:
            all_wrong.append(f"{wrong}: {kind}, {new[:1000]!r}\n{err[-1000:]}")
        counts["refused" if code == 2 else "failed" if code else "read"] += 1
    assert not all_wrong, "\n".join([f"{len(all_wrong)} of {FILES}", *all_wrong[:9]])
    figures = {"seconds at most": most_time, "MiB at most": most_memory / 2**20}
    note("readers", name, files=FILES, **counts, **{k: round(v, 1) for k, v in figures.items()})


def test_a_damaged_model_of_evidence_is_refused(in_a_folder, monkeypatch, capfd):
    """The file that comes with the package: what is read of it has the hash that was written."""
    rng, counts, content = Random("model 1"), Counter(), PATH.read_bytes()
    place, stamp, stamps = in_a_folder / "pretrained.npz", load_pretrained().stamp, []

    def read():
        model = load_pretrained.__wrapped__(place)
        stamps.append(model.stamp)
        return model

    monkeypatch.setattr(combined, "load_pretrained", read)
    (in_a_folder / "e.tsv").write_text(SERIES)
    words = "grn-tvcs infer e.tsv --method combined --option resamples=2 --option calibrate=0"
    words = [*words.split(), "--out", "o", "--force"]
    begun, all_wrong, most_time, most_memory = memory("VmRSS"), [], 0.0, 0
    for _ in range(FILES):
        kind, new = damaged(content, rng)
        place.write_bytes(new)
        reset_peak()
        start = time.process_time()
        code, _, err = call(words, capfd)
        most_time = max(most_time, time.process_time() - start)
        most_memory = max(most_memory, memory() - begun)
        wrong = complaint("infer", code, err)
        if wrong or Path(TRAP).exists():
            all_wrong.append(f"{wrong}: {kind}\n{err[-1000:]}")
        counts["refused" if code else "read"] += 1
    assert not all_wrong, "\n".join([f"{len(all_wrong)} of {FILES}", *all_wrong[:9]])
    assert set(stamps) <= {stamp}
    assert most_time < SECONDS
    assert most_memory < MEMORY
    figures = {"seconds at most": most_time, "MiB at most": most_memory / 2**20}
    note(
        "readers",
        "infer model",
        files=FILES,
        **counts,
        **{k: round(v, 1) for k, v in figures.items()},
    )


@pytest.mark.parametrize("name", [*COMMANDS, *MORE])
def test_a_process_of_a_gibibyte_reads_or_refuses_a_damaged_file(in_a_folder, name):
    """A sample as users meet it: a process of its own that may not hold more."""
    rng = Random(f"{name} 2")
    path, words, content = inputs(in_a_folder, name)
    kinds = kinds_for(content)
    if name.startswith("serve"):
        pytest.skip("a file that is read would be served")
    chosen = [rng.choice([kind for kind in kinds if kind not in RARE]), *RARE]
    for kind in chosen:
        path.write_bytes(kinds[kind](content, rng))
        script = LIMITED.format(package=PACKAGES[words[0]])
        done = run_python(script, *words, env={"OPENBLAS_NUM_THREADS": "1"}, check=False)
        wrong = complaint(name, done.returncode, done.stderr)
        assert not wrong, f"{wrong}: {kind}\n{done.stderr}"
    note("readers in a process of 1 GiB", name, files=len(chosen))
