"""Selection of the engine from the options of a command."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tvcs_core.engines.address import read_address
from tvcs_core.engines.job import Engine
from tvcs_core.engines.local import Serial, Threads
from tvcs_core.engines.processes import Processes
from tvcs_core.files.extras import to_install

DASK_MISSING = "--cluster needs Dask, which is not installed; give:"


def make_engine(
    *,
    threads: int = 1,
    workers: int | None = None,
    cluster: str | None = None,
    tls: Path | None = None,
    trust_network: bool = False,
) -> Engine:
    """Return the engine for ``--threads``, ``--workers`` or ``--cluster``; enter it to connect.

    Raises
    ------
    ValueError
        If a number is below 1, more than one of the three is given, or the address is refused.
    """
    for name, number in (("threads", threads), ("workers", workers)):
        if number is not None and number < 1:
            raise ValueError(f"--{name} must be >= 1, found {number}")
    chosen = {
        "--threads": threads > 1, "--workers": workers is not None, "--cluster": bool(cluster)
    }  # fmt: skip
    several = [name for name, is_chosen in chosen.items() if is_chosen]
    if len(several) > 1:
        raise ValueError(f"give one of {', '.join(chosen)}, found {' and '.join(several)}")
    if cluster is None:
        if tls is not None or trust_network:
            raise ValueError("--tls and --trust-network go with --cluster")
        if workers is not None:
            return Processes(workers)
        return Threads(threads) if threads > 1 else Serial()
    address = read_address(cluster, tls=tls, trust_network=trust_network)
    if find_spec("distributed") is None:
        raise ValueError(f"{DASK_MISSING} {to_install('cluster')}")
    from tvcs_core.engines.cluster import Cluster

    return Cluster(address)
