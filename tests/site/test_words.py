"""How long pages are: a topic is read in one sitting, and studies have a book of their own."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_WORDS = 2_500
TOPICS = sorted(DOCS.glob("*.md"))


@pytest.mark.parametrize("page", TOPICS, ids=lambda path: path.name)
def test_a_topic_has_2500_words_at_most(page):
    assert len(page.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_no_table_is_cut_by_an_empty_line(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    for before, line, after, below in zip(lines, lines[1:], lines[2:], lines[3:], strict=False):
        if before.startswith("|") and not line and after.startswith("|"):
            assert below.startswith(("|--", "| --")), after


def test_the_changelog_is_one_page():
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split()) <= 1_500


def test_every_study_is_listed_with_what_it_is_about():
    index = (DOCS / "studies.md").read_text(encoding="utf-8")
    studies = {path.relative_to(DOCS).as_posix() for path in (DOCS / "studies").glob("*.md")}
    assert studies
    assert {study for study in studies if f"]({study}) | " not in index} == set()
