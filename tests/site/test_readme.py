"""The README's examples print what it shows, in an empty folder, and its picture is drawn anew."""

import doctest
import re
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```pycon\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
LARGEST = 60_000  # bytes: a page that loads at once on a slow line


def test_there_is_an_example_of_five_lines_for_each_reader():
    assert [len(re.findall(r"^>>> ", block, re.MULTILINE)) for block in EXAMPLES] == [5, 5, 5]


def test_the_examples_print_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner()
    for number, block in enumerate(EXAMPLES):
        example = doctest.DocTestParser().get_doctest(block, {}, f"example {number}", None, 0)
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0
    assert list(tmp_path.iterdir()) == []


def size_of(picture):
    """Width and height of a PNG, from its header."""
    return struct.unpack(">II", picture.read_bytes()[16:24])


def test_the_picture_is_small_and_drawn_by_its_command(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "docs" / "extensions")
    import first_picture

    try:
        first_picture.draw(tmp_path / "drawn.png")
    finally:
        del sys.modules["first_picture"]
    shown = first_picture.PICTURE
    assert f"](docs/figures/{shown.name})" in TEXT
    assert shown.stat().st_size < LARGEST
    assert size_of(tmp_path / "drawn.png") == size_of(shown)
