"""What tries mutants room by room counts what tests notice, and says which rooms it could not."""

import json

import pytest

from tests.makers.processes import run_python
from tests.proofs.mutants.__main__ import ROOT, drawn
from tests.proofs.mutants.rooms import COMPILING, Trial
from tests.proofs.mutants.targets import PACKAGES, files_in, room_of, room_tests
from tests.proofs.test_mutants import MODULE

SMALL = {"small": "tests/small"}
CHECKS = """
from small.good.module import clamp, magnitude, steps

def test_all_of_it():
    assert [clamp(x) for x in (0, 3, 10, 11)] == [0, 3, 10, 10]
    assert [magnitude(x) for x in (-2, 0, 2)] == [2, 0, 2]
    assert steps(3) == 3
"""
WORDS = {
    "clamp: if x < 0 -> if x >= 0": "killed",
    "(module): LIMIT = 10 -> LIMIT = 11": "killed",
    "begin: return 5 - 2 -> return 5 + 2": "killed",  # the import fails
    "unknown: return 1 + 1 -> return None": "survived its room",
    "steps: n -= 1 -> pass": "late",  # it never ends
}


@pytest.fixture
def root(tmp_path):
    """A project of three rooms: one with tests, one whose tests fail, one that no test names."""
    root = tmp_path / "project"
    for room in ("good", "broken"):
        (root / "small" / room).mkdir(parents=True)
        (root / "small" / room / "module.py").write_text(MODULE)
        (root / "tests" / "small" / room).mkdir(parents=True)
    (root / "small" / "alone.py").write_text(MODULE)
    (root / "tests" / "small" / "good" / "test_good.py").write_text(CHECKS)
    broken = CHECKS.replace("good", "broken").replace("== 3", "== 4")
    (root / "tests" / "small" / "broken" / "test_broken.py").write_text(broken)
    options = "--disable-plugin-autoload -p xdist -p pytest_cov --import-mode=importlib"
    (root / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\npythonpath = .\n")
    return root


@pytest.mark.slow
def test_mutants_are_counted_by_room_with_its_own_tests(root, tmp_path):
    path = tmp_path / "found.json"
    sample = [("small/good/module.py", name) for name in WORDS]
    unmeasured = [("small/broken/module.py", "steps: found = 0 -> found = 1")]
    unmeasured += [("small/alone.py", "clamp: 0 -> 1")]
    trial = Trial(path, root, SMALL, seconds=1.0)
    trial.try_all([*unmeasured, *sample], 1, again=False)
    found = trial.files["small/good/module.py"]["mutants"]
    assert {name: of[0] for name, of in found.items()} == WORDS
    assert trial.rooms["small/alone.py"]["reason"] == "no test file names it"
    kept = json.loads(path.read_text())
    assert kept["files"] == trial.files
    assert (root / "small" / "good" / "module.py").read_text() == MODULE
    report = trial.report([*unmeasured, *sample])
    assert "| small/good | 5 | 5 | 4 | 0 | 80% | 80% |" in report
    # A test that fails without a change notices none: it is left out.
    assert "| small/broken | 1 | 1 | 0 | 0 | 0% | 0% |" in report
    assert "| small/alone.py | 1 | 0 | 0 | 0 |  |  | no test file names it" in report
    unseen = "small/good/module.py:24: unknown: return 1 + 1 -> return None (no test of its room"
    assert unseen in report

    # What is known is not tried again, unless its file has changed; or its tests, on demand.
    assert Trial(path, root, SMALL).report([*unmeasured, *sample]) == report
    again = Trial(path, root, SMALL, end=0.0)
    again.try_all([*unmeasured, *sample], 1, again=False)
    assert again.files == trial.files
    tests = root / "tests" / "small" / "good" / "test_good.py"
    tests.write_text(CHECKS + "\nfrom small.good.module import unknown\n"
                     "def test_unknown():\n    assert unknown() == 2\n")  # fmt: skip
    better = Trial(path, root, SMALL, seconds=1.0)
    better.try_all(sample, 1, again=True)
    assert better._known(*sample[3]) == "killed"
    assert better.rooms["small/good"]["tests"][f"tests/small/good/{tests.name}"][1] == better.begun
    (root / "small" / "good" / "module.py").write_text(MODULE + "\n")
    assert not Trial(path, root, SMALL).files.get("small/good/module.py")


@pytest.mark.slow
def test_what_survives_its_room_is_tried_with_tests_of_others(root, tmp_path):
    others = root / "tests" / "small" / "other"
    others.mkdir()
    (root / "small" / "other").mkdir()
    (root / "small" / "other" / "module.py").write_text("def none():\n    return 0\n")
    checks = "from small.good.module import unknown, magnitude\nfrom small.other.module import none"
    checks += (
        "\n\ndef test_others():\n    assert unknown() == 2\n    assert none() == magnitude(0)\n"
    )
    (others / "test_other.py").write_text(checks)
    good, other = "small/good/module.py", "small/other/module.py"
    became = {
        (good, "unknown: return 1 + 1 -> return None"): "killed elsewhere",
        (good, "magnitude: return x if x > 0 else -x -> return x if x >= 0 else -x"): "survived",
        (good, "noter.note: return x + 1 -> return None"): "survived",  # no test runs it
        (other, "none: return 0 -> return None"): "killed",
    }
    trial = Trial(tmp_path / "found.json", root, SMALL)
    trial.try_all(list(became), 1, again=False)
    of_room = {of: trial._known(*of) for of in became}
    assert list(of_room.values()) == ["survived its room"] * 3 + ["killed"]
    trial.try_survivors(list(became), 1)
    assert {of: trial._known(*of) for of in became} == became
    report = trial.report(list(became))
    assert "| all | 4 | 4 | 1 | 1 | 25% | 50% |" in report


def test_a_run_out_of_time_tries_nothing(root, tmp_path):
    trial = Trial(tmp_path / "found.json", root, SMALL, end=0.0)
    trial.try_all([("small/good/module.py", name) for name in WORDS], 2, again=False)
    assert not trial.files["small/good/module.py"]["mutants"]


def test_every_file_is_of_a_room_and_kernels_are_not_among_them():
    files = files_in(PACKAGES, ROOT)
    assert not any("kernels" in file for file in files)
    rooms = {room_of(file) for file in files}
    assert {"tvcs_core/certificate.py", "grn_tvcs/comparison", "crowd_tvcs/serve"} <= rooms
    for room in ("tvcs_core/projection", "grn_tvcs/comparison", "crowd_tvcs/skills"):
        first, *others = (file for file in files if room_of(file) == room)
        tests = set(room_tests(first, PACKAGES, ROOT))
        assert tests
        assert all(set(room_tests(file, PACKAGES, ROOT)) == tests for file in others)
    first = room_tests("grn_tvcs/comparison/comparison.py", PACKAGES, ROOT)[0]
    assert "comparison" in (ROOT / first).read_text()


def test_the_draw_of_a_file_is_the_same_beside_another():
    one, both = "grn_tvcs/datasets.py", ["grn_tvcs/datasets.py", "tvcs_core/streams.py"]
    assert drawn([one]) == [of for of in drawn(both) if of[0] == one]
    assert len(drawn([one])) > 1


def test_kernels_are_compiled_of_no_other_room():
    """A change of another room leaves the folder of compiled kernels as it is."""
    code = (
        "import tvcs_core, grn_tvcs, crowd_tvcs\n"
        "from tvcs_core.jit.folder import sources\n"
        f"names = {{name for package in {list(PACKAGES)} for name in sources(package)}}\n"
        "print(*sorted(name for name in names if 'kernels' not in name))"
    )
    done = run_python(code, cwd=ROOT, check=False)
    names = done.stdout.split()
    assert names
    assert all(name.startswith(COMPILING.replace("/", ".")) for name in names)
