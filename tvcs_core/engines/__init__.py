"""Engines: pure units of work side by side, in threads, in processes or on a Dask cluster.

What a unit computes is not known here, nor are results added up. No host is ever started.
"""

from tvcs_core.engines.beside import Beside
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.engines.choice import engine_of
from tvcs_core.engines.job import Engine, Job, Task, results
from tvcs_core.engines.journal import hash_of
from tvcs_core.engines.local import Serial, Threads, in_threads
from tvcs_core.engines.processes import Processes

__all__ = [
    "Beside", "Engine", "Job", "Processes", "Serial", "Task", "Threads", "engine_of", "hash_of",
    "in_threads", "one_blas_thread", "results",
]  # fmt: skip
