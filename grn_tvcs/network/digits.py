"""Rounding to significant digits: the written scores are the ranked ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CHUNK = 2**18  # values at once
EXACT = 22  # the largest power of ten that is a float64, so that a product by it rounds once
POWERS = np.array([float(f"1e{k}") for k in range(EXACT + 1)])
DOUBT = 1e-3  # this near to the middle of two roundings the text decides


def significant(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round values >= 0 to `digits` significant digits, as ``%.6g`` does for six.

    A value times a power of ten is rounded to an integer below 10^digits, which divided by the
    same power is the float64 nearest to that decimal number, just as reading its text is. Where
    the product may have been rounded across the middle, or the power is none, the text is used.
    """
    out = np.zeros(values.shape)
    flat, rounded = values.ravel(), out.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK]
        is_there = part > 0
        rounded[start : start + CHUNK][is_there] = _rounded(part[is_there], digits)
    return out


def _rounded(x: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    power = digits - 1 - np.floor(np.log10(x)).astype(np.int64)
    is_plain = np.abs(power) <= EXACT
    scale = POWERS[np.where(is_plain, np.abs(power), 0)]
    scaled = np.where(power >= 0, x * scale, x / scale)
    whole = np.rint(scaled)
    is_plain &= np.abs(np.abs(scaled - whole) - 0.5) > DOUBT
    is_plain &= (whole >= 10 ** (digits - 1)) & (whole <= 10**digits)
    found = np.where(power >= 0, whole / scale, whole * scale)
    found[~is_plain] = np.char.mod(f"%.{digits}g", x[~is_plain]).astype(np.float64)
    return found
