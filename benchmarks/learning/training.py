"""Training of the combiner on networks with known edges.

Two stages of gradient boosted trees (Friedman, Annals of Statistics 29, 2001; on histograms: Ke et
al., NeurIPS 2017, in scikit-learn), and two stages of small nets (`nets.py`). The second stage uses
the first stage's log-odds of other pairs of the same network. It is trained on out-of-sample
log-odds: the first stage is trained on half of the networks and evaluated on the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.files import WEIGHTS
from benchmarks.learning.nets import learn_net
from grn_tvcs.combine.combiner import Combiner, Stages, stage_logits
from grn_tvcs.combine.features import Table, names_and_directions
from grn_tvcs.combine.nets import Net
from grn_tvcs.combine.relations import DIRECTIONS, relations
from grn_tvcs.combine.trees import Trees
from tvcs_core.engines import one_blas_thread
from tvcs_core.streams import seed_of, stream

# `python -m benchmarks.universal` trains with these numbers; `python -m benchmarks.networks.kinds`
# judges the result.
MAX_NEGATIVES = 400  # pairs without an edge per network, or 4 per edge; the sample is reweighted
# The weight of a network is its number of pairs to this power, in trees and nets (decision 127).
WEIGHT_POWER, NET_WEIGHT_POWER = 0.4, 0.6
FIRST_TREES = {"max_iter": 200, "learning_rate": 0.1, "max_leaf_nodes": 15}
SECOND_TREES = {"max_iter": 80, "learning_rate": 0.1, "max_leaf_nodes": 12}
STAGE_TREES = {
    "min_samples_leaf": 60, "l2_regularization": 5.0, "max_features": 0.3,
    "early_stopping": False,
}  # fmt: skip

NULL_TREES = {"max_iter": 120, "learning_rate": 0.08, "max_leaf_nodes": 8}
NULL_TREES_FIXED = {
    "min_samples_leaf": 20, "l2_regularization": 5.0, "max_features": 0.4,
    "early_stopping": False, "random_state": 0,
}  # fmt: skip

Array = NDArray[np.float64]
Known = tuple[Table, NDArray[np.bool_]]  # features of a network, and its edges


@dataclass(frozen=True)
class TrainingNetwork:
    """A simulated network with its features and true edges.

    Attributes
    ----------
    table
        Features of the first stage.
    inputs
        Indices of the genes that may regulate.
    is_edge
        True edges; [input, gene].
    """

    table: Table
    inputs: NDArray[np.int64]
    is_edge: NDArray[np.bool_]


def fit(networks: Sequence[TrainingNetwork], seed: int = 0, draw: int = 0) -> Combiner:
    """Train both stages of trees; equal networks, seed and draw give equal trees.

    Other draws use other halves, pairs and features; averaging several draws reduces the variance.

    Raises
    ------
    ValueError
        If there are fewer than two networks, so that none is left for evaluation.
    """
    rng = stream(seed, "training", *([str(draw)] if draw else []))

    def learn(networks: Sequence[Known], names: dict[str, int], shape: dict[str, Any]) -> Trees:
        return fit_stage(networks, names, shape, rng, draw)

    return Combiner(tuple(names_and_directions()), (_both_stages(networks, rng, learn),))


def fit_nets(networks: Sequence[TrainingNetwork], seed: int = 0, draw: int = 0) -> Stages:
    """Train both stages of nets, as `fit` trains trees."""
    rng = stream(seed, "training", "nets", str(draw))

    def learn(networks: Sequence[Known], names: dict[str, int], _: dict[str, Any]) -> Net:
        sampled = _sample_pairs(networks, tuple(names), rng, NET_WEIGHT_POWER)
        with one_blas_thread():  # a fixed order of sums makes the bytes reproducible
            return learn_net(*sampled, seed_of(rng))

    return _both_stages(networks, rng, learn)


def _both_stages(
    networks: Sequence[TrainingNetwork],
    rng: np.random.Generator,
    learn: Callable[[Sequence[Known], dict[str, int], dict[str, Any]], Trees | Net],
) -> Stages:
    """Train the first stage, then the second on out-of-sample log-odds of the first."""
    if len(networks) < 2:
        raise ValueError(f"training networks must be at least 2, found {len(networks)}")
    names = names_and_directions()
    order = tuple(names)
    is_second_half = rng.permutation(len(networks)) % 2 == 1
    later: dict[int, Table] = {}
    for half in (is_second_half, ~is_second_half):
        others = [networks[i] for i in np.flatnonzero(~half).tolist()]
        stage = learn([(one.table, one.is_edge) for one in others], names, FIRST_TREES)
        for i in np.flatnonzero(half).tolist():
            network = networks[i]
            logits = stage_logits(stage, network.table, order)
            later[i] = relations(logits, network.table, network.inputs)
    first = learn([(one.table, one.is_edge) for one in networks], names, FIRST_TREES)
    known = [(later[i], network.is_edge) for i, network in enumerate(networks)]
    return Stages(first, learn(known, names | DIRECTIONS, SECOND_TREES))


def fit_stage(
    networks: Sequence[Known],
    names: dict[str, int],
    shape: dict[str, Any],
    rng: np.random.Generator,
    draw: int = 0,
) -> Trees:
    """Train one stage of trees; `draw` seeds the sampling of features."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    order = tuple(names)
    classifier = HistGradientBoostingClassifier(
        monotonic_cst=np.array([names[name] for name in order]),
        random_state=draw,
        **STAGE_TREES,
        **shape,
    )
    features, labels, weight = _sample_pairs(networks, order, rng, WEIGHT_POWER)
    with threadpool_limits(1, user_api="openmp"):  # sums in one order: the same bytes again
        classifier.fit(_without_gaps(features), labels, weight / weight.mean())
    return trees_from_classifier(classifier)


