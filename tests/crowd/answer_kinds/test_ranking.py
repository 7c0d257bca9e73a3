"""Comparisons of pairs: slow twins, laws, next pairs, simulated crowds, the command."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import kendalltau

from benchmarks.answer_kinds.crowds import pair_crowd
from crowd_tvcs.answer_kinds import davidson
from crowd_tvcs.answer_kinds.comparisons import (
    Comparisons,
    read_comparisons,
    read_known_orders,
)
from crowd_tvcs.answer_kinds.davidson import fit_davidson
from crowd_tvcs.answer_kinds.next_pairs import expected_information, next_pairs
from crowd_tvcs.answer_kinds.ranking import pair_differences, rank_items, typical_chances
from tests.makers.commands import check_done, check_refused, crowd_tvcs
from tests.makers.tables import rows_of
from tvcs_core import DataError
from tvcs_core.streams import stream

HEADER = "worker,left,right,answer"


def chances(theta, weight, side, tie, common, i, j, w):
    """Left, right, tie, by the formula."""
    u = (weight[w] * (theta[i] - theta[j]) + common[0] + side[w]) / 2
    parts = [math.exp(u), math.exp(-u), math.exp(common[1] + tie[w])]
    return [part / sum(parts) for part in parts]


def slow_loss(x, data, variance):
    """The negative log posterior, answer by answer."""
    n, w = len(data.items), len(data.workers)
    theta, weight, side, tie = x[:n], x[n : n + w], x[n + w : n + 2 * w], x[n + 2 * w : n + 3 * w]
    loss = sum(t * t for t in theta) / (2 * variance)
    for a, s, v in zip(weight, side, tie, strict=True):
        loss += (a - 1) ** 2 / (2 * 0.5**2) + s**2 / (2 * 0.4**2) + v**2 / (2 * 0.8**2)
    loss += (sum(weight) / w - 1) ** 2 / (2 * 0.05**2)
    loss += x[-2] ** 2 / (2 * 0.3**2) + (x[-1] + 1) ** 2 / (2 * 1.5**2)
    columns = (data.left_of, data.right_of, data.worker_of, data.answer_of)
    for i, j, who, answer in zip(*columns, strict=True):
        loss -= math.log(chances(theta, weight, side, tie, x[-2:], i, j, who)[answer])
    return loss


def slow_information(x, data, variance):
    """The expected information, by differences of the chances of every answer."""
    d = x.size
    out = np.zeros((d, d))
    n, w = len(data.items), len(data.workers)
    for i, j, who in zip(data.left_of, data.right_of, data.worker_of, strict=True):

        def logs(y, i=i, j=j, who=who):
            parts = y[:n], y[n : n + w], y[n + w : n + 2 * w], y[n + 2 * w : n + 3 * w], y[-2:]
            return np.log(chances(*parts, i, j, who))

        slope = np.column_stack(
            [(logs(x + 1e-6 * e) - logs(x - 1e-6 * e)) / 2e-6 for e in np.eye(d)]
        )
        out += slope.T @ (np.exp(logs(x))[:, None] * slope)
    prior = [1 / variance] * n + [0.5**-2] * w + [0.4**-2] * w + [0.8**-2] * w + [0.3**-2, 1.5**-2]
    out += np.diag(prior)
    out[n : n + w, n : n + w] += 1 / (0.05 * w) ** 2
    return out


def test_the_fit_is_the_maximum_and_the_covariance_the_inverse_information():
    data, _ = pair_crowd("honest", 4, 3, 40, np.random.default_rng(1))
    fit = fit_davidson(data)
    model = davidson._Model(data, one_worker=False)
    x = model.mean.copy()
    for _ in range(davidson.ROUNDS):
        variance = 1 / model.precision[0]
        x, covariance = davidson._maximize(model, x)
        model.precision[:4] = 6 / (x[:4] @ x[:4] + np.trace(covariance[:4, :4]) + 2)
    slow = minimize(slow_loss, model.mean, args=(data, variance), method="BFGS", tol=1e-8)
    assert x == pytest.approx(slow.x, abs=2e-3)
    assert fit.score == pytest.approx(slow.x[:4] - slow.x[:4].mean(), abs=2e-3)
    exact = np.linalg.inv(slow_information(x, data, variance))
    assert fit.covariance == pytest.approx(exact[:4, :4], rel=1e-4, abs=1e-6)


def test_names_order_of_rows_and_sides_do_not_matter():
    data, _ = pair_crowd("honest", 6, 5, 80, np.random.default_rng(2))
    columns = (data.worker_of, data.left_of, data.right_of, data.answer_of)
    rows = [
        (data.workers[w], data.items[i], data.items[j], ("left", "right", "tie")[k])
        for w, i, j, k in zip(*columns, strict=True)
    ]
    first = fit_davidson(Comparisons.of(rows))
    mixed = fit_davidson(Comparisons.of(rows[::-1]))
    assert mixed.score == pytest.approx(first.score, abs=1e-3)
    turn = {"left": "right", "right": "left", "tie": "tie"}
    turned = fit_davidson(Comparisons.of([(w, j, i, turn[k]) for w, i, j, k in rows]))
    assert turned.score == pytest.approx(first.score, abs=1e-3)
    assert turned.common_side == pytest.approx(-first.common_side, abs=1e-3)


def test_one_worker_is_the_same_for_all():
    data, _ = pair_crowd("honest", 6, 5, 80, np.random.default_rng(3))
    fit = fit_davidson(data, one_worker=True)
    assert fit.weight.tolist() == [1.0] * 5
    other = Comparisons(
        data.items, ("w",), data.left_of, data.right_of, 0 * data.worker_of, data.answer_of
    )
    assert fit_davidson(other, one_worker=True).score == pytest.approx(fit.score, abs=1e-6)


def test_without_ties_none_are_expected():
    data, _ = pair_crowd("no ties", 6, 5, 80, np.random.default_rng(4))
    fit = fit_davidson(data)
    found = typical_chances(fit, *pair_differences(fit))
    assert found[..., 2].max() == 0
    assert found.sum(axis=-1) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["honest", "spammers", "contrary", "sides"])
def test_ranks_are_nearer_to_the_truth_than_shares_of_wins(kind):
    taus, shares, covered = [], [], []
    for seed in range(3):
        data, world = pair_crowd(kind, 20, 15, 400, np.random.default_rng([seed, len(kind)]))
        found = rank_items(data, rng=0)
        truth = world.typical_score
        taus.append(kendalltau(found.fit.score, truth)[0])
        won = np.bincount(data.left_of, data.answer_of == 0, minlength=20)
        won += np.bincount(data.right_of, data.answer_of == 1, minlength=20)
        won += np.bincount(data.left_of, data.answer_of == 2, minlength=20) / 2
        won += np.bincount(data.right_of, data.answer_of == 2, minlength=20) / 2
        shares.append(kendalltau(won / data.per_item, truth)[0])
        rank = np.argsort(np.argsort(-truth)) + 1
        covered.append(((found.rank_low <= rank) & (rank <= found.rank_high)).mean())
    assert np.mean(taus) > np.mean(shares)
    assert np.mean(covered) > 0.8


def test_a_contrary_worker_has_a_weight_below_zero():
    data, _ = pair_crowd("contrary", 12, 14, 700, np.random.default_rng(5))
    weight = fit_davidson(data).weight
    assert weight[:2].max() < 0 < weight[2:].min()


def test_taste_that_no_score_explains_is_warned_of():
    rows = []
    for k in range(60):
        rows += [(f"w{k % 6}", a, b, "left") for a, b in (("a", "b"), ("b", "c"), ("c", "a"))]
    found = rank_items(Comparisons.of(rows), rng=0)
    assert "more than scores explain" in found.sentences()[0]
    honest, _ = pair_crowd("honest", 6, 10, 400, np.random.default_rng(6))
    assert rank_items(honest, rng=0).excess < 3


def test_excess_agreement_is_its_sum_over_pairs_of_answers():
    data, _ = pair_crowd("intransitive", 5, 4, 40, np.random.default_rng(7))
    found = rank_items(data, rng=0)
    total = variance = 0.0
    signed = found.fit.residuals[:, 0] * np.where(data.left_of < data.right_of, 1, -1)
    pair = [frozenset(one) for one in zip(data.left_of, data.right_of, strict=True)]
    for e, f in combinations(range(data.size), 2):
        if pair[e] == pair[f]:
            total += 2 * signed[e] * signed[f]
            variance += 4 * found.fit.residuals[e, 1] * found.fit.residuals[f, 1]
    assert found.excess == pytest.approx(total / math.sqrt(variance))


def test_information_is_the_mutual_information_of_answer_and_difference():
    data, _ = pair_crowd("honest", 4, 3, 30, np.random.default_rng(8))
    fit = fit_davidson(data)
    differs, sd = pair_differences(fit)
    grid = np.linspace(-8, 8, 4001)
    density = np.exp(-0.5 * grid**2)
    density /= density.sum()
    u = (differs[0, 1] + sd[0, 1] * grid) / 2
    parts = np.stack([np.exp(u), np.exp(-u), np.full(u.size, math.exp(fit.common_tie))])
    p = parts / parts.sum(axis=0)
    mean = p @ density
    exact = -(mean * np.log(mean)).sum() + ((p * np.log(p)).sum(axis=0) * density).sum()
    assert expected_information(fit)[0, 1] == pytest.approx(exact, abs=1e-5)


def test_next_pairs_are_within_their_caps_and_the_best_of_all():
    data, _ = pair_crowd("honest", 5, 4, 12, np.random.default_rng(9))
    found = rank_items(data, rng=0)
    chosen = next_pairs(found, 3, max_per_side=1, max_per_pair=3, rng=0)
    left, right, _ = zip(*chosen.pairs, strict=True)
    assert len(set(left)) == len(set(right)) == len(left) <= 3
    assert len({frozenset(pair[:2]) for pair in chosen.pairs}) == len(left)
    counts = data.per_pair
    place = {name: k for k, name in enumerate(data.items)}
    assert all(counts[place[a], place[b]] < 3 for a, b, _ in chosen.pairs)
    lot = np.triu(stream(0, "next pairs").random((5, 5)) < 0.5, 1)
    gain = expected_information(found.fit) * (counts < 3)
    cells = [
        (i, j)
        for i in range(5)
        for j in range(5)
        if (lot[i, j] if i < j else i > j and not lot[j, i])
    ]
    best = max(
        sum(gain[i, j] for i, j in some)
        for some in combinations(cells, 3)
        if len({i for i, _ in some}) == len({j for _, j in some}) == 3
    )
    assert sum(pair[2] for pair in chosen.pairs) == pytest.approx(best)
    assert chosen.gap < 1e-9
    with pytest.raises(ValueError, match="max_per_side must be >= 1, found 0"):
        next_pairs(found, 3, max_per_side=0)


def test_too_many_workers_for_a_matrix_are_refused_with_the_remedy(monkeypatch):
    data, _ = pair_crowd("honest", 4, 3, 30, np.random.default_rng(8))
    monkeypatch.setattr(davidson, "MAX_PARAMETERS", 10)
    with pytest.raises(ValueError, match="15 parameters, more than 10; give --one-worker"):
        fit_davidson(data)
    assert fit_davidson(data, one_worker=True).score.size == 4


@pytest.fixture
def tables(tmp_path):
    """Comparisons, and known orders of all pairs of ten items."""
    data, world = pair_crowd("honest", 10, 8, 300, np.random.default_rng(10))
    columns = (data.worker_of, data.left_of, data.right_of, data.answer_of)
    rows = [
        f"{data.workers[w]},{data.items[i]},{data.items[j]},{('left', data.items[j], 'TIE')[k]}"
        for w, i, j, k in zip(*columns, strict=True)
    ]
    (tmp_path / "p.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    known = [
        f"{data.items[i]},{data.items[j]},{'left' if world.score[i] > world.score[j] else 'right'}"
        for i, j in combinations(range(10), 2)
    ]
    (tmp_path / "k.csv").write_text("\n".join(["left,right,answer", *known]) + "\n")
    return tmp_path


def command(folder, *more, out="o", pairs="p.csv"):
    return crowd_tvcs("rank", folder / pairs, "--out", folder / out, *more)


def test_the_command_writes_ranks_with_intervals_and_says_what_gold_measured(tables):
    done = check_done(command(tables, "--gold", tables / "k.csv", "--next", 4, "--seed", 3))
    assert "on 45 pairs of known order:" in done.stderr
    items = rows_of(tables / "o" / "items.csv")
    assert [int(row["rank"]) for row in items] == list(range(1, 11))
    for row in items:
        assert int(row["rank_low"]) <= int(row["rank"]) <= int(row["rank_high"])
        assert float(row["low"]) < float(row["score"]) < float(row["high"])
    for row in rows_of(tables / "o" / "pairs.csv"):
        assert sum(float(row[name]) for name in ("p_left", "p_right", "p_tie")) == pytest.approx(1)
        assert 0.5 <= float(row["order_confidence"]) <= 1
    assert len(rows_of(tables / "o" / "workers.csv")) == 8
    assert len(rows_of(tables / "o" / "next.csv")) == 4
    summary = json.loads((tables / "o" / "summary.json").read_text())
    assert summary["known_orders"]["right"] > 0.8
    assert json.loads((tables / "o" / "run.json").read_text())["seed"] == 3
    command(tables, "--gold", tables / "k.csv", "--next", 4, "--seed", 3, out="again")
    for name in ("items.csv", "pairs.csv", "workers.csv", "next.csv", "summary.json"):
        assert (tables / "o" / name).read_bytes() == (tables / "again" / name).read_bytes()


def test_fewer_next_pairs_than_asked_for_name_the_caps(tables):
    done = command(tables, "--next", 500, "--max-per-side", 1)
    chosen = len(rows_of(tables / "o" / "next.csv"))
    assert chosen <= 10
    assert f"{chosen} pairs to compare next" in done.stderr
    assert "--next 500 needs a larger --max-per-side than 1, or a larger --max-per-pair than 5" in (
        done.stderr
    )
    assert "needs a larger" not in command(tables, "--next", 4, out="four").stderr


def test_without_gold_the_confidence_in_an_order_is_not_stated(tables):
    done = command(tables)
    assert "confidence in the order of a pair not measured: give --gold" in done.stderr
    assert {row["order_confidence"] for row in rows_of(tables / "o" / "pairs.csv")} == {""}
    assert not (tables / "o" / "next.csv").exists()


def test_parts_that_were_never_compared_are_named(tmp_path):
    (tmp_path / "p.csv").write_text(f"{HEADER}\nann,a,b,left\nann,b,c,tie\nbob,x,y,y\n")
    done = check_done(command(tmp_path))
    assert "2 parts that were never compared with each other" in done.stderr
    assert "outside the largest stand 'x', 'y'" in done.stderr


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("bob,a,a,left", "p.csv:3, column 'right': an item is not compared with itself"),
        ("bob,a,b,c", "p.csv:3, column 'answer': must be left, right, tie, or one of the items"),
        ("bob,a,b,", "p.csv:3, column 'answer'"),
        ("bob,,b,left", "p.csv:3, column 'left'"),
        (",a,b,left", "p.csv:3, column 'worker'"),
        ("bob,tie,b,left", "p.csv:3, column 'left': an item must not be called 'tie'"),
    ],
)
def test_a_comparison_that_is_none_is_refused_by_line_and_column(tmp_path, row, says):
    (tmp_path / "p.csv").write_text(f"{HEADER}\nann,a,b,left\n{row}\n")
    assert says in check_refused(command(tmp_path))
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ("a,b,tie", "k.csv:2, column 'answer': a known order must name the better item"),
        ("a,b,left\nb,a,left", "k.csv:3, column 'answer': the pair 'a' and 'b' has two orders"),
    ],
)
def test_gold_that_is_no_order_is_refused(tmp_path, known, says):
    (tmp_path / "p.csv").write_text(f"{HEADER}\nann,a,b,left\n")
    (tmp_path / "k.csv").write_text(f"left,right,answer\n{known}\n")
    assert says in check_refused(command(tmp_path, "--gold", tmp_path / "k.csv"))


def test_numbers_below_one_are_refused(tables):
    """Before anything is read."""
    for name in ("--next", "--max-per-side", "--max-per-pair"):
        assert command(tables, name, 0).stderr == f"error: {name} must be >= 1, found 0\n"


def test_rows_without_an_answer_may_be_left_out(tmp_path):
    (tmp_path / "p.csv").write_text(f"{HEADER}\nann,a,b,left\nbob,a,b,\n")
    done = check_done(command(tmp_path, "--leave-out-missing"))
    assert "left out: 1 without a label" in done.stderr


def test_rows_in_python_are_checked_too():
    with pytest.raises(ValueError, match="row 1: an item is not compared with itself"):
        Comparisons.of([("ann", "a", "a", "left")])
    with pytest.raises(ValueError, match="must have a comparison, found none"):
        Comparisons.of([])


def test_a_table_of_models_is_read_as_it_is_published(tmp_path):
    (tmp_path / "p.csv").write_text(
        "question,model_a,model_b,winner,judge\n"
        "1,x,y,model_a,j1\n2,y,x,model_b,j2\n3,x,z,tie,j1\n4,y,z,y,j1\n"
        "5,x,y,tie (bothbad),j1\n6,x,z,Draw,j1\n7,draw,x,draw,j1\n"
    )
    found = read_comparisons(tmp_path / "p.csv")
    assert (found.items, found.workers) == (("draw", "x", "y", "z"), ("j1", "j2"))
    assert found.answer_of.tolist() == [0, 1, 2, 0, 2, 2, 0]
    assert "ignored columns: question" in found.layout


@pytest.mark.parametrize("word", ["draw", "model_a"])
def test_a_word_for_an_answer_that_is_an_item_of_another_row_is_refused(word, tmp_path):
    rows = f"x,y,{word},j1\n{word},x,{word},j1\nx,y,tie,j1\n"
    (tmp_path / "p.csv").write_text(f"model_a,model_b,winner,judge\n{rows}")
    (tmp_path / "k.csv").write_text(f"model_a,model_b,winner\n{word},y,y\nx,y,{word}\n")
    message = f"must be left, right, tie, or one of the items 'x' and 'y', found '{word}'"
    with pytest.raises(DataError, match=f":2, column 'winner': {message}"):
        read_comparisons(tmp_path / "p.csv")
    with pytest.raises(DataError, match=f":3, column 'winner': {message}"):
        read_known_orders(tmp_path / "k.csv")


def test_known_orders_of_items_that_nobody_compared_are_left_out_and_counted(tmp_path):
    (tmp_path / "p.csv").write_text(f"{HEADER}\nann,a,b,left\nann,b,c,left\n")
    (tmp_path / "k.csv").write_text("left,right,answer\nx,y,x\na,b,a\n")
    done = check_done(command(tmp_path, "--gold", tmp_path / "k.csv"))
    assert "5 pairs of known order are needed, found 1" in done.stderr
    assert "1 pair of known order, with an item that was never compared, left out" in done.stderr


def test_names_that_look_alike_are_warned_of(tmp_path):
    (tmp_path / "p.csv").write_text(f"{HEADER}\nann,GPT 4,b,left\nann,gpt 4,b,left\n")
    assert "'gpt 4'" in command(tmp_path).stderr
