"""What is learned from networks whose edges are known."""

import numpy as np
import pytest

from benchmarks.learning import nets, training
from benchmarks.learning.files import save
from benchmarks.learning.training import TrainingNetwork, fit, fit_nets, thinned
from grn_tvcs.combine.combiner import Combiner, stage_logits
from grn_tvcs.combine.features import Table, names_and_directions
from grn_tvcs.combine.relations import DIRECTIONS, SECOND_STAGE, relations
from grn_tvcs.combine.trees import evaluate


@pytest.fixture
def few_rounds(monkeypatch):
    for stage in ("FIRST_TREES", "SECOND_TREES"):
        monkeypatch.setattr(training, stage, getattr(training, stage) | {"max_iter": 6})
    monkeypatch.setattr(training, "STAGE_TREES", training.STAGE_TREES | {"min_samples_leaf": 10})


def bytes_of(combiner, path):
    save(combiner, path)
    return path.read_bytes()


def test_the_same_lessons_and_seed_give_the_same_bytes(few_rounds, networks, tmp_path):
    one, again, other = (fit(networks[:5], seed) for seed in (3, 3, 4))
    made = [bytes_of(c, tmp_path / f"{k}.npz") for k, c in enumerate((one, again, other))]
    assert made[0] == made[1] != made[2]


def test_draws_of_the_same_lessons_are_others_and_each_the_same_again(
    few_rounds, networks, tmp_path
):
    found = [fit(networks[:5], 3, draw) for draw in (0, 1, 1, 2)]
    made = [
        bytes_of(c, tmp_path / f"{k}.npz") for k, c in enumerate((*found, fit(networks[:5], 3)))
    ]
    assert made[0] == made[-1]
    assert made[1] == made[2]
    assert len(set(made)) == 3


def test_nets_are_learned_the_same_again_and_draws_are_others(networks, tmp_path, monkeypatch):
    monkeypatch.setattr(nets, "EPOCHS", 2)
    names, given = tuple(names_and_directions()), ((3, 0), (3, 0), (3, 1), (4, 0))
    found = [Combiner(names, (), (fit_nets(networks[:5], *words),)) for words in given]
    made = [bytes_of(one, tmp_path / f"{k}.npz") for k, one in enumerate(found)]
    assert made[0] == made[1]
    assert len(set(made)) == 3


@pytest.mark.parametrize("learn", [fit, fit_nets])
@pytest.mark.parametrize("n", [0, 1])
def test_two_networks_are_needed(networks, n, learn):
    with pytest.raises(ValueError, match=f"training networks must be at least 2, found {n}"):
        learn(networks[:n])


def test_two_networks_are_enough(few_rounds, networks):
    """They know nothing of knock-outs: what no network knows is never asked for."""
    combiner = fit([networks[0], networks[2]])
    asked = {combiner.names[k] for k in combiner.stages[0].first.feature if k >= 0}
    assert asked
    assert not {name for name in asked if "knock" in name or "ranked-down" in name}


def test_a_network_without_edges_is_a_lesson_too_and_one_without_pairs_is_none(
    few_rounds, networks
):
    one = networks[0]
    none = TrainingNetwork(one.table, one.inputs, np.zeros_like(one.is_edge))
    empty = TrainingNetwork(
        Table(one.table.columns, np.zeros_like(one.is_edge)), one.inputs, one.is_edge
    )
    with_none = fit([*networks[:4], none]).logits(one.table, one.inputs)
    assert (
        with_none[one.table.allowed].mean()
        < fit([*networks[:4], one]).logits(one.table, one.inputs)[one.table.allowed].mean()
    )
    assert np.isfinite(fit([*networks[:4], empty]).logits(one.table, one.inputs)).all()


def test_edges_rank_above_the_others(combiner, networks):
    for network in networks:
        logits = combiner.logits(network.table, network.inputs)
        is_other = network.table.allowed & ~network.is_edge
        assert logits[network.is_edge].mean() > logits[is_other].mean() + 0.3


def rows_of(combiner, networks, stage):
    names = combiner.names if stage == "first" else combiner.names + SECOND_STAGE
    rows = []
    for one in networks:
        table = one.table
        if stage == "second":
            logits = stage_logits(combiner.stages[0].first, table, combiner.names)
            table = relations(logits, table, one.inputs)
        rows.append(table.rows(names))
    return names, np.concatenate(rows)


@pytest.mark.parametrize("stage", ["first", "second"])
def test_a_feature_with_a_direction_never_moves_the_chance_against_it(combiner, networks, stage):
    names, X = rows_of(combiner, networks, stage)
    trees, directions = getattr(combiner.stages[0], stage), names_and_directions() | DIRECTIONS
    before, n_moved = evaluate(trees, X), 0
    for k, name in enumerate(names):
        if directions[name]:
            for more in (0.3, 5.0):
                other = X.copy()
                other[:, k] += more * directions[name]
                change = evaluate(trees, other) - before
                assert change.min() > -1e-12, name
                n_moved += int((change > 0).any())
    assert n_moved > 5


def test_features_know_their_names_and_directions(combiner, networks):
    names = names_and_directions()
    assert combiner.names == tuple(names)
    assert set(names.values()) == {-1, 0, 1}
    assert not set(names) & set(DIRECTIONS)
    assert set().union(*(one.table.columns for one in networks)) == set(names)


@pytest.mark.parametrize(
    ("n_edges", "n_others"), [(5, 90), (0, 4000), (30, 4000), (900, 12000), (10, 0), (0, 0)]
)
def test_edges_are_kept_and_weights_add_up_to_the_pairs(rng, n_edges, n_others):
    true = rng.permutation(np.arange(n_edges + n_others) < n_edges)
    kept, weight = thinned(true, rng)
    assert set(np.flatnonzero(true)) <= set(kept)
    assert len(set(kept)) == len(kept) == len(weight)
    assert weight.sum() == pytest.approx(true.size)
    assert (weight[true[kept]] == 1).all()
    n_kept = (~true[kept]).sum()
    assert min(n_others, training.MAX_NEGATIVES) <= n_kept <= n_others
    assert n_kept < n_others or n_others < 4000
    others = weight[~true[kept]]
    assert others.size == 0 or np.ptp(others) == 0
