"""Bounds by knots of the workers' matrices: above every plan, and confirmed by other code."""

import importlib
import json

import numpy as np
import pytest

from crowd_tvcs import Plan, Quality
from crowd_tvcs.search import matrix_knots, search, voters
from crowd_tvcs.search.deadline import Deadline
from crowd_tvcs.search.matrix_knots import bound_by_matrix_knots
from crowd_tvcs.verification.matrix_knots import MARGIN, bound_of_matrix_knots
from crowd_tvcs.verification.verify import verify
from tests.crowd.small_plans import best_by_enumeration
from tests.makers.commands import run_done
from tests.makers.tables import save


def plan_of(seed, **options):
    """Make a small plan of uneven matrices, some of workers who never err in some classes."""
    rng = np.random.default_rng(seed)
    n, m, k = (int(rng.integers(*ends)) for ends in ((2, 8), (1, 4), (2, 5)))
    even, alpha = rng.uniform(0.0, 0.8), rng.choice([0.2, 1.0, 5.0])
    confusion = even * np.eye(k) + (1.0 - even) * rng.dirichlet(np.full(k, alpha), (n, k))
    if seed % 3 == 0:
        confusion[0] = np.eye(k)[rng.integers(k, size=k)]
    prior = rng.dirichlet(np.full(k, 3.0))
    given = {
        "max_workers_per_task": int(rng.integers(1, 4)),
        "max_tasks_per_worker": int(rng.integers(1, m + 1)),
        "budget": int(rng.integers(1, 2 * m + 1)),
        "n_classes": k,
        "confusion": confusion,
        **({"class_prior": prior} if k > 2 else {"prior": prior[1]}),
    }
    quality = Quality(
        np.full((n, m), 0.5), [f"w{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    )
    return Plan(quality, **given | options)


def proved(plan):
    """Return a bound, and what another program makes of its prices and knots."""
    bound, of_workers, of_label, knots = bound_by_matrix_knots(plan, Deadline.after(None))
    document = json.loads(json.dumps(knots.as_json(plan.quality.workers)))
    return bound, (of_workers, of_label, 0.0), document


@pytest.mark.parametrize("seed", range(24))
def test_no_plan_beats_the_bound_and_other_code_confirms_it(seed, monkeypatch):
    monkeypatch.setattr(matrix_knots, "OUTCOMES", (2_000, 20_000))  # few workers are knots
    plan = plan_of(seed)
    bound, prices, document = proved(plan)
    again = bound_of_matrix_knots(plan, prices, document)
    assert again >= best_by_enumeration(plan) - 1e-9
    assert -1e-9 <= bound - again <= MARGIN * plan.max_workers_per_task.max() + 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda knots: knots["workers"].update(dict.fromkeys(knots["workers"], 9.0)),
            "mixture",
        ),
        (lambda knots: knots["workers"].update(nobody=0.1), "those of the plan"),
        (lambda knots: knots["splits"][0].update(parts=[0, 9]), "parts from 0"),
        (lambda knots: knots["splits"][0].update(price=-1.0), "numbers >= 0"),
        (lambda knots: knots.pop("splits"), "workers and splits"),
    ],
)
def test_knots_that_prove_nothing_are_refused(change, message):
    plan = plan_of(7)
    _, prices, document = proved(plan)
    change(document)
    with pytest.raises(ValueError, match=message):
        bound_of_matrix_knots(plan, (0.0 * prices[0], 0.0, 0.0), document)


def test_plans_whose_sets_are_others_have_no_knots():
    plan = plan_of(1)
    (n, m), k = plan.quality.shape, plan.n_classes
    assert k > 2
    chances = np.random.default_rng(1).dirichlet(np.ones(k), m)
    mates = {"group": ["a"] * n}
    for options in ({"common_error": 0.1}, mates, {"class_prior": chances}):
        assert bound_by_matrix_knots(plan_of(1, **options), Deadline.after(None)) is None


def test_a_plan_that_pricing_gives_up_has_a_bound_that_verify_confirms(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix_knots, "HARD_OUTCOMES", 0)
    monkeypatch.setattr(voters, "MANY_CLASS_NODES", 3)
    monkeypatch.setattr(search, "ROUNDS", 1)
    monkeypatch.setattr(importlib.import_module("crowd_tvcs.methods.best"), "fits", lambda _: False)
    for name in ("PROOF_NODES", "CLOSER_NODES", "ROUGH_NODES"):
        monkeypatch.setattr(search, name, 3)
    rng = np.random.default_rng(2)
    pairs = np.kron(np.eye(2), np.full((2, 2), 0.5))  # nobody takes one pair of classes for another
    matrices = 0.4 * np.eye(4) + 0.5 * pairs + 0.1 * rng.dirichlet(np.ones(4), (8, 4))
    save(tmp_path / "q.csv", ["worker", *(f"t{j}" for j in range(5))],
         *([f"w{i}", *[0.6] * 5] for i in range(8)))  # fmt: skip
    save(tmp_path / "c.csv", ["worker", "label", "answer", "probability"],
         *([f"w{i}", "abcd"[y], "abcd"[a], repr(float(matrices[i, y, a]))]
           for i in range(8) for y in range(4) for a in range(4)))  # fmt: skip
    run_done(
        "assign", tmp_path / "q.csv", "--confusion", tmp_path / "c.csv", "--out", tmp_path / "plan",
        "--max-workers-per-task", 3, "--max-tasks-per-worker", 3, "--budget", 15,
    )  # fmt: skip
    summary = json.loads((tmp_path / "plan" / "summary.json").read_text())
    assert "knots" in summary
    assert summary["certified"]
    assert verify(tmp_path / "plan").violations == []
