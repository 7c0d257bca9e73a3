"""The phases of the scan in one call, for small tables.

`projection/exact/scan/search.py` has the same for large ones, in calls that Ctrl-C can stop; what
is said there of the way is true here, and the numbers are these.
"""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.scan.flow import FAILED, TURNS
from tvcs_core.projection.kernels.scan.paths import are_few_wrong, send_all
from tvcs_core.projection.kernels.scan.potentials import make_exact
from tvcs_core.projection.kernels.scan.refine import prepare, refine

FINER = 6  # from one eps to the next
COARSER = 16  # to a first eps, where prices were worse than they said
FIRST = 32  # turns of each node for the first eps, more than which say so
FEW_AT_FIRST = 1 / 8  # units by node, fewer than which are sent along shortest paths at once
FEW = 1  # and after the first eps
SENT = 10  # turns of each node for that, more than which a finer eps saves
EXACT, PART = 3, 4  # turns of each node for exact prices where ties are; of the last phase's, 1 in
PATIENCE = 400  # turns of each node in all
ALL = 2**60  # more units than there can be


@kernel
def scale(flow, clock, eps, wide, has_ties):
    """Find a best flow and its exact prices; False where it gives up.

    It begins with eps, and goes on with `wide` where prices are worse than that.
    """
    nodes, last, yes = flow.price.size + 2, np.int64(0), np.bool_(True)
    few, budget, patience = np.int64(FEW_AT_FIRST * nodes), FIRST * nodes, PATIENCE * nodes
    most = clock[TURNS] + patience
    while clock[TURNS] < most and clock[FAILED] == 0:
        if are_few_wrong(flow, last, few):
            prepare(flow, np.int64(0), clock)
            if send_all(flow, clock, SENT * nodes if eps > 0 else patience):
                return True
        if eps == 0:
            return False
        before = clock[TURNS]
        if refine(flow, eps, clock, budget, yes):
            took = clock[TURNS] - before
            if has_ties and make_exact(flow, clock, max(EXACT * nodes, took // PART)):
                return True
            budget, last = patience, eps
            eps = max(eps // FINER, np.int64(eps > 1))
            few = FEW * nodes if eps > 0 else np.int64(ALL)
        elif budget < patience:
            budget, eps = patience, wide
        else:
            return False
    return False
