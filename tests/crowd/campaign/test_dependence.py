"""Campaigns with a model of dependence: belief, refits, old stores, routing and stopping."""

import numpy as np
import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.campaign import Campaign, Task, task_statuses
from crowd_tvcs.campaign.desk.gold import learn_of_labels
from crowd_tvcs.campaign.stored_model import fitted_to
from crowd_tvcs.skills.dependence import BEST_FIRST
from crowd_tvcs.skills.dependence_fit import MIN_GOLD_FOR_MATRICES, NO_GOLD
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.posterior import posterior

WORKERS = [f"w{i}" for i in range(6)]


def crowd(rng, n_gold=60, classes=("a", "b"), hard=0.3):
    """Gold labels and answers of workers who guess on the same hard tasks."""
    gold = {f"g{j:03d}": classes[rng.integers(len(classes))] for j in range(n_gold)}
    answers = []
    for task, label in gold.items():
        shown = classes[rng.integers(len(classes))] if rng.random() < hard else label
        for i, worker in enumerate(WORKERS):
            is_right = rng.random() < 0.95 - 0.05 * i
            answers.append(
                (task, worker, shown if is_right else classes[rng.integers(len(classes))])
            )
    return gold, answers


def start(path, rng, n_gold=60, **options):
    classes = options.setdefault("classes", ("a", "b"))
    gold, answers = crowd(rng, n_gold, classes)
    options = {"tasks": [f"t{j}" for j in range(12)]} | options
    return Campaign.create(path, workers=WORKERS, gold=gold, gold_answers=answers, **options)


def hand_out(campaign, rng, labels):
    classes = campaign.state().classes
    for _ in range(labels):
        worker = WORKERS[rng.integers(len(WORKERS))]
        task = campaign.next(worker).task
        if task is not None:
            campaign.submit(worker, task, classes[rng.integers(len(classes))])


@pytest.mark.parametrize(
    ("classes", "n_gold"),
    [(("a", "b"), 25), (("a", "b"), 60), (("cat", "dog", "eel"), 60), (("z", "b", "m"), 25)],
)
def test_claims_and_arrays_and_the_vote_agree_in_a_store(tmp_path, rng, classes, n_gold):
    options = {"classes": classes, "max_workers_per_task": 5}
    with start(tmp_path / "c.db", rng, n_gold, **options) as campaign:
        hand_out(campaign, rng, 40)
        state = campaign.state()
        assert state.model.source == "gold"
        # Mistakes are spread evenly, and gold says so where it is enough.
        assert (state.model.blend > 0.0) == (n_gold < MIN_GOLD_FOR_MATRICES)
        of_store = [t.confidence for t in state.tasks]
        assert of_store == pytest.approx(state.posterior.max(axis=1), abs=1e-12)
        known = {t: state.classes[k] for t, k in state.gold.items()}
        told_of_gold = Answers.of(
            state.gold_answers, tasks=sorted(known), workers=WORKERS, classes=classes
        )
        size = fitted_to(len(state.given))
        labels = state.answers.select(np.arange(len(state.given)) < size)
        skill = estimate_quality(told_of_gold, Gold(known, classes), like=labels)
        assert state.model.labels == size >= 20
        by_vote = posterior(state.answers, skill)
        assert state.posterior == pytest.approx(by_vote, abs=1e-9)


def test_a_prior_that_is_known_counts_as_it_is(tmp_path, rng):
    tasks = ["t0", Task("t1", prior=0.9)]
    with start(tmp_path / "c.db", rng, tasks=tasks) as campaign:
        t0, t1 = campaign.state().posterior
        assert t1.tolist() == pytest.approx([0.1, 0.9])
        counts, b = campaign.state().prior[0], campaign.state().model.shares
        inner = counts**b / (counts**b).sum()
        e = campaign.state().model.common
        assert t0.tolist() == pytest.approx(((1 - e) * inner + e * counts).tolist())


