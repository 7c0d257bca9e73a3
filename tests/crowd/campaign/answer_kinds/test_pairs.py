"""Campaigns that ask which of two items is better: sides, votes, plans, tables."""

from itertools import combinations

import numpy as np
import pytest

from crowd_tvcs.answer_kinds.comparisons import Comparisons, read_comparisons
from crowd_tvcs.answer_kinds.ranking import rank_items
from crowd_tvcs.campaign import Campaign, RejectedError, Task, Worker
from crowd_tvcs.campaign.answer_kinds.kind import items_of_pair, kind_of
from crowd_tvcs.campaign.answer_kinds.tables import read_pair_tasks
from crowd_tvcs.campaign.answer_kinds.votes import vote_by_kind
from tests.makers.commands import crowd_tvcs, run_done
from tvcs_core.files.errors import DataError

ITEMS = "abcdef"
TASKS = [f"{x} vs {y}" for x, y in combinations(ITEMS, 2)]
PEOPLE = ["ann", "bob", "cy"]


@pytest.fixture
def campaign(tmp_path):
    with Campaign.create(
        tmp_path / "c.db", workers=PEOPLE, tasks=TASKS, answer_kind="pairs", seed=1
    ) as made:
        yield made


def answer(campaign, rounds, rng):
    """Everybody prefers the earlier letter, with some mistakes and ties."""
    for _ in range(rounds):
        for name in PEOPLE:
            task = campaign.next(name).task
            first, second = sorted(items_of_pair(task))
            label = rng.choice([first, second, "tie"], p=[0.8, 0.1, 0.1])
            campaign.submit(name, task, str(label))


def sides_of(campaign, task, worker):
    with campaign.store.read() as (_, settings):
        return kind_of(settings).sides(task, worker)


def test_an_answer_by_its_side_is_that_by_its_name(campaign):
    seen = set()
    for name in PEOPLE:
        task = campaign.next(name).task
        left, right = sides_of(campaign, task, name)
        assert {left, right} == set(items_of_pair(task))
        receipt = campaign.submit(name, task, "left")
        assert (receipt.label, receipt.confidence) == (left, None)
        assert campaign.submit(name, task, left).reason == "known already"
        with pytest.raises(RejectedError, match="before, now"):
            campaign.submit(name, task, "right")
        seen.add(left == items_of_pair(task)[0])
    state = campaign.state()
    kept = [
        items_of_pair(state.tasks[j].name)[k ^ s]
        for (_, j, k), s in zip(state.given, state.swapped, strict=True)
    ]
    assert kept == [items_of_pair(state.tasks[j].name)[0] for _, j, _ in state.given]


def test_sides_are_even_and_stay(campaign):
    swapped = [sides_of(campaign, t, f"w{k}")[0] != t[0] for t in TASKS for k in range(100)]
    assert 0.45 < np.mean(swapped) < 0.55
    again = [sides_of(campaign, t, f"w{k}")[0] != t[0] for t in TASKS for k in range(100)]
    assert swapped == again


def test_the_vote_is_that_of_rank_on_the_exported_answers(campaign, tmp_path):
    answer(campaign, 10, np.random.default_rng(0))
    found = vote_by_kind(campaign.state())
    crowd_tvcs(
        "campaign", "export-answers", str(tmp_path / "c.db"), "--out", str(tmp_path / "a.csv")
    )
    alone = rank_items(read_comparisons(tmp_path / "a.csv"), rng=1)
    assert found.rows == list(alone.item_rows())
    assert {row[0] for row in found.rows[:3]} == {"a", "b", "c"}
    assert found.of_task["a vs f"] == ("a", None)
    assert any("not measured" in line for line in found.sentences)


def test_gold_pairs_measure_the_claims_and_the_people(begin):
    gold = {f"{x} vs z{x}": x for x in ITEMS}
    lines = [(t, who, g if who != "cy" else f"z{g}") for t, g in gold.items() for who in PEOPLE]
    made = begin(
        workers=PEOPLE,
        tasks=TASKS,
        answer_kind="pairs",
        gold=gold,
        gold_answers=lines,
        min_quality=0.5,
        qualities=None,
    )
    quality = {w.name: w.quality for w in made.state().workers}
    assert quality["ann"] == quality["bob"] > 0.8 > 0.5 > quality["cy"]
    assert "below the minimum" in made.next("cy").reason
    made.submit("ann", made.next("ann").task, "left")
    assert "on 6 pairs of known order" in vote_by_kind(made.state()).sentences[-1]


def test_a_plan_asks_for_the_pairs_of_most_information_within_the_caps(campaign):
    answer(campaign, 3, np.random.default_rng(0))
    found = campaign.plan(labels=6, max_per_side=1)
    assert (found.method, 0 < len(found.pairs) <= 6) == ("information", True)
    tasks = [task for _, task in found.pairs]
    assert len(set(tasks)) == len(tasks)
    items = [name for task in tasks for name in items_of_pair(task)]
    assert max(items.count(name) for name in items) <= 2  # one on the left, one on the right
    people = [name for name, _ in found.pairs]
    assert max(people.count(name) for name in people) <= 2
    before = {(i, j) for i, j, _ in campaign.state().given}
    state = campaign.state()
    place = {w.name: i for i, w in enumerate(state.workers)}
    column = {t.name: j for j, t in enumerate(state.tasks)}
    assert not {(place[w], column[t]) for w, t in found.pairs} & before


