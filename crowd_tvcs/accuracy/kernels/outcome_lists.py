"""Kernels of the expected accuracy: sorted lists of outcomes, doubled voter by voter.

A list of outcomes has three rows: the log odds of label 1 (ascending), the joint probability of the
outcome and label 1, and that with label 0. All voters here are folded: `right` > 1/2 is the
probability that a voter (or their inverted answer) is right.
"""

import math

import numpy as np

from tvcs_core.jit import kernel

EQUAL = 1e-12  # log odds this close are equal up to rounding
LOG_ODDS, ONE, ZERO = 0, 1, 2  # rows of a list


@kernel
def fold(voters, right, wrong):
    """Fill `right` and `wrong` with the informative voters; return -1 if one is always right."""
    count = 0
    for v in range(voters.size):
        better = max(voters[v], 1.0 - voters[v])
        if better == 1.0:
            return -1
        if better > 0.5:
            right[count] = better
            wrong[count] = min(voters[v], 1.0 - voters[v])
            count += 1
    return count


@kernel
def mirror(outcomes, size):
    """Fill the upper half of a list from the lower one: swapping the labels reverses it."""
    for k in range(size // 2):
        outcomes[LOG_ODDS, size - 1 - k] = -outcomes[LOG_ODDS, k]
        outcomes[ONE, size - 1 - k] = outcomes[ZERO, k]
        outcomes[ZERO, size - 1 - k] = outcomes[ONE, k]


@kernel
def double(outcomes, size, right, wrong, out):
    """Add a voter: merge the outcomes with their answer 0 and with their answer 1.

    Both halves stay sorted, so this is one merge without branches; the upper half is the mirror
    image.
    """
    weight = math.log(right / wrong)
    i = 0
    j = 0
    for k in range(size):
        up = outcomes[LOG_ODDS, i] + weight
        down = outcomes[LOG_ODDS, j] - weight
        says_zero = down <= up
        at = j if says_zero else i
        out[LOG_ODDS, k] = min(down, up)
        out[ONE, k] = outcomes[ONE, at] * (wrong if says_zero else right)
        out[ZERO, k] = outcomes[ZERO, at] * (right if says_zero else wrong)
        j += says_zero
        i += not says_zero
    mirror(out, 2 * size)


@kernel
def join_equal(outcomes, size):
    """Merge outcomes of equal log odds, in place and without loss; return the new size."""
    last = 0
    for k in range(1, size // 2):
        if outcomes[LOG_ODDS, k] - outcomes[LOG_ODDS, last] <= EQUAL:
            outcomes[ONE, last] += outcomes[ONE, k]
            outcomes[ZERO, last] += outcomes[ZERO, k]
        else:
            last += 1
            for row in range(3):
                outcomes[row, last] = outcomes[row, k]
    mirror(outcomes, 2 * (last + 1))
    return 2 * (last + 1)


@kernel
def halve_by_joining(outcomes, size):
    """Merge neighbours in pairs, in place: a coarser vote, so never a more accurate one."""
    middle = size // 2
    for k in range((middle + 1) // 2):
        a = 2 * k
        b = min(a + 1, middle - 1)
        one = outcomes[ONE, a]
        zero = outcomes[ZERO, a]
        log_odds = 0.5 * (outcomes[LOG_ODDS, a] + outcomes[LOG_ODDS, b])
        if a < b:
            one += outcomes[ONE, b]
            zero += outcomes[ZERO, b]
            if one > 0.0 and zero > 0.0:
                log_odds = math.log(one / zero)
        outcomes[LOG_ODDS, k] = log_odds
        outcomes[ONE, k] = one
        outcomes[ZERO, k] = zero
    mirror(outcomes, 2 * ((middle + 1) // 2))
    return 2 * ((middle + 1) // 2)


@kernel
def halve_by_spreading(outcomes, size):
    """Split every second outcome among its neighbours, in place: never a less accurate vote.

    The shares keep both probabilities in sum, so the posterior is spread and keeps its mean; as max
    is convex, the total does not fall (Jensen). Outcomes 0, 2, ... of the lower half stay, and
    their mirror images in the upper half.
    """
    middle = size // 2
    for b in range(1, middle, 2):
        above = b + 1 if b + 1 < middle else middle + 1
        low = outcomes[LOG_ODDS, b] - outcomes[LOG_ODDS, b - 1]
        width = outcomes[LOG_ODDS, above] - outcomes[LOG_ODDS, b - 1]
        zero = 0.5
        one = 0.5
        if width > 0.0:
            zero = math.expm1(low) / math.expm1(width)
            one = min(1.0, math.expm1(-low) / math.expm1(-width))
        outcomes[ONE, b - 1] += (1.0 - one) * outcomes[ONE, b]
        outcomes[ZERO, b - 1] += (1.0 - zero) * outcomes[ZERO, b]
        if above < middle:
            outcomes[ONE, above] += one * outcomes[ONE, b]
            outcomes[ZERO, above] += zero * outcomes[ZERO, b]
        else:
            # Its mirror image sends the same share to this side of 0.
            outcomes[ONE, b - 1] += zero * outcomes[ZERO, b]
            outcomes[ZERO, b - 1] += one * outcomes[ONE, b]
    kept = (middle + 1) // 2  # outcomes of the lower half that stay
    for k in range(1, kept):
        for row in range(3):
            outcomes[row, k] = outcomes[row, 2 * k]
    mirror(outcomes, 2 * kept)
    return 2 * kept


@kernel
def list_outcomes(right, wrong, limit, spread, buffers):
    """List the outcomes of voters; return the index of their buffer, and the size.

    In a list longer than `limit`, an even number, equal outcomes are merged; if it is still longer
    it is halved, by spreading or by merging.
    """
    at = 0
    size = np.int64(1)
    buffers[0, LOG_ODDS, 0] = 0.0
    buffers[0, ONE, 0] = 1.0
    buffers[0, ZERO, 0] = 1.0
    for v in range(right.size):
        double(buffers[at], size, right[v], wrong[v], buffers[1 - at])
        at = 1 - at
        size *= 2
        if size > limit:
            size = join_equal(buffers[at], size)
        if size > limit:
            if spread:
                size = halve_by_spreading(buffers[at], size)
            else:
                size = halve_by_joining(buffers[at], size)
    return at, size


@kernel
def meet(left, n_left, right, n_right, shift, one_factor, zero_factor):
    """Return the sum of max(one_factor * one, zero_factor * zero) over pairs of outcomes.

    `shift` is the log of one_factor / zero_factor. Log odds add up and the lists ascend. So the
    right outcomes that support label 1 with a left one are a suffix, whose start only moves down
    (meet in the middle, two pointers): `one` and `zero` are its sums.
    """
    total = 0.0
    rest = 0.0
    one = 0.0
    zero = 0.0
    j = n_right
    for i in range(n_left):
        while j > 0 and left[LOG_ODDS, i] + right[LOG_ODDS, j - 1] + shift >= 0.0:
            j -= 1
            one += right[ONE, j]
            zero += right[ZERO, j]
        total += one_factor * left[ONE, i] * one - zero_factor * left[ZERO, i] * zero
        rest += left[ZERO, i]
    return total + zero_factor * rest


@kernel
def accuracy_of_tasks(start, voters, prior, limit, spread, right, wrong, buffers, out):
    """Fill `out` with the expected accuracy of the vote on every task.

    The voters of task j are voters[start[j]:start[j + 1]]; `buffers` is two pairs of lists
    of more than twice `limit` outcomes.
    """
    for j in range(prior.size):
        count = fold(voters[start[j] : start[j + 1]], right, wrong)
        if count < 0 or prior[j] == 0.0 or prior[j] == 1.0:
            out[j] = 1.0
            continue
        half = count // 2
        a, n_left = list_outcomes(right[:half], wrong[:half], limit, spread, buffers[0])
        b, n_right = list_outcomes(right[half:count], wrong[half:count], limit, spread, buffers[1])
        shift = math.log(prior[j]) - math.log1p(-prior[j])
        out[j] = meet(
            buffers[0, a], n_left, buffers[1, b], n_right, shift, prior[j], 1.0 - prior[j]
        )


@kernel
def smooth_of_tasks(start, voters, prior, limit, spread, right, wrong, buffers, out):
    """Fill `out` with the expected posterior of the truth on every task; arguments as above."""
    for j in range(prior.size):
        count = fold(voters[start[j] : start[j + 1]], right, wrong)
        if count < 0 or prior[j] == 0.0 or prior[j] == 1.0:
            out[j] = 1.0
            continue
        half = count // 2
        a, n_left = list_outcomes(right[:half], wrong[:half], limit, spread, buffers[0])
        b, n_right = list_outcomes(right[half:count], wrong[half:count], limit, spread, buffers[1])
        total = 0.0
        for i in range(n_left):
            for k in range(n_right):
                one = prior[j] * buffers[0, a, ONE, i] * buffers[1, b, ONE, k]
                zero = (1.0 - prior[j]) * buffers[0, a, ZERO, i] * buffers[1, b, ZERO, k]
                if one + zero > 0.0:
                    total += (one * one + zero * zero) / (one + zero)
        out[j] = total
