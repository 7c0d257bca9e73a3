"""Choose the pairs to compare next: largest expected information within caps of every item.

Rows are items on the left, columns items on the right; the entry of a pair is the square root of
the information, in nats, that one more answer of a typical worker is expected to give about it.
The projection onto caps per row, per column and in total keeps the pairs of most information, with
a proof. One order of each pair is open, drawn by lot, so that no pair is chosen twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_tvcs.answer_kinds.davidson import DavidsonFit
from crowd_tvcs.answer_kinds.ranking import Ranking, chances_at_nodes, pair_differences
from crowd_tvcs.arrays import Bools, Floats
from tvcs_core import TVCS, project
from tvcs_core.arguments import check_number
from tvcs_core.streams import stream


class NextPairs(NamedTuple):
    """Pairs to compare, the most informative first.

    Attributes
    ----------
    pairs
        Names of the items on the left and on the right, and the expected information in nats.
    gap
        Proved bound on the information that these pairs miss, in nats.
    """

    pairs: list[tuple[str, str, float]]
    gap: float


def expected_information(fit: DavidsonFit) -> Floats:
    """Return the information of one more answer on every pair, in nats, of shape (items, items)."""
    found = information(fit, *pair_differences(fit))
    np.fill_diagonal(found, 0.0)
    return found


def information(fit: DavidsonFit, differs: Floats, sd: Floats, weight: float = 1.0) -> Floats:
    """Return the same at uncertain differences of scores, for a worker of this weight."""
    chances, of_node = chances_at_nodes(fit, differs, sd, weight)
    mean = (chances * of_node[:, None]).sum(axis=-2)
    return np.maximum(_entropy(mean) - (_entropy(chances) * of_node).sum(axis=-1), 0.0)


def next_pairs(
    ranking: Ranking,
    n: int,
    *,
    max_per_side: int = 2,
    max_per_pair: int = 5,
    allowed: Bools | None = None,
    rng: np.random.Generator | int | None = None,
) -> NextPairs:
    """Choose up to n pairs to compare next.

    Parameters
    ----------
    ranking
        The ranking so far.
    n
        Maximum number of pairs.
    max_per_side
        Maximum number of these pairs with an item on the left, and with it on the right.
    max_per_pair
        A pair with so many answers is not asked again.
    allowed
        Pairs that may be asked, of shape (items, items), symmetric; None for all.
    rng
        Source of the sides; same seed, same pairs.

    Raises
    ------
    ValueError
        If n or a maximum is below 1.
    """
    for name, value in (("n", n), ("max_per_side", max_per_side), ("max_per_pair", max_per_pair)):
        check_number(name, value, least=1)
    items = ranking.data.items
    gain = expected_information(ranking.fit)
    gain[ranking.data.per_pair >= max_per_pair] = 0.0
    if allowed is not None:
        gain[~allowed] = 0.0
    lot = np.triu(stream(rng, "next pairs").random(gain.shape) < 0.5, 1)
    is_open = lot | np.tril(~lot.T, -1)
    caps = TVCS.matrix(gain.shape, row_caps=max_per_side, col_caps=max_per_side, total=n)
    found = project(np.sqrt(np.where(is_open, gain, 0.0)), caps)
    left, right = np.nonzero(found.matrix)
    order = np.argsort(-gain[left, right], kind="stable")
    pairs = [
        (items[i], items[j], float(gain[i, j]))
        for i, j in zip(left[order].tolist(), right[order].tolist(), strict=True)
    ]
    return NextPairs(pairs, float(found.gap))


def _entropy(chances: Floats) -> Floats:
    return -(chances * np.log(chances + 1e-12)).sum(axis=-1)
