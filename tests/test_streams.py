"""No two commands or methods draw the same numbers for the same seed."""

import ast
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import crowd_tvcs.methods
import grn_tvcs.methods.table
from crowd_tvcs import Plan, assign, simulate
from crowd_tvcs.simulation import FAMILIES
from tvcs_core.solvers import METHODS as SOLVERS
from tvcs_core.streams import seed_of, stream

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for package in ("tvcs_core", "grn_tvcs", "crowd_tvcs")
    for path in (ROOT / package).rglob("*.py")
    if path != ROOT / "tvcs_core" / "streams.py"
)
SECOND_WORDS = {
    "assign": crowd_tvcs.methods.METHODS,
    "crowd": FAMILIES,
    "infer": grn_tvcs.methods.table.METHODS,
    "solve": SOLVERS,
}


@cache
def calls(name: str) -> list[tuple[Path, ast.Call]]:
    """Every call of a function or method called `name` in our packages."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and name in (
                getattr(node.func, "id", None), getattr(node.func, "attr", None)
            ):  # fmt: skip
                found.append((path, node))
    return found


def purposes() -> list[tuple[str, ...]]:
    """The words of every stream, one with each method where the method is a word."""
    firsts = sorted({call.args[1].value for _, call in calls("stream")})
    return [
        (first, *second) for first in firsts for second in [(s,) for s in _seconds(first)] or [()]
    ]


def _seconds(first: str) -> list[str]:
    return sorted(SECOND_WORDS.get(first, ()))


def test_what_depends_on_the_seed_of_the_user_is_drawn_from_a_named_stream():
    for path, call in calls("default_rng"):
        names = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for argument in call.args
            for node in ast.walk(argument)
            if isinstance(node, ast.Attribute | ast.Name)
        }
        assert not names & {"rng", "seed"}, f"{path}:{call.lineno}"
        assert call.args, f"{path}:{call.lineno} draws what nobody can repeat"


def test_the_first_word_of_a_stream_belongs_to_one_module():
    owner = {}
    for path, call in calls("stream"):
        word = call.args[1]
        assert isinstance(word, ast.Constant), f"{path}:{call.lineno}"
        assert owner.setdefault(word.value, path) == path
    assert set(SECOND_WORDS) < set(owner)


def test_no_two_purposes_and_no_two_seeds_share_their_numbers():
    seeds = (0, 1, 7, 20, 2**32, 2**63 - 1)
    words = [*purposes(), (), ("a",), ("b",), ("a", "b"), ("ab",), ("a", ""), ("assign",)]
    assert len(words) > 30
    drawn = {tuple(stream(seed, *purpose).random(2)) for seed, purpose in product(seeds, words)} | {
        tuple(np.random.default_rng(seed).random(2)) for seed in seeds
    }
    assert len(drawn) == len(seeds) * (len(words) + 1)


def test_a_stream_is_the_same_again_and_a_generator_is_handed_on():
    assert stream(3, "a", "b").random() == stream(3, "a", "b").random()
    rng = np.random.default_rng(0)
    assert stream(rng, "a") is rng
    assert stream(None, "a").random() != stream(None, "a").random()
    assert seed_of(5) == seed_of(5) != seed_of(6)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_random_plan_owes_nothing_to_the_seed_that_the_crowd_was_simulated_with(family):
    def accuracy(crowd_seed: int, plan_seed: int) -> float:
        quality = simulate(40, 200, family=family, rng=crowd_seed).quality
        plan = Plan(quality, max_workers_per_task=5, max_tasks_per_worker=30, budget=800)
        return assign(plan, "random", rng=plan_seed).expected_accuracy

    for seed in (0, 1):
        others = [accuracy(seed, other) for other in range(2, 12)]
        assert abs(accuracy(seed, seed) - np.mean(others)) < 4 * np.std(others)
