"""What pairs that share a gene say of each other: kernels and features, by slow loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grn_tvcs.combine.combiner import stage_logits
from grn_tvcs.combine.features import Table
from grn_tvcs.combine.relations import DIRECTIONS, SECOND_STAGE, relations, strongest_thirds


@st.composite
def networks(draw):
    """Chances of [input, gene], 0 where a pair may not be; with ties and few regulators."""
    n = draw(st.integers(1, 7))
    inputs = np.array(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = rng.random((len(inputs), n))
    match draw(st.sampled_from(["any", "ties", "zeros", "nothing"])):
        case "ties":
            p = rng.integers(0, 3, p.shape) / 2.0
        case "zeros":
            p = np.where(rng.random(p.shape) < 0.6, 0.0, p)
        case "nothing":
            p = np.zeros(p.shape)
    p[np.arange(len(inputs)), inputs] = 0.0
    return p, inputs


def over_genes(p, inputs):
    whole = np.zeros((p.shape[1], p.shape[1]))
    whole[inputs] = p
    return whole


@given(networks())
def test_what_goes_through_a_third_gene_is_that_of_a_loop_over_third_genes(drawn):
    p, inputs = drawn
    whole, n = over_genes(p, inputs), p.shape[1]
    path, common = np.zeros((2, n, n))
    for j in range(n):
        for i in range(n):
            for k in range(n):
                if k not in (i, j):
                    path[j, i] = max(path[j, i], min(whole[j, k], whole[k, i]))
                    common[j, i] = max(common[j, i], min(whole[k, i], whole[k, j]))
    found = strongest_thirds(p, inputs)
    assert np.array_equal(found, (path[inputs], common[inputs]))


def test_one_gene_has_no_third():
    assert np.array_equal(strongest_thirds(np.zeros((1, 1)), np.array([0])), np.zeros((2, 1, 1)))


def slow_relations(logits, allowed, inputs):
    """Features of the second stage, pair by pair."""
    n = allowed.shape[1]
    pairs = [tuple(pair) for pair in np.argwhere(allowed).tolist()]
    p = {pair: 1 / (1 + np.exp(-logits[pair])) for pair in pairs}
    place = {gene: k for k, gene in enumerate(inputs.tolist())}
    total = sum(p.values())
    out = [sum(v for (j, _), v in p.items() if j == k) for k in range(len(inputs))]
    found = {name: np.full(allowed.shape, np.nan) for name in SECOND_STAGE}
    for j, i in pairs:
        same_row = {pair: v for pair, v in p.items() if pair[0] == j and pair != (j, i)}
        same_column = [v for pair, v in p.items() if pair[1] == i and pair != (j, i)]
        into = [v for pair, v in p.items() if pair[1] == inputs[j]]
        row = [logits[pair] for pair in pairs if pair[0] == j]
        column = [logits[pair] for pair in pairs if pair[1] == i]
        result = {
            "first": logits[j, i],
            "first rank among regulators": np.log(rank(logits[j, i], column)),
            "first rank among targets": np.log(rank(logits[j, i], row) / n),
            "other targets": np.log(sum(same_row.values()) + 0.05),
            "other regulators": np.log(sum(same_column) + 0.05),
            "sure other targets": np.log(sum(v * v for v in same_row.values()) + 0.02),
            "regulated": np.log(sum(into) + 0.05),
            "edges per gene": np.log(total / n + 1e-6),
            "concentration": np.log(len(out) * sum(v * v for v in out) / total**2 + 1e-6),
            "largest hub": max(out) / total,
        }
        if i in place:
            result["reverse"] = p.get((place[i], inputs[j]), 0.0)
        for name, value in result.items():
            found[name][j, i] = value
    return found


def rank(value, others):
    return sum(v > value for v in others) + (sum(v == value for v in others) + 1) / 2


@pytest.mark.parametrize("which", range(8))
def test_relations_are_those_of_a_loop_over_pairs(combiner, networks, which):
    network = networks[which]
    allowed = network.table.allowed
    logits = stage_logits(combiner.stages[0].first, network.table, combiner.names)
    made = relations(logits, network.table, network.inputs)
    slow = slow_relations(logits, allowed, network.inputs)
    for name in set(SECOND_STAGE) - {"path", "common"}:  # these have their twins above
        column = np.broadcast_to(made.columns[name], allowed.shape)[allowed]
        assert column == pytest.approx(slow[name][allowed], rel=1e-4, abs=1e-5, nan_ok=True), name
    assert set(made.columns) == set(network.table.columns) | set(DIRECTIONS)


def test_whatever_stands_where_no_edge_may_be_is_not_read(combiner, networks):
    network = networks[2]
    logits = stage_logits(combiner.stages[0].first, network.table, combiner.names)
    other = np.where(network.table.allowed, logits, 99.0)
    one, two = (relations(z, network.table, network.inputs) for z in (logits, other))
    assert np.array_equal(one.rows(SECOND_STAGE), two.rows(SECOND_STAGE), equal_nan=True)


@pytest.mark.parametrize("allowed", [np.zeros((1, 2), bool), np.array([[False, True]])])
def test_tables_of_one_pair_or_none_have_finite_relations(allowed):
    made = relations(np.full((1, 2), -1.0), Table({}, allowed), np.array([0]))
    rows = made.rows(tuple(name for name in SECOND_STAGE if name != "reverse"))
    assert rows.shape == (allowed.sum(), len(SECOND_STAGE) - 1)
    assert np.isfinite(rows).all()
    assert all(np.isfinite(v) for v in made.columns.values() if isinstance(v, float))
