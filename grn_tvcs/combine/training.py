"""Learn the combiner from networks whose edges are known.

Two stages of gradient boosted trees (Friedman, Annals of Statistics 29, 2001; on histograms: Ke et
al., NeurIPS 2017, by scikit-learn), and beside them two of small nets (`nets.py`). The second sees
what the first says of the other pairs of the same network; so that it learns what the first is
worth on networks that it does not know, the first is learned on half of the networks and speaks of
the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.combiner import Combiner, Stages, stage_logits
from grn_tvcs.combine.features import Table, names_and_directions
from grn_tvcs.combine.nets import Net, learn_net
from grn_tvcs.combine.relations import DIRECTIONS, relations
from grn_tvcs.combine.trees import Trees, trees_of
from tvcs_core.engines import one_blas_thread
from tvcs_core.streams import seed_of, stream

MOST_NEGATIVES = 400  # of a network, or four times its edges; others are thinned and weigh more
# A network weighs as its pairs to this power where trees learn, and where nets do.
WEIGHT_POWER, NET_WEIGHT_POWER = 0.4, 0.6
FIRST = {"max_iter": 200, "learning_rate": 0.1, "max_leaf_nodes": 15}
SECOND = {"max_iter": 80, "learning_rate": 0.1, "max_leaf_nodes": 12}
BOTH = {
    "min_samples_leaf": 60, "l2_regularization": 5.0, "max_features": 0.3,
    "early_stopping": False,
}  # fmt: skip

NULLS = {"max_iter": 120, "learning_rate": 0.08, "max_leaf_nodes": 8}
OF_NULLS = {
    "min_samples_leaf": 20, "l2_regularization": 5.0, "max_features": 0.4,
    "early_stopping": False, "random_state": 0,
}  # fmt: skip

Array = NDArray[np.float64]
Known = tuple[Table, NDArray[np.bool_]]  # features of a network, and its edges


@dataclass(frozen=True)
class Lesson:
    """A network with its features and its edges.

    Attributes
    ----------
    table
        Features of the first stage.
    inputs
        Places of the genes that may regulate.
    is_edge
        [input, gene].
    """

    table: Table
    inputs: NDArray[np.int64]
    is_edge: NDArray[np.bool_]


def fit(lessons: Sequence[Lesson], seed: int = 0, draw: int = 0) -> Combiner:
    """Learn both stages of trees; the same lessons, seed and draw give the same trees.

    Other draws take other halves, pairs and features; the mean of what several say is surer.

    Raises
    ------
    ValueError
        If there are fewer than two networks, so that none is left to speak of.
    """
    rng = stream(seed, "training", *([str(draw)] if draw else []))

    def learn(networks: Sequence[Known], names: dict[str, int], shape: dict[str, Any]) -> Trees:
        return fit_stage(networks, names, shape, rng, draw)

    return Combiner(tuple(names_and_directions()), (_both_stages(lessons, rng, learn),))


def fit_nets(lessons: Sequence[Lesson], seed: int = 0, draw: int = 0) -> Stages:
    """Learn both stages of nets as `fit` learns trees."""
    rng = stream(seed, "training", "nets", str(draw))

    def learn(networks: Sequence[Known], names: dict[str, int], _: dict[str, Any]) -> Net:
        taught = _taught(networks, tuple(names), rng, NET_WEIGHT_POWER)
        with one_blas_thread():  # sums in one order: the same bytes again
            return learn_net(*taught, seed_of(rng))

    return _both_stages(lessons, rng, learn)


def _both_stages(
    lessons: Sequence[Lesson],
    rng: np.random.Generator,
    learn: Callable[[Sequence[Known], dict[str, int], dict[str, Any]], Trees | Net],
) -> Stages:
    """Learn the first stage, and the second from what it says of networks that it does not know."""
    if len(lessons) < 2:
        raise ValueError(f"lessons must be at least 2 networks, found {len(lessons)}")
    names = names_and_directions()
    order = tuple(names)
    is_second_half = rng.permutation(len(lessons)) % 2 == 1
    later: dict[int, Table] = {}
    for half in (is_second_half, ~is_second_half):
        others = [lessons[i] for i in np.flatnonzero(~half).tolist()]
        stage = learn([(one.table, one.is_edge) for one in others], names, FIRST)
        for i in np.flatnonzero(half).tolist():
            lesson = lessons[i]
            logits = stage_logits(stage, lesson.table, order)
            later[i] = relations(logits, lesson.table, lesson.inputs)
    first = learn([(one.table, one.is_edge) for one in lessons], names, FIRST)
    known = [(later[i], lesson.is_edge) for i, lesson in enumerate(lessons)]
    return Stages(first, learn(known, names | DIRECTIONS, SECOND))


def fit_stage(
    networks: Sequence[Known],
    names: dict[str, int],
    shape: dict[str, Any],
    rng: np.random.Generator,
    draw: int = 0,
) -> Trees:
    """Learn one stage of trees from the features and the edges; `draw` is that of features."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    order = tuple(names)
    classifier = HistGradientBoostingClassifier(
        monotonic_cst=np.array([names[name] for name in order]), random_state=draw, **BOTH, **shape
    )
    features, labels, weight = _taught(networks, order, rng, WEIGHT_POWER)
    with threadpool_limits(1, user_api="openmp"):  # sums in one order: the same bytes again
        classifier.fit(_without_gaps(features), labels, weight / weight.mean())
    return trees_of(classifier)


def _taught(
    networks: Sequence[Known], order: tuple[str, ...], rng: np.random.Generator, power: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_], Array]:
    """Features of the pairs that are kept, which of them are edges, and how much each counts."""
    rows, labels, weights = [], [], []
    for table, is_edge in networks:
        true = is_edge[table.allowed]
        if not true.size:
            continue
        kept, weight = thinned(true, rng)
        rows.append(table.rows(order)[kept])
        labels.append(true[kept])
        weights.append(weight * true.size ** (power - 1.0))
    return np.concatenate(rows), np.concatenate(labels), np.concatenate(weights)


def thinned(true: NDArray[np.bool_], rng: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
    """Places that are kept, all edges and some of the other pairs, and the weight of each."""
    edges, others = np.flatnonzero(true), np.flatnonzero(~true)
    n = max(MOST_NEGATIVES, 4 * edges.size)
    share = min(1.0, n / max(others.size, 1))
    if share < 1.0:
        others = np.sort(rng.choice(others, n, replace=False))
    return (
        np.concatenate([edges, others]),
        np.concatenate([np.ones(edges.size), np.full(others.size, 1.0 / share)]),
    )


def fit_nulls(features: NDArray[np.float32], is_null: NDArray[np.bool_]) -> Trees:
    """Learn to tell tables without any edge; both kinds of table weigh the same.

    Parameters
    ----------
    features
        `nulls.null_features` of each table; (tables, features).
    is_null
        Which tables have no edge; some have, and some have not.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    classifier = HistGradientBoostingClassifier(**OF_NULLS, **NULLS)
    weight = np.where(is_null, 0.5 / is_null.mean(), 0.5 / (~is_null).mean())
    with threadpool_limits(1, user_api="openmp"):  # sums in one order: the same bytes again
        classifier.fit(_without_gaps(features), is_null, weight)
    return trees_of(classifier)


def _without_gaps(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Features with 0 where nobody knows one: that is no reason for an error."""
    return np.where(np.isnan(features).all(axis=0), np.float32(0.0), features)
