"""`next` hands out what `status` and `stop` call worth a label, by those who are left, not else."""

import random

import pytest

from crowd_tvcs import Quality
from crowd_tvcs.campaign import Campaign, Task, Worker, task_statuses
from crowd_tvcs.campaign.offers import NOTHING_LEFT
from crowd_tvcs.campaign.stopping import is_worth_a_label
from crowd_tvcs.campaign.store.schema import ASIDE

LEAST = 0.01
SKILLS = {"star": 0.95, "ann": 0.65, "bob": 0.6, "cy": 0.6}


def wanted(campaign):
    return [task.wanted for task in campaign.state().tasks]


@pytest.fixture
def with_a_star(begin):
    """Make a campaign of one who is good and three who are not, of whom a second adds nothing."""

    def _with_a_star(**of_star):
        workers = [Worker("star", **of_star), *(Worker(name) for name in list(SKILLS)[1:])]
        options = {"qualities": SKILLS, "min_gain": LEAST, "model": "independent"}
        return begin(workers=workers, max_workers_per_task=2, **options)

    return _with_a_star


def test_a_task_is_not_handed_out_for_the_good_who_had_it(with_a_star):
    """After the best nobody adds anything, though a second one as good would."""
    campaign = with_a_star()
    task = campaign.next("star").task
    campaign.submit("star", task, "1")
    assert {one.task: one.verdict for one in task_statuses(campaign.state())}[
        task
    ] == "not worth it"
    given = set()
    for name in list(SKILLS)[1:]:
        given.add(campaign.next(name).task)
    assert task not in given


def test_a_task_is_not_handed_out_for_one_at_his_cap_and_is_once_he_has_room(with_a_star):
    """Bob's label beside ann's adds nothing; the star's would, who is at his cap of one."""
    campaign = with_a_star(max_tasks=1)
    assert campaign.next("star", now=0.0).task == "t1"
    for task in ("t2", "t3"):
        assert campaign.next("ann", now=0.0).task == task
        campaign.submit("ann", task, "1", now=1.0)
    assert campaign.next("bob", now=2.0).task == "t1"  # nobody answered it
    campaign.submit("bob", "t1", "1", now=2.0)
    offer = campaign.next("bob", now=3.0)
    assert (offer.task, offer.reason) == (None, NOTHING_LEFT)
    assert wanted(campaign)[1:] == [ASIDE, ASIDE]
    assert campaign.next("bob", now=1e6).task in ("t2", "t3")  # his lease is over, he has room
    assert ASIDE not in wanted(campaign)


def test_a_task_is_not_handed_out_for_one_who_is_blocked(with_a_star):
    campaign = with_a_star()
    for task in ("t1", "t2", "t3"):
        assert campaign.next("ann").task == task
        campaign.submit("ann", task, "1")
    campaign.block("star")
    assert campaign.next("bob").task is None
    assert wanted(campaign) == [ASIDE] * 3
    campaign.block("star", False)
    assert campaign.next("bob").task == "t1"


def test_a_task_is_handed_out_for_one_who_is_nearly_always_wrong(begin):
    """Of two classes that tells as much as one who is nearly always right."""
    skills = SKILLS | {"star": 0.05}
    options = {"min_gain": LEAST, "model": "independent", "min_quality": 0.0}
    campaign = begin(workers=skills, qualities=skills, max_workers_per_task=2, **options)
    for task in ("t1", "t2", "t3"):
        assert campaign.next("ann").task == task
        campaign.submit("ann", task, "1")
    assert campaign.next("bob").task == "t1"
    campaign.block("star")
    assert campaign.next("cy").task is None


def test_a_task_is_handed_out_for_the_good_whose_mate_gave_it_up(begin):
    """The star may have what ann of the same group had and let lapse."""
    workers = [Worker("star", team="x"), Worker("ann", team="x"), Worker("bob"), Worker("cy")]
    options = {"qualities": SKILLS, "min_gain": LEAST, "model": "independent"}
    campaign = begin(workers=workers, tasks=["t1"], max_workers_per_task=2, **options)
    assert campaign.next("ann", now=0.0).task == "t1"
    assert campaign.next("bob", now=1e6).task == "t1"
    campaign.submit("bob", "t1", "1", now=1e6 + 1.0)
    assert campaign.next("cy", now=1e6 + 2.0).task == "t1"


