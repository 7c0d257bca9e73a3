"""What tries mutants finds the changes there are, makes them, and first sees the tests pass."""

import json

import pytest

from tests.proofs.mutants.__main__ import KEPT, chosen, keep, known, summary, try_all
from tests.proofs.mutants.changes import mutants
from tests.proofs.mutants.targets import TARGETS, Target

MODULE = '''
"""A module."""
import functools

LIMIT = 10

def clamp(x):
    if x < 0:
        raise ValueError(x)
    return min(x, LIMIT)

def magnitude(x):
    return x if x > 0 else -x

@functools.lru_cache
def steps(n):
    found = 0
    while n > 0:
        n -= 1
        found += 1
    return found

def unknown():
    return 1 + 1

def begin():
    return 5 - 2

def noter(x):
    def note():
        return x + 1
    return note

note = noter(1)

assert steps(begin()) == 3
'''
TESTS = """
import pytest
from small.module import clamp, magnitude, note, steps

def test_clamp():
    assert [clamp(x) for x in (0, 3, 10, 11)] == [0, 3, 10, 10]
    with pytest.raises(ValueError):
        clamp(-1)

def test_magnitude():
    assert [magnitude(x) for x in (-2, 0, 2)] == [2, 0, 2]

def test_steps():
    assert steps(3) == 3

def test_note():
    note()
"""


