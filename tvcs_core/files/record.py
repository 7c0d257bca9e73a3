"""The run record: what is needed to repeat a run, written as `run.json` beside its output."""

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
    """Make the record of a run; the same run gives the same record, so it holds no clock.

    Parameters
    ----------
    command
        The command as the user typed it, such as ``grn-tvcs infer``.
    parameters
        Every option that changes the result (the output folder does not).
    seed
        The seed of the run.
    inputs
        Files that were read; each is named with its SHA-256, a pipe with None.
    **facts
        What else belongs to the result, such as the names of all genes.
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
    """Name every file with its SHA-256; None for a pipe, which was read and holds nothing now."""
    return [{"file": Path(path).name, "sha256": _sha256(Path(path))} for path in paths]


def _sha256(path: Path) -> str | None:
    if path.exists() and not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tvcs_version() -> str:
    """Version of this distribution, or that it is not installed."""
    return _version("tvcs")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
