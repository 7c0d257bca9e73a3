"""The rooms of the benchmarks: what each imports, that each part starts, that the docs name it."""

import ast
import importlib
import os
import re
import sys
from unittest.mock import patch

import pytest

from benchmarks.speed.__main__ import MODULES
from benchmarks.study import DOCS, ROOT

HOUSE = ROOT / "benchmarks"
ROOMS = sorted(path.parent for path in HOUSE.glob("*/__init__.py"))
FILES = sorted(path for path in HOUSE.rglob("*.py") if path.name != "__init__.py")
PARTS = [path for path in FILES if "__main__" in path.read_text(encoding="utf-8")]
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")])


def name_of(path):
    """The name by which a file is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("room", ROOMS, ids=lambda p: p.name)
def test_a_room_says_what_it_is_for_and_is_not_too_full(room):
    says = importlib.import_module(f"benchmarks.{room.name}").__doc__
    assert says.count(".\n") == 2, "what the room is for, and what does not belong in it"
    assert len(list(room.iterdir())) - (room / "__pycache__").exists() <= 16


def test_a_room_imports_what_all_share_and_itself():
    assert len(FILES) > 80
    for path in FILES:
        check_imports(path)


def check_imports(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {
        f"{node.module}.{alias.name}" if node.module == "benchmarks" else node.module
        for node in imported
        for alias in node.names
    }
    ours = {tuple(name.split(".")[1:]) for name in names if name.startswith("benchmarks")}
    room = path.relative_to(HOUSE).parts[0]
    parts = {name[0] for name in ours if not name[0].startswith(f"{path.stem}_")}  # its own second
    assert parts <= {"study", "pages", "peers", "learning", "compendium", room}, path
    if path.name in ("cases.py", "methods.py"):
        assert not {"study", "show"} & {name[-1] for name in ours}, f"a circle: {path}"


@pytest.mark.parametrize("path", PARTS, ids=name_of)
def test_a_part_that_can_be_run_says_how(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    with patch.dict(os.environ), pytest.raises(SystemExit) as ended:
        importlib.import_module(name_of(path)).main()
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


def test_all_measurements_of_speed_are_run_together():
    parts = {path.stem for path in PARTS if path.parent.name == "speed"}
    assert parts - {"__main__"} == set(MODULES)


def test_the_docs_name_modules_that_are_there():
    named = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        files = {
            f"{name.replace('.', '/')}.py"
            for name in re.findall(r"-m (benchmarks(?:\.[a-z_]+)+)", text)
        }
        files |= set(re.findall(r"(?<!tests/)benchmarks/[/\w]+\.py", text))
        assert {name for name in files if not (ROOT / name).exists()} == set(), page.name
        named += len(files)
    assert named > 15
