"""When an edge stands out of noise: the t that noise does not reach, measured on the data.

Of all pairs some correlate by chance, and more of them where steps are not independent: replicates
of one course, common trends. What a typical pair shows is therefore taken for what noise shows, as
genomic control does (Devlin and Roeder 1999): the median of Student's t squared over all pairs,
beside that of independent steps, is the factor by which t squared is too large.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from grn_tvcs.stability.model import FLAT, Flags, StepLoss

ALPHA = 0.01  # probability that any pair of noise stands out, of the whole table
FEWEST_FREE = 3.0  # steps that are left for a test, at least


def noise_limit(loss: StepLoss, allowed: Flags) -> float:
    """Square of the t that no pair of `allowed` reaches by chance; infinite where any may.

    Parameters
    ----------
    loss
        Of all steps, with equal weights of the inputs.
    allowed
        Which pairs may be edges, [input, target].
    """
    seen = loss.alone[allowed]
    seen = seen[seen > FLAT]
    if not seen.size:
        return math.inf
    free = loss.freedom - 1.0
    usual = float(special.fdtri(1, max(free, 1.0), 0.5))
    inflation = max(1.0, float(np.median(seen)) / usual)
    free /= inflation
    if free < FEWEST_FREE:
        return math.inf
    return inflation * float(special.stdtrit(free, ALPHA / (2 * seen.size))) ** 2