def test_next_hands_out_what_the_plan_gave_a_person_first(campaign):
    answer(campaign, 3, np.random.default_rng(0))
    found = campaign.plan(labels=6)
    for name, task in found.pairs:
        if name == "ann":
            offer = campaign.next("ann")
            assert (offer.task, offer.reason) == (task, "the pair that the plan gave them")
            campaign.submit("ann", task, "tie")
    assert "plan" not in campaign.next("ann").reason


def test_a_plan_keeps_to_money_and_to_the_cap_of_a_person(begin):
    workers = [Worker("ann", 4, 2.0), Worker("bob", 20, 1.0)]
    made = begin(workers=workers, tasks=TASKS, answer_kind="pairs", money=10.0, qualities=None)
    for name in ("ann", "bob", "bob"):
        made.submit(name, made.next(name).task, "left")
    found = made.plan(labels=12)
    people = [name for name, _ in found.pairs]
    assert people.count("ann") <= 3
    assert 4.0 + 2.0 * people.count("ann") + people.count("bob") <= 10.0


def test_a_plan_without_answers_says_what_to_do(campaign):
    with pytest.raises(ValueError, match="no answers yet to plan by"):
        campaign.plan(labels=3)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (["a vs a"], "not compared with itself"),
        (["a vs b", "b vs a"], "is there twice"),
        (["a vs left"], "must not be called 'left'"),
        (["a vs b vs c"], "must not have the word vs"),
        (["a"], "a pair must be named as A vs B"),
        ([Task("a vs b", prior=0.5)], "no prior"),
    ],
)
def test_bad_pairs_are_refused(tmp_path, tasks, message):
    with pytest.raises(ValueError, match=message):
        Campaign.create(tmp_path / "c.db", workers=["ann"], tasks=tasks, answer_kind="pairs")
    assert not (tmp_path / "c.db").exists()


def test_a_pair_of_which_only_a_tie_is_known_is_a_tie(campaign):
    task = campaign.next("ann").task
    campaign.submit("ann", task, "tie")
    assert {one.task: one.label for one in campaign.review_tasks() if one.answers} == {task: "tie"}


def test_a_table_that_has_a_pair_twice_is_refused_by_line(tmp_path):
    (tmp_path / "t.csv").write_text("left,right\na,b\nb,c\nb,a\n")
    with pytest.raises(DataError, match=r"t.csv:4: the pair of 'b' and 'a' is .* in line 2; keep"):
        read_pair_tasks(tmp_path / "t.csv")


def test_one_item_makes_no_pair(tmp_path):
    (tmp_path / "t.csv").write_text("item\na\n")
    with pytest.raises(DataError, match=r"t.csv: must have two items or more, .* found one"):
        read_pair_tasks(tmp_path / "t.csv")


def test_what_was_promised_stays(campaign):
    with pytest.raises(RejectedError, match="begin a new campaign"):
        campaign.change(new_classes=["both"])
    with pytest.raises(RejectedError, match="target is for classes"):
        campaign.change(target=0.9)


def test_answers_of_a_table_keep_their_sides(campaign, tmp_path):
    store = str(tmp_path / "c.db")
    answer(campaign, 2, np.random.default_rng(0))
    campaign.plan(labels=2)
    rows = [(w, t, *sides_of(campaign, t, w)) for w, t, _ in campaign.pending_pairs()]
    lines = ["worker,left,right,answer"]
    lines += [f"{w},{right},{left},{left}" for w, _, left, right in rows]  # the other way round
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    run_done("campaign", "import", store, str(tmp_path / "a.csv"))
    state = campaign.state()
    assert len(state.given) == 6 + len(rows)
    lefts = [
        items_of_pair(state.tasks[j].name)[int(s)]
        for (_, j, _), s in zip(state.given[6:], state.swapped[6:], strict=True)
    ]
    assert sorted(lefts) == sorted(right for _, _, _, right in rows)
    again = crowd_tvcs("campaign", "import", store, str(tmp_path / "a.csv"))
    assert "already known" in again.stderr


def test_items_alone_stand_for_all_their_pairs(tmp_path):
    (tmp_path / "items.csv").write_text("item\n" + "\n".join(ITEMS) + "\n")
    (tmp_path / "w.csv").write_text("worker\nann\n")
    (tmp_path / "g.csv").write_text("left,right,answer\nb,a,right\n")
    store = str(tmp_path / "s.db")
    done = run_done(
        "campaign",
        "init",
        store,
        "--pairs",
        "--tasks",
        str(tmp_path / "items.csv"),
        "--workers",
        str(tmp_path / "w.csv"),
        "--gold",
        str(tmp_path / "g.csv"),
    )
    assert "fewest answers" in done.stderr
    with Campaign(store) as made:
        assert [t.name for t in made.state().tasks] == [name for name in TASKS if name != "a vs b"]
        assert made.state().gold == {"a vs b": 0}


def test_also_adds_items_without_answers():
    found = Comparisons.of([("ann", "a", "b", "left")], also=["c"])
    assert (found.items, found.per_item.tolist()) == (("a", "b", "c"), [1, 1, 0])
    ranking = rank_items(found, rng=0)
    assert next(row[0] for row in ranking.item_rows()) == "a"
