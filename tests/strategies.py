"""Hypothesis strategies: small problems of every kind, the nasty ones included."""

import numpy as np
from hypothesis import strategies as st

from tvcs_core import TVCS

FAMILIES = ("gauss", "ties", "zeros", "heavy", "constant", "separable", "tiny", "huge")


def values_of(family: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw values of one family: ties, zeros, heavy tails, separable, extreme scales."""
    gauss = rng.standard_normal(shape)
    match family:
        case "ties":
            return rng.integers(-3, 4, shape).astype(float)
        case "zeros":
            return np.where(rng.random(shape) < 0.7, 0.0, gauss)
        case "heavy":
            return gauss * np.exp(4 * rng.standard_normal(shape))
        case "constant":
            return np.full(shape, float(rng.integers(-2, 3)))
        case "separable":
            sides = [rng.integers(0, 4, n).astype(float) for n in shape]
            return sides[0] if len(shape) == 1 else np.add.outer(sides[0], sides[1])
        case "tiny":
            return gauss * 1e-140
        case "huge":
            return gauss * 1e140
    return gauss


def _caps(draw, groups: int, size: int):
    kind = draw(st.sampled_from(["none", "one", "vector"]))
    if kind == "none":
        return None
    if kind == "one":
        return draw(st.integers(0, size + 2))
    return draw(st.lists(st.integers(0, size + 2), min_size=groups, max_size=groups))


@st.composite
def matrices(draw, max_side: int = 6, max_size: int = 36):
    """A matrix and a constraint on its rows, columns and total, at times with a mask or box."""
    n = draw(st.integers(1, max_side))
    m = draw(st.integers(1, min(max_side, max(1, max_size // n))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    V = values_of(draw(st.sampled_from(FAMILIES)), (n, m), rng)
    allowed = rng.random((n, m)) < 0.7 if draw(st.booleans()) else None
    bounds = draw(st.sampled_from([None, (0.0, 1.0), (-0.5, np.inf)]))
    total = draw(st.none() | st.integers(0, n * m + 1))
    constraint = TVCS.matrix(
        (n, m),
        row_caps=_caps(draw, n, m),
        col_caps=_caps(draw, m, n),
        total=total,
        allowed=allowed,
        bounds=bounds,
    )
    return V, constraint


@st.composite
def groups(draw, max_size: int = 12):
    """Variables in groups of two views, some in none, many in one pair."""
    p = draw(st.integers(1, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    V = values_of(draw(st.sampled_from(FAMILIES)), (p,), rng)
    n_rows, n_cols = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row_of = rng.integers(-1, n_rows, p)
    col_of = rng.integers(-1, n_cols, p) if draw(st.booleans()) else None
    constraint = TVCS.groups(
        row_of,
        col_of,
        row_caps=draw(st.lists(st.integers(0, 5), min_size=n_rows, max_size=n_rows)),
        col_caps=None if col_of is None else draw(st.none() | st.integers(0, 5)),
        total=draw(st.none() | st.integers(0, p)),
    )
    return V, constraint
