"""The gallery: ten scripts that each draw what they compute, in an empty folder."""

import ast
import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "docs" / "gallery").glob("plot_*.py"))


def test_there_are_ten_and_each_has_a_title_and_says_what_it_shows():
    assert len(SCRIPTS) == 10
    for path in SCRIPTS:
        title, line, empty, *text = ast.get_docstring(ast.parse(path.read_text())).splitlines()
        assert line == "=" * len(title), path.name
        assert empty == ""
        assert text


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_draws_in_an_empty_folder(path, tmp_path, monkeypatch, few_networks):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.close("all")
    runpy.run_path(str(path))
    [figure] = map(plt.figure, plt.get_fignums())
    assert all(ax.has_data() for ax in figure.axes)
    plt.close("all")
    assert list(tmp_path.iterdir()) == []
