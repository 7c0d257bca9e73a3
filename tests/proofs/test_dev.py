"""The commands of `dev.py` on a fresh machine: each installs what it needs and no more."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import dev

ROOT = Path(dev.__file__).parent
OURS = {"tests", "benchmarks", "dev", *dev.PACKAGES}
# Modules that come with a requirement of the extra `test`, and a script for another Python.
COME_ALONG = {"dask", "starlette"}
OF_ANOTHER_PYTHON = {"tests/crowd/sync/serve_argilla.py"}


def distribution(requirement: str) -> str:
    """Return the normalised name of the distribution that a requirement asks for."""
    return re.split(r"[\[<>=; ]", requirement)[0].lower().replace("_", "-")


def imports_at_the_top(path: Path) -> set[str]:
    """Return the top-level packages that a file imports as soon as it is imported."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize(
    ("command", "extras"),
    [("demo", set()), ("test", {"test"}), ("check", {"test", "check", "bench"})],
)
def test_a_command_installs_its_extras_and_nothing_else(command, extras, monkeypatch):
    asked = []
    monkeypatch.setattr(dev, "install", lambda *names: asked.append(set(names)))
    monkeypatch.setattr(dev, "run", lambda words: 0)
    assert dev.COMMANDS[command]([]) == 0
    assert asked == [extras]


def test_tests_and_benchmarks_import_what_the_extra_test_installs():
    """A peer or a tool of another extra is imported where it is used, or hides a red test."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    installed = {distribution(requirement) for requirement in wanted}
    modules = {
        name
        for name, sources in packages_distributions().items()
        if installed & {distribution(source) for source in sources}
    }
    allowed = modules | OURS | COME_ALONG | sys.stdlib_module_names
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for top in ("tests", "benchmarks")
        for path in sorted((ROOT / top).rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in OF_ANOTHER_PYTHON
        for name in imports_at_the_top(path) - allowed
    ]
    assert offenders == []


def test_ci_runs_the_test_command_first_and_checks_afterwards():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line.split()[2] for line in lines if line.startswith("python3 dev.py")]
    assert commands[:2] == ["test", "check"]
    assert "rm -rf .venv" in lines, "an environment of before may hold more than `test`"