def test_gold_answers_that_come_later_fit_the_model_anew(tmp_path, rng):
    with start(tmp_path / "c.db", rng, n_gold=2) as campaign:
        hand_out(campaign, rng, 10)
        few = campaign.state()
        assert few.model.source == "little gold"
        gold, answers = crowd(rng)
        new = {f"n{t}": label for t, label in gold.items()}
        campaign.add(gold=new, gold_answers=[(f"n{t}", w, k) for t, w, k in answers])
        state = campaign.state()
        assert (state.model.source, state.model.gold) == ("gold", 62)
        assert [t.confidence for t in state.tasks] == pytest.approx(
            state.posterior.max(axis=1), abs=1e-12
        )
        assert not np.allclose(few.posterior, state.posterior)


def one_by_one(campaign, workers, labels, *, and_next=False):
    """Let workers answer in turn until there are so many labels."""
    while (n := campaign.state().settings.answers) < labels:
        worker = workers[n % len(workers)]
        given = worker, campaign.next(worker).task, "ab"[n % 3 % 2]
        (campaign.submit_and_next if and_next else campaign.submit)(*given)


def test_the_model_is_fitted_to_whoever_labels(tmp_path, rng):
    """Weak workers only: with 20, 40, 80 labels, from the first that came; plans stay."""
    with start(tmp_path / "c.db", rng, tasks=[f"t{j:02d}" for j in range(60)]) as campaign:
        first = campaign.state().model
        assert (first.choice, first.labels) == (BEST_FIRST, 0)
        one_by_one(campaign, ["w5", "w4"], 19)
        assert campaign.state().model == first
        for labels in (20, 40):
            one_by_one(campaign, ["w5", "w4"], labels)
            state = campaign.state()
            assert state.model.labels == labels
            assert state.model.choice < 0.0
            assert (state.model.plan_error, state.model.forecast_model) == (
                first.plan_error,
                first.forecast_model,
            )
            kept = [t.confidence for t in state.tasks]
            assert kept == pytest.approx(state.posterior.max(axis=1), abs=1e-12)
            assert state.settings.confidence_threshold is not None
            one_by_one(campaign, ["w5", "w4"], 2 * labels - 1)
            assert campaign.state().model == state.model


def test_the_model_follows_from_the_history_whoever_fits_it(tmp_path):
    """By single answers, with the next task or not, and by a desk that learns beside."""
    tasks, models = [f"t{j:02d}" for j in range(60)], []
    for way in ("single", "and next", "beside"):
        with start(tmp_path / f"{way}.db", np.random.default_rng(3), tasks=tasks) as campaign:
            campaign.learns_in_background = way == "beside"
            one_by_one(campaign, ["w5", "w3"], 45, and_next=way == "and next")
            assert (campaign.state().model.labels == 0) == campaign.learns_in_background
            assert learn_of_labels(campaign.store) == campaign.learns_in_background
            models.append(campaign.state().model)
    assert models[0].labels == 40
    assert models[1:] == models[:1] * 2


def test_a_table_of_labels_fits_the_model_too(tmp_path, rng):
    with start(tmp_path / "c.db", rng, tasks=[f"t{j:02d}" for j in range(60)]) as campaign:
        found = campaign.plan(labels=45, method="greedy")
        campaign.add_answers([(t, w, "a") for w, t in found.pairs])
        state = campaign.state()
        assert state.model.labels == 40
        kept = [t.confidence for t in state.tasks]
        assert kept == pytest.approx(state.posterior.max(axis=1), abs=1e-12)


@pytest.mark.parametrize("model", ["dependent", "independent"])
def test_the_best_worker_and_what_is_sure_follow_the_gold(tmp_path, rng, model):
    """Asked for the target that the campaign has, `stand` says what is done in the store."""
    with start(tmp_path / "c.db", rng, target=0.85, model=model) as campaign:
        hand_out(campaign, rng, 30)
        state = campaign.state()
        assert state.settings.best == max(w.quality for w in state.workers)
        # Where errors are common this gold shows no confidence of which so many are right.
        assert state.closed.any() == (model == "independent")
        again = task_statuses(state, target=0.85)
        assert [one.verdict for one in again] == [one.verdict for one in task_statuses(state)]
        gold = {f"n{j}": "a" for j in range(9)}
        campaign.add(gold=gold, gold_answers=[(task, "w5", "a") for task in gold])
        later = campaign.state()
        assert later.settings.best == max(w.quality for w in later.workers)
        assert later.settings.best != state.settings.best