def project(folder, tests=TESTS):
    (folder / "small").mkdir(parents=True)
    (folder / "small" / "module.py").write_text(MODULE)
    (folder / "test_small.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return Target(("small",), ("test_small.py",), imports=(), seconds=1.0)


WORDS = {
    "(module): LIMIT = 10 -> LIMIT = 11": "killed",  # by the import
    "clamp: if x < 0 -> if x >= 0": "killed",  # within a function
    "magnitude: return x if x > 0 else -x -> return x if x >= 0 else -x": "survived",  # the same
    "steps: while n > 0 -> while n > 1": "killed",  # in spite of the cache
    "unknown: return 1 + 1 -> return None": "survived",  # no test runs it
    "begin: return 5 - 2 -> return 5 + 2": "killed",  # only the import runs it
    "noter.note: return x + 1 -> return None": "survived",  # takes no name from around it any more
}


def test_every_mutant_is_run_and_only_one_that_no_test_can_notice_survives(tmp_path):
    root = tmp_path / "project"
    target = project(root)
    assert set(WORDS) <= set(chosen(target, root)[1]["small/module.py"])
    names, path = {"small/module.py": list(WORDS)}, tmp_path / "found.json"
    found = try_all(target, names, path, root)
    assert {name: of[0] for name, of in found["small/module.py"]["mutants"].items()} == WORDS
    # What is known of a file is not tried again while it stays.
    assert try_all(Target((), ()), names, path, root) == found
    (root / "small" / "module.py").write_text(MODULE + "\n")
    assert known(path, root) == {}


@pytest.mark.slow
def test_a_mutant_that_never_ends_is_killed_by_time(tmp_path):
    root = tmp_path / "project"
    target, name = project(root), "steps: n -= 1 -> pass"
    found = try_all(target, {"small/module.py": [name]}, tmp_path / "found.json", root)
    assert found["small/module.py"]["mutants"][name][0] == "late"


@pytest.mark.slow
def test_a_test_that_fails_without_a_change_is_left_out(tmp_path):
    root = tmp_path / "project"
    target = project(root, TESTS.replace("10, 10]", "10, 11]"))  # fails: the test of clamp
    names = ["clamp: if x < 0 -> if x >= 0", "steps: while n > 0 -> while n > 1"]
    found = try_all(target, {"small/module.py": names}, tmp_path / "found.json", root)
    result = {name: of[0] for name, of in found["small/module.py"]["mutants"].items()}
    assert result == dict(zip(names, ["survived", "killed"], strict=True))


def test_changes_of_every_kind():
    source = "def f(x, y: int | None = 3):\n" + "".join(
        f"    {line}\n"
        for line in (
            '"""A docstring of 3 + 4."""',
            "x = y",
            "while not x and y:",
            "    break",
            "z: list[int | str] = [k for k in y if k]",
            "raise ValueError(f'{x + 1}')",
            "return max(x, 2.5), True",
        )
    )
    assert [mutant.name.removeprefix("f: ") for mutant in mutants(source)] == [
        "3 -> 4",
        "3 -> 2",
        "x = y -> pass",
        "while not x and y -> while not x or y",
        "while not x and y -> while x and y",
        "break -> continue",
        "z: list[int | str] = [k for k in y if k] -> z: list[int | str] = [k for k in y if not k]",
        "raise ValueError(f'{x + 1}') -> pass",
        "raise ValueError(f'{x + 1}') -> raise ValueError(f'{x - 1}')",
        "raise ValueError(f'{x + 1}') -> raise ValueError(f'{x + 2}')",
        "raise ValueError(f'{x + 1}') -> raise ValueError(f'{x + 0}')",
        "return (max(x, 2.5), True) -> return None",
        "return (max(x, 2.5), True) -> return (min(x, 2.5), True)",
        "return (max(x, 2.5), True) -> return (max(x, 3.5), True)",
        "return (max(x, 2.5), True) -> return (max(x, 1.5), True)",
        "return (max(x, 2.5), True) -> return (max(x, 2.5), False)",
    ]


def test_a_sample_is_the_same_again_and_in_the_order_of_the_file():
    target = TARGETS["constraint"]._replace(sample=30)
    total, names = chosen(target)
    assert (total, names) == chosen(target)
    assert total > sum(map(len, names.values())) == 30
    everything = chosen(target._replace(sample=None))[1]
    for file, some in names.items():
        assert some == [name for name in everything[file] if name in set(some)]


def test_others_are_none_of_the_sample():
    target = TARGETS["constraint"]._replace(sample=30)
    total, names = chosen(target)
    assert chosen(target, others=40) == chosen(target, others=40)
    left = [set(chosen(target, others=n)[1]["tvcs_core/constraint.py"]) for n in (40, 10**6)]
    sample = set(names["tvcs_core/constraint.py"])
    assert [len(of) for of in left] == [40, total - 30]
    assert not any(of & sample for of in left)


def test_a_change_of_one_file_draws_no_others_of_another(tmp_path):
    root = tmp_path / "project"
    target = project(root)._replace(sample=12)
    (root / "small" / "other.py").write_text(MODULE)
    before = chosen(target, root)[1]
    (root / "small" / "other.py").write_text(MODULE + "\nMORE = 3 + 4\n")
    total, after = chosen(target, root)
    assert total == sum(map(len, chosen(target._replace(sample=None), root)[1].values())) > 60
    lost = set(before["small/module.py"]) - set(after["small/module.py"])
    more = [name for name in after["small/other.py"] if "MORE" in name]
    assert len(lost) <= len(more)
    assert set(after["small/module.py"]) <= set(before["small/module.py"])


def test_reasons_stay_with_their_survivors(tmp_path):
    found = {"a.py": {"mutants": {"f: 1 -> 2": ["survived", 7, 3], "f: 1 -> 0": ["late", 7, 3]}}}
    counted = summary(9, {"a.py": ["f: 1 -> 2", "f: 1 -> 0", "f: not tried"]}, found)
    assert counted["files"] == {"a.py": {"tried": 2, "killed": 1, "late": 1}}
    (tmp_path / "t.json").write_text(
        json.dumps({"survivors": {"a.py": {"f: 1 -> 2": {"line": 5, "reason": "the same"}}}})
    )
    keep("t", counted, "abc1234", tmp_path)
    kept = json.loads((tmp_path / "t.json").read_text())
    assert kept["survivors"] == {"a.py": {"f: 1 -> 2": {"line": 7, "reason": "the same"}}}
    assert kept["commit"] == "abc1234"


def test_counts_of_files_that_did_not_change_stay_where_that_is_asked_for(tmp_path):
    counts = {"tried": 2, "killed": 1, "late": 0}
    of_a, of_b = ({f"{name}.py": {"f: 1 -> 2": {"line": 7, "reason": name}}} for name in "ab")
    old = {"mutants": 8, "files": {"a.py": counts, "b.py": counts}, "survivors": of_a | of_b}
    (tmp_path / "t.json").write_text(json.dumps(old))
    new = {"tried": 3, "killed": 3, "late": 0}
    for rest in (True, False):
        counted = {"mutants": 9, "files": {"b.py": new}, "survivors": {}}
        keep("t", counted, "abc1234", tmp_path, rest=rest)
        kept = json.loads((tmp_path / "t.json").read_text())
        others = ({"a.py": counts}, of_a) if rest else ({}, {})
        assert (kept["files"], kept["survivors"]) == ({"b.py": new} | others[0], others[1])
        assert kept["mutants"] == 9


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_nine_of_ten_mutants_are_killed_where_it_says_so_and_the_others_have_reasons(path):
    counted = json.loads(path.read_text(encoding="utf-8"))
    tried = sum(of["tried"] for of in counted["files"].values())
    killed = sum(of["killed"] for of in counted["files"].values())
    survivors = [of for left in counted["survivors"].values() for of in left.values()]
    assert path.stem in TARGETS
    assert tried - killed == len(survivors)
    assert (killed < 0.9 * tried) == TARGETS[path.stem].is_open
    assert all(of["reason"] for of in survivors)
