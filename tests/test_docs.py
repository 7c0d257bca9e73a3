"""The README and the docs keep their word: every block runs, every link leads somewhere."""

import doctest
import importlib
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import crowd_tvcs
import grn_tvcs
import tvcs_core

ROOT = Path(__file__).parents[1]
PACKAGES = [tvcs_core, grn_tvcs, crowd_tvcs]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").rglob("*.md")])
COMMANDS = ("tvcs", "grn-tvcs", "crowd-tvcs")


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def public_names():
    """Every public function and class, and the public methods of the classes."""
    for package in PACKAGES:
        for name in package.__all__:
            thing = getattr(package, name)
            if callable(thing):
                yield f"{package.__name__}.{name}", thing
            if inspect.isclass(thing):
                for part, value in vars(thing).items():
                    if not part.startswith("_") and (
                        callable(value) or isinstance(value, property)
                    ):
                        yield f"{package.__name__}.{name}.{part}", value


def test_a_public_name_is_documented():
    names = dict(public_names())
    assert len(names) > 150
    assert [name for name, thing in names.items() if not inspect.getdoc(thing)] == []


def test_all_is_the_public_surface():
    for package in PACKAGES:
        shown = {
            name
            for name, value in vars(package).items()
            if not name.startswith("_") and not inspect.ismodule(value)
        }
        assert shown - {"TYPE_CHECKING", "lazy_exports"} <= set(package.__all__)
        assert len(package.__all__) == len(set(package.__all__))
        assert [name for name in package.__all__ if getattr(package, name) is None] == []
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = package.nothing


def modules():
    """The name and the file of every module of ours."""
    for package in PACKAGES:
        root = Path(package.__path__[0])
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root.parent).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__"), path


MODULES = dict(modules())
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>> " in path.read_text("utf-8")]


def test_extras_that_pages_name_can_be_installed():
    """The project is on no package index: extras come from its folder, and exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    sources = [path for p in PACKAGES for path in Path(p.__path__[0]).rglob("*.py")]
    for path in [*PAGES, *sources, *(ROOT / "notebooks").glob("*.ipynb")]:
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"pip install [\"'`]*tvcs", text), path
        named = re.findall(r"""["'`]\.\[(\w+)\]|to_install\(["'](\w+)""", text)
        assert {name for pair in named for name in pair if name} <= extras, path


def test_every_module_can_be_imported():
    assert len(MODULES) > 500
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_true(name):
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted
    assert results.failed == 0


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A copy of what a reader of the README has before them."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_readme_run(workplace):
    ran = 0
    for block in blocks(ROOT / "README.md", "console"):
        for line in block.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if not line.startswith("$ ") or words[0] not in COMMANDS:
                continue
            program = shutil.which(words[0], path=str(Path(sys.executable).parent))
            assert program, f"{words[0]} is not installed"
            result = subprocess.run([program, *words[1:]], capture_output=True, text=True)
            assert result.returncode == 0, f"{line}\n{result.stderr}"
            ran += 1
    assert ran >= 5


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, workplace, few_networks):
    names = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), names)


def test_the_first_two_commands_of_the_readme_are_demo_and_test():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.+?)(?:\s+#.*)?$", text, flags=re.MULTILINE)
    assert commands[:2] == ["python3 dev.py demo", "python3 dev.py test"]


def row_of_a_crowd_method(name, method):
    """The line of docs/crowds.md about a method."""
    settles, is_paid = ({"min_workers_per_task", "forced"}, {"money", "group"})
    words = (settles <= method.honours, is_paid <= method.honours, method.proves_bound)
    return [f"`{name}`", method.about, *("yes" if word else "no" for word in words)]


def row_of_a_network_method(name, method):
    """The line of docs/networks.md about a method."""
    about = method.about[0].removesuffix(".").replace("``", "`")
    words = (method.selects, method.takes_steady_states)
    options = ", ".join(f"`{option}`" for option in method.options)
    return [f"`{name}`", about, *("yes" if word else "no" for word in words), options or "none"]


@pytest.mark.parametrize(
    ("page", "methods", "row"),
    [
        ("crowds.md", crowd_tvcs.METHODS, row_of_a_crowd_method),
        ("networks.md", grn_tvcs.METHODS, row_of_a_network_method),
    ],
)
def test_the_table_of_methods_says_what_their_records_say(page, methods, row):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    table = re.search(r"^## (?:M|Other m)ethods\n.*?^\|[-|]+\|\n(.*?)^$", text, re.M | re.S)
    wanted = [f"| {' | '.join(row(name, method))} |" for name, method in methods.items()]
    assert table[1].splitlines() == wanted, f"docs/{page} must say:\n" + "\n".join(wanted)


def test_a_link_of_a_page_leads_somewhere():
    dead = [
        f"{page.name} links to {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if not target.startswith(("http:", "https:", "mailto:"))
        and not (page.parent / target).exists()
    ]
    assert dead == []


def test_a_file_that_a_page_names_is_there():
    there = [
        path.relative_to(ROOT).as_posix()
        for top in ("tvcs_core", "grn_tvcs", "crowd_tvcs", "benchmarks", "tests")
        for path in (ROOT / top).rglob("*.py")
    ]
    there += ["dev.py"]
    for page in PAGES:
        for name in re.findall(r"`([a-z_/0-9]+\.py)`", page.read_text(encoding="utf-8")):
            assert any(f"/{path}".endswith(f"/{name}") for path in there), f"{page}: {name}"
