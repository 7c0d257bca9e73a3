"""The sample of lines of a large table that gives its first prices."""

import numpy as np

from tvcs_core.projection.exact.candidates import Instance, scaled_gains, table_of
from tvcs_core.projection.kernels.records import Candidates, Counts, Ints

# Measured by `python -m benchmarks.speed.families`; docs/method.md, section 1, has the reasons.
MAX_LISTED_ENTRIES = 60_000  # of a table whose entries are all listed for the first prices
MIN_SAMPLE_ENTRIES = 40_000  # of a larger table, ...
SAMPLE_ENTRIES_PER_ROOT = 80  # ... or this many times the square root of its entries
MIN_SCALED_CAP = 2.0  # of three in four lines, ...
MAX_SAMPLE_SHARE = 0.35  # ... unless that takes a larger share of the lines
N_TRIED = 200  # numbers of lines, and caps, on which the rounding of caps is compared
MIN_SAMPLE_LINES = 100  # of smaller tables with long lines, ...
MIN_SAMPLED_LINES = 300  # ... if they have so many
COMPARED_ENTRIES = 32_000  # on which lines of the longer side are compared
STRETCH_PER_ROOT = 0.6  # neighbours sorted by caps, over the square root of the sample's lines


def count_sample_lines(instance: Instance) -> int:
    """Return how many lines of the longer side the sample has."""
    (n, m), size = instance.shape, instance.open_size
    lines, caps = (m, instance.caps.rows) if n <= m else (n, instance.caps.cols)
    least = max(MIN_SAMPLE_LINES, lines // 64)
    if size > MAX_LISTED_ENTRIES:
        least = max(1, lines * sample_size(size) // size)
    if (caps > 0).any() and not instance.has_equal_lines:
        low = float(np.quantile(caps[caps > 0], 0.25))
        least = max(least, int(min(MIN_SCALED_CAP / low, MAX_SAMPLE_SHARE) * lines))
    return choose_line_count(caps, lines, min(least, lines // 2))


def sample_size(size: int) -> int:
    """Return how many entries the sample of a table of `size` entries has."""
    return max(MIN_SAMPLE_ENTRIES, int(SAMPLE_ENTRIES_PER_ROOT * np.sqrt(size)))


def sample_of(instance: Instance, count: int) -> tuple[Candidates, Counts]:
    """Return `count` lines of the longer side with scaled caps.

    The lines are taken at equal distances in the order of their gains, and among neighbours in
    that of their caps. So the sample is a quadrature over the lines, not a random draw: its error
    decreases with their number, not with its square root.
    """
    n, m = instance.shape
    row_caps, col_caps, _ = instance.caps
    order = order_by_caps(
        similarity_order(instance, cols=n <= m), col_caps if n <= m else row_caps, count
    )
    drawn_lines = np.sort(order[stratum_middles(max(n, m), count)])
    across = similarity_order(instance, cols=n > m)
    if n <= m:
        col_caps, row_caps = col_caps[drawn_lines], scale_caps(row_caps, count / m, across)
    else:
        row_caps, col_caps = row_caps[drawn_lines], scale_caps(col_caps, count / n, across)
    matrix = instance.candidates.values.reshape(n, m)
    drawn = matrix[:, drawn_lines] if n <= m else matrix[drawn_lines]
    total = int(instance.capacity * drawn.size / instance.candidates.values.size)
    sample = table_of(np.ascontiguousarray(drawn), instance.candidates.squared)
    return sample, Counts(row_caps, col_caps, total)


def similarity_order(instance: Instance, cols: bool) -> Ints:
    """Return the columns (or rows) in an order in which neighbours are similar.

    Candidates are the order of mean gains and that of the first principal component of the
    residuals; the one whose neighbours differ less is taken. If every line is a function of one
    number of its own, such as a worker's skill, one of the two is the order of that number.
    """
    n, m = instance.shape
    matrix = instance.candidates.values.reshape(n, m)
    lines, length = (m, n) if cols else (n, m)
    apart = -(-length // max(8, COMPARED_ENTRIES // lines))
    gains = scaled_gains(instance, matrix[::apart] if cols else matrix[:, ::apart].T)
    level = gains.mean(axis=0)
    rest = gains - level
    rest -= rest.mean(axis=1, keepdims=True)
    score = rest[int(np.argmax(np.einsum("ij,ij->i", rest, rest)))]
    for _ in range(3):
        score = rest.T @ (rest @ score)
        score = score / (np.abs(score).max() or 1.0)
    orders = [np.argsort(by, kind="stable") for by in (level, score)]
    steps = [np.diff(gains[:, order]) for order in orders]
    return orders[int(np.argmin([np.einsum("ij,ij->", x, x) for x in steps]))]


def choose_line_count(caps: Ints, lines: int, least: int) -> int:
    """Return `least` lines, or up to a fourth more if caps across them then round better.

    Equal caps of 7.5, for example, would all be rounded to the same side.
    """
    counts = np.arange(least, min(least + least // 4, lines) + 1, 1 + least // (4 * N_TRIED))
    some = caps[:: 1 + caps.size // N_TRIED]
    scaled = some[:, np.newaxis] * (counts / lines)
    off = np.abs(scaled - np.rint(scaled)).mean(axis=0)
    best = int(np.argmin(off))
    return int(counts[best]) if 2.0 * off[best] < off[0] else least


def stratum_middles(lines: int, count: int) -> Ints:
    """Return the middles of `count` equal stretches of the lines."""
    return ((np.arange(count) + 0.5) * (lines / count)).astype(np.int64)


def order_by_caps(order: Ints, caps: Ints, count: int) -> Ints:
    """Sort each stretch of neighbouring lines by their caps, alternately up and down.

    A stretch gives several lines to a sample of `count`, so that small, medium and large caps are
    sampled. Lines with equal caps keep their order.
    """
    per_stretch = max(1, round(STRETCH_PER_ROOT * np.sqrt(count)))
    stretch = np.arange(order.size) * count // (order.size * per_stretch)
    return order[np.lexsort((np.where(stretch % 2, -1, 1) * caps[order], stretch))]


def scale_caps(caps: Ints, share: float, order: Ints) -> Ints:
    """Scale caps to a share of their group, rounded to integers.

    Rounding errors are passed to the next line in the order, whose prices are similar. So prices
    of many lines together are right, although those of single lines are not.
    """
    scaled = np.empty(caps.size, np.int64)
    scaled[order] = np.diff(np.rint(np.cumsum(caps[order]) * share), prepend=0.0)
    return scaled
