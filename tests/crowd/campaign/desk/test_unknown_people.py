"""A campaign of people whom nobody knows: gold first, then a gate, then work."""

import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.campaign import Campaign, RejectedError
from crowd_tvcs.campaign.desk.gold import learn, mix_in
from crowd_tvcs.skills.beta_prior import PRIOR_STRENGTH, USUAL_MEAN
from crowd_tvcs.skills.estimate import estimate_quality
from tests.makers.campaigns import making
from tests.makers.commands import run_done

GOLD = {f"g{k}": str(k % 2) for k in range(20)}
PEOPLE = ["ann", "bob", "cy", "di", "ed", "flo"]


@pytest.fixture
def begin(tmp_path):
    usual = {"workers": PEOPLE, "tasks": [f"t{j}" for j in range(30)], "gold": GOLD}
    with making(tmp_path, **usual) as make:

        def _begin(first=5, **options):
            campaign = make(**options)
            mix_in(campaign.store, {}, ())
            campaign.gold_first = first
            return campaign

        yield _begin


def answer(campaign: Campaign, name: str, share: float, most: int = 100) -> list[str]:
    """Answer the next tasks, of gold the first `share` rightly; return their names."""
    got = []
    while len(got) < most and (task := campaign.next(name).task) is not None:
        label = GOLD.get(task, "1")
        is_right = task not in GOLD or len(got) < share * campaign.gold_first
        got.append(task)
        campaign.submit(name, task, label if is_right else str(1 - int(label)))
    return got


def qualities(campaign: Campaign) -> dict[str, float]:
    return {one.name: one.quality for one in campaign.state().workers}


def test_who_is_unknown_counts_as_usual_people_do(begin):
    campaign = begin()
    assert set(qualities(campaign).values()) == {USUAL_MEAN}
    assert campaign.next("ann").task in GOLD
    campaign.add(workers=["new"])
    assert qualities(campaign)["new"] == USUAL_MEAN
    assert campaign.next("new").task in GOLD


def test_gold_comes_first_and_then_the_tasks(begin):
    campaign = begin(first=5)
    for name in PEOPLE[:2]:
        got = answer(campaign, name, 1.0, most=12)
        assert [task in GOLD for task in got] == [True] * 5 + [False] * 7
        assert len(set(got)) == 12


def test_gold_that_was_answered_before_counts(begin):
    campaign = begin(first=5, gold_answers=[(f"g{k}", "ann", "1") for k in range(3)])
    got = answer(campaign, "ann", 1.0, most=6)
    assert [task in GOLD for task in got] == [True, True] + [False] * 4
    assert not {"g0", "g1", "g2"} & set(got)


def test_a_gate_is_asked_after_the_gold(begin):
    """The prior itself is below the gate, so nobody would ever have got gold."""
    campaign = begin(first=8, min_quality=0.7)
    shares = dict(zip(PEOPLE, (1.0, 1.0, 1.0, 0.25, 1.0, 0.0), strict=True))
    for name, share in shares.items():
        assert len(answer(campaign, name, share)) == 8
        reason = campaign.next(name).reason
        assert "is below the minimum of 0.7" in reason
    assert learn(campaign.store)
    found = qualities(campaign)
    for name, share in shares.items():
        task = campaign.next(name).task
        assert (found[name] >= 0.7, task is not None) == (share == 1.0, share == 1.0)
        assert task is None or task not in GOLD


def test_little_is_concluded_of_the_others_from_one_answer(begin):
    """With one right and one wrong answer added, one mistake made everybody worse than chance."""
    campaign = begin(first=1)
    answer(campaign, "ann", 0.0, most=1)
    learn(campaign.store)
    found = qualities(campaign)
    assert found["bob"] == pytest.approx(USUAL_MEAN * PRIOR_STRENGTH / (PRIOR_STRENGTH + 1))
    assert found["ann"] < found["bob"]


def test_without_gold_left_the_tasks_come(begin):
    campaign = begin(first=50)
    got = answer(campaign, "ann", 1.0)
    assert [task in GOLD for task in got] == [True] * 20 + [False] * 30


def test_a_skill_without_answers_is_that_of_usual_crowds():
    gold = Gold({"g1": "0", "g2": "1"})
    nobody = Answers.of([], tasks=["g1", "g2"], workers=["ann", "bob"], classes=["0", "1"])
    skill = estimate_quality(nobody, gold, prior="usual-crowd")
    assert skill.mean.tolist() == [USUAL_MEAN] * 2
    assert skill.prior.source == "usual-crowd"
    for prior in ("empirical-bayes", "two-answers"):
        with pytest.raises(ValueError, match="no gold task is answered"):
            estimate_quality(nobody, gold, prior=prior)


def test_many_gold_answers_say_the_same_by_either_prior():
    rows = [(f"g{k}", name, str(k % 2)) for k in range(8) for name in PEOPLE]
    gold = Gold({f"g{k}": str(int(k % 2)) for k in range(8)})
    found = [
        estimate_quality(Answers.of(rows), gold, prior=prior).mean.tolist()
        for prior in ("empirical-bayes", "usual-crowd")
    ]
    assert found[0] == found[1]


def test_three_files_begin_a_campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = {"tasks": ["task", "t1", "t2"], "people": ["worker", *PEOPLE]}
    tables["gold"] = ["task,label", *(f"{task},{label}" for task, label in GOLD.items())]
    for name, lines in tables.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = "campaign init s.db --tasks tasks.csv --gold gold.csv --workers people.csv"
    err = run_done(*words.split(), "--target", "0.9").stderr
    assert "6 of 6 workers have answered no gold yet: each counts as right with" in err
    assert "probability 0.65 until they do" in err
    assert "target 0.9: not checked, since nobody has answered gold" in err
    assert "--min-quality" not in err
    for least, warns in (("0.6", True), ("0.7", False)):
        gated = words.replace("s.db", f"{least}.db").split()
        err = run_done(*gated, "--min-quality", least).stderr
        assert (f"--min-quality {least} is not above that" in err) == warns
    (tmp_path / "a.csv").write_text("task,worker,label\ng0,ann,0\ng1,ann,1\n", encoding="utf-8")
    run_done("campaign", "import", "s.db", "a.csv")
    with Campaign("s.db") as campaign:
        found = qualities(campaign)
        assert found["ann"] > found["bob"] > USUAL_MEAN


def test_a_label_is_shown_after_the_first_gold_alone_and_its_answer_stays(begin):
    campaign = begin(first=3)
    campaign.gold_share = 1.0  # gold goes on after the first
    assert answer(campaign, "ann", 1.0, most=1)
    task = campaign.next("ann").task
    campaign.submit("ann", task, "1")
    assert campaign.feedback("ann", task) is None  # nobody asked for it
    campaign.undo("ann")
    campaign.gold_feedback = True
    shown = []
    for _ in range(6):
        task = campaign.next("ann").task
        assert task in GOLD
        assert campaign.feedback("ann", task) is None  # not before the answer
        campaign.submit_and_next("ann", task, "1")
        shown.append(campaign.feedback("ann", task) == GOLD[task])
        is_kept = shown[-1]
        if is_kept:
            with pytest.raises(RejectedError, match=f"to task '{task}' stays: the right label was"):
                campaign.undo("ann")
    assert shown == [True, True, False, False, False, False]
    assert campaign.undo("ann").task == task
    assert campaign.feedback("ann", "t1") is None
