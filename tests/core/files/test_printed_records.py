"""Public records print as a few lines, never as arrays."""

import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest

import crowd_tvcs
import grn_tvcs
from crowd_tvcs import datasets as crowds
from grn_tvcs import datasets as networks
from tvcs_core import (
    TVCS,
    LeastSquares,
    Problem,
    best_subset,
    certify,
    project,
    project_blocks,
    solve,
)
from tvcs_core.files.display import FACTS, WIDTH, summary

MOST_LINES = FACTS + 6  # with the single values and what is left out
PUBLIC = {
    cls
    for package in ("tvcs_core", "grn_tvcs", "crowd_tvcs")
    for name in import_module(package).__all__
    if inspect.isclass(cls := getattr(import_module(package), name))
    and dataclasses.is_dataclass(cls)
}


def of_matrices() -> Iterator[Any]:
    """Records of the projection and of a solver."""
    rng = np.random.default_rng(0)
    V, caps = rng.normal(size=(60, 40)), TVCS.matrix((60, 40), row_caps=2, col_caps=3)
    found = project(V, caps)
    yield from (caps, found, certify(found), project_blocks([V], caps))
    loss = LeastSquares(rng.normal(size=(40, 6)), rng.normal(size=(40, 4)))
    problem = Problem(loss, TVCS.matrix((6, 4), total=3))
    yield from (problem, solve(problem, max_iter=3), best_subset(problem, max_nodes=3))


def of_networks() -> Iterator[Any]:
    """Records of inference, of a comparison and of a simulation."""
    data = networks.network30()
    yield from (data, data.expression, data.reference, data.reference.edges()[0], data.steady)
    network = grn_tvcs.infer(data.expression, "pcc", max_in_degree=2)
    yield from (network, network.pairs, grn_tvcs.score(network, data.reference))
    yield grn_tvcs.Rules(regulators=data.expression.genes)
    yield grn_tvcs.Prior(data.expression.genes, data.reference.selected * 1.0)
    made = grn_tvcs.simulate(4, 8, 6, n_edges=5, rng=0)
    yield from (made, made.kinetics)
    series = np.array([int(name) for name in made.expression.series])
    parts = {name: made.expression.part(series % 2 == k) for k, name in enumerate("ab")}
    found = grn_tvcs.compare_all(parts, permutations=34, rng=0)
    yield from (found, found.pairs[0], found.pairs[0].differences)
    yield grn_tvcs.Difference(1, "A", "B", "gained", 1, 0, 0, 0, 1, 1, ((0, 1),) * 3)


def of_crowds() -> Iterator[Any]:
    """Records of a crowd and of its plan."""
    data = crowds.crowd40()
    yield from (data, data.quality, data.answers, data.gold)
    plan = crowd_tvcs.Plan(data.quality, max_workers_per_task=3, max_tasks_per_worker=9)
    found = crowd_tvcs.assign(plan, "fast")
    yield from (plan, found, found.assigned, crowd_tvcs.simulate(9, 9, rng=0))
    yield crowd_tvcs.Duals(np.ones(40), np.ones(120), 0.1, "points")
    yield crowd_tvcs.estimate_quality(data.answers, data.gold)
    yield crowd_tvcs.QualityFile(data.quality, "long")
    yield crowd_tvcs.vote(data.answers)


@pytest.fixture(scope="module")
def records():
    return [*of_matrices(), *of_networks(), *of_crowds()]


def test_a_public_record_prints_as_a_few_lines(records):
    for record in records:
        for text in (str(record), repr(record)):
            lines = text.splitlines()
            assert len(lines) <= MOST_LINES, text
            assert max(map(len, lines)) <= 480, text
            assert "array(" not in text, text
            assert "[[" not in text, text


def test_every_public_record_is_among_them(records):
    assert {type(one) for one in records} >= PUBLIC


class Record(NamedTuple):
    """A named tuple."""

    n: int
    share: float
    name: str
    nothing: None
    values: Any
    genes: tuple[str, ...]
    facts: dict[str, int]
    others: list[int]

    __repr__ = summary


def test_a_summary_has_single_values_in_a_line_and_others_by_their_size():
    record = Record(3, 1 / 3, "a\x1b", None, np.zeros((2, 3)), ("A",) * 9, {"x": 1}, [1, 2])
    assert str(record).splitlines() == [
        "Record: n 3, share 0.333333, name 'a\\x1b'",
        "  values: 2 x 3 float64",
        "  genes: 9: A, A, A, A, A and 4 more",
        "  facts: 1: x",
        "  others: 2 values",
    ]
    many = dataclasses.make_dataclass("Many", [f"f{k}" for k in range(12)])(*[()] * 12)
    assert summary(many).splitlines()[-1] == f"  and {', '.join(f'f{k}' for k in range(8, 12))}"
    long = Record(1, 0.0, "x" * 500, None, None, (), {}, [])
    assert max(map(len, summary(long).splitlines())) <= WIDTH
