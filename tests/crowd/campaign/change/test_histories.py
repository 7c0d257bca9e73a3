"""Caps hold through every change: random histories beside a plain twin that counts for itself."""

import math
import random

import pytest

from crowd_tvcs.campaign import Campaign, RejectedError, Task, Worker
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.schema import ANSWERED, LAPSED, LEASED, SKIPPED, UNLIMITED

LEASE = 100.0


class Twin:
    """What a campaign must keep, counted anew for every question."""

    def __init__(self, workers, tasks, quality, limits):
        self.cap = {w.name: w.max_tasks for w in workers}
        self.cost = {w.name: round(w.cost * 1e6) for w in workers}
        self.most = {t.name: t.max_workers for t in tasks}
        self.least = {t.name: t.min_workers for t in tasks}
        self.quality, self.limits = quality, limits
        self.lease_seconds, self.gate = LEASE, 0.0
        self.pairs = {}  # (worker, task): [state, end of the lease]

    def slots(self, *, worker=None, task=None, states=(LEASED, ANSWERED)):
        return sum(
            state in states and worker in (None, who) and task in (None, of)
            for (who, of), (state, _) in self.pairs.items()
        )

    def cap_of(self, worker):
        own = self.cap[worker]
        return own if own is not None else self.limits["max_tasks_per_worker"]

    def most_of(self, task):
        own = self.most[task]
        return own if own is not None else self.limits["max_workers_per_task"]

    @property
    def committed(self):
        return sum(self.cost[who] for (who, _), (state, _) in self.pairs.items() if state > LAPSED)

    @property
    def missing(self):
        return sum(max(0, least - self.slots(task=of)) for of, least in self.least.items())

    def lapse(self, now):
        for pair in self.pairs.values():
            if pair[0] == LEASED and pair[1] <= now:
                pair[:] = LAPSED, None

    def has_room(self, worker):
        budget, money = self.limits["budget"], self.limits["money"]
        return (
            self.slots(worker=worker) < self.cap_of(worker)
            and self.slots() < budget
            and self.committed + self.cost[worker] <= money
        )

    @property
    def is_reserved(self):
        return self.limits["budget"] - self.slots() <= self.missing

    def offered(self, worker):
        """The tasks of which one must be offered, and whether there may be none for all that."""
        if not self.has_room(worker) or self.quality[worker] < self.gate:
            return set(), True
        new = [None, LAPSED]
        free = {
            of
            for of in self.most
            if self.pairs.get((worker, of), [None])[0] in new
            and self.slots(task=of) < self.most_of(of)
        }
        if not self.is_reserved:
            return free, not free
        needy = {of for of in free if self.slots(task=of) < self.least[of]}
        return (needy, False) if needy else (free, True)

    def breaks(self, wanted):
        """Whether changes break a promise; they are made else."""
        after = Twin.__new__(Twin)
        vars(after).update(vars(self))
        after.limits = self.limits | {
            name: math.inf if value is None else value
            for name, value in wanted.items()
            if name in self.limits
        }
        if "money" in wanted and wanted["money"] is not None:
            after.limits["money"] = round(wanted["money"] * 1e6)
        after.cap = self.cap | wanted.get("worker_caps", {})
        after.most = self.most | wanted.get("task_caps", {})
        after.least = self.least | wanted.get("task_minimums", {})
        is_short = after.limits["budget"] - after.slots() < after.missing
        is_new = after.limits["budget"] != self.limits["budget"] or after.missing > self.missing
        is_broken = (
            after.slots() > after.limits["budget"]
            or after.committed > after.limits["money"]
            or (is_short and is_new)
            or any(after.slots(worker=w) > after.cap_of(w) for w in after.cap)
            or any(after.slots(task=t) > after.most_of(t) for t in after.most)
            or any(after.least[t] > after.most_of(t) for t in after.most)
        )
        if not is_broken:
            after.lease_seconds = wanted.get("lease_seconds", self.lease_seconds)
            after.gate = wanted.get("min_quality", self.gate)
            vars(self).update(vars(after))
        return is_broken


def begun(place, rng):
    """A campaign and its twin; caps of single ones differ from all that the campaign gets."""
    names = [f"w{i}" for i in range(rng.randrange(2, 5))]
    workers = [
        Worker(name, rng.choice([None, 101, 103]), rng.choice([0.0, 0.01, 0.2])) for name in names
    ]
    workers[0] = Worker("w0", None, 0.1)
    tasks = [
        Task(f"t{j}", min_workers=rng.choice([0, 0, 1]), max_workers=rng.choice([None, None, 102]))
        for j in range(rng.randrange(2, 7))
    ]
    quality = {name: rng.choice([0.6, 0.75, 0.9]) for name in names}
    limits = {
        "budget": rng.randrange(6, 20),
        "money": 2.0,
        "max_workers_per_task": rng.choice([2, 3]),
        "max_tasks_per_worker": rng.choice([3, 4, 6]),
    }
    campaign = Campaign.create(
        place, workers=workers, tasks=tasks, qualities=quality, lease_seconds=LEASE, **limits
    )
    return campaign, Twin(workers, tasks, quality, limits | {"money": 2_000_000})


