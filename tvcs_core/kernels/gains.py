"""What keeping an entry is worth: its gain on a grid, and the hash that breaks ties."""

from tvcs_core.jit import kernel

LANE = 0x7FFFFFFF  # all arithmetic of the hash stays below 2^62


@kernel
def mix(x):
    """Scramble 31 bits."""
    x = (x ^ (x >> 16)) * 0x45D9F3B & LANE
    x = (x ^ (x >> 15)) * 0x2C1B3C6D & LANE
    return x ^ (x >> 16)


@kernel
def tie(row, col, key):
    """A fixed hash of the place of an entry, 1 .. 2^42: the larger one wins a tie."""
    place = mix((row + 0x9E3779B) & LANE)
    place = mix((place + col * 0x2545F49) & LANE)
    if key != 0:
        place = mix((place + (key & LANE) * 0x6C8E944 + (key >> 31)) & LANE)
    other = mix((place * 0x3C6EF37 + row * 0x1B873593 + col * 0x5851F42D) & LANE)
    return (place << 11 | other & 0x7FF) + 1


@kernel
def gain(value, factor, squared):
    """The gain of keeping `value`: its square, or the value itself."""
    x = value * factor
    return x * x if squared else x


@kernel
def on_grid(gain_, grid):
    """The gain as a whole number of grid steps."""
    return int(gain_ * grid + 0.5)