def test_a_minimum_is_met_whatever_it_adds(begin):
    options = {"qualities": SKILLS, "min_gain": LEAST, "model": "independent"}
    campaign = begin(workers=list(SKILLS), tasks=[Task("t1", min_workers=2)], **options)
    for name in ("star", "ann"):
        assert campaign.next(name).task == "t1"
        campaign.submit(name, "t1", "1")
    assert campaign.next("bob").task is None


ABLE = {
    "bob is blocked": {},
    "bob is at their cap": {"bob": {"max_tasks": 0}},
    "bob is below the min_quality": {"of bob": 0.4},
    "bob and cy are of one group": {"bob": {"team": "x"}, "cy": {"team": "x"}},
    "bob costs too much": {"bob": {"cost": 5.0}},
    "bob skipped it": {},
}


@pytest.mark.parametrize("why", ABLE)
def test_a_minimum_that_nobody_may_meet_holds_no_label_back(place, why):
    """Of two labels for t1 one may still come, of cy; ann, who had it, has the other elsewhere."""
    result = ABLE[why]
    names = {"ann": 0.9, "bob": result.get("of bob", 0.8), "cy": 0.7}
    workers = [Worker(name, **{"cost": 1.0} | result.get(name, {})) for name in names]
    tasks = [Task("t1", min_workers=3), *(Task(f"t{j}") for j in range(2, 7))]
    options = {"budget": 4, "money": 5.0, "min_quality": 0.5, "lease_seconds": 10.0}
    with Campaign.create(
        place, workers=workers, tasks=tasks, qualities=names, **options
    ) as campaign:
        for task in ("t1", "t2"):
            assert campaign.next("ann", now=1.0).task == task
            campaign.submit("ann", task, "1", now=1.0)
        settings = campaign.state().settings
        assert (settings.budget - settings.slots, settings.missing) == (2, 2)
        if why in ("bob is blocked", "bob skipped it"):
            assert campaign.next("ann", now=2.0).reason == NOTHING_LEFT
        if why == "bob is blocked":
            campaign.block("bob")
        if why == "bob skipped it":
            campaign.skip("bob", campaign.next("bob", now=2.0).task, now=2.0)
        assert campaign.next("ann", now=3.0).task == "t3"
        campaign.submit("ann", "t3", "1", now=3.0)
        assert campaign.next("ann", now=4.0).reason == NOTHING_LEFT
        assert campaign.next("cy", now=5.0).task == "t1"


def test_a_late_answer_is_taken_if_nobody_may_meet_the_minimums(begin):
    tasks = [Task("t1", min_workers=2), "t2"]
    campaign = begin(workers=["ann", "bob"], tasks=tasks, qualities={"ann": 0.9, "bob": 0.8},
                     budget=2, lease_seconds=10.0)  # fmt: skip
    campaign.block("bob")
    for task in ("t1", "t2"):
        assert campaign.next("ann", now=1.0).task == task
        if task == "t1":
            campaign.submit("ann", task, "1", now=1.0)
    campaign.block("bob", False)
    assert campaign.next("bob", now=50.0).task == "t1"
    campaign.skip("bob", "t1", now=51.0)
    assert campaign.submit("ann", "t2", "1", now=52.0).reason == "accepted late"


def test_a_task_that_is_closed_holds_no_label_back(begin):
    """Nor one below its minimum in a campaign with a quality per pair, of who has none there."""
    tasks = ["t1", "t2"]
    quality = Quality(
        [[0.9, 0.9], [0.8, 0.8]], ["ann", "bob"], tasks, [[False, True], [True, True]]
    )
    of_tasks = [Task("t1", min_workers=1), Task("t2")]
    options = {"tasks": of_tasks, "qualities": quality, "workers": ["ann", "bob"], "budget": 1}
    for act in (lambda one: one.close_tasks(["t1"]), lambda one: one.block("bob")):
        campaign = begin(**options)
        assert campaign.next("ann").reason == NOTHING_LEFT
        act(campaign)
        assert campaign.next("ann").task == "t2"


