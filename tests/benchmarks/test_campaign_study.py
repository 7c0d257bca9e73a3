"""The campaign study: its page says what its cases say, and its parts do what they claim."""

import numpy as np
import pytest
from pytest import approx

from benchmarks.campaign import online, recorded
from benchmarks.study import DOCS, RESULTS, load

KEPT = RESULTS / "campaign"


def test_the_page_says_what_the_cases_say():
    pytest.importorskip("matplotlib")
    from benchmarks.campaign import show

    page = (DOCS / "studies" / "campaign-study.md").read_text(encoding="utf-8")
    means = show.accuracies(load(KEPT / "replay.csv", recorded.Case))
    curves = load(KEPT / "online.csv", online.Curve)
    plans = load(KEPT / "optimism.csv", online.Optimism)
    for table in (
        show.goals(means),
        show.replay_table(means),
        show.online_table(curves),
        show.saved_table(curves),
        show.optimism_table(plans),
    ):
        assert f"\n{table}\n" in page


def test_the_mean_curve_is_passed_where_a_line_says():
    pytest.importorskip("matplotlib")
    from benchmarks.campaign import show

    rising = np.linspace(0.5, 1.0, online.STEPS + 1)[1:]
    assert show.reached([rising]) == approx(0.9 * online.STEP * online.STEPS)
    shifted = [rising - 0.01, rising + 0.01]
    assert show.reached(shifted) == approx(show.reached([rising]))
    single = [show.reached([c]) for c in shifted]
    assert show.jackknife(shifted) == approx(abs(single[0] - single[1]) / 2)
    assert np.isnan(show.reached([np.full(online.STEPS, 0.9)]))


@pytest.fixture
def small(monkeypatch):
    for name, value in {"WORKERS": 15, "TASKS": 80, "STEPS": 16}.items():
        monkeypatch.setattr(online, name, value)
    return online


def test_an_adaptive_campaign_beats_equal_overlap_and_repeats_itself(small):
    found = {
        policy: small.curve("worker", policy, 3) for policy in ("static gate", "adaptive gate")
    }
    again = small.curve("worker", "adaptive gate", 3)
    assert again == found["adaptive gate"]
    static, adaptive = (np.array(c.curve.split(), dtype=float) for c in found.values())
    assert static.size == adaptive.size == 16
    assert adaptive[8:].mean() > static[8:].mean()


def test_every_policy_buys_each_pair_once_and_serves_whom_the_gate_lets_in(small):
    for policy in small.POLICIES:
        crowd = small.simulate(small.WORKERS, small.TASKS, family="worker", n_gold=10, rng=1)
        run = small._Run(crowd, policy)
        rng = np.random.default_rng(0)
        for _ in range(200):
            run.arrive(rng)
        assert run.done.sum() == run.bought == 200
        assert (run.count == run.done.sum(axis=0)).all()
        weights = np.where(run.done, run.sign * run.weights[:, None], 0.0)
        assert run.log_odds == approx(weights.sum(axis=0))
        if "gate" in policy and "refresh" not in policy:
            assert set(run.done.any(axis=1).nonzero()[0]) <= set(run.served)


def test_shrunk_skills_promise_less_than_raw_ones(small):
    raw, shrunk, _ = small.optimism("worker", 5, 0)
    assert raw.claimed - raw.reached > shrunk.claimed - shrunk.reached
    assert raw.best == shrunk.best >= shrunk.reached - 0.02