def drawn(rng, twin):
    """One to three changes of a running campaign, of which some break promises."""
    every = {
        "budget": lambda: rng.choice([None, rng.randrange(25)]),
        "money": lambda: rng.choice([None, rng.randrange(20) / 10]),
        "max_workers_per_task": lambda: rng.choice([None, rng.randrange(5)]),
        "max_tasks_per_worker": lambda: rng.choice([None, rng.randrange(8)]),
        "min_quality": lambda: rng.choice([0.0, 0.7, 0.8]),
        "lease_seconds": lambda: rng.choice([10.0, 100.0, 300.0]),
        "worker_caps": lambda: {rng.choice(list(twin.cap)): rng.choice([None, 104, 2, 5, 0])},
        "task_caps": lambda: {rng.choice(list(twin.most)): rng.choice([None, 105, 1, 4])},
        "task_minimums": lambda: {rng.choice(list(twin.most)): rng.randrange(4)},
    }
    return {name: every[name]() for name in rng.sample(list(every), rng.randrange(1, 4))}


def settled_caps(twin):
    """Give single caps that equal the campaign's up, as the store does, which keeps one number."""
    for own, common in ((twin.cap, "max_tasks_per_worker"), (twin.most, "max_workers_per_task")):
        for name, cap in own.items():
            if cap == twin.limits[common]:
                own[name] = None


def hold(place, seed, length=60):
    """Run a random history; return the numbers of changes that were made and that were refused."""
    rng, now, counted = random.Random(seed), 1000.0, [0, 0]
    campaign, twin = begun(place, rng)
    with campaign:
        for _ in range(length):
            now += rng.choice([1.0, 1.0, 5.0, 40.0])
            worker, draw = rng.choice(list(twin.cap)), rng.random()
            if draw < 0.35:
                take(campaign, twin, worker, now)
            elif draw < 0.65:
                answer(campaign, twin, rng, worker, now)
            elif draw < 0.7:
                skip(campaign, twin, worker, now)
            else:
                wanted = drawn(rng, twin)
                lapsed = [list(one) for one in twin.pairs.values()]
                twin.lapse(now)
                is_refused = twin.breaks(wanted)
                message = refusal(campaign, wanted, now)
                assert (message is not None) == is_refused, (seed, wanted, message)
                if message is None:
                    settled_caps(twin)
                else:
                    assert "; " in message
                    assert "\n" not in message
                    for one, before in zip(twin.pairs.values(), lapsed, strict=True):
                        one[:] = before
                counted[is_refused] += 1
            compare(campaign, twin)
    return counted


def refusal(campaign, wanted, now):
    """What a change is refused with; None if it is made."""
    try:
        campaign.change(**wanted, now=now)
    except RejectedError as error:
        return str(error)
    return None


def take(campaign, twin, worker, now):
    twin.lapse(now)
    offer = campaign.next(worker, now=now)
    end = now + twin.lease_seconds
    mine = [(of, pair) for (who, of), pair in twin.pairs.items() if who == worker]
    open_one = next(((of, pair) for of, pair in mine if pair[0] == LEASED), None)
    if open_one is not None:
        of, pair = open_one
        pair[1] = max(pair[1], end)  # what was promised is not shortened
        assert (offer.task, offer.expires) == (of, pair[1])
        return
    may, may_be_none = twin.offered(worker)
    assert offer.task in may or (offer.task is None and may_be_none)
    if offer.task is not None:
        twin.pairs[worker, offer.task] = [LEASED, end]


def answer(campaign, twin, rng, worker, now):
    mine = [of for (who, of), pair in twin.pairs.items() if who == worker and pair[0] != SKIPPED]
    if not mine:
        return
    of = rng.choice(mine)
    pair = twin.pairs[worker, of]
    may = pair[0] in (LEASED, ANSWERED) or (
        twin.has_room(worker) and twin.slots(task=of) < twin.most_of(of)
    )
    must = may and (pair[0] in (LEASED, ANSWERED) or not twin.is_reserved)
    try:
        campaign.submit(worker, of, "1", now=now)
    except RejectedError:
        assert not must
    else:
        assert may
        pair[:] = ANSWERED, None


def skip(campaign, twin, worker, now):
    for (who, of), pair in twin.pairs.items():
        if who == worker and pair[0] == LEASED:
            campaign.skip(worker, of, now=now)
            pair[:] = SKIPPED, None
            return


def compare(campaign, twin):
    """All that the store counts is what the twin counts, and within every cap."""
    with campaign.store.read() as (connection, settings):
        workers = connection.execute(schema.worker.select()).all()
        tasks = connection.execute(schema.task.select()).all()
    counted = (settings.slots, settings.answers, settings.committed, settings.missing)
    assert counted == (twin.slots(), twin.slots(states=[ANSWERED]), twin.committed, twin.missing)
    assert settings.slots <= twin.limits["budget"]
    assert settings.committed <= twin.limits["money"]
    for one in workers:
        cap = twin.cap_of(one.name)
        assert one.slots == twin.slots(worker=one.name) <= cap
        assert one.max_tasks == min(cap, UNLIMITED)
    for one in tasks:
        most = twin.most_of(one.name)
        assert one.slots == twin.slots(task=one.name) <= most
        assert (one.max_workers, one.min_workers) == (min(most, UNLIMITED), twin.least[one.name])
        assert one.needy == (one.slots < one.min_workers)
        assert one.wanted == (one.slots < one.max_workers)


def test_caps_hold_through_every_change(tmp_path):
    made, refused = map(sum, zip(*(hold(tmp_path / f"{k}.db", k) for k in range(6)), strict=True))
    assert made > 20
    assert refused > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_caps_hold_through_every_change_of_many_histories(tmp_path, seed):
    hold(tmp_path / "c.db", seed)


@pytest.mark.parametrize("seed", [7])
def test_caps_hold_on_a_server(database, seed):
    assert all(hold(database, seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 225))
def test_caps_hold_on_a_server_in_many_histories(database, seed):
    hold(database, seed)
