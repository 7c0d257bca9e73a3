"""Engines: pure units of work side by side, in threads, in processes or on a Dask cluster.

Units are not defined here, nor are their results combined. Engines never start a host.
"""

from tvcs_core.engines.adapters import as_engine
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.engines.choice import make_engine
from tvcs_core.engines.job import Engine, Job, Task
from tvcs_core.engines.journal import hash_of
from tvcs_core.engines.local import Serial, Threads, in_threads
from tvcs_core.engines.processes import Processes
from tvcs_core.engines.results import results

__all__ = [
    "Engine", "Job", "Processes", "Serial", "Task", "Threads",
    "as_engine", "hash_of", "in_threads", "make_engine", "one_blas_thread", "results",
]  # fmt: skip
