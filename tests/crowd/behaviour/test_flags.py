"""Workers who do something are flagged with evidence, and honest ones seldom are."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.crowd.simulated_workers import HONEST, KINDS, simulate_workers
from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.behaviour import copying as copies
from crowd_tvcs.behaviour.copying import copying
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.pace import answer_durations, fast_answer_test, fast_limit
from crowd_tvcs.behaviour.spam import guessing
from crowd_tvcs.behaviour.worker_review import (
    KEEP,
    MORE_GOLD,
    STOP,
    TRAIN,
    find_flags,
    review_workers,
)
from crowd_tvcs.skills.voting import unsupervised

MIXED = {0: "guessing", 1: "same label", 2: "pattern", 4: "copying", 5: "drift", 6: "fatigue",
         7: "too fast"}  # fmt: skip


def flags_of(workforce):
    found = find_flags(Crowd.of(workforce.answers, workforce.gold))
    return {(flag.worker, flag.kind) for flag in found}


def test_who_does_something_is_found():
    hits, there = Counter(), Counter()
    for seed in range(4):
        crowd = simulate_workers(MIXED, n_classes=4, n_tasks=400, per_task=10, rng=seed)
        there.update(crowd.kinds.values())
        found = flags_of(crowd)
        hits.update(kind for worker, kind in crowd.kinds.items() if (worker, kind) in found)
    assert set(there) == set(KINDS)
    for kind in set(KINDS) - {HONEST}:
        assert hits[kind] >= 3, f"{kind}: {hits[kind]} of {there[kind]}"


@pytest.mark.parametrize("more", [{}, {"n_classes": 3, "per_task": 8, "difficulty": 1.5}])
def test_honest_workers_are_seldom_flagged(more):
    """At the level a kind is wrong in 1 crowd of 20; 8 kinds are looked for in 8 crowds."""
    alarms = Counter()
    for seed in range(8):
        found = flags_of(simulate_workers(None, rng=seed, n_tasks=120, n_workers=12, **more))
        alarms.update({kind for _, kind in found})
    assert sum(alarms.values()) <= 7, alarms  # 3.2 are expected, more than 7 in 1 of 75 cases
    assert not {"copying", "same label", "pattern"} & set(alarms)


def test_shared_mistakes_on_misleading_tasks_are_no_copies():
    """On a third of the tasks nine in ten say the wrong label, all by themselves."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 240)
    misled = rng.random(240) < 1 / 3
    rows = []
    for i in range(12):
        right = rng.random(240) < np.where(misled, 0.1, 0.85)
        message = np.where(right, truth, (truth + 1) % 3)
        rows += [(f"t{j:03d}", f"w{i:02d}", str(k)) for j, k in enumerate(message)]
    gold = Gold({f"t{j:03d}": str(truth[j]) for j in range(240)})
    assert copying(Crowd.of(Answers.of(rows), gold)) == []


