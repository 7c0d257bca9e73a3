"""What keeping an entry is worth: its gain on a grid, and the hash that breaks ties."""

import numpy as np

from tvcs_core.jit import kernel

LANE = 0x7FFFFFFF  # 31 bits: all arithmetic of the hash stays below 2^63
NUDGE = 2.0**-68  # times 31 bits of hash: 2^-37 of the largest gain at most
# Sizes of values whose squares are far from the ends of the range.
TINY, HUGE = 2.0**-201, 2.0**200
# Of the largest value: the grid keeps 20 bits and more of the gains of larger ones.
SMALLEST = 2.0**-16


@kernel
def mix(x):
    """Scramble 31 bits."""
    x = (x ^ (x >> 16)) * 0x45D9F3B & LANE
    x = (x ^ (x >> 15)) * 0x2C1B3C6D & LANE
    return x ^ (x >> 16)


@kernel
def tie_of_row(row):
    """Hash what all entries of a row share."""
    return mix((row + 0x9E3779B) & LANE)


@kernel
def coarse_tie(of_row, col, key):
    """Hash the place of an entry to 31 bits, given `tie_of_row` of its row."""
    place = mix((of_row + col * 0x2545F49) & LANE)
    if key != 0:
        place = mix((place + (key & LANE) * 0x6C8E944 + (key >> 31)) & LANE)
    return place


@kernel
def tie(row, col, key):
    """Hash the place of an entry to 1 .. 2^42; of two equal gains the larger one is preferred."""
    place = coarse_tie(tie_of_row(row), col, key)
    other = mix((place * 0x3C6EF37 + row * 0x1B873593 + col * 0x5851F42D) & LANE)
    return (place << 11 | other & 0x7FF) + 1


@kernel
def gain(value, factor, squared):
    """Return what keeping `value` gains: its square, or the value itself."""
    x = value * factor
    return x * x if squared else x


@kernel
def on_grid(gain_, grid):
    """Return the gain as a whole number of grid steps."""
    return np.int64(gain_ * grid + 0.5)
