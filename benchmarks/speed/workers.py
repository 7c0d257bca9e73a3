"""What units of work cost on a Dask cluster beside what they cost in one process.

    python -m benchmarks.speed.workers --quick    units of about 1 s
    python -m benchmarks.speed.workers            units of at least 5 s
    python -m benchmarks.speed.workers --as-it-comes  with Dask's own settings

Units of two kinds, pairs of halves as ``tvcs`` solves them and units that make and drop many small
arrays, are done by `Serial` in this process, then on a cluster of this machine with one or two
workers of one thread each, with a nanny as `dask worker` has it; in turn, as often as asked.
Seconds are those of the processor, of all processes: workers, scheduler and client, not of the
clock. What a worker takes to start, to import and to load compiled code is shown by itself: a unit
before the clock starts has each worker pay it.

Processes of Dask do a little all the time, whether there is work or not: what they take while they
have none is a column too, for on a machine where units wait for a core it adds up. The settings of
the docs' recipes (`QUIET`) make that less; ``--as-it-comes`` leaves them out. The command ends
with 1 where the cluster takes more than 1 / .95 of the serial processor time, whatever it waited.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from benchmarks.study import one_thread

one_thread()
QUIET = {  # read from the environment when Dask is imported, here and by workers
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
if "--as-it-comes" not in sys.argv:
    os.environ.update(QUIET)

import numpy as np  # noqa: E402
from distributed import LocalCluster  # noqa: E402

from benchmarks.pages import table  # noqa: E402
from grn_tvcs import Rules, simulate  # noqa: E402
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN  # noqa: E402
from grn_tvcs.stability.model import transitions  # noqa: E402
from grn_tvcs.stability.stability import Draws  # noqa: E402
from grn_tvcs.stability.units import solve_pairs  # noqa: E402
from tvcs_core.engines import (  # noqa: E402
    Engine,
    Job,
    Serial,
    results,
)
from tvcs_core.engines.address import Address  # noqa: E402
from tvcs_core.engines.cluster import Cluster  # noqa: E402

WANTED = 0.95
GENES = 200
IDLE = 4.0  # seconds for which processes that have nothing to do are watched


def small_arrays(seconds: float, unit: int) -> tuple[np.ndarray[Any, Any]]:
    """Make and drop arrays of some 300 kB: about so many seconds, the same work wherever it is."""
    total = np.zeros(40_000)
    for k in range(int(seconds * 8_000)):
        total += np.sqrt(np.arange(unit + k, unit + k + 40_000, dtype=np.float64))
    return (total,)


def halves(seconds: float, n_units: int) -> Job:
    """Pairs of halves of a simulated table, as many in a unit as take so long."""
    expression = simulate(GENES, 10, 21, n_edges=2 * GENES, rng=0).expression
    genes = expression.genes
    inputs, _, allowed = Rules().inputs(genes)
    steps = transitions(expression, 0.2)

    def drawn(n_pairs: int) -> Draws:
        plan = replace(DEFAULT_PLAN, resamples=2 * n_pairs)
        draws = Draws(steps, inputs, allowed, Rules(), genes, plan)
        return draws.with_pairs(np.random.default_rng(0))

    draws = drawn(22)
    draws.unit(0, 2)
    start = time.process_time()
    draws.unit(2, 22)
    size = int(20 * seconds / (time.process_time() - start)) + 1
    return Job("halves", solve_pairs, (drawn(n_units * size), size), 0)


def taken(job: Job, n_units: int, engine: Engine, clock: Callable[[], float]) -> float:
    """Processor seconds of so many units."""
    begun = clock()
    with closing(results([Job(job.name, job.unit, job.state, n_units)], engine)) as found:
        for _ in found:
            pass
    return clock() - begun


def of_all(cluster: Cluster) -> float:
    """Processor seconds of this process, the scheduler in it, and all workers, up to now."""
    client = cluster._client
    assert client is not None
    return time.process_time() + sum(client.run(time.process_time).values())


def row(job: Job, n_units: int, n_workers: int, times: int) -> tuple[list[str], float]:
    """Cells of a kind of units, and the efficiency."""
    silent = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    serial, there = 0.0, 0.0
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, **silent) as local,
        Cluster(Address(local.scheduler_address)) as cluster,
    ):
        clock = time.process_time
        first = taken(job, n_workers, cluster, lambda: of_all(cluster))
        taken(job, 1, Serial(), clock)
        before = of_all(cluster)
        time.sleep(IDLE)
        idle = (of_all(cluster) - before) / IDLE
        for _ in range(times):
            serial += taken(job, n_units, Serial(), clock)
            there += taken(job, n_units, cluster, lambda: of_all(cluster))
    n_units *= times
    start = max(0.0, first / n_workers - serial / n_units)
    numbers = serial / n_units, there / n_units, serial / there, idle
    return [
        job.name, str(n_workers), *(f"{number:.3f}" for number in numbers), f"{start:.1f}"
    ], serial / there  # fmt: skip


HEADS = [
    "network", "series", "s of units", "s beside", "folds first", "as it is", "one queue of all",
]  # fmt: skip
HEADS = [
    "units", "workers", "s a unit, serial", "on the cluster", "efficiency", "idle, s per s",
    "s to start",
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="units of about 1 s")
    parser.add_argument("--workers", type=int, default=1, choices=(1, 2))
    parser.add_argument("--times", type=int, default=1, help="of each kind")
    parser.add_argument("--only", choices=("arrays", "halves"), help="this kind of units alone")
    parser.add_argument("--as-it-comes", action="store_true", help="Dask's own settings")
    given = parser.parse_args()
    seconds = 1.0 if given.quick else 5.5
    start = time.process_time()
    small_arrays(0.5, 0)
    share = seconds * 0.5 / (time.process_time() - start)
    n_units = 3 * given.workers
    jobs = {
        "arrays": lambda: Job("arrays", small_arrays, share, 0),
        "halves": lambda: halves(seconds, n_units),
    }
    rows = []
    for name in jobs if given.only is None else [given.only]:
        rows.append(row(jobs[name](), n_units, given.workers, given.times))
        print(" | ".join(rows[-1][0]), flush=True)
    print(table(HEADS, [cells for cells, _ in rows]))
    return 0 if all(efficiency >= WANTED for _, efficiency in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
