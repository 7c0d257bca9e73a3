"""Drift and fatigue: whether a worker is right less often later, or longer after a pause.

What counts is how often a worker is right (by gold, else by most of the others) beyond the others
on the same tasks, and whether that falls with rank: among all their answers by time (drift), or
within sessions (fatigue). The p-value is that of a permutation test, of the order of their answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import LEVEL, Flag, Floats, Integers, chance_text, judged
from tvcs_core.streams import stream

PAUSE = 1800.0  # seconds without an answer that end a session
LEAST_ANSWERS = 20  # that can be compared and have a time, below which nobody is tested
LEAST_FALL = 0.1  # of the share right, from the first to the last half, below which none is flagged
DRAWS = 4000
SEEN = 20  # drawn orders that fall as much, from which on their share is taken, else the normal law
PROMISING = 0.2  # normal p-value up to which the orders are drawn


def sessions(when: Floats) -> Integers:
    """Number the sessions of one worker, whose times ascend: a pause begins a new one."""
    return np.r_[0, np.cumsum(np.diff(when) > PAUSE)].astype(np.int64)


def drift(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers who are right less often later than earlier."""
    return _falling(crowd, "drift", level, stream(0, "drift"))


def fatigue(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers who are right less often late in their sessions; of two sessions or more.

    With one session fatigue is drift.
    """
    return _falling(crowd, "fatigue", level, stream(0, "fatigue"))


def _falling(crowd: Crowd, kind: str, level: float, rng: np.random.Generator) -> list[Flag]:
    when = crowd.answers.when
    if when is None:
        return []
    tested, falls = [], {}
    for i, name in enumerate(crowd.answers.workers):
        mine = crowd.of_worker[i][~np.isnan(when[crowd.of_worker[i]])]
        session = sessions(when[mine]) if mine.size else np.empty(0, dtype=np.int64)
        rank = np.arange(mine.size)
        if kind == "fatigue":
            rank = rank - np.searchsorted(session, session)
        at = np.flatnonzero(crowd.compared[mine])
        groups = session[at] if kind == "fatigue" else np.zeros(at.size, dtype=np.int64)
        right = crowd.agrees[mine[at]]
        if at.size < LEAST_ANSWERS or right.all() or (kind == "fatigue" and groups.max() == 0):
            continue
        p = falling(rank[at].astype(float), crowd.surprise[mine[at]], groups, rng)
        first, last = _halves(rank[at], right)
        words = ("earlier", "later") if kind == "drift" else ("early in sessions", "late in them")
        on_gold = crowd.known[mine[at]]
        of_gold = _halves(rank[at[on_gold]], right[on_gold])
        evidence = (
            f"right (by gold or most others) on {_share(first)} {words[0]} and {_share(last)} "
            f"{words[1]}, on gold alone {_share(of_gold[0])} and {_share(of_gold[1])}"
            + (f", {session[-1] + 1} sessions" if kind == "fatigue" else "")
            + f"; {chance_text(p)}"
        )
        tested.append(Flag(name, kind, at.size, p, evidence))
        falls[name] = float(first.mean() - last.mean())
    return [flag for flag in judged(tested, level) if falls[flag.worker] >= LEAST_FALL]


def falling(rank: Floats, value: Floats, groups: Integers, rng: np.random.Generator) -> float:
    """Chance that values fall so much with the rank within groups if their order is chance.

    Drawn orders where the normal law calls it promising, else that law.
    """
    from scipy.special import ndtr

    x, y = rank.copy(), value.copy()
    variance, members = 0.0, []
    for g in np.unique(groups).tolist():
        at = np.flatnonzero(groups == g)
        members.append(at)
        x[at] -= x[at].mean()
        y[at] -= y[at].mean()
        if at.size > 1:
            variance += float((x[at] ** 2).sum() * (y[at] ** 2).sum() / (at.size - 1))
    statistic = float(x @ y)
    if variance <= 0.0:
        return 1.0
    p = float(ndtr(statistic / np.sqrt(variance)))
    if p > PROMISING:
        return p
    drawn = np.zeros(DRAWS)
    for at in members:
        drawn += rng.permuted(np.tile(y[at], (DRAWS, 1)), axis=1) @ x[at]
    by_orders = (1.0 + np.count_nonzero(drawn <= statistic + 1e-12)) / (DRAWS + 1.0)
    return float(by_orders) if by_orders > SEEN / DRAWS else p


def _halves(
    rank: Integers, right: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    order = np.argsort(rank, kind="stable")
    half = order.size // 2
    return right[order[:half]], right[order[half:]]


def _share(right: Sequence[bool] | NDArray[np.bool_]) -> str:
    return f"{int(np.sum(right))} of {len(right)}"
