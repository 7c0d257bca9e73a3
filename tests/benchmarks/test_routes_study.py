"""The study of routes: at power 0 it buys what adaptive replay buys, at others something else."""

import pytest

from benchmarks.crowd import routes
from benchmarks.crowd.confidence import ASKED, GOLD, recorded
from crowd_tvcs.routing.replay import _adaptive, draw_split
from tests.benchmarks.test_crowd_confidence_study import write_set
from tvcs_core.streams import stream


@pytest.fixture
def split(tmp_path):
    write_set(tmp_path / "one", 4)
    answers, truth = recorded(str(tmp_path), "one")
    return draw_split(answers, truth, GOLD[0], per_class=False, rng=stream(0, "one"))


def test_without_a_power_labels_are_bought_as_by_replay(split):
    bought = [split.recorded.select(chosen) for _, chosen in _adaptive(split, ASKED)]
    expected = [split.score(split.posterior(answers)) for answers in bought]
    assert routes.bought_by(split, 0.0) == expected
    assert routes.bought_by(split, 1.0) != expected


def test_every_set_and_power_has_a_line(tmp_path, monkeypatch, capsys):
    write_set(tmp_path / "one", 4)
    asked = ["routes", str(tmp_path), "--splits", "2", "--powers", "0.5"]
    monkeypatch.setattr("sys.argv", asked)
    assert routes.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["one", "0", "0.5"]
    assert lines[1].split("ahead")[1].count("+0.0000 ± 0.0000") == len(ASKED)
