"""Processes that label, of which some are killed, while settings change: nothing is lost."""

import random
import threading
from contextlib import suppress

import pytest

from benchmarks.speed import campaign as speed
from crowd_tvcs.campaign import Campaign, RejectedError
from tests.crowd.campaign.test_processes import CLEAN
from tests.proofs.counts import note


def wanted(rng, settings):
    """One or two changes, of which some break promises."""
    left = rng.randrange(-20, 2000)
    every = {
        "budget": settings.slots + left,
        "money": (settings.slots + left) * 0.05,
        "lease_seconds": rng.choice([0.3, 1.0, 5.0]),
        "min_quality": rng.choice([0.0, 0.6]),
        "worker_caps": {f"w{rng.randrange(60):03d}": rng.randrange(20, 90)},
        "task_caps": {f"t{rng.randrange(300):04d}": rng.randrange(1, 9)},
    }
    return {name: every[name] for name in rng.sample(list(every), rng.randrange(1, 3))}


def hold(place, folder, *, workers=60, tasks=300, lease=0.3, **options):
    """Label, kill and change at once; return how many changes were made and refused."""
    speed.make(place, workers=workers, tasks=tasks, lease=lease).close()
    over, rng, counted = threading.Event(), random.Random(1), {"made": 0, "refused": 0}

    def change():
        with Campaign(place) as campaign:
            while not over.wait(0.01):
                with campaign.store.read() as (_, settings):
                    given = wanted(rng, settings)
                counted["refused"] += 1
                with suppress(RejectedError):
                    campaign.change(**given)
                    counted["refused"] -= 1
                    counted["made"] += 1
            campaign.change(budget=10**6, money=10**6)  # what is checked has a limit of both

    changer = threading.Thread(target=change)
    changer.start()
    try:
        speed.run(place, folder, workers=workers, **options)
    finally:
        over.set()
        changer.join()
    found = speed.check(place, folder)
    note("campaigns", "SQLite, settings change", kills=options["kills"], **counted, **found)
    assert found.pop("answers") > 0
    assert found == CLEAN
    return counted


def test_settings_change_while_processes_label_and_one_is_killed(tmp_path):
    assert hold(tmp_path / "c.db", tmp_path, processes=2, seconds=1.5, kills=1)["made"] > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_settings_change_while_two_hundred_processes_are_killed(tmp_path, seed):
    """Eight stores, 25 kills each: a change may settle every task."""
    given = {"processes": 4, "seconds": 8.0, "kills": 25, "seed": seed}
    given |= {"workers": 200, "tasks": 2000}  # more than they can label meanwhile
    assert min(hold(tmp_path / "c.db", tmp_path, **given).values()) > 2
