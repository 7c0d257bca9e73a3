"""The page of a campaign: its curve and its table say the same."""

import re

import pytest

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.report.campaign import render

TASKS = [f"t{j}" for j in range(50)]


def page(tmp_path, labels, **caps):
    """The page, without tags, after workers of .7 gave these labels to the tasks they were lent."""
    with Campaign.create(
        tmp_path / "c.db",
        workers=list(labels),
        tasks=TASKS,
        qualities=dict.fromkeys(labels, 0.7),
        classes=["a", "b"],
        model="independent",  # so that the numbers are known by hand
        **caps,
    ) as campaign:
        for worker, given in labels.items():
            for label in given:
                campaign.submit(worker, campaign.next(worker).task, label)
        html = render(campaign.state(), name="c")
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


FIRST = {"ann": "a" * 50, "bob": "", "cy": "", "di": "", "ed": ""}  # five may label a task
SECOND = FIRST | {"bob": "abaababaabab" * 4 + "aa"}


def test_a_flat_curve_is_no_reason_to_stop_where_the_table_says_that_labels_are_worth_it(tmp_path):
    text = page(tmp_path, SECOND)
    assert "50 of 50 tasks are worth another label" in text
    assert "A flat curve is no reason to stop" in text
    assert "worth a label 50" in text
    assert "not worth their price" not in text


def test_a_curve_that_rises_is_not_called_flat(tmp_path):
    text = page(tmp_path, FIRST)
    assert "50 of 50 tasks are worth another label" in text
    assert "curve is flat" not in text
    assert "The last 12 labels changed the expected accuracy by +4.80 points." in text


def test_where_no_task_can_have_a_label_the_words_say_so(tmp_path):
    text = page(tmp_path, FIRST, max_workers_per_task=1)
    assert "No task is worth another label, or can get one" in text
    assert "full 50" in text
    assert "tasks are worth" not in text


def test_a_budget_that_is_used_up_is_reported(tmp_path):
    text = page(tmp_path, FIRST, budget=50)
    assert "worth another label" in text
    assert "However, the budget is used up." in text


@pytest.mark.parametrize("n", [1, 2])
def test_few_labels_have_a_page_too(tmp_path, n):
    assert "The last 1 labels changed" in page(tmp_path, FIRST | {"ann": "a" * n})
