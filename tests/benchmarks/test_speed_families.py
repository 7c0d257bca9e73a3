"""The speed of every family: rows that stay, peers that agree, a page that says what loses."""

import dataclasses
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.speed import families
from benchmarks.speed.families import Cell, Task
from benchmarks.speed.families_page import page, write_page
from benchmarks.speed.matrices import FAMILIES, read_qualities
from benchmarks.study import load

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(find_spec("ortools") is None, reason="the extra bench is not installed"),
]


def study(monkeypatch, out, *words):
    """Measure tables of 6 x 8; the rows that are kept then."""
    few = ["--sizes", "6x8", "--ratios", ".5", "--seeds", "1", "2"]
    monkeypatch.setattr(sys, "argv", ["families", "--out", str(out), *few, *words])
    assert families.main() == 0
    return load(out / "cells.csv", Cell)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("caps", ["varied", "ones"])
def test_every_family_is_measured_and_its_peers_agree(family, caps):
    """`measure` ends with an error where OR-Tools or scipy keep more or less than we."""
    task = Task(family, 7, 9, caps, "loose", 0.3, 1, quick=True)
    (cell,) = families.measure(task)
    assert cell.key == task.key
    assert min(cell.ours, cell.ortools, cell.build) > 0
    assert (cell.scipy is None) == (caps != "ones")


def test_a_study_goes_on_where_it_was_stopped(monkeypatch, tmp_path):
    words = ["--families", "gauss", "ties", "--caps", "uniform", "--totals", "loose"]
    first = study(monkeypatch, tmp_path, *words, "--families", "gauss")
    path = tmp_path / "cells.csv"
    text = path.read_text()
    path.write_text(text[:-20])
    second = study(monkeypatch, tmp_path, *words)
    assert [c.key[0] for c in second] == ["gauss", "gauss", "ties", "ties"]
    assert second[0] == first[0]


def test_rows_of_other_code_are_measured_anew_when_that_is_asked_for(monkeypatch, tmp_path):
    words = ["--families", "gauss", "--caps", "uniform", "--totals", "loose"]
    study(monkeypatch, tmp_path, *words)
    path = tmp_path / "cells.csv"
    path.write_text(path.read_text().replace(families.code(), "0000beef"))
    assert {c.code for c in study(monkeypatch, tmp_path, *words)} == {"0000beef"}
    assert {c.code for c in study(monkeypatch, tmp_path, *words, "--stale")} == {families.code()}


def test_rows_of_another_machine_do_not_join(monkeypatch, tmp_path):
    (tmp_path / "machine.txt").write_text("a faster one\n")
    with pytest.raises(SystemExit, match="another machine: a faster one"):
        study(monkeypatch, tmp_path, "--families", "gauss")


def test_the_quick_form_fails_nobody_and_keeps_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(families, "code", lambda: "slow")
    slow = families.measure

    def slower(task):
        return [dataclasses.replace(cell, ours=1e6) for cell in slow(task)]

    monkeypatch.setattr(families, "measure", slower)
    words = ["--quick", "--sizes", "6x8", "--families", "gauss"]
    monkeypatch.setattr(sys, "argv", ["families", "--out", str(tmp_path), *words])
    assert families.main() == 0
    assert "6 x 8: OR-Tools is faster in 4 of 4 rows" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_an_answer_that_differs_ends_the_run(monkeypatch):
    less = families.flow_of_matrix
    monkeypatch.setattr(families, "flow_of_matrix", lambda *a: (*less(*a)[:2], 0.999 * less(*a)[2]))
    with pytest.raises(AssertionError, match=r"ours keeps .*, OR-Tools .*gauss"):
        families.measure(Task("gauss", 7, 9, "uniform", "loose", 0.3, 1, quick=True))


def test_the_page_begins_with_what_loses_and_has_a_row_for_every_family(tmp_path):
    times = {"code": "c", "build": 0.1, "scipy": None, "highs": None}
    cells = [
        Cell(family, 100, 100, "uniform", total, 0.2, seed, ours=1.0, ortools=speed, **times)
        for family, slow in (("sums", 0.5), ("gauss", 3.0))
        for total in ("binding", "loose")
        for seed, speed in ((1, 4.0), (2, slow))
    ]
    text = "\n".join(page(cells, "this machine"))
    loses, rest = text.split("## By family and size")
    assert "in 2 of 4 cells" in loses
    rows = [line for line in loses.splitlines() if line.startswith("| 100 x 100")]
    assert len(rows) == 2
    assert all("| sums |" in row and "| 0.50 | 2.25 |" in row for row in rows)
    assert "| sums | 0.5 / 2.2 |" in rest
    assert "| gauss | 3 / 3.5 |" in rest


def test_the_page_is_written_from_the_rows(monkeypatch, tmp_path):
    study(monkeypatch, tmp_path, "--families", "gauss", "ties")
    (tmp_path / "studies").mkdir()
    write_page(tmp_path, tmp_path)
    text = (tmp_path / "studies" / "projection-families.md").read_text()
    assert text.startswith("# Where the projection wins")
    assert "## All caps 1" in text
    assert families.machine() in text


def test_the_qualities_are_those_of_the_file(rng, tmp_path):
    file = tmp_path / "quality.csv"
    file.write_text("worker,a,b\nv,.5,.75\nw,1,.25\n")
    assert read_qualities(file).tolist() == [[0.5, 0.75], [1.0, 0.25]]
    drawn = families.qualities(rng, 3, 4, file=file)
    assert drawn.shape == (3, 4)
    assert np.isin(drawn, [0.0, 0.5, 1.0, -0.5]).all()
