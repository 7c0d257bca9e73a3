"""Decisions: a file each, 60 to 120 words; the index has them all; what code names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
FILES = sorted(DECISIONS.glob("[0-9]*.md"))
SOURCES = [
    path
    for top in ("tvcs_core", "grn_tvcs", "crowd_tvcs", "benchmarks", "tests", "docs")
    for ending in ("*.py", "*.md")
    for path in (ROOT / top).rglob(ending)
]
# "decision 12", "decisions 19 and 159", "docs/decisions, 64 and 65"
NAMED = r"(?i)\bdecisions?(?:\]\([^)]*\))?,? ((?:\d+(?:, | and )?)+)"


def numbers():
    return [int(path.name[:3]) for path in FILES]


def test_a_decision_is_60_to_120_words_under_its_number():
    assert len(FILES) > 100
    assert len(set(numbers())) == len(FILES)
    for path in FILES:
        heading, _, text = path.read_text(encoding="utf-8").partition("\n")
        assert re.match(rf"# {int(path.name[:3])}\. \S", heading), path.name
        assert 60 <= len(text.split()) <= 120, path.name


def test_the_index_has_every_decision_once_by_its_title():
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- (\d+): \[(.+)\]\((\S+)\)$", index, flags=re.MULTILINE)
    assert sorted(name for _, _, name in listed) == [path.name for path in FILES]
    for number, title, name in listed:
        text = (DECISIONS / name).read_text(encoding="utf-8")
        assert text.startswith(f"# {number}. {title}\n"), name


def test_a_decision_that_is_named_is_there():
    there, named = set(numbers()), set()
    for path in SOURCES:
        for words in re.findall(NAMED, path.read_text(encoding="utf-8")):
            found = {int(number) for number in re.findall(r"\d+", words)}
            assert found <= there, f"{path}: {found - there}"
            named |= found
    assert len(named) > 20
