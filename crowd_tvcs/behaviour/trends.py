"""Drift and fatigue: accuracy that falls over time, or within sessions.

The tested value is the agreement with gold, else with the majority of the others, beyond that of
the others on the same tasks. It may fall with the rank of the answer by time (drift), or within
sessions (fatigue). The p-value is that of a permutation test of the order of the answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import DEFAULT_FDR, Flag, p_value_text, significant_flags
from tvcs_core.streams import stream

PAUSE = 1800.0  # seconds without an answer that end a session
MIN_ANSWERS = 20  # with a reference and a time, to test a worker
MIN_FALL = 0.1  # fall of the accuracy from the first to the last half, to flag it
PERMUTATIONS = 4000
MIN_EXTREME_PERMUTATIONS = 20  # for a p-value by permutation; else the normal approximation
MAX_SCREENING_P = 0.2  # normal p-value; above, no permutations are drawn


def sessions(when: Floats) -> Integers:
    """Number the sessions of one worker, whose times ascend: a pause begins a new one."""
    return np.r_[0, np.cumsum(np.diff(when) > PAUSE)].astype(np.int64)


def drift(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers who are right less often later than earlier."""
    return _falling(crowd, "drift", fdr, stream(0, "drift"))


def fatigue(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers who are right less often late in their sessions, of two sessions or more.

    With one session fatigue is drift.
    """
    return _falling(crowd, "fatigue", fdr, stream(0, "fatigue"))


def _falling(crowd: Crowd, kind: str, fdr: float, rng: np.random.Generator) -> list[Flag]:
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
        if at.size < MIN_ANSWERS or right.all() or (kind == "fatigue" and groups.max() == 0):
            continue
        p = falling_p_value(rank[at].astype(float), crowd.surprise[mine[at]], groups, rng)
        first, last = _halves(rank[at], right)
        words = ("earlier", "later") if kind == "drift" else ("early in sessions", "late in them")
        on_gold = crowd.is_gold[mine[at]]
        of_gold = _halves(rank[at[on_gold]], right[on_gold])
        evidence = (
            f"right (by gold or most others) on {_share(first)} {words[0]} and {_share(last)} "
            f"{words[1]}, on gold alone {_share(of_gold[0])} and {_share(of_gold[1])}"
            + (f", {session[-1] + 1} sessions" if kind == "fatigue" else "")
            + f"; {p_value_text(p)}"
        )
        tested.append(Flag(name, kind, at.size, p, evidence))
        falls[name] = float(first.mean() - last.mean())
    return [flag for flag in significant_flags(tested, fdr) if falls[flag.worker] >= MIN_FALL]


def falling_p_value(
    rank: Floats, value: Floats, groups: Integers, rng: np.random.Generator
) -> float:
    """Return the permutation p-value of values that fall with the rank within groups.

    Permutations are drawn if the normal approximation is below `MAX_SCREENING_P`; it stands else.
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
    if p > MAX_SCREENING_P:
        return p
    drawn = np.zeros(PERMUTATIONS)
    for at in members:
        drawn += rng.permuted(np.tile(y[at], (PERMUTATIONS, 1)), axis=1) @ x[at]
    by_orders = (1.0 + np.count_nonzero(drawn <= statistic + 1e-12)) / (PERMUTATIONS + 1.0)
    return float(by_orders) if by_orders > MIN_EXTREME_PERMUTATIONS / PERMUTATIONS else p


def _halves(rank: Integers, right: Bools) -> tuple[Bools, Bools]:
    order = np.argsort(rank, kind="stable")
    half = order.size // 2
    return right[order[:half]], right[order[half:]]


def _share(right: Sequence[bool] | Bools) -> str:
    return f"{int(np.sum(right))} of {len(right)}"
