"""Gains of entries on an integer grid, and the hash that breaks ties."""

import math

import numpy as np

from tvcs_core.jit import kernel

HASH_MASK = 0x7FFFFFFF  # 31 bits: all products of the hash stay below 2^63
MAX_HASH = 2**42  # no tie hash exceeds it
HASH_WEIGHT = 2.0**-68  # times 31 bits of hash: at most 2^-37 of the largest gain
# Sizes of values whose squares stay away from overflow and underflow.
MIN_SAFE_SIZE, MAX_SAFE_SIZE = 2.0**-201, 2.0**200
# Size relative to the largest value, above which the grid keeps at least 20 bits of a gain.
MIN_RELATIVE_SIZE = 2.0**-16
# Grid steps below which a gain is small: above it, gains that differ by a millionth are distinct.
# In large tables, where a second projection takes time, gains that differ by a hundredth.
MIN_STEPS, MIN_STEPS_LARGE = 2.0**20, 2.0**8
LARGE_ENTRIES = 22_500  # as in docs/method.md
VANISHING_STEPS = 0.25  # a gain below so many steps is rounded to 0


@kernel
def mix(x):
    """Mix 31 bits by xor-shifts and multiplications, in the manner of MurmurHash3."""
    x = (x ^ (x >> 16)) * 0x45D9F3B & HASH_MASK
    x = (x ^ (x >> 15)) * 0x2C1B3C6D & HASH_MASK
    return x ^ (x >> 16)


@kernel
def tie_of_row(row):
    """Return the part of the hash that all entries of a row share."""
    return mix((row + 0x9E3779B) & HASH_MASK)


@kernel
def coarse_tie(of_row, col, key):
    """Hash the position of an entry to 31 bits, given `tie_of_row` of its row."""
    position = mix((of_row + col * 0x2545F49) & HASH_MASK)
    if key != 0:
        position = mix((position + (key & HASH_MASK) * 0x6C8E944 + (key >> 31)) & HASH_MASK)
    return position


@kernel
def tie(row, col, key):
    """Hash the position of an entry to 1 .. 2^42; of equal gains the larger hash is preferred."""
    position = coarse_tie(tie_of_row(row), col, key)
    other = mix((position * 0x3C6EF37 + row * 0x1B873593 + col * 0x5851F42D) & HASH_MASK)
    return (position << 11 | other & 0x7FF) + 1


@kernel
def gain(value, factor, squared):
    """Return the gain of a value: its square, or the value itself."""
    x = value * factor
    return x * x if squared else x


@kernel
def on_grid(gain_, grid):
    """Return the gain in grid steps, as an integer."""
    return np.int64(gain_ * grid + 0.5)


@kernel
def small_share(entries, steps):
    """Return the share of the largest gain below which a gain has too few of the grid's steps."""
    return (MIN_STEPS if entries <= LARGE_ENTRIES else MIN_STEPS_LARGE) / steps


@kernel
def without_vanishing(values, largest, steps):
    """Return a table without the values whose squares round to 0, the largest of `steps` steps."""
    limit, found = largest * math.sqrt(VANISHING_STEPS / steps), values.copy()
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            if abs(values[r, c]) < limit:
                found[r, c] = 0.0
    return found
