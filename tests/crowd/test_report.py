"""The report: complete, self-contained, and harmless whatever the names are."""

from html.parser import HTMLParser

import numpy as np
import pytest

from crowd_tvcs import METHODS, Plan, Quality, assign
from crowd_tvcs.report import render

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
    return found, Page(render(found, source="q.csv", command=command, caps=CAPS))


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
        "Which caps bind",
        "used up",
        "Tasks least sure",
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
    assert page.tags.count("svg") == 3


def test_an_empty_assignment_has_a_report():
    quality = Quality([[0.9]], ["w"], ["t"])
    found = assign(Plan(quality, budget=0), "tvcs", rng=0)
    page = Page(render(found, source="q.csv", command="x", caps=CAPS))
    assert "1 of 1 tasks get no answer" in page.text
