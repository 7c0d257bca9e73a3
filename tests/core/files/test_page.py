"""Pages are filled in one way, and their curves stand between round numbers."""

import ast
from pathlib import Path

import numpy as np
import pytest
from jinja2 import UndefinedError

from tvcs_core.files.page import (
    ABOVE,
    BELOW,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Axes,
    fill_page,
    round_numbers,
)

ROOT = Path(__file__).parents[3]


def test_what_is_filled_in_is_escaped_and_nothing_may_be_missing():
    page = fill_page("tvcs_core.files", "page.html.j2", title="<b>&")
    assert "<title>&lt;b&gt;&amp;</title>" in page
    with pytest.raises(UndefinedError, match="title"):
        fill_page("tvcs_core.files", "page.html.j2")


def test_templates_are_filled_in_one_place():
    users = [
        path.name
        for package in ("tvcs_core", "grn_tvcs", "crowd_tvcs")
        for path in (ROOT / package).rglob("*.py")
        if "jinja2" in path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "jinja2"
    ]
    assert users == ["page.py"]


def test_the_corners_of_the_axes_leave_room_for_the_numbers():
    axes = Axes(40, 0.5, 0.9)
    assert (axes.across(0), axes.down(0.9)) == (LEFT, ABOVE)
    assert (axes.across(40), axes.down(0.5)) == (WIDTH - RIGHT, HEIGHT - BELOW)
    drawn = axes.drawn([(0.7, "70 %")], [(20, "20")])
    assert drawn["lines"] == [(pytest.approx((ABOVE + HEIGHT - BELOW) / 2), "70 %")]
    assert drawn["marks"] == [(pytest.approx((LEFT + WIDTH - RIGHT) / 2), "20")]
    assert (drawn["right"], drawn["bottom"]) == (axes.across(40), axes.down(0.5))


@pytest.mark.parametrize(
    ("low", "high"), [(0.5, 1), (0.97, 0.9701), (0, 1), (0, 12345), (0.9, 0.9), (1, 1)]
)
def test_round_numbers_are_few_and_hold_what_they_must(low, high):
    lines = round_numbers(low, high)
    assert 2 <= len(lines) <= 8
    assert lines[0] <= low + 1e-9
    assert lines[-1] >= high - 1e-9
    assert (np.diff(lines) > 0).all()
