"""The study of claims: what it counts, and that a set left out is left out; that of routes."""

import numpy as np
import pytest
from pytest import approx

from benchmarks.campaign import routes, stopping
from benchmarks.crowd import confidence, plan_claims, sure, usual
from benchmarks.crowd.confidence import MODELS, recorded
from benchmarks.study import load
from crowd_tvcs.routing.replay import adaptive, draw_split
from crowd_tvcs.skills import dependence_loss
from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.voting.vote import vote
from tvcs_core.streams import stream


def write_set(folder, seed):
    """Record 90 tasks of two classes and six workers, with a common error; two pairs are twice."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 90)
    seen = np.where(rng.random(90) < 0.2, 1 - truth, truth)
    lines = [
        f"t{j:02d},w{i},{seen[j] if rng.random() < q else 1 - seen[j]}"
        for j in range(90)
        for i, q in enumerate(np.linspace(0.6, 0.9, 6))
    ]
    folder.mkdir()
    (folder / "label.csv").write_text("\n".join(["item,worker,label", *lines, *lines[:2]]))
    known = [f"t{j:02d},{k}" for j, k in enumerate(truth)]
    (folder / "truth.csv").write_text("\n".join(["item,truth", *known]))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    for seed, name in enumerate(("one", "two", "three")):
        write_set(folder / name, seed)
    return str(folder)


def test_a_claim_is_the_mean_over_the_splits_of_what_votes_claim_and_reach(data):
    found = {c.key: c for c in confidence.claims_of((data, "one", 0.4, MODELS, range(2)))}
    assert len(found) == 2 * 2 * 5
    claimed, reached, score, sure = [], [], [], []
    for split in confidence.splits_of(data, "one", 0.4, range(2)):
        answers, _ = confidence.recorded(data, "one")
        skill = estimate_quality(answers, split.gold)
        votes = vote(split.recorded, skill=skill)
        chances = split.posterior(split.recorded, skill)
        right = votes.label_of == split.truth
        claimed.append(votes.confidence.mean())
        reached.append(right.mean())
        score.append(np.log(chances[np.arange(right.size), split.truth]).mean())
        sure.append((votes.confidence >= 0.95).mean())
    case = found["one", 0.4, "best", "dependent", 0, 2]
    assert case.claimed == approx(np.mean(claimed))
    assert case.reached == approx(np.mean(reached))
    assert case.log_score == approx(np.mean(score))
    assert case.sure == approx(np.mean(sure))
    gap = np.subtract(claimed, reached)
    assert case.gap == approx(gap.mean())
    assert case.gap_error == approx(abs(gap[0] - gap[1]) / 2)
    independent = found["one", 0.4, "best", "independent", 0, 2]
    assert independent.claimed > case.claimed + 0.05


def test_splits_are_drawn_by_their_numbers(data):
    three, last = (
        [sorted(split.gold.labels) for split in confidence.splits_of(data, "one", 0.4, numbers)]
        for numbers in (range(3), range(2, 3))
    )
    assert last == three[2:]
    assert last[0] not in three[:2]
    both, *each = (
        confidence.claims_of((data, "one", 0.4, MODELS[:1], numbers))
        for numbers in (range(2), range(1), range(1, 2))
    )
    for case, one, other in zip(both, *each, strict=True):
        assert case.reached == approx((one.reached + other.reached) / 2)


def test_labels_of_random_workers_are_the_first_of_more(data):
    (split,) = confidence.splits_of(data, "one", 0.4, range(1))
    sizes, before = [], set()
    for k in (1, 2, 3, 5, 0):
        rows = set(confidence.seen_in(split, "random", k, np.random.default_rng(1)).rows())
        assert before <= rows
        before = rows
        sizes.append(len(rows))
    assert sizes == [54, 108, 162, 270, 324]


def test_what_is_wrong_among_the_sure_is_counted_over_all_splits():
    rows = np.array([[0.9, 0.8, -0.5, 0.5, 0.1], [0.9, 0.6, -0.5, 0.0, 0.0]])
    *_, sure, wrong = confidence.summary(rows)
    assert (sure, wrong) == (0.25, approx(0.05 / 0.25))
    assert confidence.summary(rows[1:])[-1] is None


def test_the_usual_numbers_of_a_set_left_out_are_those_of_the_others(data, monkeypatch):
    monkeypatch.setattr(usual, "SPLITS", 2)
    before = dependence_loss.PRIOR_MEAN.copy(), dependence_loss.PRIOR_DEVIATION.copy()
    mean, spread = usual.without(data, "one")
    others = np.array([usual.points_of(data, name).mean(axis=0) for name in ("two", "three")])
    assert mean == approx(others.mean(axis=0))
    assert (spread >= usual.LEAST_SPREAD).all()
    left_out = confidence.claims_of((data, "one", 0.2, (confidence.LEFT_OUT,), range(1)))
    assert [(c.model, c.order) for c in left_out] == [("left out", "best")] * 5
    with pytest.raises(RuntimeError), usual.usual_numbers(mean, spread):
        raise RuntimeError
    assert (dependence_loss.PRIOR_MEAN == before[0]).all()
    assert (dependence_loss.PRIOR_DEVIATION == before[1]).all()


def test_adaptive_labels_are_set_beside_balanced_ones_of_the_same_splits(data):
    found = {p.key: p for p in confidence.policies_of((data, "two", range(2)))}
    assert len(found) == 2 * 2 * 3
    for model in MODELS:
        for k in (1, 2, 3):
            balanced = found["two", model, "balanced", k, 2]
            adaptive = found["two", model, "adaptive", k, 2]
            assert (balanced.ahead, balanced.ahead_error) == (0.0, 0.0)
            assert adaptive.ahead == approx(adaptive.reached - balanced.reached)


@pytest.fixture
def two_crowds(tmp_path, rng):
    """Crowds of 5 workers who all see no task wrongly (`good`), or 1 in 8 (`misled`)."""
    for name, misled in (("good", 0.0), ("misled", 0.12)):
        folder = tmp_path / name
        folder.mkdir()
        truth = rng.integers(0, 2, 160)
        seen = np.where(rng.random(160) < misled, 1 - truth, truth)
        message = np.where(rng.random((160, 5)) < 0.9, seen[:, None], 1 - seen[:, None])
        rows = [f"t{j},w{i},{message[j, i]}" for j in range(160) for i in range(5)]
        (folder / "label.csv").write_text("\n".join(["item,worker,label", *rows, ""]))
        rows = [f"t{j},{y}" for j, y in enumerate(truth)]
        (folder / "truth.csv").write_text("\n".join(["item,truth", *rows, ""]))
    return tmp_path


def test_sure_labels_are_counted_by_the_posterior_and_as_gold_shows_them(
    two_crowds, monkeypatch, capsys
):
    monkeypatch.setattr(
        "sys.argv", ["sure", str(two_crowds), "--splits", "1", "--gold", ".4,.1", "--target", ".9"]
    )
    assert sure.main() == 0
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    found = {(gold, name, rule): cells for gold, name, rule, *cells in rows}
    assert len(found) == 8
    assert float(found["40%", "good", "shown"][2]) > 0.9  # right
    for name in ("good", "misled"):
        assert found["10%", name, "shown"][0] == "0"  # 16 gold tasks show nothing
    assert found["40%", "misled", "shown"][0] == "0"


def test_plans_expect_what_votes_reach(two_crowds, tmp_path, monkeypatch):
    monkeypatch.setattr(plan_claims, "simulated", lambda: {"2 classes, 0 alike": (2, 0.0)})
    numbers = (
        dependence_loss.PRIOR_MEAN,
        dependence_loss.PRIOR_DEVIATION,
    )  # of one other set there is no spread
    monkeypatch.setattr(plan_claims, "without", lambda data, name: numbers)
    words = ["plan_claims", str(two_crowds), "--splits", "1", "--out", str(tmp_path / "plans")]
    monkeypatch.setattr("sys.argv", words)
    assert plan_claims.main() == 0
    cases = load(tmp_path / "plans" / "claims.csv", plan_claims.Case)
    ways = ("best", "left out", "any", "5 % gold")
    expected = [(name, how) for how in ways for name in ("good", "misled")]
    expected += [("2 classes, 0 alike", how) for how in ("simulated", "simulated, any")]
    assert [(c.data, c.how) for c in cases[::4]] == expected
    assert [c.labels for c in cases[:4]] == [1, 2, 3, 5]
    for case in cases:
        assert 0.0 <= case.common_error < 0.6
        for off, held, wide in (
            (case.forecast, case.held, case.wide),
            (case.claimed, case.claimed_held, case.claimed_wide),
        ):
            assert held == (abs(off) < wide / 2) or held in (0.0, 1.0)
            assert 0.0 < wide < 0.6
    assert np.mean([case.held for case in cases]) >= 0.75
    assert max(abs(case.expected) for case in cases if case.how == "best") < 0.2


def test_a_row_is_the_mean_over_the_splits():
    result = [
        plan_claims.PlanOutcome(
            0.8, AccuracyForecast(0.7, 0.6, 0.8, 9), AccuracyForecast(0.9, 0.85, 0.95, 9), 0.75
        ),
        plan_claims.PlanOutcome(
            0.6, AccuracyForecast(0.7, 0.5, 0.9, 9), AccuracyForecast(0.9, 0.75, 0.95, 9), 0.8
        ),
    ]
    found = list(plan_claims.summary(result))
    assert found[:2] == approx([(0.05 - 0.2) / 2, 0.125])
    assert found[2:6] == approx([-0.075, 0.025, 1.0, 0.3])
    assert found[6:] == approx([0.125, 0.025, 0.5, 0.15])


@pytest.fixture
def one_split(tmp_path):
    write_set(tmp_path / "one", 4)
    answers, truth = recorded(str(tmp_path), "one")
    return draw_split(answers, truth, routes.GOLD_SHARE, per_class=False, rng=stream(0, "one"))


def test_without_a_power_labels_are_bought_as_by_replay(one_split):
    split = one_split
    bought = [split.recorded.select(chosen) for _, chosen in adaptive(split, routes.ASKED)]
    expected = [split.score(split.posterior(answers)) for answers in bought]
    assert routes.bought_by(split, 0.0) == expected
    assert routes.bought_by(split, 1.0) != expected


def test_every_set_and_power_of_the_routes_has_a_line(tmp_path, monkeypatch, capsys):
    write_set(tmp_path / "one", 4)
    asked = ["routes", str(tmp_path), "--splits", "2", "--powers", "0.5"]
    monkeypatch.setattr("sys.argv", asked)
    assert routes.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["one", "0", "0.5"]
    assert lines[1].split("ahead")[1].count("+0.0000 ± 0.0000") == len(routes.ASKED)


def test_a_label_beside_a_target_is_one_that_independent_workers_would_buy_too(one_split):
    """So no more labels are bought than by the rule for them, at the same price."""
    shop = stopping.Shop(one_split, is_fixed=True, anybody=False)
    found = dict(stopping.rules(shop, [stopping.TODAY, 1e-4]))
    assert 1.0 <= found["worth 0.01"].labels <= found["today"].labels
    assert found["worth 0.0001"].labels > found["worth 0.01"].labels
