"""Rankings by comparisons of pairs beside peers, and what choosing the next pairs saves."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from scipy.special import ndtr
from scipy.stats import kendalltau

from benchmarks.answer_kinds.cases import Case
from benchmarks.answer_kinds.crowds import Floats, Integers, PairWorld, names, pair_crowd
from crowd_tvcs.answer_kinds.comparisons import Comparisons
from crowd_tvcs.answer_kinds.davidson import DavidsonFit
from crowd_tvcs.answer_kinds.next_pairs import next_pairs
from crowd_tvcs.answer_kinds.ranking import Ranking, pair_differences, rank_items

OURS, ONE_WORKER, WINS = "rank", "rank --one-worker", "share of wins"
PEERS = ("BradleyTerry", "NoisyBradleyTerry")
METHODS = (OURS, ONE_WORKER, WINS) + (
    tuple(f"crowd-kit {name}" for name in PEERS) if find_spec("crowdkit") else ()
)
SIZES = {"12 items, 120": (12, 15, 120), "30 items, 300": (30, 20, 300),
         "30 items, 900": (30, 20, 900)}  # fmt: skip
CHOSEN, DRAWN = "next pairs", "random pairs"
ROUND, MOST, REPORTED = 30, 600, (120, 180, 240, 300, 420, 600)


def judge(crowd: str, size: str, seed: int) -> list[Case]:
    """Return the cases of one simulated crowd."""
    rng = np.random.default_rng([seed, *SIZES[size], ord(crowd[0]), len(crowd)])
    items, workers, answers = SIZES[size]
    data, world = pair_crowd(crowd, items, workers, answers, rng)
    truth = world.typical_score
    out = []
    for method, is_one in ((OURS, False), (ONE_WORKER, True)):
        found = rank_items(data, one_worker=is_one, rng=np.random.default_rng(0))
        rank = np.argsort(np.argsort(-truth)) + 1
        covered = float(((found.rank_low <= rank) & (rank <= found.rank_high)).mean())
        figures = order_figures(found.fit, truth)
        out.append(Case("pairs", crowd, size, seed, method, covered=covered, **figures))
    for method, score in peers(data).items():
        tau = float(kendalltau(score, truth)[0])
        out.append(Case("pairs", crowd, size, seed, method, tau=tau))
    return out


def order_figures(fit: DavidsonFit, truth: Floats) -> dict[str, float]:
    """Return tau, and how many orders of two items are right and are claimed to be."""
    differs, sd = pair_differences(fit)
    upper = np.triu_indices(truth.size, 1)
    right = (differs > 0) == (truth[:, None] > truth)
    return {
        "tau": float(kendalltau(fit.score, truth)[0]),
        "right": float(right[upper].mean()),
        "claimed": float(ndtr(np.abs(differs[upper]) / sd[upper]).mean()),
    }


def peers(data: Comparisons) -> dict[str, Floats]:
    """Return the scores of the peers; a tie is half a win for each item."""
    half = np.stack([data.answer_of == 0, data.answer_of == 1]) + 0.5 * (data.answer_of == 2)
    won = np.bincount(data.left_of, half[0], len(data.items))
    won += np.bincount(data.right_of, half[1], len(data.items))
    out = {WINS: won / np.maximum(data.per_item, 1)}
    if len(METHODS) > len(out) + 2:
        out |= _crowd_kit(data)
    return out


def _crowd_kit(data: Comparisons) -> dict[str, Floats]:
    import crowdkit.aggregation
    import pandas as pd

    rows: list[tuple[int, int, int, int]] = []
    columns = (data.worker_of, data.left_of, data.right_of, data.answer_of)
    for w, i, j, k in zip(*(column.tolist() for column in columns), strict=True):
        rows += [(w, i, j, item) for item in ((i,), (j,), (i, j))[k]]
    frame = pd.DataFrame(rows, columns=["worker", "left", "right", "label"])
    out = {}
    for name in PEERS:
        scores = getattr(crowdkit.aggregation, name)(n_iter=100).fit_predict(frame)
        found = scores.reindex(range(len(data.items))).fillna(scores.mean())
        out[f"crowd-kit {name}"] = found.to_numpy(dtype=np.float64)
    return out


def grow(crowd: str, method: str, seed: int, items: int = 30, workers: int = 20) -> list[Case]:
    """Add rounds of pairs, chosen or drawn, and return the cases at some numbers of labels."""
    rng = np.random.default_rng([seed, 7, len(crowd)])
    world = PairWorld(crowd, items, workers, rng)
    data: Comparisons | None = None
    out = []
    for _ in range(MOST // ROUND):
        left, right = _round(method, items, data, rng)
        who = np.concatenate([rng.permutation(workers) for _ in range(ROUND // workers + 1)])
        data = _joined(data, world, left, right, who[: left.size], rng)
        if data.size in REPORTED:
            figures = order_figures(
                rank_items(data, rng=np.random.default_rng(0)).fit, world.typical_score
            )
            out.append(Case("next", crowd, str(data.size), seed, method, **figures))
    return out


def _round(
    method: str, items: int, data: Comparisons | None, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return the pairs of a round: chosen from the second on, or drawn within like caps."""
    if method == CHOSEN and data is not None:
        found: Ranking = rank_items(data, rng=np.random.default_rng(0))
        place = {name: k for k, name in enumerate(data.items)}
        pairs = next_pairs(found, ROUND, max_per_side=2, rng=rng).pairs
        if len(pairs) == ROUND:
            return np.array([place[p[0]] for p in pairs]), np.array([place[p[1]] for p in pairs])
    left = np.empty(0, dtype=np.int64)
    while left.size < ROUND:  # every item at most twice on a side, no pair twice
        sides = [np.concatenate([rng.permutation(items) for _ in range(2)]) for _ in range(2)]
        left, right = (side[:ROUND] for side in sides)
        keys = np.minimum(left, right) * items + np.maximum(left, right)
        if (left == right).any() or np.unique(keys).size < ROUND:
            left = left[:0]
    return left, right


def _joined(
    data: Comparisons | None, world: PairWorld, left: Integers, right: Integers, who: Integers,
    rng: np.random.Generator,
) -> Comparisons:  # fmt: skip
    new = (left, right, who, world.answer(left, right, who, rng))
    if data is not None:
        old = (data.left_of, data.right_of, data.worker_of, data.answer_of)
        new = tuple(np.concatenate(two) for two in zip(old, new, strict=True))  # type: ignore
    named = tuple(names("i", world.score.size)), tuple(names("w", world.weight.size))
    return Comparisons(*named, *new)
