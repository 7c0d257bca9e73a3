"""Kernel of extremely randomised trees."""

import numpy as np

from tvcs_core.jit import kernel


@kernel
def grow(x, y, trees, tries, state, inputs, rows, nodes, importance):
    """Add to `importance` of each input the sum of squares that its splits explain, over all trees.

    `x` is [input, sample] and `y` has mean 0 and variance 1. `state` holds the seed, `inputs` a
    permutation of all inputs; `rows` and `nodes` are scratch memory.
    """
    n_inputs, n_rows = x.shape
    values, responses = np.empty(n_rows), np.empty(n_rows)  # of the rows of a node, in their order
    for _ in range(trees):
        for r in range(n_rows):
            rows[r] = r
        nodes[0, 0], nodes[0, 1] = 0, n_rows
        waiting = 1
        while waiting > 0:
            # Waiting nodes are disjoint ranges of `rows`, so there are at most n_rows.
            waiting -= 1
            start, stop = nodes[waiting, 0], nodes[waiting, 1]
            n = stop - start
            total = 0.0
            square = 0.0
            for r in range(n):
                responses[r] = y[rows[start + r]]
                total += responses[r]
                square += responses[r] ** 2
            if n < 2 or square - total * total / n <= 1e-12 * n:
                continue
            best = -1.0
            at = -1
            cut = 0.0
            left = tries
            unseen = n_inputs
            while left > 0 and unseen > 0:
                # Draw without replacement: drawn inputs are moved to the end.
                k = int(uniform(state) * unseen)
                unseen -= 1
                j = inputs[k]
                inputs[k] = inputs[unseen]
                inputs[unseen] = j
                column = x[j]
                if n == 2 and at >= 0:
                    # Two rows are parted in one way, so the first split stays the best: only what
                    # is drawn, and whether the input is constant, counts for the next ones.
                    if column[rows[start]] != column[rows[start + 1]]:
                        left -= 1
                        uniform(state)
                    continue
                low = high = column[rows[start]]
                for r in range(n):
                    value = column[rows[start + r]]
                    values[r] = value
                    low = value if value < low else low
                    high = value if value > high else high
                if low == high:
                    continue
                left -= 1
                # In [low, high), so that neither side is empty.
                threshold = low + uniform(state) * (high - low)
                if threshold >= high:
                    threshold = low
                below = 0.0
                n_below = 0
                for r in range(n):  # without a branch, which could not be predicted
                    is_below = np.int64(values[r] <= threshold)
                    below += responses[r] * is_below
                    n_below += is_below
                above = total - below
                gain = below * below / n_below + above * above / (n - n_below) - total * total / n
                # Gains of equal splits differ by rounding; the first of them wins.
                if gain > best + 1e-9:
                    best = gain
                    at = j
                    cut = threshold
            if at < 0:
                continue
            importance[at] += max(best, 0.0)
            middle = start
            for r in range(start, stop):
                if x[at, rows[r]] <= cut:
                    row = rows[r]
                    rows[r] = rows[middle]
                    rows[middle] = row
                    middle += 1
            nodes[waiting, 0], nodes[waiting, 1] = start, middle
            nodes[waiting + 1, 0], nodes[waiting + 1, 1] = middle, stop
            waiting += 2


@kernel
def uniform(state):
    """Return the next number in [0, 1) of the stream `state`.

    SplitMix64: Steele, Lea and Flood, OOPSLA 2014.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-53
