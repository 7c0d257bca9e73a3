"""Features of every pair: its score in each source of evidence, and properties of its genes.

For each source, in units of its strongest scores: the score, its rank among the regulators of the
target and among the targets of the regulator, and the score of the reverse pair. For directed
sources, also the regulator's other scores: their variance, their sum over other targets, and how
unequal these sums are over all regulators. These carry the information of a hub prior. Numbers that
describe the whole table are added to every pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.combine.evidence_scores import (
    CHANGE,
    CLR,
    EVIDENCE_SOURCES,
    KNOCKDOWN,
    KNOCKOUT,
    LAGGED,
    LEVELS,
    RANK,
    RANKED_DOWN,
    RATES,
    SHORT,
    SYMMETRIC,
    EvidenceScores,
)
from grn_tvcs.combine.kernels import mean_ranks
from grn_tvcs.evidence.hubs import concentration
from grn_tvcs.evidence.scaling import scale_by_top_mean

FLOOR = 0.02  # added to scores, in units of the strongest, before the logarithm
OF_REGULATORS = (LAGGED, SHORT, RATES, LEVELS, RANKED_DOWN, CLR)
RAW = (RANK, KNOCKOUT, KNOCKDOWN, RANKED_DOWN)
AGREEING = (RANK, CHANGE, SHORT, KNOCKOUT)
FACTS = (
    "genes", "inputs", "series", "steps", "samples", "at rest", "column", "knocked out",
    "median r", "high r", "autocorrelation", "lagged gain", "short gain",
)  # fmt: skip
COUNTED = ("genes", "inputs", "series", "steps", "samples", "at rest")  # as logarithms

Array = NDArray[np.float64]
Features = NDArray[np.float32]


@dataclass(frozen=True)
class Table:
    """Features of all pairs by name; each [input, gene], or one number for all pairs.

    Attributes
    ----------
    columns
        Features; NaN for missing values.
    allowed
        Whether a pair may be an edge; [input, gene].
    """

    columns: dict[str, NDArray[np.float32] | float]
    allowed: NDArray[np.bool_]

    def rows(self, names: tuple[str, ...], rows: slice = slice(None)) -> Features:
        """Return the features of the allowed pairs of some inputs, in order; (pairs, names).

        Those of one name lie side by side in memory, as trees and nets read them.
        """
        places = np.flatnonzero(self.allowed[rows])
        out = np.empty((len(names), places.size), dtype=np.float32)
        for k, name in enumerate(names):
            column = self.columns.get(name, np.nan)
            if isinstance(column, float):
                out[k] = column
            else:
                np.take(column[rows], places, out=out[k], mode="clip")  # "raise" makes a copy
        return out.T


def pair_features(parts: EvidenceScores) -> Table:
    """Return the features of the first stage."""
    columns: dict[str, NDArray[np.float32] | float] = {}
    for name, values in _columns(parts):
        columns[name] = values if isinstance(values, float) else values.astype(np.float32)
    return Table(columns, parts.allowed)


def names_and_directions() -> dict[str, int]:
    """Return the features of the first stage and their monotone constraints.

    1: the probability of an edge may only rise with the feature; -1: it may only fall; 0: either.
    """
    names: dict[str, int] = {}
    for part in EVIDENCE_SOURCES:
        names |= {f"{part} score": 1, f"{part} rank among regulators": -1}
        names[f"{part} rank among targets"] = -1
        if part not in SYMMETRIC:
            names[f"{part} reverse"] = 0
        if part in OF_REGULATORS:
            names |= {f"{part} {word}": 0 for word in ("spread", "mass", "top", "concentration")}
        if part in RAW:
            names[f"{part} size"] = 1
    names |= {f"{LAGGED} agrees with {part}": 0 for part in AGREEING}
    names |= {"gain": 1, "stability": 1}
    names |= {f"{LAGGED} like {part}": 0 for part in (RATES, LEVELS, RANKED_DOWN)}
    return names | dict.fromkeys(FACTS, 0)


def _columns(parts: EvidenceScores) -> Iterator[tuple[str, Array | float]]:
    n, inputs, allowed = parts.allowed.shape[1], parts.inputs, parts.allowed
    if not inputs.size:
        return
    units = {name: scale_by_top_mean(scores, n) for name, scores in parts.scores.items()}
    for name, scores in units.items():
        yield f"{name} score", np.log(scores + FLOOR)
        yield f"{name} rank among regulators", np.log(ranks(scores, allowed, 0))
        yield f"{name} rank among targets", np.log(ranks(scores, allowed, 1) / n)
        if name not in SYMMETRIC:
            yield f"{name} reverse", np.log(reverse(scores, inputs) + FLOOR)
        if name in OF_REGULATORS:
            yield from _of_regulators(name, np.nan_to_num(scores))
        if name in RAW:
            raw = parts.scores[name]
            yield f"{name} size", raw if name == RANK else np.log1p(raw)
    if LAGGED in units:
        sign = np.sign(parts.signed[LAGGED])
        for name in AGREEING:
            if name in parts.signed:
                yield f"{LAGGED} agrees with {name}", sign * np.sign(parts.signed[name])
        yield "gain", np.log(units[LAGGED] * max(parts.facts[f"{LAGGED} gain"], 0.0) + 1e-3)
        if parts.stability is not None:
            yield "stability", parts.stability
        for name in (RATES, LEVELS, RANKED_DOWN):
            if name in units:
                yield f"{LAGGED} like {name}", _alike(units[LAGGED], units[name], allowed)
    for name in FACTS:
        value = float(parts.facts.get(name, np.nan))
        yield name, float(np.log1p(value)) if name in COUNTED else value


def ranks(scores: Array, allowed: NDArray[np.bool_], axis: int) -> Array:
    """Return ranks along an axis: 1 for the largest, mean ranks for ties, NaN for NaN scores.

    Pairs that are not allowed come last.
    """
    is_gap = np.isnan(scores)
    falling = np.where(allowed & ~is_gap, -scores, np.inf)
    if axis == 0:
        falling = np.ascontiguousarray(falling.T)
    found = np.empty_like(falling)
    mean_ranks(falling, np.argsort(falling, axis=1), found)
    return np.where(is_gap, np.nan, np.ascontiguousarray(found.T) if axis == 0 else found)


def reverse(scores: Array, inputs: NDArray[np.int64]) -> Array:
    """Return the score of the reverse pair; NaN if the target may not regulate."""
    out = np.full(scores.shape, np.nan)
    out[:, inputs] = scores[:, inputs].T
    return out


def _of_regulators(name: str, scores: Array) -> Iterator[tuple[str, Array | float]]:
    """Yield features of the regulator over other targets, and the target's largest score."""
    ones = np.ones_like(scores)
    spread = scores.var(axis=1, keepdims=True)
    yield f"{name} spread", ones * np.log(spread / max(spread.mean(), 1e-12) + 1e-3)
    mass = scores.sum(axis=1, keepdims=True)
    others = (mass - scores) / max(float(mass.mean()), 1e-12)
    yield f"{name} mass", np.log(others + FLOOR)
    yield f"{name} top", ones * np.log(scores.max(axis=0) + FLOOR)
    yield f"{name} concentration", float(np.log(concentration(mass[:, 0]) or 1.0))


def _alike(one: Array, other: Array, allowed: NDArray[np.bool_]) -> float:
    """Return the correlation of the scores of two sources over all pairs."""
    is_in = allowed & ~np.isnan(other)
    if is_in.sum() < 3 or one[is_in].std() == 0 or other[is_in].std() == 0:
        return 0.0
    return float(np.corrcoef(one[is_in], other[is_in])[0, 1])