def test_gold_of_one_class_and_of_nobody_but_one_makes_a_campaign(tmp_path):
    gold = {f"g{j}": "a" for j in range(12)}
    answers = [(task, "ann", "a" if j % 4 else "b") for j, task in enumerate(gold)]
    options = {"workers": ["ann", "bob"], "tasks": ["t1"], "classes": ["a", "b"], "target": 0.95}
    with Campaign.create(tmp_path / "c.db", gold=gold, gold_answers=answers, **options) as campaign:
        assert campaign.state().model.source == "gold"
        task = campaign.next("ann").task
        receipt = campaign.submit("ann", task, "b")
        assert 0.5 < receipt.confidence < 1.0
        assert campaign.state().posterior.max() == pytest.approx(receipt.confidence, abs=1e-12)


def test_without_gold_the_model_is_the_usual_one_and_nothing_is_measured(begin):
    qualities = {"ann": 0.9, "bob": 0.8}
    campaign = begin(workers=qualities, tasks=["t1"], qualities=qualities)
    assert campaign.state().model == NO_GOLD
    assert campaign.state().model.measured == ()


def test_every_task_gets_its_first_label_before_any_its_second(tmp_path, rng):
    with start(tmp_path / "c.db", rng) as campaign:
        seen = []
        for step in range(12):
            task = campaign.next(WORKERS[step % 6]).task
            seen.append(task)
            campaign.submit(WORKERS[step % 6], task, "ab"[step % 2])
        assert len(set(seen)) == 12
        again = campaign.next(WORKERS[0])
        assert again.task in seen
        left = next(t.uncertainty for t in campaign.state().tasks if t.name == again.task)
        assert left < 0.5


def test_a_first_label_that_tells_nothing_waits_for_a_second_that_does(begin):
    qualities = {"ann": 0.8, "bob": 0.8}
    tasks = [Task("clear", prior=0.0001), Task("doubt", prior=0.5)]
    campaign = begin(workers=qualities, tasks=tasks, qualities=qualities)
    campaign.submit("ann", campaign.next("ann").task, "1")
    assert campaign.next("bob").task == "doubt"


def test_beside_a_target_nothing_is_handed_out_that_is_not_worth_a_label(tmp_path, rng):
    options = {"target": 0.97, "tasks": ["t0"], "classes": ("a", "b")}
    with start(tmp_path / "c.db", rng, **options) as campaign:
        for worker in WORKERS[:5]:
            if campaign.next(worker).task is None:
                break
            campaign.submit(worker, "t0", "a")
        (one,) = campaign.review_tasks()
        assert one.verdict in ("not worth it", "confident")
        assert one.answers < 5
        assert campaign.next("w5").reason == "no task is left for this worker"
    with start(tmp_path / "d.db", rng, **options | {"min_gain": 0.0}) as campaign:
        for worker in WORKERS[:5]:
            campaign.submit(worker, campaign.next(worker).task, "a")
        assert campaign.review_tasks()[0].answers == 5


def test_a_round_buys_nothing_that_is_not_worth_a_label(tmp_path, rng):
    with start(tmp_path / "c.db", rng, target=0.97, max_workers_per_task=6) as campaign:
        for _ in range(6):
            found = campaign.plan(method="fast")
            campaign.add_answers([(t, w, "a") for w, t in found.pairs])
        assert found.pairs == []
        state = campaign.state()
        assert (state.answered.sum(axis=0) < 6).all()
        assert {one.verdict for one in task_statuses(state)} <= {"confident", "not worth it"}
