"""The study of the common error: what it plans with, and what it reads off."""

import numpy as np
import pytest

from benchmarks.crowd import common_error


@pytest.fixture
def data(tmp_path, rng):
    """One recorded crowd: 30 tasks of 3 classes, 8 workers, two of three pairs answered."""
    folder = tmp_path / "small"
    folder.mkdir()
    truth = rng.integers(0, 3, 30)
    labels = ["item,worker,label"]
    for j, y in enumerate(truth):
        for i in np.flatnonzero(rng.random(8) < 0.7):
            message = y if rng.random() < 0.75 else rng.integers(0, 3)
            labels.append(f"t{j},w{i},{message}")
    (folder / "label.csv").write_text("\n".join(labels) + "\n")
    rows = ["item,truth", *(f"t{j},{y}" for j, y in enumerate(truth))]
    (folder / "truth.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_recorded_crowds_are_planned_with_every_error(data):
    rows = list(common_error.recorded(data, 2))
    assert [(name, skills) for name, skills, *_ in rows] == [
        ("small", "one"),
        ("small", "per class"),
    ]
    shape = (len(common_error.CAPS), len(common_error.METHODS), 2, len(common_error.ERRORS))
    for *_, reached, claimed in rows:
        assert reached.shape == claimed.shape == shape
        assert (reached > 0.4).all()
        # The same pairs are expected to be worth less the more often workers err together.
        assert (claimed[..., -1] < claimed[..., 0]).all()


def test_simulated_plans_are_judged_by_the_true_error(monkeypatch):
    monkeypatch.setattr(common_error, "TASKS", 24)
    monkeypatch.setattr(common_error, "WORKERS", 8)
    found = common_error._simulated(0.2, "iid", "fast", 0)
    assert len(found) == len(common_error.SIMULATED)
    assert all(0.6 < value <= 0.9 for value in found)
