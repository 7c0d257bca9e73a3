"""Noise limit: the t statistic that noise does not reach, estimated from the data.

Some pairs correlate by chance, and more of them if steps are dependent, as with replicates of one
course or common trends. The typical pair is therefore taken as noise, as in genomic control (Devlin
and Roeder 1999). The inflation factor of t squared is its median over all pairs divided by the
median for independent steps.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from grn_tvcs.stability.model import MIN_VARIANCE_FRACTION, Flags, StepLoss

ALPHA = 0.01  # family-wise error rate over all pairs of a table (Bonferroni)
MIN_FREEDOM = 3.0  # smallest effective degrees of freedom for a test


def noise_limit(loss: StepLoss, allowed: Flags) -> float:
    """Return the square of the t that no noise pair of `allowed` reaches; infinite without a test.

    Parameters
    ----------
    loss
        Of all steps, with equal weights of the inputs.
    allowed
        Whether a pair may be an edge; [input, target].
    """
    seen = loss.alone[allowed]
    seen = seen[seen > MIN_VARIANCE_FRACTION]
    if not seen.size:
        return math.inf
    free = loss.freedom - 1.0
    usual = float(special.fdtri(1, max(free, 1.0), 0.5))
    inflation = max(1.0, float(np.median(seen)) / usual)
    free /= inflation
    if free < MIN_FREEDOM:
        return math.inf
    return inflation * float(special.stdtrit(free, ALPHA / (2 * seen.size))) ** 2