def drawn(path, rng, per_pair):
    """A campaign with caps, groups and minimums, and a gain that labels must have."""
    names, tasks = [f"w{i}" for i in range(6)], [f"t{j}" for j in range(8)]
    workers = [
        Worker(name, max_tasks=rng.choice([None, 2, 5]), team=rng.choice([None, "x", "y"]))
        for name in names
    ]
    values = {name: rng.uniform(0.4, 0.95) for name in names}
    if per_pair:
        values = Quality([[rng.uniform(0.4, 0.95) for _ in tasks] for _ in names], names, tasks)
    n = rng.choice([2, 3])
    return Campaign.create(
        path,
        workers=workers,
        tasks=[Task(t, min_workers=rng.choice([0, 0, 1]), max_workers=4) for t in tasks],
        qualities=values,
        classes=list("abc")[:n],
        min_gain=rng.choice([0.002, 0.02]),
        model=rng.choice(["dependent", "independent"]),
    )


@pytest.mark.parametrize("seed", range(12))
def test_next_and_status_agree_through_a_whole_campaign(tmp_path, seed):
    rng = random.Random(seed)
    with drawn(tmp_path / "c.db", rng, per_pair=seed % 3 == 0) as campaign:
        least, refused, given = campaign.state().settings.min_gain, 0, 0
        for moment in range(70):
            name = rng.choice([w.name for w in campaign.state().workers])
            state = campaign.state()
            rows = {row.name: row for row in state.tasks}
            gain = {one.task: one.gain for one in task_statuses(state)}
            who = next(w for w in state.workers if w.name == name)
            i = state.workers.index(who)
            had = state.slots[i] != 0
            mates = state.team_mates[i]
            offer = campaign.next(name, now=float(moment))
            if offer.task is not None:
                given += 1
                assert rows[offer.task].needy or gain[offer.task] >= least
                campaign.submit(name, offer.task, rng.choice(state.classes), now=moment + 0.5)
            elif offer.reason == NOTHING_LEFT:
                refused += 1
                for j, row in enumerate(state.tasks):
                    if not (had[j] or mates[j] or row.slots >= row.max_workers):
                        assert gain[row.name] < least
                        assert not row.needy
        assert given > 5
        assert refused > 0


def test_whoever_is_below_the_gate_adds_nothing(begin):
    skills = {"ann": 0.9, "least": 0.05}
    options = {"min_gain": 0.001, "model": "independent", "tasks": ["t1"]}
    campaign = begin(workers=skills, qualities=skills, min_quality=0.7, **options)
    assert campaign.state().settings.best == 0.9  # who is nearly always wrong tells more
    campaign.submit("ann", campaign.next("ann").task, "1")
    assert [(one.verdict, one.gain) for one in task_statuses(campaign.state())] == [
        ("nobody left", 0.0)
    ]


@pytest.mark.parametrize("per_pair", [False, True])
def test_the_gate_leaves_too_few_to_change_a_label(begin, per_pair):
    """One label beside ann's changes nothing, as bob is no better; two more would, and one may."""
    skills = {"ann": 0.9, "bob": 0.8, "low": 0.79, "lower": 0.78}
    qualities = skills
    if per_pair:
        qualities = Quality([[skill] for skill in skills.values()], list(skills), ["t1"])
    options = {"min_gain": 0.001, "model": "independent", "workers": skills, "tasks": ["t1"]}
    for min_quality, verdict in ((0.0, "worth a label"), (0.8, "not worth it")):
        campaign = begin(qualities=qualities, min_quality=min_quality, **options)
        campaign.submit("ann", campaign.next("ann").task, "1")
        assert [one.verdict for one in task_statuses(campaign.state())] == [verdict]
        assert (campaign.next("bob").task is None) == (min_quality > 0.0)
        assert is_worth_a_label(campaign.state()).tolist() == [min_quality == 0.0]
