"""How long pages are: a topic is read in one sitting, and studies have a book of their own."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_WORDS = 2_500


def test_a_topic_has_2500_words_at_most():
    words = {page.name: len(page.read_text("utf-8").split()) for page in DOCS.glob("*.md")}
    assert words
    assert {name: n for name, n in words.items() if n > MOST_WORDS} == {}


def test_no_table_is_cut_by_an_empty_line():
    cut = re.compile(r"^\|.*\n\n(\|.*)\n(?!\|--|\| --)", re.MULTILINE)
    found = {page.name: cut.findall(page.read_text("utf-8")) for page in DOCS.rglob("*.md")}
    assert len(found) > 200
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_changelog_is_one_page():
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split()) <= 1_500


def test_every_study_is_listed_with_what_it_is_about():
    index = (DOCS / "studies.md").read_text(encoding="utf-8")
    studies = {path.relative_to(DOCS).as_posix() for path in (DOCS / "studies").glob("*.md")}
    assert studies
    assert {study for study in studies if f"]({study}) | " not in index} == set()
