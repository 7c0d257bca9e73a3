"""The crowd study goes on where it was stopped, and its page says what its cases say."""

import sys

import pytest

from benchmarks.crowd import study
from benchmarks.crowd.cases import SIZES, Case
from benchmarks.study import load


def run(monkeypatch, out, *more):
    monkeypatch.setitem(SIZES, "100x1000", (10, 40))
    words = "--sizes 100x1000 --repeats 1 --ratios .1 .2 --methods random qlp --families iid topic"
    monkeypatch.setattr(sys, "argv", ["study", "--out", str(out), *words.split(), *more])
    assert study.main() == 0
    return load(out / "cases.csv", Case)


def test_a_study_that_was_stopped_in_the_middle_of_a_row_goes_on(monkeypatch, tmp_path):
    whole = run(monkeypatch, tmp_path)
    assert len(whole) == 8
    path = tmp_path / "cases.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:4]) + lines[4][:9], encoding="utf-8")
    again = run(monkeypatch, tmp_path)
    assert [case.key for case in again] == [case.key for case in whole]
    assert [case.error for case in again] == [case.error for case in whole]


def test_a_method_that_changed_is_computed_again_and_the_others_are_kept(monkeypatch, tmp_path):
    before = run(monkeypatch, tmp_path)
    asked = []
    compute = study.compute
    monkeypatch.setattr(study, "compute", lambda *key: asked.append(key[:5]) or compute(*key))
    after = run(monkeypatch, tmp_path, "--again", "qlp")
    assert {key[-1] for key in asked} == {"qlp"}
    assert [(case.key, case.error) for case in after] == [(c.key, c.error) for c in before]


def test_means_are_over_the_crowds_that_all_methods_of_a_cell_have():
    pytest.importorskip("matplotlib")
    from benchmarks.crowd import show

    def case(method, repeat, error):
        return Case("100x1000", "iid", 0.1, repeat, method, 10, error, error, error, 1.0)

    cases = [case("best", 0, 0.1), case("fast", 0, 0.2), case("fast", 1, 0.9)]
    row = show.averaged(cases)["100x1000", "iid"][0.1]
    assert row["fast"].error == 0.2
    assert row["fast"].repeat == 1


def test_the_page_says_which_goals_are_reached(monkeypatch):
    pytest.importorskip("matplotlib")
    from benchmarks.crowd import show

    cases = [
        Case("100x1000", "iid", ratio, 0, method, 10, error, error, bound, 1.0)
        for ratio, bound in ((0.05, 0.019), (0.1, float("nan")))
        for method, error in (("best", 0.02), ("qlp", 0.04), ("tvcs", 0.04), ("fast", 0.03))
    ]
    table = show.goals(show.averaged(cases))
    assert "| error of `best` / of `qlp` | 100x1000 iid | 0.05 | 0.66 | 0.5 | yes |" in table
    assert "| error of `tvcs` | 100x1000 iid | 0.05 | 0.03 | 0.04 | **no** |" in table
    assert "| gap of `best` / error | 100x1000 iid | 0.01 to 0.05 | 0.001 | not run |  |" in table
    row = show.averaged(cases)["100x1000", "iid"]
    assert show.gap(row[0.05]) == pytest.approx(0.05)
    both = show.Goal("gap", "iid", (0.05, 0.1), 0.1, show.gap)
    monkeypatch.setattr(show, "GOALS", [both])
    assert "| 0.05 to 0.1 | 0.1 | no bound | **no** |" in show.goals(show.averaged(cases))


def test_the_page_names_where_we_lose_and_what_is_not_proved(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.crowd import show

    def case(method, ratio, error, bound=float("nan")):
        return Case("100x1000", "iid", ratio, 0, method, 10, error, error, bound, 1.0)

    cases = [
        *(case("best", 0.1, 0.02, 0.0199), case("fast", 0.1, 0.021), case("qlp", 0.1, 0.03)),
        *(case("best", 0.2, 0.012), case("fast", 0.2, 0.011), case("random", 0.2, 0.01)),
    ]
    (tmp_path / "studies").mkdir()
    show.write_docs(cases, tmp_path)
    page = (tmp_path / "studies" / "crowd-study.md").read_text(encoding="utf-8")
    assert "| 0.1 |  | 0.03000 |  | 0.02100 |  | 0.02000 | 0.01990 |" in page
    assert "100x1000 iid at 0.2: 0.01200, fast has 0.01100" in page
    assert "100x1000 iid at 0.2: 0.01100, random has 0.01000" in page
    assert "`tvcs`: nowhere worse" not in page
    assert "proves no bound within the time limit: 100x1000 iid at 0.2" in page
    assert "more than .1 % of the error: 100x1000 iid at 0.1 (0.50% of the error)" in page
    assert (tmp_path / "figures" / "crowd-study-100x1000.svg").read_text().startswith("<?xml")
