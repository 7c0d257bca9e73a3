"""Pairs of a number on the grid and a sum of tie hashes, compared lexicographically."""

from tvcs_core.jit import kernel


@kernel
def is_less(a, b, c, d):
    """Return whether the pair (a, b) is less than (c, d)."""
    return a < c or (a == c and b < d)


@kernel
def put_pair_in_place(pairs, size, rank):
    """Move the pair of `rank` (0 = largest) of pairs[:size] to its place, larger ones first."""
    low, high = 0, size
    # Quickselect as in prices.py.
    while high - low > 1:
        x, y = pairs[(low + high) >> 1]
        i, j = low, high - 1
        while i <= j:
            while is_less(x, y, pairs[i, 0], pairs[i, 1]):
                i += 1
            while is_less(pairs[j, 0], pairs[j, 1], x, y):
                j -= 1
            if i <= j:
                a, b = pairs[i, 0], pairs[i, 1]
                pairs[i, 0], pairs[i, 1] = pairs[j, 0], pairs[j, 1]
                pairs[j, 0], pairs[j, 1] = a, b
                i += 1
                j -= 1
        if rank <= j:
            high = j + 1
        elif rank >= i:
            low = i
        else:
            return
