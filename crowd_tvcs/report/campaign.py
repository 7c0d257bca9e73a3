"""Report of a campaign: one HTML file, readable offline."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowd_tvcs.arrays import Floats
from crowd_tvcs.campaign.entries import WAITING, WORTH, TaskStatus
from crowd_tvcs.campaign.gold_calibration import GoldCalibration, calibrate_on_gold
from crowd_tvcs.campaign.state import State
from crowd_tvcs.campaign.stopping import least_confident, summary, task_statuses
from crowd_tvcs.report.reliability import diagram
from crowd_tvcs.skills.dependence import describe_dependence
from tvcs_core.files.page import Axes, fill_page

LEAST_CONFIDENT = 15  # tasks shown
MAX_WORKERS = 40  # shown
POINTS = 200  # of a curve
LAST = 0.25  # last part of the labels, whose gain decides whether the curve is flat
FLAT = 0.1  # share of the average gain of as many labels, up to which it is flat


def render(state: State, *, name: str) -> str:
    """Return the page of a campaign as HTML.

    Parameters
    ----------
    state
        The campaign.
    name
        Name for the title.

    Returns
    -------
    str
        The page. Names are escaped; it loads nothing and runs no script.
    """
    standings = task_statuses(state)
    least = least_confident(standings, LEAST_CONFIDENT)
    expected, measured = accuracy_by_answers(state)
    workers = _workers(state)
    return fill_page(
        "crowd_tvcs.report",
        "campaign.html.j2",
        title=f"Campaign: {name}",
        summary=summary(state, standings),
        advice=_advice(standings, expected),
        curve=_curve(expected, measured) if state.given.size else None,
        least=least,
        workers=workers[:MAX_WORKERS],
        n_more=len(workers) - len(workers[:MAX_WORKERS]),
        idle=sum(not w.slots for w in state.workers),
        rounds=[row._asdict() for row in state.rounds],
        source=state.settings.source,
        honesty=_honesty(state, calibrate_on_gold(state)),
    )


def _honesty(state: State, gold: GoldCalibration | None) -> dict[str, Any]:
    """Return the basis of the confidences, and their calibration on gold."""
    model = state.model
    return {
        "model": "worker errors are assumed independent"
        if model is None
        else describe_dependence(model),
        "diagram": None if gold is None else diagram(gold.by_confidence),
        "by_labels": () if gold is None else gold.by_labels,
        "warnings": [] if gold is None else gold.warnings,
    }


def accuracy_by_answers(state: State) -> tuple[Floats, Floats | None]:
    """Return the mean posterior of the labels after each answer, and the share that is right.

    Both begin before the first answer. The second is for the tasks with a known label, None if
    there are none. Qualities are the current ones.
    """
    of = state.answers.task_of
    m, n = len(state.tasks), of.size
    nothing, none = np.array([], dtype=np.int64), np.arange(m)
    before = state.chances(nothing, nothing, none)
    order = np.argsort(of, kind="stable")
    start = np.cumsum(np.bincount(of, minlength=m)) - np.bincount(of, minlength=m)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n) - start[of[order]]
    group_of = np.repeat(np.arange(n), place + 1)  # answer a with all before it to the same task
    first = np.cumsum(place + 1) - (place + 1)
    entry = order[start[of[group_of]] + np.arange(group_of.size) - first[group_of]]
    after = state.chances(entry, group_of, of)
    earlier = np.where(
        place[:, None] > 0, after[order[start[of] + np.maximum(place - 1, 0)]], before[of]
    )
    change = after.max(axis=1) - earlier.max(axis=1)
    expected = (before.max(axis=1).sum() + np.concatenate([[0.0], np.cumsum(change)])) / m
    truth = np.array([state.gold.get(task, -1) for task in state.factors.tasks])
    if not (truth >= 0).any():
        return expected, None
    known, right = truth[of] >= 0, truth[of]
    gained = known * (1.0 * (after.argmax(axis=1) == right) - (earlier.argmax(axis=1) == right))
    at_first = ((before.argmax(axis=1) == truth) & (truth >= 0)).sum()
    hits = at_first + np.concatenate([[0.0], np.cumsum(gained)])
    return expected, hits / (truth >= 0).sum()


def _advice(standings: list[TaskStatus], expected: Floats) -> dict[str, Any]:
    """Return the gain of the last labels, and the verdicts on further ones."""
    n = expected.size - 1
    last = min(n, max(1, round(LAST * n)))
    added, all_added = float(expected[-1] - expected[-1 - last]), float(expected[-1] - expected[0])
    worth = [one.gain for one in standings if one.verdict == WORTH]
    return {
        "last": last,
        "added": added,
        "is_flat": added <= FLAT * all_added * last / max(1, n),
        "worth": len(worth),
        "gain": max(worth, default=0.0),
        "waiting": sum(one.verdict == WAITING for one in standings),
    }


def _workers(state: State) -> list[dict[str, Any]]:
    """Return the activity of the workers, busiest first."""
    right = state.posterior.argmax(axis=1)
    agree = np.zeros(len(state.workers))
    for i, j, label in state.given.tolist():
        agree[i] += label == right[j]
    rows = [
        {
            "name": row.name,
            "answers": row.answers,
            "pending": row.slots - row.answers,
            "quality": None if state.settings.per_pair else row.quality,
            "agree": agree[i] / row.answers if row.answers else None,
            "earned": row.answers * row.cost / 1e6,
            "full": row.slots >= row.max_tasks,
        }
        for i, row in enumerate(state.workers)
    ]
    return sorted(rows, key=lambda row: (-row["answers"], row["name"]))


def _curve(expected: Floats, measured: Floats | None) -> dict[str, Any]:
    """Return positions of the two curves and of their grid lines in the picture."""
    shown = np.unique(np.linspace(0, expected.size - 1, POINTS).astype(int))
    curves = [expected[shown]] + ([] if measured is None else [measured[shown]])
    low = float(np.floor(20 * min(curve.min() for curve in curves)) / 20)
    low = min(low, 0.95)

    axes = Axes(max(1, expected.size - 1), low, 1.0)

    def path(curve: Floats) -> str:
        places = zip(shown.tolist(), curve.tolist(), strict=True)
        return " ".join(f"{axes.across(x)},{axes.down(y)}" for x, y in places)

    steps = np.linspace(low, 1.0, 6).tolist()
    marks = np.unique(np.linspace(0, expected.size - 1, 6).astype(int)).tolist()
    return axes.drawn([(y, f"{100 * y:.3g} %") for y in steps], [(x, str(x)) for x in marks]) | {
        "expected": path(expected[shown]),
        "measured": None if measured is None else path(measured[shown]),
        "last": float(expected[-1]),
        "last_measured": None if measured is None else float(measured[-1]),
    }
