"""Comparison of the software on the workers of a cluster with this machine."""

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
    """Check that scheduler and workers have the same software as this machine.

    Raises
    ------
    ValueError
        If one differs (the error names the first), or no worker came within `patience` seconds.
    """
    try:
        client.wait_for_workers(1, timeout=patience)
    except (TimeoutError, OSError):
        raise ValueError(
            f"the scheduler at {client.scheduler.address} has no workers; start some with "
            f"`dask worker {client.scheduler.address}`"
        ) from None
    here = versions() | {"Python": "{}.{}".format(*sys.version_info)}
    answers = _ask_all(client, patience, eval, PROBE)
    versions_of = {f"the worker {address}": answer for address, answer in answers.items()}
    versions_of["the scheduler"] = client.run_on_scheduler(eval, PROBE)
    for name, installed in sorted(versions_of.items()):
        _refuse_other_versions(name, installed, here)
    for address, digest in sorted(_ask_all(client, patience, sources_digest).items()):
        if digest != sources_digest():
            raise ValueError(
                f"the worker {address} has other sources of tvcs {here.get('tvcs', '')} than are "
                "here: install the same"
            )
    kinds = _ask_all(client, patience, processor)
    others = sorted(address for address, kind in kinds.items() if kind != processor())
    if others:
        warnings.warn(
            f"the worker {others[0]} has another kind of processor ({kinds[others[0]]}, here "
            f"{processor()}): last digits may differ from those of a run on one machine",
            stacklevel=2,
        )


def _ask_all(
    client: Client, patience: float, function: Callable[..., Any], *arguments: Any
) -> dict[str, Any]:
    """Return the result of a function on every worker, or the error that it raises there."""
    ask = partial(client.sync, client._run, function, *arguments, on_error="return")
    try:
        answers: dict[str, Any] = ask(callback_timeout=patience)
    except TimeoutError:  # the scheduler takes minutes to drop a silent worker
        for address in sorted(client.scheduler_info()["workers"]):
            try:
                ask(workers=[address], callback_timeout=2.0)
            except TimeoutError:
                raise ValueError(f"the worker {address} does not answer: end it") from None
        answers = ask()
    return answers


def _refuse_other_versions(name: str, installed: Any, here: dict[str, str]) -> None:
    if not isinstance(installed, dict):
        raise ValueError(f"{name} does not answer ({installed})")
    for package, version in here.items():
        if not installed.get(package):
            raise ValueError(f"{name} has no {package}: install {package} {version} there")
        if installed[package] != version:
            raise ValueError(
                f"{name} has {package} {installed[package]}, here is {version}: install the same"
            )
