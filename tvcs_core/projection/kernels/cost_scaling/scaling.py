"""The phases of cost scaling."""

import numpy as np

from tvcs_core.jit import kernel
from tvcs_core.projection.kernels.cost_scaling.flow import FAILED, TURNS
from tvcs_core.projection.kernels.cost_scaling.paths import are_few_wrong, send_all
from tvcs_core.projection.kernels.cost_scaling.potentials import make_exact
from tvcs_core.projection.kernels.cost_scaling.refine import prepare, refine

# Measured by `python -m benchmarks.speed.families`; docs/method.md has the reasons.
EPS_DIVISOR = 6  # divisor of eps from phase to phase
EPS_RESTART_FACTOR = 16  # factor of eps for a restart, if prices are worse than assumed
FIRST_TURNS = 32  # turns per node of the first phase, beyond which they are
MAX_OPEN_FIRST = 1 / 8  # units per node below which shortest paths replace the first phase
MAX_OPEN_LATER = 1  # units per node below which they replace later phases
PATH_TURNS = 10  # turns per node of the paths, beyond which a finer eps is faster
# Turns for exact prices among ties: so many per node, or 1 / PART of those of the last phase.
EXACT_TURNS, EXACT_TURNS_DIVISOR = 3, 4
MAX_TURNS = 400  # turns per node in total
UNLIMITED = 2**60  # more units than there can be


@kernel
def scale(flow, clock, eps, wide, has_ties):
    """Find an optimal flow and its exact prices; return False on giving up.

    Starts with `eps`, and restarts with `wide` if prices are worse than that.
    """
    nodes, last = flow.price.size, np.int64(0)
    few, budget, patience = np.int64(MAX_OPEN_FIRST * nodes), FIRST_TURNS * nodes, MAX_TURNS * nodes
    most = clock[TURNS] + patience
    while clock[TURNS] < most and clock[FAILED] == 0:
        if are_few_wrong(flow, last, few):
            prepare(flow, np.int64(0), clock)
            if send_all(flow, clock, PATH_TURNS * nodes if eps > 0 else patience):
                return True
        if eps == 0:
            return False
        before = clock[TURNS]
        if refine(flow, eps, clock, budget):
            took = clock[TURNS] - before
            turns = max(EXACT_TURNS * nodes, took // EXACT_TURNS_DIVISOR)
            if has_ties and make_exact(flow, clock, turns):
                return True
            budget, last = patience, eps
            eps = max(eps // EPS_DIVISOR, np.int64(eps > 1))
            few = MAX_OPEN_LATER * nodes if eps > 0 else np.int64(UNLIMITED)
        elif budget < patience:
            budget, eps = patience, wide
        else:
            return False
    return False
