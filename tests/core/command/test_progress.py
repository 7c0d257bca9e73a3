"""How long is left, by a clock that tests turn on."""

from types import SimpleNamespace

import pytest

from tvcs_core.command import progress as module
from tvcs_core.command.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as Progress sees them."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def told(tell, clock, capsys, seconds, done, of):
    """What is said when so much is done at this time."""
    clock.seconds = seconds
    tell(done, of)
    return capsys.readouterr().err


def test_the_time_left_is_that_of_all_stages(clock, capsys):
    """Two folds of 30 halves, then 40 halves; a half takes 10 s, and 20 of the 40 were kept."""
    with Progress("parts") as progress:
        folds, network = progress.stages(60, 40)
        assert told(folds, clock, capsys, 300, 50, 100) == ""
        assert told(folds, clock, capsys, 600, 100, 100) == "parts: 60 of 100, 7 min left\n"
    with progress:
        assert "20 of 100" not in told(network, clock, capsys, 601, 20, 40)
        assert told(network, clock, capsys, 621, 22, 40) == "parts: 82 of 100, 3 min left\n"
        assert told(network, clock, capsys, 801, 40, 40) == "parts: 100 of 100, 1 s left\n"


def test_what_a_resumed_run_finds_took_no_time(clock, capsys):
    with Progress("parts") as progress:
        stage, last = progress.stages(50, 10)
        told(stage, clock, capsys, 1, 40, 50)
        assert told(stage, clock, capsys, 21, 42, 50) == "parts: 42 of 60, 3 min left\n"
        assert told(stage, clock, capsys, 101, 50, 50) == "parts: 50 of 60, 2 min left\n"
        told(last, clock, capsys, 102, 8, 10)
        assert told(last, clock, capsys, 112, 9, 10) == "parts: 59 of 60, 10 s left\n"


def test_stages_may_go_on_side_by_side(clock, capsys):
    with Progress("parts") as progress:
        folds, network = progress.stages(60, 40)
        told(folds, clock, capsys, 100, 1, 2)
        told(network, clock, capsys, 101, 2, 40)
        assert told(network, clock, capsys, 121, 12, 40) == "parts: 42 of 100, 2 min left\n"
        assert told(folds, clock, capsys, 161, 2, 2) == "parts: 72 of 100, 42 s left\n"
        assert told(network, clock, capsys, 201, 40, 40) == "parts: 100 of 100, 1 s left\n"


def test_one_stage_counts_as_it_did(clock, capsys):
    with Progress("targets") as progress:
        assert told(progress, clock, capsys, 5, 1, 9) == ""
        assert told(progress, clock, capsys, 9, 2, 9) == ""  # a line now and then
        assert told(progress, clock, capsys, 15, 3, 9) == "targets: 3 of 9, 30 s left\n"