def _sample_pairs(
    networks: Sequence[Known], order: tuple[str, ...], rng: np.random.Generator, power: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_], Array]:
    """Return the sampled pairs of all networks: features, labels and weights."""
    rows, labels, weights = [], [], []
    for table, is_edge in networks:
        true = is_edge[table.allowed]
        if not true.size:
            continue
        kept, weight = thinned(true, rng)
        rows.append(np.ascontiguousarray(table.rows(order)[kept]))
        labels.append(true[kept])
        weights.append(weight * true.size ** (power - 1.0))
    return np.concatenate(rows), np.concatenate(labels), np.concatenate(weights)


def thinned(true: NDArray[np.bool_], rng: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
    """Return the sampled pairs, all edges and some of the others, and their weights."""
    edges, others = np.flatnonzero(true), np.flatnonzero(~true)
    n = max(MAX_NEGATIVES, 4 * edges.size)
    share = min(1.0, n / max(others.size, 1))
    if share < 1.0:
        others = np.sort(rng.choice(others, n, replace=False))
    return (
        np.concatenate([edges, others]),
        np.concatenate([np.ones(edges.size), np.full(others.size, 1.0 / share)]),
    )


def fit_nulls(features: NDArray[np.float32], is_null: NDArray[np.bool_]) -> Trees:
    """Train the classifier of tables without edges; both classes have equal total weight.

    Parameters
    ----------
    features
        `nulls.null_features` of each table; (tables, features).
    is_null
        Whether a table has no edge; both classes must be present.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    classifier = HistGradientBoostingClassifier(**NULL_TREES_FIXED, **NULL_TREES)
    weight = np.where(is_null, 0.5 / is_null.mean(), 0.5 / (~is_null).mean())
    with threadpool_limits(1, user_api="openmp"):  # sums in one order: the same bytes again
        classifier.fit(_without_gaps(features), is_null, weight)
    trees = trees_from_classifier(classifier)
    return trees._replace(value=half(trees.value))


def rounded(combiner: Combiner) -> Combiner:
    """Round leaves and weights to what the file of the model holds."""

    def of_stage(stage: Trees | Net) -> Trees | Net:
        names = WEIGHTS if isinstance(stage, Net) else ("value",)
        return stage._replace(**{name: half(getattr(stage, name)) for name in names})

    stages, nets = (
        tuple(Stages(*map(of_stage, one)) for one in kind)
        for kind in (combiner.stages, combiner.nets)
    )
    return Combiner(combiner.names, stages, nets)


def half(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round to float16: 11 binary digits."""
    return values.astype(np.float16).astype(np.float32)


def _without_gaps(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Replace features that are NaN in every row by 0, which scikit-learn accepts."""
    return np.where(np.isnan(features).all(axis=0), np.float32(0.0), features)


def trees_from_classifier(classifier: Any) -> Trees:
    """Convert a fitted `HistGradientBoostingClassifier` of two classes."""
    nodes = [one.nodes for (one,) in classifier._predictors]
    sizes = [len(part) for part in nodes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    at = np.concatenate([np.arange(size) for size in sizes])  # of each node in its tree
    all_nodes = np.concatenate(nodes)
    is_leaf = all_nodes["is_leaf"].astype(bool)
    return Trees(
        base=np.asarray(classifier._baseline_prediction, dtype=np.float64).reshape(1),
        starts=starts.astype(np.int32),
        feature=np.where(is_leaf, -1, all_nodes["feature_idx"]).astype(np.int8),
        threshold=np.where(is_leaf, 0, floor(all_nodes["num_threshold"])),
        right=np.where(is_leaf, 0, all_nodes["right"] - at).astype(np.int16),
        nan_left=all_nodes["missing_go_to_left"].astype(bool) & ~is_leaf,
        value=np.where(is_leaf, all_nodes["value"], 0.0).astype(np.float32),
    )


def floor(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the largest float32 that is no more than each number."""
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)
