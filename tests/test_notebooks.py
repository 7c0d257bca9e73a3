"""The notebooks run from top to bottom, and are kept without what they print."""

import ast
import json
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[dict]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def run(source: str, name: str, names: dict) -> str:
    """Run a cell as a notebook does; what it would show of its last line."""
    tree = ast.parse(source, name)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        exec(compile(tree, name, "exec"), names)
        return ""
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, name, "exec"), names)
    shown = eval(compile(last, name, "eval"), names)
    html = getattr(shown, "_repr_html_", None)
    return html() or repr(shown) if html else repr(shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, monkeypatch, few_networks):
    monkeypatch.chdir(path.parent)
    names: dict = {"__name__": "__main__"}
    with mpl.rc_context({"backend": "agg"}):
        for number, cell in enumerate(cells(path, "code"), start=1):
            run("".join(cell["source"]), f"{path.name}, code cell {number}", names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_output(path):
    for cell in cells(path, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_link_of_a_notebook_leads_somewhere(path):
    for cell in cells(path, "markdown"):
        for _, _, rest in (part.partition("](") for part in "".join(cell["source"]).split("[")[1:]):
            target = rest.partition(")")[0]
            if target and not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name} links to {target}"
