"""The report: complete, self-contained, and harmless whatever the names are."""

from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from crowd_tvcs.report.assignment import render
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.what_if import around
from tvcs_core.files.page import HEIGHT, WIDTH

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</title><svg onload=x>"]
CAPS = {"max_workers_per_task": 2, "max_tasks_per_worker": None, "budget": 30}


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def report(n_workers, n_tasks, method="qlp", names=()):
    rng = np.random.default_rng(0)
    workers = [*names, *(f"w{i}" for i in range(n_workers - len(names)))]
    tasks = [*names, *(f"t{j}" for j in range(n_tasks - len(names)))]
    quality = Quality(rng.uniform(0.5, 0.9, (n_workers, n_tasks)), workers, tasks)
    found = assign(Plan(quality, max_workers_per_task=2, budget=30), method, rng=0)
    command = "crowd-tvcs assign q.csv --seed 3"
    curve = around(found, rng=0)
    return found, Page(render(found, source="q.csv", command=command, caps=CAPS, curve=curve))


@pytest.mark.parametrize("method", METHODS)
def test_hostile_names_stay_text(method):
    _, page = report(5, 8, method, HOSTILE)
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert page.tags.count("title") > 1
    assert "alert(1)" in page.text


def test_the_report_loads_nothing():
    _, page = report(5, 8)
    assert not {"link", "iframe", "object", "script", "img"} & set(page.tags)
    assert not {"src", "href"} & {name for name, _ in page.attributes}


def test_the_report_says_what_the_operator_needs():
    found, page = report(5, 20)
    for text in (
        f"{100 * found.expected_accuracy:.2f} %",
        "crowd-tvcs assign q.csv --seed 3",
        "Limiting caps",
        "used up",
        "Tasks with the lowest expected accuracy",
        "Load per worker",
        "Answers per task",
        "One more answer in the budget",
    ):
        assert text in page.text
    worst = found.plan.quality.tasks[int(np.argmin(found.task_accuracy))]
    assert worst in page.text


@pytest.mark.parametrize(("n_workers", "n_tasks"), [(1, 1), (3, 300), (300, 3)])
def test_small_and_large_plans_have_reports(n_workers, n_tasks):
    _, page = report(n_workers, n_tasks)
    assert page.tags.count("svg") == 4


def test_an_empty_assignment_has_a_report():
    quality = Quality([[0.9]], ["w"], ["t"])
    found = assign(Plan(quality, budget=0), "tvcs", rng=0)
    page = Page(render(found, source="q.csv", command="x", caps=CAPS))
    assert "1 of 1 tasks get no answer" in page.text


def test_without_a_curve_there_is_none():
    found, _ = report(2, 3)
    page = Page(render(found, source="q.csv", command="x", caps=CAPS))
    assert "Accuracy at other budgets" not in page.text
    assert page.tags.count("polyline") == 0


@pytest.mark.parametrize(("n_workers", "n_tasks"), [(1, 1), (5, 20), (40, 3)])
def test_the_curve_never_falls_and_stays_in_its_picture(n_workers, n_tasks):
    found, page = report(n_workers, n_tasks, "fast")
    assert f"this plan, {found.size} answers" in page.text
    (places,) = [value for name, value in page.attributes if name == "points"]
    points = np.array([pair.split(",") for pair in places.split()], dtype=float)
    assert (np.diff(points[:, 0]) > 0).all()
    assert (np.diff(points[:, 1]) <= 0).all()  # up is towards 0
    assert ((points >= 0) & (points <= [WIDTH, HEIGHT])).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_plan_is_a_dot_on_the_line_of_its_own_method_or_no_dot(method):
    found, page = report(6, 24, method)
    curve = around(found, rng=0)
    is_own = METHODS[method].is_quick
    assert curve[0] == (method if is_own else "fast")
    assert page.attributes.count(("class", "found")) == 2 * is_own
    assert ("It has no dot" in page.text) == (not is_own)
    at = [offer.expected_accuracy for offer in curve[1] if offer.budget == found.size]
    if is_own:
        assert at == [max(o.expected_accuracy for o in curve[1] if o.budget <= found.size)]
        assert at[0] >= found.expected_accuracy
    if is_own and method != "random":
        assert at[0] == found.expected_accuracy


def test_more_money_never_looks_worse_than_the_plan():
    found, _ = report(6, 24, "greedy")
    _, offers = around(found, rng=0)
    beyond = [offer.expected_accuracy for offer in offers if offer.budget >= found.size]
    assert len(beyond) > 2
    assert min(beyond) >= found.expected_accuracy


def test_a_large_plan_says_how_much_of_it_is_listed():
    _, page = report(30, 400)
    assert "12 of 400 tasks; summary.json has all." in page.text
    assert "summary.json has all" not in report(5, 8)[1].text


def test_the_curve_is_there_in_numbers_too():
    found, page = report(5, 20, "fast")
    method, offers = around(found, rng=0)
    assert f"The line is by the method {method}" in page.text
    for before, after in pairwise(offers):
        assert f"{100 * after.expected_accuracy:.2f} %" in page.text
        gain = (after.expected_accuracy - before.expected_accuracy) / (
            after.answers - before.answers
        )
        assert f"{100 * gain:.4f}" in page.text


def test_a_curve_that_would_end_late_is_left_out_and_the_page_says_so():
    found, _ = report(5, 20, "fast")
    assert around(found, deadline=Deadline.after(1e-9)) is None
    assert around(found, deadline=Deadline.after(1000.0)) == around(found)
    page = Page(render(found, source="q.csv", command="x", caps=CAPS, curve=None))
    assert "This report shows no other budgets, as the time limit was near." in page.text
    assert "shows no other budgets" not in report(5, 20, "fast")[1].text


def test_a_certified_plan_shows_its_bound_and_what_one_more_is_worth():
    found, page = report(5, 20, "best")
    assert found.certified
    assert f"{100 * found.bound:.2f} %" in page.text
    assert "One more answer in the budget adds at most" in page.text
    assert f"{100 * found.budget_price:.4f} points" in page.text
    assert "not certified" not in page.text
    assert "not certified" in report(5, 20, "qlp")[1].text


def test_demands_and_their_tables_are_shown():
    quality = Quality(np.full((3, 4), 0.7), list("abc"), list("wxyz"))
    plan = Plan(quality, min_workers_per_task=1, forced=np.eye(3, 4) > 0)
    found = assign(plan, "qlp")
    tables = {"workers": "<b>.csv", "tasks": "t.csv", "forced": "f.csv", "forbidden": None}
    curve = around(found)
    assert curve[0] == "qlp"
    page = Page(render(found, source="q.csv", command="x", caps=CAPS | tables, curve=curve))
    for text in ("no cap, and <b>.csv", "minimum answers per task", "3 pairs, all assigned"):
        assert text in page.text
