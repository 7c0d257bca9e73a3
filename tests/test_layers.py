"""Who may import whom (docs/decisions, CONTRIBUTING)."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"tvcs_core", "grn_tvcs", "crowd_tvcs"}
MODULES = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))
# Command lines may be heavier, and scikit-learn's face of the core is loaded on demand.
ON_DEMAND = {"tvcs_core/cli.py", "tvcs_core/estimators.py"}


def imports(path: Path) -> set[str]:
    """Every module that a file names in an import, whole."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            found.add(node.module)
    return found


def outside(path: Path) -> set[str]:
    """Packages a file imports that are neither ours nor of the standard library."""
    return {name.split(".")[0] for name in imports(path)} - OURS - sys.stdlib_module_names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path):
    name = str(path.relative_to(ROOT))
    package = path.relative_to(ROOT).parts[0]
    ours = {module for module in imports(path) if module.split(".")[0] in OURS}
    others = OURS - {package} - ({"tvcs_core"} if package != "tvcs_core" else set())
    assert not {m for m in ours if m.split(".")[0] in others}
    if package == "tvcs_core" and name not in ON_DEMAND:
        assert outside(path) <= {"numpy", "scipy", "numba", "llvmlite"}
    if "kernels" in path.name or "kernels" in path.parts:
        allowed = {"numpy", "numba", "math", "tvcs_core"}
        assert {m.split(".")[0] for m in imports(path)} - {"__future__"} <= allowed | {package}
    if "methods" in path.parts and path.name != "__init__.py":
        parts = {part for module in ours for part in module.split(".")}
        assert not parts & {"methods", "scores", "report", "cli"}
    if path.name != "plot.py":
        assert "matplotlib" not in outside(path)


def test_importing_the_core_loads_no_heavy_package():
    script = (
        "import sys, tvcs_core\n"
        "heavy = {'pandas', 'sklearn', 'matplotlib', 'networkx', 'typer'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_no_module_is_called_by_a_name_that_says_nothing():
    assert not {p.stem for p in MODULES} & {"utils", "helpers", "common", "misc"}


@pytest.mark.parametrize("package", sorted(OURS))
def test_no_public_name_is_hidden_by_a_module(package):
    names = set(importlib.import_module(package).__all__)
    assert not names & {path.stem for path in (ROOT / package).iterdir()}