def test_good_workers_among_guessers_are_no_copies_where_the_crowd_is_wrong():
    """Without gold most others may be wrong; two good workers then agree on what is right."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    skill = np.r_[np.full(6, 0.95), np.full(8, 0.5)]
    rows = []
    for i, q in enumerate(skill):
        message = np.where(rng.random(300) < q, truth, 1 - truth)
        rows += [(f"t{j:03d}", f"w{i:02d}", str(k)) for j, k in enumerate(message)]
    gold = Gold({f"t{j:03d}": str(truth[j]) for j in range(40)})
    assert copying(Crowd.of(Answers.of(rows), gold)) == []


def test_a_copy_is_reported_with_the_later_worker():
    crowd = simulate_workers({4: "copying"}, rng=2)
    found = copying(Crowd.of(crowd.answers, crowd.gold))
    assert {(flag.worker, flag.other) for flag in found} == {("w003", "w004"), ("w004", "w003")}
    (copier,) = [flag for flag in found if flag.worker == "w004"]
    assert "the same label on" in copier.evidence
    # the tasks come to everybody in an order of their own, but w004 works a day later
    later, tasks = copier.evidence.split("later than w003 on ")[1].split(" of ")
    assert int(later) > 0.8 * int(tasks.split()[0])
    overview = review_workers(crowd.answers, crowd.gold)
    verdicts = {one.worker: one for one in overview.workers}
    assert (verdicts["w004"].verdict, verdicts["w003"].verdict) == (STOP, KEEP)
    assert verdicts["w004"].why == "copying: repeats the labels of w003"


def test_the_agreement_of_pairs_is_that_of_a_slow_twin():
    """Answer by answer: posterior without the pair, both matrices, and what the others say."""
    crowd = simulate_workers({4: "copying"}, n_workers=7, n_tasks=30, n_gold=9, n_classes=3, rng=4)
    crowd = Crowd.of(crowd.answers, crowd.gold)
    a, found = crowd.answers, copies._compared(crowd)
    known = np.full(len(a.tasks), UNKNOWN)
    known[a.task_of] = crowd.truth
    skills, prior = unsupervised.fitted_skills(a, known)
    accuracy = skills.accuracy_without(a)
    matrices = unsupervised.matrices_without(a, skills, accuracy, np.arange(a.size))
    usual = skills.counts.sum(axis=0) + 1.0
    usual /= usual.sum(axis=1, keepdims=True)
    m = unsupervised.USUAL
    pair = found.pair[:, 0].tolist()
    chances, equal = ([], []), []
    for j in range(len(a.tasks)):
        at = {int(w): e for e, w in enumerate(a.worker_of) if a.task_of[e] == j}
        if not set(pair) <= set(at) or len(at) < 4:
            continue
        logs = np.zeros(3)
        for w in set(at) - set(pair):
            logs += np.log(matrices[at[w]][:, a.label_of[at[w]]])
        post = prior**m.shares * np.exp(m.factor(np.array([len(at) - 2]))[0] * logs)
        post = (1 - m.common) * post / post.sum() + m.common * prior
        post = post if known[j] == UNKNOWN else np.eye(3)[known[j]]
        for way, (one, other) in enumerate((pair, pair[::-1])):
            label = a.label_of[at[other]]
            chance = post * matrices[at[other]][:, label]
            chance /= chance.sum()
            model, habit = chance @ matrices[at[one]][:, label], chance @ usual[:, label]
            message = [a.label_of[at[w]] for w in set(at) - set(pair)]
            task = (message.count(label) + 4.0 * habit) / (len(message) + 4.0)
            odds = model / (1 - model) * task / (1 - task) * (1 - habit) / habit
            chances[way].append(np.clip(odds / (1 + odds), 0.005, 0.995))
        equal.append(a.label_of[at[pair[0]]] == a.label_of[at[pair[1]]])
    p, same = np.array(chances), np.array(equal)
    assert found.expected[0] == pytest.approx(p.sum(axis=1).max(), rel=1e-9)
    assert (found.tasks[0], found.same[0]) == (same.size, same.sum())
    # The likeliest score of answers of which a share is copied, in its standard deviations.
    weight = np.log((copies.COPIED + (1 - copies.COPIED) * p) / ((1 - copies.COPIED) * p))
    above = (weight * (same - p)).sum(axis=1) / np.sqrt((weight**2 * p * (1 - p)).sum(axis=1))
    assert found.above[0] == pytest.approx(above.min(), rel=1e-9)
    share = ((same - p).sum(axis=1) / (1 - p).sum(axis=1)).min()
    low = share - 1.645 * abs(share) / abs(above.min())
    assert found.share[0] == pytest.approx(low, rel=1e-3)
    ready = copies._Compared(*[getattr(found, name) for name in found.__dataclass_fields__])
    assert ready.p_values()[0] == pytest.approx(norm.sf(found.above)[0])


def test_who_knows_a_little_or_the_opposite_does_not_guess(rng):
    right, n = rng.integers(0, 4, 400), 400
    shares = {"a": 0.85, "b": 0.85, "c": 0.85, "d": 0.85, "little": 0.45, "opposite": 0.05,
              "guesses": 0.25}  # fmt: skip
    rows = [
        (f"t{j:03d}", name, str(right[j] if rng.random() < share else (right[j] + 1) % 4
                                if name != "guesses" else (right[j] + rng.integers(1, 4)) % 4))
        for name, share in shares.items() for j in range(n)
    ]  # fmt: skip
    answers = Answers.of(rows)
    gold = Gold({f"t{j:03d}": str(right[j]) for j in range(100)}, answers.classes)
    assert [flag.worker for flag in guessing(Crowd.of(answers, gold))] == ["guesses"]


def test_copies_of_a_good_worker_are_found_without_mistakes_on_gold():
    """Four in five answers, in a crowd that mostly agrees, and no gold but for one task."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 150)
    message = np.where(rng.random((12, 150)) < 0.75, truth, rng.integers(0, 3, (12, 150)))
    message[11] = np.where(rng.random(150) < 0.8, message[0], message[11])
    rows = [(f"t{j:03d}", f"w{i:02d}", str(message[i, j])) for i in range(12) for j in range(150)]
    found = copying(Crowd.of(Answers.of(rows), Gold({"t000": str(truth[0])})))
    assert {flag.worker for flag in found} == {"w00", "w11"}


