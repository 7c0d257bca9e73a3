"""Names that not every database takes are refused by each in the same words."""

import numpy as np
import pytest

from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.campaign import Campaign, Task, Worker
from crowd_tvcs.campaign.settings import MAX_NAME_BYTES

PRINTED = "".join(map(chr, np.random.default_rng(0).integers(33, 127, 2 * MAX_NAME_BYTES).tolist()))
LONG = PRINTED[:MAX_NAME_BYTES]  # that no database could make shorter
REFUSED = {
    "nul\0": "be text, found a character 0 in 'nul",
    "half\ud800": "be text, found half of a character in 'half",
    PRINTED: f"have at most {MAX_NAME_BYTES} bytes",
    "\U0001f600" * (MAX_NAME_BYTES // 4 + 1): f"have at most {MAX_NAME_BYTES} bytes",
    "None": "be (a name|the name of a task), found 'None', which is",
    "1.23457E+17": r"be (a name|the name of a task), found '1.23457E\+17', which is",
}
OF_GOLD = {"qualities": None, "gold": {"g": "1", "h": "0"}}
ANSWERS = [("g", "ann", "1"), ("h", "ann", "0")]


def created(place, **options):
    given = {"workers": ["ann"], "tasks": ["t1"], "qualities": {"ann": 0.9}} | options
    return Campaign.create(place, **given)


def campaigns_of(name):
    """What may have a name."""
    return {
        "name of a worker": lambda: {"workers": [name]},
        "name of a task": lambda: {"tasks": [name]},
        "task of gold": lambda: {"gold": {name: "1"}},
        "worker of an answer": lambda: OF_GOLD | {"gold_answers": [*ANSWERS, ("g", name, "1")]},
        r"kind of a task|name of a kind|tasks\[0\]": lambda: {
            "qualities": None,
            "kinds": Quality([[0.9]], ["ann"], [name]),
            "tasks": [Task("t1", kind=name)],
        },
    }


@pytest.mark.parametrize("name", REFUSED, ids=REFUSED.values())
def test_a_name_that_not_every_database_takes_is_refused(place, name):
    for what, options in campaigns_of(name).items():
        with pytest.raises(ValueError, match=f"^({what}) must {REFUSED[name]}"):
            created(place, **options())
    with created(place) as campaign:
        for added in ({"workers": [name]}, {"tasks": [name]}):
            with pytest.raises(ValueError, match=f"must {REFUSED[name]}"):
                campaign.add(**added)
        for call in (campaign.next, campaign.block, lambda who: campaign.submit("ann", who, "1")):
            with pytest.raises(ValueError, match=r"^(worker|task) must|^there is no"):
                call(name)


def test_the_longest_names_are_kept(place):
    gold = {LONG: "1", "h": "0"}
    lines = [(LONG, LONG, "1"), (LONG, "ann", "1"), ("h", "ann", "0")]
    with created(
        place, workers=["ann", LONG], qualities=None, gold=gold, gold_answers=lines
    ) as one:
        assert one.next(LONG).task == "t1"
        one.add(workers=[Worker("bob", team=PRINTED)], tasks=["t2"])
        assert one.next(LONG).task == "t1"


def test_minimums_that_no_database_counts_are_refused(place):
    most = 2**31 - 1
    with pytest.raises(ValueError, match=f"ask for {2 * most} labels, too many to count"):
        created(place, tasks=[Task("a", min_workers=most), Task("b", min_workers=most)])
