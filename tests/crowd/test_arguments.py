"""Wrong arguments of every public function: an error of ours that names the argument."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowd_tvcs
from crowd_tvcs import Answers, Gold, Plan, Quality

VALUES = np.random.default_rng(0).uniform(0.5, 0.95, (4, 5))
CHOSEN = VALUES > 0.7
QUALITY = Quality(VALUES, workers=list("abcd"), tasks=list("vwxyz"))
ANSWERS = Answers(["t1", "t2"], ["w1", "w2"], ["a", "b"], [0, 0, 1], [0, 1, 1], [0, 1, 1])
WRONG: list[Any] = [
    *(None, "star", b"x", True, -1, 2.5, -(10**30), float("nan"), 1e300, object(), lambda: 1),
    *([], {}, (1, 2), ["a", "a"], [None], ["a", None, 3, 4], {"a": 3}, [[1, 2], [3]]),
    *(np.zeros(0), np.zeros((0, 3)), np.ones(3), np.full((2, 2), np.nan), np.ones((2, 2, 2))),
    *(np.array([["a"]]), np.array([1 + 2j]), np.array(5), np.array([None]), VALUES - 2.0),
    *(np.datetime64("2020"), Path("nowhere"), pd.DataFrame({"a": [1, 2]})),
    pd.Series([1, 2], index=["x", "x"]),
]
RIGHT: dict[str, dict[str, Any]] = {
    "Answers": {
        "tasks": ["t1", "t2"],
        "workers": ["w1", "w2"],
        "classes": ["a", "b"],
        "task_of": [0, 0, 1],
        "worker_of": [0, 1, 1],
        "label_of": [0, 1, 1],
        "when": None,
        "seconds": None,
    },
    "Gold": {"labels": {"t1": "a", "t2": "b"}, "classes": None, "seen_once": None},
    "Plan": {
        "quality": QUALITY,
        "max_workers_per_task": 2,
        "max_tasks_per_worker": 3,
        "budget": 6,
        "prior": 0.5,
        "min_workers_per_task": 0,
        "forced": None,
        "n_classes": 2,
        "class_prior": None,
        "confusion": None,
        "cost": None,
        "money": None,
        "group": None,
        "common_error": 0.0,
        "error_shares": None,
    },
    "Quality": {"values": VALUES, "workers": list("abcd"), "tasks": list("vwxyz"), "allowed": None},
    "accuracy_bounds": {"quality": VALUES, "assignment": CHOSEN, "prior": 0.5},
    "assign": {
        "plan": Plan(QUALITY, max_workers_per_task=2, budget=6),
        "method": "random",
        "rng": 0,
        "time_limit": None,
    },
    "estimate_quality": {
        "answers": ANSWERS,
        "gold": Gold({"t1": "a", "t2": "b"}),
        "prior": "empirical-bayes",
        "interval": 0.9,
        "model": "independent",
    },
    "expected_accuracy": {"quality": VALUES, "assignment": CHOSEN, "prior": 0.5},
    "gains": {"voters": [0.7], "candidates": [0.8, 0.6], "prior": 0.5},
    "sampled_accuracy": {
        "quality": VALUES,
        "assignment": CHOSEN,
        "prior": 0.5,
        "n_samples": 10,
        "rng": 0,
    },
    "simulate": {
        "n_workers": 3,
        "n_tasks": 4,
        "family": "iid",
        "low": None,
        "high": None,
        "n_gold": 0,
        "rng": 0,
    },
    "smooth_accuracy": {"quality": VALUES, "assignment": CHOSEN, "prior": 0.5},
    "vote": {
        "answers": ANSWERS,
        "method": "majority",
        "gold": {"t1": "a", "t2": "b"},
        "skill": None,
        "prior": None,
        "dependence": None,
    },
}
# What else an error may name: what is counted by the argument, or the pair it is half of.
ALSO = {
    ("Answers", "task_of"): ("worker_of", "answers"),
    ("Gold", "labels"): ("gold", "class"),
    ("Gold", "classes"): ("class",),
    ("Quality", "values"): ("quality",),
    ("Quality", "workers"): ("values",),
    ("Quality", "tasks"): ("values",),
    ("Answers", "tasks"): ("task_of",),
    ("Answers", "workers"): ("worker_of",),
    ("Answers", "classes"): ("label_of",),
    ("Plan", "quality"): ("DataFrame", "workers"),
    ("estimate_quality", "answers"): ("DataFrame",),
    ("estimate_quality", "gold"): ("DataFrame",),
    ("vote", "answers"): ("DataFrame",),
    ("vote", "gold"): ("DataFrame",),
}


@pytest.mark.parametrize(
    ("name", "argument"), [(name, given) for name, right in RIGHT.items() for given in right]
)
def test_an_error_names_the_argument(name: str, argument: str) -> None:
    function: Callable[..., Any] = getattr(crowd_tvcs, name)
    function(**RIGHT[name])
    refused = 0
    for wrong in WRONG:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                function(**RIGHT[name] | {argument: wrong})
        except FileNotFoundError:  # a word is taken for a path
            refused += 1
        except (TypeError, ValueError, UserWarning) as error:  # or it is pointed out
            message = str(error)
            assert any(word in message for word in (argument, *ALSO.get((name, argument), ()))), (
                message
            )
            refused += 1
    assert refused > len(WRONG) / 2


def test_every_public_function_is_tried() -> None:
    functions = {name for name in crowd_tvcs.__all__ if callable(getattr(crowd_tvcs, name))}
    made_by_others = {"Assignment", "Crowd", "Duals", "QualityFile", "Skill", "Votes"}
    by_path = {"read_answers", "read_gold", "read_quality"}
    assert functions == set(RIGHT) | made_by_others | by_path