@pytest.mark.parametrize("n_classes", [2, 25])
def test_pairs_need_shared_tasks_with_others(n_classes):
    """Of more than 20 classes workers have no matrices; three answers to a task show no pair."""
    rng = np.random.default_rng(2)
    for per_task, copied in ((3, False), (5, True)):
        rows = []
        for j in range(80):
            label = rng.integers(0, n_classes, per_task)
            label[1] = label[0]
            rows += [(f"t{j:03d}", f"w{i}", f"{k:02d}") for i, k in enumerate(label)]
        found = copying(Crowd.of(Answers.of(rows), Gold({"t000": "00"})))
        assert {flag.worker for flag in found} == ({"w0", "w1"} if copied else set())


def test_drift_of_the_tasks_is_not_the_workers():
    """All see the same tasks in the same order, and these get harder."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 150)
    ease = np.linspace(0.95, 0.6, 150)
    rows, when = [], []
    for i in range(10):
        message = np.where(rng.random(150) < ease, truth, 1 - truth)
        rows += [(f"t{j:03d}", f"w{i}", str(k)) for j, k in enumerate(message)]
        when += [1.7e9 + 10.0 * j for j in range(150)]
    gold = Gold({f"t{j:03d}": str(truth[j]) for j in range(0, 150, 2)})
    found = find_flags(Crowd.of(Answers.of(rows, when=when), gold))
    assert not {flag.kind for flag in found} & {"drift", "fatigue"}


def test_tasks_that_are_shown_by_class_make_no_pattern_and_no_same_label():
    rng = np.random.default_rng(6)
    truth = np.repeat([0, 1, 2, 0, 1, 2], 25)
    rows, when = [], []
    for i in range(8):
        message = np.where(rng.random(150) < 0.97, truth, (truth + 1) % 3)
        rows += [(f"t{j:03d}", f"w{i}", str(k)) for j, k in enumerate(message)]
        when += [1.7e9 + 10.0 * j for j in range(150)]
    gold = Gold({f"t{j:03d}": str(truth[j]) for j in range(0, 150, 3)})
    assert find_flags(Crowd.of(Answers.of(rows, when=when), gold)) == []
    rare = [(f"t{j:03d}", f"w{i}", str(int(j >= 98))) for j in range(100) for i in range(6)]
    gold = Gold({f"t{j:03d}": str(int(j >= 98)) for j in range(100)})
    assert find_flags(Crowd.of(Answers.of(rare), gold)) == []
    # One worker was shown one class only.
    shown = [row for row in rows if row[1] != "w0" or truth[int(row[0][1:])] == 0]
    assert not {f.kind for f in find_flags(Crowd.of(Answers.of(shown), gold))} & {"same label"}


def fast_crowd(right_when_fast):
    """Twenty workers; of the first, half the answers take a second."""
    crowd = simulate_workers({0: "too fast"}, rng=8)
    if right_when_fast:
        answers, truth = crowd.answers, crowd.gold.labels
        label = answers.label_of.copy()
        # w000 knows everything, fast or not: by gold, and where there is none by the others
        for at in np.flatnonzero(answers.worker_of == 0).tolist():
            task = answers.tasks[answers.task_of[at]]
            others = answers.label_of[(answers.task_of == answers.task_of[at])]
            label[at] = int(truth[task]) if task in truth else np.bincount(others).argmax()
        names = answers.tasks, answers.workers, answers.classes
        of_row = answers.task_of, answers.worker_of, label
        answers = Answers(*names, *of_row, when=answers.when, seconds=answers.seconds)
        return Crowd.of(answers, crowd.gold)
    return Crowd.of(crowd.answers, crowd.gold)


def test_fast_answers_count_only_where_they_are_wrong():
    for is_right in (False, True):
        crowd = fast_crowd(is_right)
        found, fast = fast_answer_test(crowd)
        assert 1.2 < found.limit < 3.5
        assert fast.sum() == pytest.approx(100, abs=25)
        flagged = {flag.worker for flag in find_flags(crowd) if flag.kind == "too fast"}
        assert flagged == (set() if is_right else {"w000"})
        assert (found.p_value < 0.05) != is_right


def test_one_kind_of_durations_has_a_limit_far_below(rng):
    seconds = np.exp(rng.normal(np.log(10), 0.5, 2000))
    assert np.mean(seconds < fast_limit(seconds)) < 0.005
    two = np.r_[seconds, np.exp(rng.normal(0.0, 0.2, 150))]
    assert 1.3 < fast_limit(two) < 4
    assert np.isnan(fast_limit(seconds[:20]))


def test_without_durations_the_time_between_answers_stands_for_them():
    rows = [(f"t{j}", "w", str(j % 2)) for j in range(4)]
    when = [1.7e9, 1.7e9 + 5, 1.7e9 + 5000, 1.7e9 + 5007]
    crowd = Crowd.of(Answers.of(rows, when=when), Gold({"t0": "0"}))
    seconds, inferred = answer_durations(crowd)
    assert inferred
    assert np.array_equal(seconds, [np.nan, 5, np.nan, 7], equal_nan=True)
    crowd = Crowd.of(Answers.of(rows), Gold({"t0": "0"}))
    assert answer_durations(crowd) == (None, False)
    assert str(fast_answer_test(crowd)[0]).startswith("too few durations")


def test_a_class_that_one_worker_confuses_is_named():
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 3, 300)
    rows = []
    for i in range(8):
        message = np.where(rng.random(300) < 0.85, truth, rng.integers(0, 3, 300))
        if i == 0:
            message = np.where((truth == 2) & (rng.random(300) < 0.8), 1, message)
        rows += [(f"t{j:03d}", f"w{i}", ("ant", "bee", "wasp")[k]) for j, k in enumerate(message)]
    gold = Gold({f"t{j:03d}": ("ant", "bee", "wasp")[truth[j]] for j in range(100)})
    overview = review_workers(Answers.of(rows), gold)
    (flag,) = overview.flags
    assert (flag.worker, flag.kind, flag.other) == ("w0", "confuses", "wasp")
    assert "usual wrong answer 'bee'" in flag.evidence
    assert overview.workers[0].verdict == TRAIN


def test_the_verdict_follows_the_rules():
    """No flag: the interval decides between stop, more gold and keep."""
    rows, labels = [], {f"t{j:02d}": str(j % 2) for j in range(40)}
    right = {"all": range(40), "none": range(16), "some": range(40)}
    for worker, good in right.items():
        for j, (task, label) in enumerate(labels.items()):
            if worker == "some" and j > 3:
                continue
            rows.append((task, worker, label if j in good else str(1 - int(label))))
    for worker in "bcde":
        rows += [(t, worker, k if j % 9 else str(1 - int(k)))
                 for j, (t, k) in enumerate(labels.items())]  # fmt: skip
    found = review_workers(Answers.of(rows), Gold(labels), cost={"all": 0.1})
    verdicts = {one.worker: one.verdict for one in found.workers}
    assert (verdicts["all"], verdicts["none"], verdicts["some"]) == (KEEP, STOP, MORE_GOLD)
    stricter = review_workers(Answers.of(rows), Gold(labels), min_quality=0.93)
    assert {s.worker for s in stricter.workers if s.verdict == STOP} >= {"none"}
    for name, value in (("min_quality", 1.0), ("fdr", 0.0)):
        with pytest.raises(ValueError, match=f"{name} must be above 0 and below 1"):
            review_workers(Answers.of(rows), Gold(labels), **{name: value})


def test_the_same_answers_in_any_order_give_the_same_flags():
    crowd = simulate_workers(MIXED, rng=11, n_tasks=120)
    a = crowd.answers
    order = np.random.default_rng(0).permutation(a.size)
    shuffled = Answers(a.tasks, a.workers, a.classes, a.task_of[order], a.worker_of[order],
                       a.label_of[order], when=a.when[order], seconds=a.seconds[order])  # fmt: skip
    first, second = (find_flags(Crowd.of(one, crowd.gold)) for one in (a, shuffled))
    assert first == second


def test_pay_per_hour_is_cost_over_mean_seconds():
    rows = [(f"t{j}", w, str(j % 2)) for j in range(4) for w in "ab"]
    seconds = [10.0, 5.0, 20.0, 5.0, 30.0, 5.0, 5000.0, 5.0]
    gold = Gold({"t0": "0", "t1": "1"})
    found = review_workers(Answers.of(rows, seconds=seconds), gold, cost={"a": 0.5})
    a, b = found.workers
    assert a.seconds == 25.0
    assert a.pay_per_hour == pytest.approx(3600 * 0.5 / ((10 + 20 + 30 + 1800) / 4))
    assert b.seconds == 5.0
    assert np.isnan(b.pay_per_hour)
    assert found.minutes() == [["a", round(25 / 60, 6)], ["b", round(5 / 60, 6)]]


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("n_tasks", [1, 3, 60])
def test_tiny_crowds_have_no_flags_and_no_errors(n_workers, n_tasks):
    rows = [(f"t{j}", f"w{i}", str(j % 2)) for j in range(n_tasks) for i in range(n_workers)]
    times = {"when": [1.7e9 + k for k in range(len(rows))], "seconds": np.full(len(rows), 9.0)}
    answers = Answers.of(rows, classes=["0", "1"], **times)
    found = review_workers(answers, Gold({f"t{j}": str(j % 2) for j in range(0, n_tasks, 2)}))
    assert found.flags == []
    assert {s.verdict for s in found.workers} <= {KEEP, MORE_GOLD}
