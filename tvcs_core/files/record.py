"""The run record `run.json`: everything needed to repeat a run."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("tvcs", "numpy", "scipy", "numba", "pandas", "scikit-learn")


def run_record(
    command: str,
    parameters: Mapping[str, Any],
    *,
    seed: int | None,
    inputs: Sequence[str | Path] = (),
    **facts: Any,
) -> dict[str, Any]:
    """Build the run record; it has no time stamp, so that equal runs give equal records.

    Parameters
    ----------
    command
        The command as the user typed it, such as ``grn-tvcs infer``.
    parameters
        Every option that changes the result (not the output folder).
    seed
        The seed of the run.
    inputs
        Input files; recorded with name and SHA-256, a pipe with None.
    **facts
        Other results to record, such as the names of all genes.
    """
    return {
        "command": command,
        "parameters": dict(parameters),
        "seed": seed,
        "inputs": digests(inputs),
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in PACKAGES},
        **facts,
    }


def digests(paths: Iterable[str | Path]) -> list[dict[str, str | None]]:
    """Return name and SHA-256 of every file; None for a pipe, which can be read only once."""
    return [{"file": Path(path).name, "sha256": _sha256(Path(path))} for path in paths]


def _sha256(path: Path) -> str | None:
    if path.exists() and not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tvcs_version() -> str:
    """Return the version of this distribution, or ``not installed``."""
    return _version("tvcs")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
