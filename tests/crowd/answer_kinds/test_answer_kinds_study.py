"""The study of scales, pairs and several labels: it runs, resumes, and tells where peers lead."""

from dataclasses import replace

import pytest

from benchmarks.answer_kinds import page, pairs, study
from benchmarks.answer_kinds.cases import Case
from benchmarks.answer_kinds.crowds import SCALES
from benchmarks.study import load


@pytest.fixture
def small(monkeypatch):
    """One crowd of each kind of answers, the smallest."""
    monkeypatch.setattr(study, "SCALES", SCALES[:1])
    monkeypatch.setattr(study, "SIZES", {"3 steps, 5 answers": (3, 5)})
    monkeypatch.setattr(study, "PAIRS", ("honest",))
    monkeypatch.setattr(pairs, "SIZES", {"12 items, 120": (12, 15, 120)})
    monkeypatch.setattr(study, "SETS", ("lazy",))
    monkeypatch.setattr(pairs, "MOST", 120)
    monkeypatch.setattr(pairs, "REPORTED", (120,))


def test_a_small_study_runs_and_goes_on_where_it_was_stopped(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["study", "--out", str(tmp_path), "--seeds", "1", "--growing", "1"]
    )
    assert study.main() == 0
    cases = load(tmp_path / "cases.csv", Case)
    assert {case.part for case in cases} == {"scale", "pairs", "next", "labels"}
    ours = next(c for c in cases if c.part == "scale" and c.method == "scale")
    assert ours.right > 0.8
    assert abs(ours.gap) < 0.1
    before = (tmp_path / "cases.csv").read_bytes()
    assert study.main() == 0
    assert "0 fits to do" in capsys.readouterr().out
    assert (tmp_path / "cases.csv").read_bytes() == before


def test_a_peer_that_is_ahead_and_the_worst_cell_are_named():
    ours = Case("scale", "hard", "5 steps", 0, "scale", right=0.6, claimed=0.7)
    peer = replace(ours, method="median", right=0.7)
    assert page.losses([ours, peer]) == "- hard, 5 steps: median has .100 more right"
    assert page.losses([ours, replace(peer, right=0.5)]) == "No peer is ahead anywhere."
    assert (
        page.worst([ours, replace(ours, crowd="honest", claimed=0.61)]) == "+.100 (hard, 5 steps)"
    )
