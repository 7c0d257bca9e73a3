"""The sample of a large table or list, from which its first prices come: which lines, what caps."""

import numpy as np

from tvcs_core.projection.exact.candidates import Instance, gains_of
from tvcs_core.projection.kernels.records import Candidates, Counts, Ints

LISTED = 60_000  # tables up to here are listed whole for the first prices
SAMPLED = 40_000  # entries of the sample that larger ones get their first prices from, at least,
ROOTS = 80  # and times the root of their entries
UNITS = 2.0  # that the sample leaves of a cap that three in four are above, at least,
MOST = 0.35  # where that takes no larger share of the lines
TRIED = 200  # numbers of lines, and caps, by which it is seen how well caps round
LINES, MANY = 100, 300  # lines of the sample of smaller ones whose lines are long, if they are more
COMPARED = 32_000  # entries by which lines of the longer side are compared
STRETCH = 0.6  # times the root of how many are drawn: neighbours in a sample drawn by their caps


def count_drawn(i: Instance) -> int:
    """How many lines of the longer side the sample has."""
    (n, m), size = i.shape, i.open_size
    lines, caps = (m, i.caps.rows) if n <= m else (n, i.caps.cols)
    least = max(LINES, lines // 64)
    if size > LISTED:
        least = max(1, lines * sample_size(size) // size)
    if (caps > 0).any() and not i.has_equal_lines:
        low = float(np.quantile(caps[caps > 0], 0.25))
        least = max(least, int(min(UNITS / low, MOST) * lines))
    return fitting(caps, lines, min(least, lines // 2))


def sample_size(size: int) -> int:
    """How many entries the sample of so many has."""
    return max(SAMPLED, int(ROOTS * np.sqrt(size)))


def sample_of(i: Instance, count: int) -> tuple[Candidates, Counts] | None:
    """So many lines of the longer side, with the caps scaled; None if that is most of all.

    The lines are taken in the order of their gains, and among neighbours in that of their caps. So
    the sample is a quadrature over the lines and not a draw from them: its error falls with their
    number and not with the root of it.
    """
    n, m = i.shape
    values, start, columns, keys, dense, squared = i.candidates
    row_caps, col_caps, _ = i.caps
    order = by_caps(alike_lines(i, cols=n <= m), col_caps if n <= m else row_caps, count)
    drawn_lines = np.sort(order[middles(max(n, m), count)])
    across = alike_lines(i, cols=n > m)
    if n <= m:
        col_caps, row_caps = col_caps[drawn_lines], fewer(row_caps, count / m, across)
    else:
        row_caps, col_caps = row_caps[drawn_lines], fewer(col_caps, count / n, across)
    if dense:
        matrix = values.reshape(n, m)
        drawn = matrix[:, drawn_lines] if n <= m else matrix[drawn_lines]
        values = np.ascontiguousarray(drawn).reshape(-1)
        columns, keys = np.arange(col_caps.size, dtype=np.int32), np.zeros(col_caps.size, np.int64)
        start = np.arange(row_caps.size + 1, dtype=np.int64) * col_caps.size
    else:
        row = np.repeat(np.arange(n, dtype=np.int32), np.diff(start))
        number = np.full(max(n, m), -1, np.int32)
        number[drawn_lines] = np.arange(drawn_lines.size)
        found = np.flatnonzero(number[columns if n <= m else row] >= 0)
        if not 0 < found.size <= 0.6 * values.size:
            return None
        row, columns = row[found], columns[found]
        row, columns = (row, number[columns]) if n <= m else (number[row], columns)
        values, keys = values[found], keys[found]
        start = np.searchsorted(row, np.arange(row_caps.size + 1)).astype(np.int64)
    total = int(i.fits * values.size / i.candidates.values.size)
    sample = Candidates(values, start, columns, keys, dense, squared)
    return sample, Counts(row_caps, col_caps, total)


def alike_lines(i: Instance, cols: bool) -> Ints:
    """The columns, or the rows, in an order in which neighbours are alike.

    Of the order of their mean gain and that of the first principal component of what rows and
    columns do not explain, the one in which neighbours differ less. Where every line is a function
    of one number of its own, such as a worker's skill, one of them is the order of that number. The
    lines of a list are in the order of their mean gain.
    """
    (n, m), (values, start, columns, *_) = i.shape, i.candidates
    with np.errstate(all="ignore"):  # numbers beyond all floats, of groups that may keep nothing
        if not i.candidates.dense:
            line = columns if cols else np.repeat(np.arange(n), np.diff(start))
            sums = np.bincount(line, gains_of(i, values), m if cols else n)
            level = sums / np.maximum(np.bincount(line, minlength=sums.size), 1)
            return np.argsort(level, kind="stable")
        matrix = values.reshape(n, m)
        lines, length = (m, n) if cols else (n, m)
        apart = -(-length // max(8, COMPARED // lines))
        gains = gains_of(i, matrix[::apart] if cols else matrix[:, ::apart].T)
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


def fitting(caps: Ints, lines: int, least: int) -> int:
    """How many of the lines are drawn: so many, or some more at which caps across them round well.

    Equal caps of 7.5 would all be rounded to the same side.
    """
    counts = np.arange(least, min(least + least // 4, lines) + 1, 1 + least // (4 * TRIED))
    some = caps[:: 1 + caps.size // TRIED]
    scaled = some[:, np.newaxis] * (counts / lines)
    off = np.abs(scaled - np.rint(scaled)).mean(axis=0)
    best = int(np.argmin(off))
    return int(counts[best]) if 2.0 * off[best] < off[0] else least


def middles(lines: int, count: int) -> Ints:
    """The middles of so many equal stretches of the lines."""
    return ((np.arange(count) + 0.5) * (lines / count)).astype(np.int64)


def by_caps(order: Ints, caps: Ints, count: int) -> Ints:
    """The same lines, each stretch of neighbours in the order of their caps, up and down in turn.

    A stretch gives some lines to a sample of `count`, which then has its small, its middling
    and its large caps. Lines of equal caps stay where they are.
    """
    together = max(1, round(STRETCH * np.sqrt(count)))
    stretch = np.arange(order.size) * count // (order.size * together)
    return order[np.lexsort((np.where(stretch % 2, -1, 1) * caps[order], stretch))]


def fewer(caps: Ints, share: float, order: Ints) -> Ints:
    """Scale caps to a share of their group.

    What is rounded off a line is given to the next in the order, whose prices are like its own: so
    prices of many lines are right, though those of each are not.
    """
    scaled = np.empty(caps.size, np.int64)
    scaled[order] = np.diff(np.rint(np.cumsum(caps[order]) * share), prepend=0.0)
    return scaled
