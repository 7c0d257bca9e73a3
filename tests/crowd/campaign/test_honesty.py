"""What the gold of a campaign says of its confidences."""

import json
from dataclasses import replace

import pytest

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.campaign.honesty import on_gold
from crowd_tvcs.skills.dependence_fit import NO_GOLD
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.reliability import claims, sure_at

GOLD = {f"g{k:02d}": str(k % 2) for k in range(60)}
ANSWERS = [
    (task, name, label if (k * step) % 7 < right else str(1 - int(label)))
    for k, (task, label) in enumerate(GOLD.items())
    for name, step, right in (("ann", 1, 6), ("bob", 2, 5), ("cy", 3, 5))
]


@pytest.mark.parametrize("model", [None, NO_GOLD])
def test_gold_tasks_are_judged_by_each_other(begin, model):
    options = {"qualities": None, "gold": GOLD, "gold_answers": ANSWERS, "prior": 0.5}
    campaign = begin(**options, model="independent")
    answers = Answers.of(ANSWERS, tasks=sorted(GOLD), workers=["ann", "bob", "cy"], classes="01")
    known = Gold(GOLD, ("0", "1"))
    skill = estimate_quality(answers, known, model="independent")
    if model is not None:
        skill = replace(skill, dependence=model)
        text = json.dumps(model.as_json())
        with campaign.store.write() as (connection, _, _):
            connection.exec_driver_sql("UPDATE campaign SET dependence = ?", (text,))
    state = campaign.state()
    found = on_gold(state)
    claim, hit = claims(answers, known, skill)
    assert found.claim == pytest.approx(claim, abs=1e-9)
    assert found.hit.tolist() == hit.tolist()
    assert found.sure_at(0.9) == pytest.approx(sure_at(claim, hit, 0.9))
    assert sum(part.tasks for part in found.by_confidence) >= 60
    assert len(found.by_labels) > 0
    assert isinstance(found.warnings, list)
    at = 0.9 if model is None else found.sure_at(0.9)
    sure = [one.verdict == "sure" for one in campaign.stop(target=0.9)]
    assert sure == [task.confidence >= at for task in state.tasks]


def test_where_qualities_are_from_no_gold_nothing_is_judged(begin):
    assert on_gold(begin().state()) is None
    assert (
        on_gold(begin(gold=GOLD, gold_answers=ANSWERS, prior=0.5, model="independent").state())
        is None
    )
