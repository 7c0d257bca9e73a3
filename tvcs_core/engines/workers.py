"""What is installed on the workers of a cluster: compared before the first unit."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from distributed import Client

from tvcs_core.engines.journal import versions
from tvcs_core.engines.on_worker import PROBE, processor, sources_digest


def refuse_other_workers(client: Client, patience: float) -> None:
    """Check that scheduler and workers have what this machine has.

    Raises
    ------
    ValueError
        Naming the first that has not, or saying that no worker came within `patience` seconds.
    """
    try:
        client.wait_for_workers(1, timeout=patience)
    except (TimeoutError, OSError):
        raise ValueError(
            f"the scheduler at {client.scheduler.address} has no workers; start some with "
            f"`dask worker {client.scheduler.address}`"
        ) from None
    here = versions() | {"Python": "{}.{}".format(*sys.version_info)}
    asked = _asked(client, patience, eval, PROBE)
    found = {f"the worker {address}": told for address, told in asked.items()}
    found["the scheduler"] = client.run_on_scheduler(eval, PROBE)
    for who, told in sorted(found.items()):
        _refuse_other_versions(who, told, here)
    for address, digest in sorted(_asked(client, patience, sources_digest).items()):
        if digest != sources_digest():
            raise ValueError(
                f"the worker {address} has other sources of tvcs {here.get('tvcs', '')} than are "
                "here: install the same"
            )
    kinds = _asked(client, patience, processor)
    others = sorted(where for where, kind in kinds.items() if kind != processor())
    if others:
        warnings.warn(
            f"the worker {others[0]} has another kind of processor ({kinds[others[0]]}, here "
            f"{processor()}): last digits may differ from those of a run on one machine",
            stacklevel=2,
        )


def _asked(
    client: Client, patience: float, function: Callable[..., Any], *arguments: Any
) -> dict[str, Any]:
    """What a function returns on every worker, or the error that it raises there."""
    ask = partial(client.sync, client._run, function, *arguments, on_error="return")
    try:
        found: dict[str, Any] = ask(callback_timeout=patience)
    except TimeoutError:  # the scheduler takes some minutes to let go of a silent worker
        for address in sorted(client.scheduler_info()["workers"]):
            try:
                ask(workers=[address], callback_timeout=2.0)
            except TimeoutError:
                raise ValueError(f"the worker {address} does not answer: end it") from None
        found = ask()
    return found


def _refuse_other_versions(who: str, told: Any, here: dict[str, str]) -> None:
    if not isinstance(told, dict):
        raise ValueError(f"{who} does not answer ({told})")
    for package, version in here.items():
        if not told.get(package):
            raise ValueError(f"{who} has no {package}: install {package} {version} there")
        if told[package] != version:
            raise ValueError(
                f"{who} has {package} {told[package]}, here is {version}: install the same"
            )
