"""Campaigns whose qualities are of kinds of tasks: the answers of a table, without building it."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import inspect

from crowd_tvcs import Plan, Quality, assign
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.campaign import Campaign, State, Task, Worker, state, summary, task_statuses
from crowd_tvcs.factors import prices, tables
from crowd_tvcs.report.campaign import render

N, M, K = 8, 40, 4
WORKERS, TASKS = [f"w{i}" for i in range(N)], [f"t{j:02d}" for j in range(M)]
KINDS = [f"k{k}" for k in range(K)]
CAPS = {"max_workers_per_task": 4, "max_tasks_per_worker": 20, "budget": 90}


@pytest.fixture(autouse=True)
def _few_visits(monkeypatch):
    monkeypatch.setattr(prices, "MIN_VISITS", 200)


def crowd(seed=0, listed=0.9):
    """A table of workers x kinds, the kind of every task, and their priors."""
    rng = np.random.default_rng(seed)
    values, allowed = rng.uniform(0.5, 0.95, (N, K)).round(3), rng.random((N, K)) < listed
    table = Quality(values, WORKERS, KINDS, allowed)
    return Factors(table, TASKS, rng.integers(0, K, M)), rng.choice([0.5, 0.3], M).tolist()


def of_kinds(place, factors, prior, **options):
    names = [KINDS[k] for k in factors.kind]
    of = zip(TASKS, prior, names, strict=True)
    tasks = [Task(name, p, kind=kind) for name, p, kind in of]
    given = {"workers": WORKERS} | CAPS | options
    return Campaign.create(place, tasks=tasks, kinds=factors.table, **given)


def of_pairs(place, factors, prior, **options):
    tasks = [Task(name, p) for name, p in zip(TASKS, prior, strict=True)]
    given = {"workers": WORKERS} | CAPS | options
    return Campaign.create(place, tasks=tasks, qualities=factors.quality(), **given)


def history(campaign, seed):
    """Everything that a random campaign says on its way; the same calls for equal answers."""
    rng, result = np.random.default_rng(seed), []
    result.append(campaign.plan(labels=50, method="greedy"))
    for worker, task, _ in campaign.pending_pairs():
        if rng.random() < 0.8:
            result.append(campaign.submit(worker, task, str(rng.integers(2)), now=1.0))
    result.append(campaign.release(1))
    for at in range(30):
        offer = campaign.next(WORKERS[rng.integers(N)], now=2.0 + at)
        result.append(offer)
        if offer.task is not None and rng.random() < 0.7:
            worker = next(w for w in WORKERS if (w, offer.task) in leased(campaign))
            result.append(campaign.submit(worker, offer.task, str(rng.integers(2)), now=2.5 + at))
    result.append(campaign.plan(method="greedy"))
    now = campaign.state()
    figures = summary(now, task_statuses(now))
    return [
        *result,
        task_statuses(now),
        task_statuses(now, value=3.0),
        figures,
        render(now, name="c"),
    ]


def leased(campaign):
    now = campaign.state()
    return {(WORKERS[i], TASKS[j]) for i, j in np.argwhere(now.slots == 2).tolist()}


@pytest.mark.parametrize(
    "options",
    [
        {"target": 0.9, "min_quality": 0.6},
        pytest.param(
            {
                "model": "independent",
                "workers": [
                    Worker(w, None, 0.25 + i / 8, "ab"[i % 2] if i < 3 else None)
                    for i, w in enumerate(WORKERS)
                ],
                "money": 40.0,
            },
            marks=pytest.mark.slow,
        ),
    ],
    ids=["dependent", "independent, money and groups"],
)
def test_a_campaign_of_kinds_says_what_the_one_of_its_table_says(tmp_path, monkeypatch, options):
    factors, prior = crowd()
    result = []
    for name, made in (("a.db", of_pairs), ("b.db", of_kinds)):
        with made(tmp_path / name, factors, prior, **options) as campaign:
            result.append(history(campaign, seed=1))
            if made is of_kinds:
                monkeypatch.setattr(state, "CHUNK_PAIRS", 3 * N)  # 14 parts say what one does
                now = campaign.state()
                assert [task_statuses(now), task_statuses(now, value=3.0)] == result[0][-4:-2]
    assert result[0] == result[1]


@pytest.mark.slow
def test_postgresql_reads_kinds_as_sqlite_reads_pairs(tmp_path, database):
    factors, prior = crowd(seed=3)
    with (
        of_pairs(tmp_path / "a.db", factors, prior, target=0.9) as a,
        of_kinds(database, factors, prior, target=0.9) as b,
    ):
        assert history(a, seed=2) == history(b, seed=2)


def test_only_a_campaign_of_kinds_has_tables_of_kinds(tmp_path):
    factors, prior = crowd()
    with (
        of_pairs(tmp_path / "a.db", factors, prior) as a,
        of_kinds(tmp_path / "b.db", factors, prior) as b,
    ):
        plain, other = inspect(a.store.engine), inspect(b.store.engine)
        more = {"kind", "kind_skill", "task_kind"}
        assert set(other.get_table_names()) == set(plain.get_table_names()) - {"skill"} | more
        assert (plain.get_view_names(), other.get_view_names()) == ([], ["skill"])


def test_what_is_asked_of_a_pair_never_reads_all_pairs(tmp_path):
    """A view in an outer join would be written out whole by SQLite, at every answer."""
    from crowd_tvcs.campaign.store.queries import PAIRS, SEARCHES

    factors, prior = crowd()
    with of_kinds(tmp_path / "c.db", factors, prior) as campaign, campaign.store.read() as (c, _):
        for statement in (PAIRS, *(SEARCHES[True, needy] for needy in (True, False))):
            words, constants = statement.compiled(c)
            given = {"of_task": 1, "called": "w1"} | constants
            driver = c.connection.driver_connection
            steps = [row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {words}", given)]
            assert any("kind_skill" in step for step in steps)
            assert not [s for s in steps if "MATERIALIZE" in s or s.startswith("SCAN kind")]


@pytest.fixture
def _large(monkeypatch):
    """Crowds of this file are large, and nothing larger than three tasks is made a table."""
    monkeypatch.setattr(tables, "MOST_PAIRS", 100)
    monkeypatch.setattr(state, "CHUNK_PAIRS", 3 * N)
    for name in ("quality", "slots"):
        of = getattr(State, name).func

        def small(self, of=of):
            assert len(self.tasks) <= 3, "a table of workers x tasks is made"
            return of(self)

        monkeypatch.setattr(State, name, property(small))


def table_of(now):
    """States of all pairs, of shape (workers, tasks)."""
    out = np.zeros((N, M), dtype=int)
    out[now.pairs.worker, now.pairs.task] = now.pairs.state
    return out


@pytest.mark.usefixtures("_large")
def test_the_first_round_of_a_large_crowd_is_the_plan_of_assign(tmp_path):
    factors, prior = crowd(listed=1.0)
    with of_kinds(tmp_path / "c.db", factors, prior, seed=5) as campaign:
        found = campaign.plan(time_limit=None)
    plan = assign(Plan(factors, prior=prior, **CAPS), "best", rng=5)
    expected = set(plan.pairs())
    assert set(found.pairs) <= expected
    assert len(expected) - len(found.pairs) == found.left_out
    assert found.pairs == sorted(found.pairs)
    assert found.expected_accuracy == pytest.approx(plan.expected_accuracy, abs=1e-9)
    assert found.bound == plan.bound


@pytest.mark.usefixtures("_large")
@pytest.mark.parametrize(
    ("n_classes", "most"),
    [(2, 16), (2, 8), pytest.param(3, 16, marks=pytest.mark.slow)],  # 8: some have theirs at once
)
def test_later_rounds_of_a_large_crowd_keep_every_cap_and_ask_nobody_twice(
    tmp_path, n_classes, most
):
    factors, prior = crowd(seed=n_classes)
    options = {"classes": ["0", "1", "2"][:n_classes], "max_tasks_per_worker": most}
    prior = prior if n_classes == 2 else [None] * M
    rng = np.random.default_rng(1)
    with of_kinds(tmp_path / "c.db", factors, prior, **options) as campaign:
        campaign.plan(labels=50)
        for worker, task, _ in campaign.pending_pairs():
            if task < "t30":
                campaign.submit(worker, task, str(rng.integers(n_classes)))
        before, now = table_of(campaign.state()), campaign.state()
        campaign.block("w0")
        found = campaign.plan(time_limit=None)
        after = table_of(campaign.state())
        new = after != before
        assert new.any()
        assert not new[:, ((before == 1) | (before == 2)).any(axis=0)].any()  # these wait
        assert not (new & (before != 0)).any()
        assert not new[0].any()
        assert not (new & ~factors.quality().allowed).any()
        assert (after > 0).sum(axis=1).max() <= most
        assert (after > 0).sum(axis=0).max() <= 4
        assert (after > 0).sum() <= 90
        beliefs = {"prior": now.posterior[:, 1]}
        if n_classes > 2:
            beliefs = {"n_classes": 3, "class_prior": now.posterior}
        by_hand = Plan(factors.quality(), **beliefs).accuracy((after == 1) | (after == 2)).mean()
        assert found.expected_accuracy == pytest.approx(by_hand, abs=1e-9)
        assert found.bound >= by_hand - 1e-9
        record = summary(campaign.state(), task_statuses(campaign.state()))
        assert record["answers"] + record["pending"] == (after > 0).sum()
        assert "<html" in render(campaign.state(), name="c")


@pytest.mark.usefixtures("_large")
def test_in_a_large_crowd_too_nobody_below_the_gate_is_in_a_round(tmp_path):
    """Nor is more asked for than those who are left can give."""
    factors, prior = crowd(listed=1.0)
    least = int((factors.table.values >= 0.8).sum(axis=0).min()) + 1
    tasks = [Task(*of, min_workers=least) for of in zip(TASKS, prior, strict=True)]
    tasks = [replace(one, kind=KINDS[k]) for one, k in zip(tasks, factors.kind, strict=True)]
    options = CAPS | {"budget": None, "max_tasks_per_worker": M, "max_workers_per_task": N}
    given = {
        "workers": WORKERS,
        "tasks": tasks,
        "kinds": factors.table,
        "min_quality": 0.8,
    } | options
    with Campaign.create(tmp_path / "c.db", **given) as campaign:
        campaign.plan(time_limit=None)
        out = table_of(campaign.state()) > 0
    assert out.any()
    assert (factors.quality().values[out] >= 0.8).all()
    able = (factors.quality().values >= 0.8).sum(axis=0)
    assert (out.sum(axis=0) >= np.minimum(least, able)).all()


@pytest.mark.usefixtures("_large")
def test_a_large_crowd_meets_minimums_and_refuses_money_and_groups(tmp_path):
    factors, prior = crowd(listed=1.0)
    place = tmp_path / "c.db"
    tasks = [
        Task(t, kind=KINDS[k], min_workers=2) for t, k in zip(TASKS, factors.kind, strict=True)
    ]
    with Campaign.create(
        place, workers=WORKERS, tasks=tasks, kinds=factors.table, budget=85
    ) as campaign:
        campaign.plan()
        assert ((table_of(campaign.state()) == 1).sum(axis=0) >= 2).all()
    rich = [Worker(w, cost=1.0) for w in WORKERS]
    mates = [Worker(w, team="a") for w in WORKERS]
    for name, workers, money in (("d.db", rich, 50.0), ("e.db", mates, None)):
        options = {"workers": workers, "money": money}
        with of_kinds(tmp_path / name, factors, prior, **options) as campaign:
            with pytest.raises(ValueError, match="with money or groups are planned for crowds"):
                campaign.plan()
            assert campaign.next("w0").task is not None


@pytest.mark.usefixtures("_large")
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_rounds_of_a_large_crowd_keep_the_budget_that_minimums_ask_for(tmp_path, share):
    factors, _ = crowd(listed=1.0)
    tasks = [
        Task(t, kind=KINDS[k], min_workers=3 if j < 10 else 0)
        for j, (t, k) in enumerate(zip(TASKS, factors.kind, strict=True))
    ]
    rng = np.random.default_rng(0)

    def check(campaign):
        settings = campaign.state().settings
        assert settings.missing <= settings.budget - settings.slots

    with Campaign.create(
        tmp_path / "c.db", workers=WORKERS, tasks=tasks, kinds=factors.table, budget=50
    ) as campaign:
        first = campaign.plan(labels=10)
        check(campaign)
        assert len(first.pairs) == 10
        for worker, task in first.pairs:
            if rng.random() < share:
                campaign.submit(worker, task, "1")
        campaign.plan()
        check(campaign)
        for worker, task, _ in campaign.pending_pairs():
            campaign.submit(worker, task, str(rng.integers(2)))
        while campaign.plan().pairs:
            check(campaign)
            for worker, task, _ in campaign.pending_pairs():
                campaign.submit(worker, task, str(rng.integers(2)))
        check(campaign)
        assert campaign.state().settings.missing == 0
        assert (table_of(campaign.state()) > 0).sum() <= 50
        assert ((table_of(campaign.state()) > 0).sum(axis=0)[:10] >= 3).all()


def test_tasks_workers_and_kinds_are_added(tmp_path):
    factors, prior = crowd(listed=1.0)
    with of_kinds(tmp_path / "c.db", factors, prior) as campaign:
        more = Quality([[0.9, 0.8], [0.7, 0.6]], ["w8", "w9"], ["k0", "k9"])
        campaign.add(workers=["w8", "w9"], kinds=more, tasks=[Task("u1", kind="k9")])
        now = campaign.state()
        column = now.factors.tasks.index("u1")
        assert now.quality.values[:, column].tolist() == [0.5] * 8 + [0.8, 0.6]
        assert now.quality.allowed[:, column].tolist() == [False] * 8 + [True] * 2
        assert now.settings.best == max(0.9, factors.table.values.max())
        j = TASKS.index(campaign.next("w8").task)  # what they do best, and as unsure as can be
        assert (KINDS[factors.kind[j]], prior[j]) == ("k0", 0.5)
        for given, message in (
            ({"tasks": ["u2"]}, "kind of task 'u2' must be one that the table .* found none"),
            ({"tasks": [Task("u2", kind="x")]}, "kind of task 'u2' must be .* found 'x'"),
            ({"qualities": {"w8": 0.9}}, "are of kinds of tasks; give it kinds"),
            ({"kinds": more}, "of worker 'w8' on kind 'k0', which the campaign has already"),
        ):
            with pytest.raises(ValueError, match=message):
                campaign.add(**given)
    with of_pairs(tmp_path / "d.db", factors, prior) as campaign:
        for given in ({"kinds": more}, {"tasks": [Task("u2", kind="k0")]}):
            with pytest.raises(ValueError, match="of this campaign are not of kinds of tasks"):
                campaign.add(**given)
    both = {"qualities": {"w0": 0.9}, "kinds": factors.table}
    with pytest.raises(ValueError, match="qualities or kinds, not both"):
        Campaign.create(tmp_path / "e.db", workers=WORKERS, tasks=TASKS, **both)
    assert not (tmp_path / "e.db").exists()
