"""The page of the proofs shows the counts that are kept, and its tables add them up."""

import json

from tests.proofs import counts
from tests.proofs.counts import KEPT, note
from tests.proofs.page import PAGE, TABLES, mutants, together, written


def test_the_page_is_what_the_counts_give():
    page = PAGE.read_text(encoding="utf-8")
    assert written(page, json.loads(KEPT.read_text(encoding="utf-8"))) == page


def test_cases_of_one_command_are_added_up():
    cases = {
        "vote gold": {"files": 1000, "seconds at most": 0.25, "commit": "b1"},
        "vote prior": {"files": 30, "seconds at most": 1.5, "commit": "a1"},
        "vote table": {"files": 0, "commit": "b1"},
        "assign": {"files": 2, "commit": "b1"},
    }
    assert together(cases, ["files", "seconds at most"], " ") == [
        ["vote", "3", "1,030", "1.5", "b1, a1"],
        ["assign", "1", "2", "0.0", "b1"],
        ["all", "4", "1,032", "1.5", ""],
    ]


def test_mutants_of_a_target_are_added_up_and_their_share_is_rounded_down(tmp_path):
    files = {
        "a.py": {"tried": 1000, "killed": 899, "late": 2},
        "b.py": {"tried": 9, "killed": 9, "late": 1},
    }
    (tmp_path / "some.json").write_text(
        json.dumps({"commit": "abc1234", "mutants": 2000, "files": files})
    )
    assert mutants(tmp_path).splitlines()[2:] == [
        "| some | abc1234 | 2 | 2,000 | 1,009 | 908 | 3 | 101 | 89.9 |"
    ]


def test_counts_replace_those_of_their_case_and_no_others(tmp_path, monkeypatch, capsys):
    place = tmp_path / "counts.json"
    monkeypatch.setenv("TVCS_COUNTS", str(place))
    monkeypatch.setattr(counts, "commit_here", lambda: "abc1234")
    note("kills", "vote", kills=3)
    note("kills", "assign", kills=4)
    note("kills", "vote", kills=5)
    assert json.loads(place.read_text()) == {
        "kills": {
            "vote": {"commit": "abc1234", "kills": 5},
            "assign": {"commit": "abc1234", "kills": 4},
        }
    }
    monkeypatch.delenv("TVCS_COUNTS")
    note("kills", "vote", kills=6)
    assert json.loads(place.read_text())["kills"]["vote"]["kills"] == 5
    assert capsys.readouterr().out.startswith("kills, vote: 3 kills\n")
    assert "kills" in TABLES
